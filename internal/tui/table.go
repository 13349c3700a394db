package tui

import (
	"strings"

	"github.com/belay-run/belay/internal/readable"
)

// pad fills s with blanks up to width.
func pad(s string, width int) string {
	if n := width - readable.Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// padLeft fills s with blanks in front.
func padLeft(s string, width int) string {
	if n := width - readable.Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}
