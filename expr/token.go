package expr

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind int

const (
	tokEnd    tokenKind = iota
	tokName             // a name or a word such as and
	tokNumber           // num holds it
	tokString           // text holds it without quotes
	tokMark             // an operator or a bracket
)

type token struct {
	kind tokenKind
	text string
	num  json.Number
	col  int
	at   int // of a name, in bytes
}

// shown is how an error names the token.
func (t token) shown() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokString:
		return "a text"
	case tokNumber:
		return "the number " + t.text
	case tokName, tokMark:
		return fmt.Sprintf("%q", t.text)
	}
	return "nothing"
}

// scanner cuts a source into tokens. It counts columns in characters.
type scanner struct {
	src string
	pos int // byte offset
	col int // of the character at pos, from 1
}

func scan(src string) ([]token, error) {
	s := &scanner{src: src, col: 1}
	toks := make([]token, 0, len(src)/4+4)
	for {
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		toks = append(toks, t)
		if t.kind == tokEnd {
			return toks, nil
		}
	}
}

func (s *scanner) fail(col int, format string, args ...any) error {
	return &Error{Col: col, Msg: fmt.Sprintf(format, args...), Src: s.src}
}

// at is the byte n places ahead, 0 past the end.
func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.src) {
		return s.src[s.pos+n]
	}
	return 0
}

// take moves over n bytes of ASCII and gives them.
func (s *scanner) take(n int) string {
	text := s.src[s.pos : s.pos+n]
	s.pos += n
	s.col += n
	return text
}

func (s *scanner) next() (token, error) {
	for isSpace(s.at(0)) {
		s.take(1)
	}
	if s.pos == len(s.src) {
		return token{kind: tokEnd, col: s.col}, nil
	}
	c := s.at(0)
	switch {
	case isDigit(c), c == '-' && isDigit(s.at(1)):
		return s.number()
	case isLetter(c):
		return s.name(), nil
	case c == '\'' || c == '"':
		return s.quoted()
	}
	return s.mark()
}

// name reads letters, digits, _ and inner hyphens: there is no subtraction, so
// step-2 can only be a name.
func (s *scanner) name() token {
	n := 1
	for isWord(s.at(n)) || s.at(n) == '-' && isWord(s.at(n+1)) {
		n++
	}
	col, at := s.col, s.pos
	return token{kind: tokName, text: s.take(n), col: col, at: at}
}

func (s *scanner) number() (token, error) {
	col := s.col
	n := numberLen(s.src[s.pos:])
	if isWord(s.at(n)) {
		return token{}, s.fail(col, "a name cannot start with a digit and a number cannot end in %q", s.at(n))
	}
	text := s.take(n)
	if len(text) > MaxDigits {
		return token{}, s.fail(col, "the number has %d characters, at most %d are allowed", len(text), MaxDigits)
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return token{}, s.fail(col, "the number %s is too large", text)
	}
	return token{kind: tokNumber, text: text, num: literal(text), col: col}, nil
}

func (s *scanner) quoted() (token, error) {
	open, col := s.at(0), s.col
	s.take(1)
	var b strings.Builder
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		switch {
		case r == utf8.RuneError && size == 1:
			return token{}, s.fail(s.col, "not valid UTF-8")
		case r == rune(open):
			s.take(1)
			return token{kind: tokString, text: b.String(), col: col}, nil
		case r == '\\':
			c, ok := unescape(s.at(1))
			if !ok {
				return token{}, s.fail(s.col, `unknown escape: a backslash stands before \, ', ", n or t, and is itself written \\`)
			}
			b.WriteByte(c)
			s.take(2)
		default:
			b.WriteRune(r)
			s.pos += size
			s.col++
		}
	}
	return token{}, s.fail(col, "the text that starts here is not closed")
}

func unescape(c byte) (byte, bool) {
	switch c {
	case '\\', '\'', '"':
		return c, true
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	}
	return 0, false
}

func (s *scanner) mark() (token, error) {
	col := s.col
	rest := s.src[s.pos:]
	for _, m := range wrongMarks {
		if strings.HasPrefix(rest, m.text) {
			return token{}, s.fail(col, "unexpected %q: %s", m.text, m.instead)
		}
	}
	for _, m := range marks {
		if strings.HasPrefix(rest, m) {
			return token{kind: tokMark, text: s.take(len(m)), col: col}, nil
		}
	}
	r, size := utf8.DecodeRuneInString(rest)
	if r == utf8.RuneError && size == 1 {
		return token{}, s.fail(col, "not valid UTF-8")
	}
	for _, m := range loneMarks {
		if r == rune(m.text[0]) {
			return token{}, s.fail(col, "unexpected %q: %s", m.text, m.instead)
		}
	}
	return token{}, s.fail(col, "unexpected character %q", r)
}

// marks are the operators and brackets, longer ones first.
var marks = []string{"==", "!=", "<=", ">=", "&&", "||", "<", ">", "(", ")", "[", "]", ",", "."}

type wrongMark struct{ text, instead string }

// wrongMarks are what people write who come from other languages.
var wrongMarks = []wrongMark{
	{"===", "did you mean \"==\"?"},
	{"!==", "did you mean \"!=\"?"},
	{"<>", "did you mean \"!=\"?"},
	{"{{", "a condition names a variable bare, without {{ }}"},
}

// loneMarks are looked at when no operator fits.
var loneMarks = []wrongMark{
	{"=", "did you mean \"==\"?"},
	{"&", "did you mean \"&&\"?"},
	{"|", "did you mean \"||\"?"},
	{"!", "did you mean \"not\"?"},
	{"+", "there is no arithmetic here"},
	{"-", "there is no arithmetic here"},
	{"*", "there is no arithmetic here"},
	{"/", "there is no arithmetic here"},
	{"$", "a condition names a variable bare, without $"},
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }

// numberLen is how many bytes at the start of s are a number; 0 when none are.
func numberLen(s string) int {
	at := func(i int) byte {
		if i < len(s) {
			return s[i]
		}
		return 0
	}
	digits := func(i int) int {
		for isDigit(at(i)) {
			i++
		}
		return i
	}
	n := 0
	if at(0) == '-' {
		n = 1
	}
	whole := digits(n)
	if whole == n {
		return 0
	}
	n = whole
	if at(n) == '.' && isDigit(at(n+1)) {
		n = digits(n + 1)
	}
	if at(n) == 'e' || at(n) == 'E' {
		e := n + 1
		if at(e) == '+' || at(e) == '-' {
			e++
		}
		if end := digits(e); end > e {
			n = end
		}
	}
	return n
}
