package tui

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
	if Width(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		w := runeWidth(r)
		if used+w > width-1 {
			return s[:i] + "…"
		}
		used += w
	}
	return s
}

// Width is how many places s takes on a screen.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r == 0 || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the characters that take two places: East Asian ones and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1},
		{Lo: 0x231a, Hi: 0x231b, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// pad fills s with blanks up to width.
func pad(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// padLeft fills s with blanks in front.
func padLeft(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// Took is a duration as people say it: 420ms, 12s, 1m04s, 2h03m.
func Took(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
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
