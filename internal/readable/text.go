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

// Wrap breaks a text at its blanks into lines of at most width places. A word that is
// longer than a line stands alone: a path is broken behind a slash, anything else anywhere.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for Width(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := displaywidth.TruncateString(word, width, "")
			if i := strings.LastIndexByte(head, '/'); i > 0 {
				head = head[:i+1]
			}
			if head == "" { // one that is wider than the line
				break
			}
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// Continued breaks a command that is wider than a terminal at blanks outside of quotes, so
// that it can still be copied: each line but the last ends in a backslash. A width of 0
// breaks nothing.
func Continued(line string, width int) []string {
	if width <= 0 || Width(line) <= width {
		return []string{line}
	}
	bare := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(bare)]
	var lines []string
	for now := indent; bare != ""; {
		word := firstWord(bare)
		bare = strings.TrimLeft(bare[len(word):], " ")
		switch {
		case now == indent || now == indent+"  ":
			now += word
		case Width(now)+1+Width(word) <= width-2: // there is room for a backslash
			now += " " + word
		default:
			lines, now = append(lines, now+" \\"), indent+"  "+word
		}
		if bare == "" {
			lines = append(lines, now)
		}
	}
	return lines
}

// firstWord is what a shell takes for one word: blanks in quotes do not end it.
func firstWord(s string) string {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			return s[:i]
		}
	}
	return s
}

// Hang breaks a line that is wider than a terminal at its blanks; what follows the first
// line stands under that place. A width of 0 breaks nothing.
func Hang(line string, width, under int) []string {
	if width <= 0 || Width(line) <= width {
		return []string{line}
	}
	under = min(under, width/2)
	words := strings.TrimLeft(line, " ")
	indent := len(line) - len(words)
	head := displaywidth.TruncateString(line, width+1, "") // with the blank behind it
	if i := strings.LastIndexByte(head, ' '); i > indent {
		lines := []string{strings.TrimRight(line[:i], " ")}
		for _, l := range Wrap(line[i:], width-under) {
			lines = append(lines, strings.Repeat(" ", under)+l)
		}
		return lines
	}
	indent = min(indent, under)
	lines := Wrap(words, width-max(indent, under))
	for i, l := range lines {
		if i > 0 {
			indent = under
		}
		lines[i] = strings.Repeat(" ", indent) + l
	}
	return lines
}

// Width is how many places s takes on a screen.
func Width(s string) int { return displaywidth.String(s) }

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
