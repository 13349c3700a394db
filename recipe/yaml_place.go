package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// bracket is one that a source opens.
type bracket struct {
	char byte
	at   int // byte of the source
}

// brackets goes through the brackets of a source from a byte on, and stops when
// see says so. Texts in quotes and comments are passed over. It gives those that
// are open at the end.
func (s *source) brackets(from, to int, see func(open []bracket, i int) (stop bool)) (open []bracket) {
	text := s.text
	blank := true // before i is a blank, a bracket or a comma: a quote or a comment may begin
	for i := from; i < to; i++ {
		c := text[i]
		switch {
		case (c == '"' || c == '\'') && blank:
			i = quoteEnd(text, i)
			blank = false
			continue
		case c == '#' && blank:
			for i+1 < to && text[i+1] != '\n' {
				i++
			}
			continue
		case see(open, i):
			return open
		case c == '[' || c == '{':
			open = append(open, bracket{c, i})
		case (c == ']' || c == '}') && len(open) > 0:
			open = open[:len(open)-1]
		}
		blank = strings.IndexByte(" \t\r\n[{,:", c) >= 0
	}
	return open
}

// quoteEnd is where the text in quotes ends that begins at i.
func quoteEnd(text []byte, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i
		}
	}
	return len(text)
}

// unclosed is the bracket of a line that is closed by one of the other kind, or
// not at all; nil when there is none.
func (s *source) unclosed(line int) *bracket {
	from := s.starts[line-1]
	to := len(s.text)
	if line < len(s.starts) {
		to = s.starts[line]
	}
	partner := map[byte]byte{']': '[', '}': '{'}
	open := s.brackets(from, to, func(open []bracket, i int) bool {
		want, closes := partner[s.text[i]]
		return closes && len(open) > 0 && open[len(open)-1].char != want
	})
	if len(open) == 0 {
		return nil
	}
	return &open[len(open)-1]
}

// tooDeepAt is the first bracket inside more others than are allowed; -1 when
// there is none.
func (s *source) tooDeepAt() int {
	at := -1
	s.brackets(0, len(s.text), func(open []bracket, i int) bool {
		if len(open) > MaxDepth {
			at = open[MaxDepth].at
		}
		return at >= 0
	})
	return at
}

// strayColon is the byte of a line at which a second colon with a blank after it
// stands in one value that has no quotes; -1 when there is none.
func strayColon(line string) int {
	keyed := false // the colon of a key was passed
	start := true  // a key or a value begins here: only there a quote is one
	depth := 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		ends := i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t'
		switch {
		case c == ' ' || c == '\t' || c == '-' && start && ends:
			continue
		case (c == '"' || c == '\'') && start:
			i = quoteEnd([]byte(line), i)
		case c == '#' && i > 0 && line[i-1] == ' ':
			return -1
		case c == ':' && ends && keyed:
			return i
		case c == ':' && ends:
			keyed, start = true, true
			continue
		case start && (c == '{' || c == '['), depth > 0 && c == ',':
			if c != ',' {
				depth++
			}
			keyed, start = false, true
			continue
		}
		start = false
	}
	return -1
}

// colonHint is the cure of a stray colon: the value in quotes, where the line is
// one key with a short value.
func colonHint(line string) string {
	const cure = "a value with a colon and a blank in it needs quotes"
	key, value, ok := strings.Cut(strings.TrimLeft(strings.TrimSpace(line), "- "), ": ")
	if value = strings.TrimSpace(value); !ok || !varForm(key) || len(value) > 60 || strings.Contains(value, " #") {
		return cure + ", or stands below a |"
	}
	return cure + ": " + key + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
}

// colonInFlow is the cure of a stray colon inside { } or [ ]: what they hold with that value
// in quotes, or its key with it where that is long. A comma ends the value, and what is said
// is tried: a sample that is no YAML itself would be worse than none.
func colonInFlow(line string, at int) string {
	const cure = "a value with a colon and a blank in it needs quotes"
	colon := strings.LastIndex(line[:at], ": ")
	if colon < 0 {
		return cure
	}
	from := strings.LastIndexAny(line[:colon], "{[,") + 1
	from += len(line[from:]) - len(strings.TrimLeft(line[from:], " "))
	end := flowEnd(line, colon, at)
	value := strings.TrimSpace(line[colon+1 : end])
	if value[0] == '"' || value[0] == '\'' || strings.ContainsAny(line[colon:at], "[]{}") || strings.Contains(value, " #") {
		return cure // more is wrong than that
	}
	pair := line[from:colon] + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
	if open, n := strings.LastIndexAny(line[:colon], "{["), strings.IndexAny(line[end:], "]}"); open >= 0 && n >= 0 {
		if whole := line[open:from] + pair + line[end:end+n+1]; len(whole) <= mostFlow && isYAML(whole) {
			return cure + ": " + whole
		}
	}
	if len(pair) > mostFlow || !isYAML("{"+pair+"}") {
		return cure
	}
	return cure + ": " + pair
}

// flowEnd is where a value ends that begins behind a colon and goes on behind the byte at.
func flowEnd(line string, colon, at int) int {
	quote := strings.Count(line[colon:at], `"`)%2 == 1
	for ; at < len(line) && (quote || !strings.ContainsRune(",]}", rune(line[at]))); at++ {
		if line[at] == '"' {
			quote = !quote
		}
	}
	return at
}

// mostFlow is how long a sample is at most that a hint shows.
const mostFlow = 60

func isYAML(text string) bool {
	var n yaml.Node
	return yaml.Unmarshal([]byte(text), &n) == nil
}

// tabAt is the column of a tab before the text of a line; 0 when there is none.
func (s *source) tabAt(line int) int {
	if line > len(s.starts) {
		return 0
	}
	text := s.line(line)
	blanks := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	return strings.IndexByte(blanks, '\t') + 1
}
