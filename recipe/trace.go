package recipe

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// piece is a part of a scalar's value that stands in the source as it is. An
// escape has the length 0: all of it is where its backslash is.
type piece struct {
	value, length int // in bytes
	at            Pos
}

// maxPiece keeps pieces short, so that a place in one is found by counting.
const maxPiece = 256

// tracer finds the value of a scalar again in the source, piece by piece. It
// knows what separates pieces, but not what YAML makes of the blanks and line
// breaks between them: those it passes over in the value until the next piece
// fits.
type tracer struct {
	src    *source
	value  string
	at     int // how much of the value was found
	pieces []piece

	last   int // the byte of the source that was looked at last,
	lastAt Pos // and where it is
}

// trace gives the pieces of a scalar's value, none when they cannot be found.
func trace(s *source, n *yaml.Node) []piece {
	t := &tracer{src: s, value: n.Value}
	if old, rewritten := s.originals[n]; rewritten {
		t.value = old.value
	}
	var found bool
	switch {
	case n.Line < 1 || n.Line > len(s.starts):
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		found = t.block(n.Line + 1)
	case n.Style&yaml.SingleQuotedStyle != 0:
		found = t.quoted(s.offset(posOf(n)), '\'')
	case n.Style&yaml.DoubleQuotedStyle != 0:
		found = t.quoted(s.offset(posOf(n)), '"')
	default:
		found = t.plain(s.offset(posOf(n)))
	}
	if !found {
		return nil
	}
	return t.pieces
}

// offset is the byte of the source at a position.
func (s *source) offset(p Pos) int {
	i := s.starts[p.Line-1]
	for col := 1; col < p.Col && i < len(s.text); col++ {
		_, size := utf8.DecodeRune(s.text[i:])
		i += size
	}
	return i
}

// match finds the next piece, of which length bytes are in the source as in the
// value.
func (t *tracer) match(text string, source, length int) bool {
	for !strings.HasPrefix(t.value[t.at:], text) {
		if !t.skip() {
			return false
		}
	}
	for text != "" {
		n := len(text)
		if n > maxPiece {
			for n = maxPiece; !utf8.RuneStart(text[n]); n-- {
			}
		}
		if t.pieces == nil {
			t.pieces = make([]piece, 0, 1+min(strings.Count(t.value, "\n"), maxPiece))
		}
		t.pieces = append(t.pieces, piece{t.at, min(length, n), t.position(source)})
		t.at, source, text = t.at+n, source+n, text[n:]
	}
	return true
}

// position counts on from the last one, so that a long line is counted once.
func (t *tracer) position(offset int) Pos {
	if t.lastAt.Line > 0 && (t.lastAt.Line == len(t.src.starts) || offset < t.src.starts[t.lastAt.Line]) {
		t.lastAt.Col += utf8.RuneCount(t.src.text[t.last:offset])
	} else {
		t.lastAt = t.src.at(offset)
	}
	t.last = offset
	return t.lastAt
}

// skip passes over one blank or line break of the value.
func (t *tracer) skip() bool {
	if t.at == len(t.value) || t.value[t.at] != ' ' && t.value[t.at] != '\n' {
		return false
	}
	t.at++
	return true
}

// block finds the lines of a block scalar, from the one after its mark on.
func (t *tracer) block(line int) bool {
	indent := -1
	for ; strings.Trim(t.value[t.at:], " \n") != "" && line <= len(t.src.starts); line++ {
		text := t.src.line(line)
		blanks := len(text) - len(strings.TrimLeft(text, " "))
		if indent < 0 {
			if blanks == len(text) {
				continue
			}
			indent = blanks - firstIndent(t.value)
		}
		switch {
		case len(text) <= indent:
		case indent < 0 || blanks < indent:
			return false
		case !t.match(text[indent:], t.src.starts[line-1]+indent, len(text)-indent):
			return false
		}
	}
	return strings.Trim(t.value[t.at:], " \n") == ""
}

// firstIndent is how many blanks the first line begins with that has more.
func firstIndent(value string) int {
	for line := range strings.Lines(value) {
		line = strings.TrimSuffix(line, "\n")
		if rest := strings.TrimLeft(line, " "); rest != "" {
			return len(line) - len(rest)
		}
	}
	return 0
}

// quoted finds a text in quotes, of which the first is at offset i.
func (t *tracer) quoted(i int, quote byte) bool {
	text := t.src.text
	for i++; i < len(text); {
		end := i
		for end < len(text) && breakLen(text[end:]) == 0 && text[end] != quote && (quote == '\'' || text[end] != '\\') {
			end++
		}
		if end == len(text) {
			return false
		}
		part, broken := t.src.same[i:end], breakLen(text[end:])
		if broken > 0 {
			part = strings.TrimRight(part, " \t")
		}
		if !t.match(part, i, len(part)) {
			return false
		}
		switch {
		case broken > 0:
			i = t.blanks(end + broken)
		case text[end] == '\\':
			if i = t.escape(end); i < 0 {
				return false
			}
		case quote == '\'' && end+1 < len(text) && text[end+1] == '\'':
			if !t.match("'", end, 0) {
				return false
			}
			i = end + 2
		default:
			return strings.Trim(t.value[t.at:], " \n") == ""
		}
	}
	return false
}

func (t *tracer) blanks(i int) int {
	for i < len(t.src.text) && (t.src.text[i] == ' ' || t.src.text[i] == '\t') {
		i++
	}
	return i
}

// escapes are what YAML writes with one letter after a backslash.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\'': "'", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape finds what the backslash at offset i stands for and gives the offset
// behind it, -1 when there is none.
func (t *tracer) escape(i int) int {
	rest := t.src.text[i+1:]
	if len(rest) == 0 {
		return -1
	}
	if n := breakLen(rest); n > 0 {
		return t.blanks(i + 1 + n)
	}
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[0]]
	text, known := escapes[rest[0]]
	if size > 0 && len(rest) > size {
		code, err := strconv.ParseUint(string(rest[1:1+size]), 16, 32)
		text, known = string(rune(code)), err == nil
	}
	if !known || !t.match(text, i, 0) {
		return -1
	}
	return i + 2 + size
}

// plain finds a text without quotes: as much of every line as fits.
func (t *tracer) plain(i int) bool {
	for t.at < len(t.value) && i < len(t.src.text) {
		end := i
		for end < len(t.src.text) && breakLen(t.src.text[end:]) == 0 {
			end++
		}
		line := t.src.same[i:end]
		n := common(line, t.value[t.at:])
		for n == 0 && line != "" && t.skip() {
			n = common(line, t.value[t.at:])
		}
		if !t.match(line[:n], i, n) {
			return false
		}
		if t.at < len(t.value) && strings.Trim(line[n:], " \t") != "" {
			return false
		}
		if end < len(t.src.text) {
			end += breakLen(t.src.text[end:])
		}
		i = t.blanks(end)
	}
	return t.at == len(t.value)
}

// common is how many bytes two texts begin with together.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
