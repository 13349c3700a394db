// Package readable makes text, times and amounts fit for people: on one line, of a
// given width, without what a terminal would obey. It knows nothing of runs.
package readable

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Clean makes text from outside fit for a terminal: one line, without escape
// sequences, control characters and marks that turn the direction of writing.
func Clean(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if s[0] == 0x1b {
			s = s[escape(s):]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner is part of pictures
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// Command is a command of a shell in one line. What ends a line in it ends a comment and
// begins another command, so it is shown.
func Command(s string) string {
	var lines []string
	for l := range strings.Lines(s) {
		if l = Clean(l); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, " ⏎ ")
}

// Harmless is text from outside that keeps its lines and tabs and loses all
// that a terminal would obey.
func Harmless(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, obeyed) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if s[0] == 0x1b {
			s = s[escape(s):]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if !obeyed(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// obeyed tells whether a terminal acts on a character instead of showing it.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' // the joiner is part of pictures
}

// escape is the length of the escape sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x3f {
				return i // not a sequence: what follows is text again
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			if s[i] == '\n' {
				return i
			}
		}
		return len(s)
	}
	_, n := utf8.DecodeRuneInString(s[1:])
	return 1 + n
}

// LastLine is the last line of output that says something: what a progress bar
// wrote over is gone, as it would be on a screen.
func LastLine(out string) string {
	lines := strings.FieldsFunc(out, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if s := Clean(lines[i]); s != "" {
			return s
		}
	}
	return ""
}

// Cut shortens s to at most width places on a screen.
func Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return displaywidth.TruncateString(s, width, "…")
}

// CutMiddle shortens s to at most width places: what it begins with and what it ends
// with stay, because names often differ at their end.
func CutMiddle(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	head := displaywidth.TruncateString(s, width-1-(width-1)/2, "")
	most := width - 1 - Width(head)
	tail := s[len(head):]
	for Width(tail) > most {
		_, n := utf8.DecodeRuneInString(tail)
		tail = tail[n:]
	}
	return head + "…" + tail
}

// Width is how many places s takes on a screen.
func Width(s string) int { return displaywidth.String(s) }

// Took is a duration as people say it, rounded from its milliseconds: 420ms, 1.4s, 12s, 1m04s, 2h03m.
func Took(d time.Duration) string {
	d = max(d, 0).Truncate(time.Millisecond) // as it is on record: every screen says the same
	switch tenths, secs := d.Round(time.Second/10), d.Round(time.Second); {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case tenths < 10*time.Second && tenths%time.Second > 0:
		return fmt.Sprintf("%d.%ds", tenths/time.Second, tenths%time.Second/(time.Second/10))
	case secs < time.Minute:
		return fmt.Sprintf("%ds", int(secs.Seconds()))
	case secs < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(secs.Minutes()), int(secs.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Size is a number of bytes as people say it.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
