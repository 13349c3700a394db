package recipe

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The bounds of a source.
const (
	MaxBytes = 16 << 20
	MaxDepth = 64 // nested lists and mappings
)

var bom = []byte("\ufeff")

// source is the text of a recipe and where its lines begin.
type source struct {
	values bool // it is a file of variables, and no recipe
	bang   bool // there is a ! somewhere
	text   []byte
	same   string // the text once more: parts of it need no copy
	starts []int

	originals map[*yaml.Node]original // values that are read otherwise than they are written
}

func newSource(text []byte) *source {
	s := &source{text: text, bang: bytes.IndexByte(text, '!') >= 0, same: string(text), starts: make([]int, 1, bytes.Count(text, []byte("\n"))+2)}
	for i := 0; i < len(text); {
		if c := text[i]; c > '\r' && c < utf8.RuneSelf {
			i++
			continue
		}
		n := breakLen(text[i:])
		if n > 0 {
			s.starts = append(s.starts, i+n)
		}
		i += max(n, 1)
	}
	return s
}

// breakLen is the length of the line break at the start of b, 0 when there is
// none. YAML counts more breaks than most.
func breakLen(b []byte) int {
	switch b[0] {
	case '\n':
		return 1
	case '\r':
		if len(b) > 1 && b[1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if len(b) > 1 && b[1] == 0x85 {
			return 2
		}
	case 0xe2:
		if len(b) > 2 && b[1] == 0x80 && (b[2] == 0xa8 || b[2] == 0xa9) {
			return 3
		}
	}
	return 0
}

// line is the text of line n without its break.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.starts) {
		return ""
	}
	end := len(s.text)
	if n < len(s.starts) {
		end = s.starts[n]
	}
	text := strings.TrimRight(s.same[s.starts[n-1]:end], "\r\n")
	if text != "" && text[len(text)-1] >= utf8.RuneSelf {
		text = strings.TrimRight(text, "\r\n\u0085\u2028\u2029")
	}
	return text
}

// lineOf is line n of a text, false when the text has no such line.
func lineOf(text []byte, n int) (string, bool) {
	for ; len(text) > 0; n-- {
		i := 0
		for i < len(text) && breakLen(text[i:]) == 0 {
			i++
		}
		if n == 1 {
			return string(text[:i]), true
		}
		if i == len(text) {
			break
		}
		text = text[i+breakLen(text[i:]):]
	}
	return "", false
}

// clamp moves a position into the source: at most one past the end of a line.
func (s *source) clamp(p Pos) Pos {
	if p.Line < 1 {
		return Pos{1, 1}
	}
	p.Line = min(p.Line, len(s.starts))
	p.Col = min(max(p.Col, 1), utf8.RuneCountInString(s.line(p.Line))+1)
	return p
}

// at is the position of the byte at offset i.
func (s *source) at(i int) Pos {
	n := len(s.starts)
	for lo := 0; lo < n; {
		mid := (lo + n) / 2
		if s.starts[mid] <= i {
			lo = mid + 1
		} else {
			n = mid
		}
	}
	return Pos{n, 1 + utf8.RuneCount(s.text[s.starts[n-1]:i])}
}

// what names the source in a problem of the whole.
func (s *source) what() string {
	if s.values {
		return "the file of values"
	}
	return "the recipe"
}

// unreadable says what keeps the bytes from being text at all, and where.
func (s *source) unreadable() (Pos, string) {
	if len(s.text) > MaxBytes {
		return Pos{1, 1}, fmt.Sprintf(s.what()+" has %d bytes, at most %d are allowed", len(s.text), MaxBytes)
	}
	if len(bytes.TrimSpace(s.text)) == 0 {
		return Pos{1, 1}, s.what() + " is empty"
	}
	for i := 0; i < len(s.text); {
		if c := s.text[i]; ' ' <= c && c <= '~' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(s.text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return s.at(i), s.what() + " is not valid UTF-8"
		case r == 0:
			return s.at(i), s.what() + " has a NUL byte in it"
		case !printable(r):
			return s.at(i), fmt.Sprintf("%s has the control character %U in it", s.what(), r)
		}
		i += size
	}
	return Pos{}, ""
}

// printable tells whether YAML allows r in a source.
func printable(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85:
		return true
	case r < 0x20, 0x7f <= r && r < 0xa0, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}
