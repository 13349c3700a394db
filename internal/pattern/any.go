package pattern

import (
	"regexp"
	"strings"
)

// Any is a regular expression that is asked only where it can match: each of its
// alternatives is compiled and tried when the text has one of the words that every
// match of it has. Most texts have none of them, and a look at a word is a
// thousand times cheaper than an expression.
type Any struct{ parts func() []part }

type part struct {
	words []string // folded; one of them is in every match; none = it must be tried
	re    func() *regexp.Regexp
}

// NewAny prepares an expression. One that is wrong is found when it is first tried.
func NewAny(expr string) *Any {
	return &Any{Table(func() []part {
		var parts []part
		flags := leadingFlags().FindString(expr)
		for _, alternative := range alternatives(expr) {
			// Words are folded, so that no flag changes them.
			parts = append(parts, part{needs(alternative[len(flags):]), Lazy(alternative)})
		}
		return parts
	})}
}

// In tells whether the expression matches somewhere in a text.
func (a *Any) In(t *Text) bool {
	for _, p := range a.parts() {
		if t.mayHave(p.words) && p.re().MatchString(t.whole) {
			return true
		}
	}
	return false
}

// alternatives splits an expression at its outermost bars. Flags at its beginning
// hold for all of them; one with other flags, quotes or named classes stays
// whole.
func alternatives(expr string) []string {
	flags := leadingFlags().FindString(expr)
	if otherFlags().MatchString(expr[len(flags):]) {
		return []string{expr}
	}
	var list []string
	depth, class, from := 0, 0, len(flags)
	for i := from; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\':
			i++
		case class > 0:
			if c == ']' && i > class { // not as the first of the class
				class = 0
			}
		case c == '[':
			class = i + 1
			if strings.HasPrefix(expr[class:], "^") {
				class++
			}
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			list = append(list, flags+expr[from:i])
			from = i + 1
		}
	}
	return append(list, flags+expr[from:])
}

var (
	leadingFlags = Lazy(`^\(\?[a-z]+\)`)
	otherFlags   = Lazy(`\(\?[a-zA-Z-]+\)|\\Q|\[:`)
)

// Text is a text with the three-letter pieces that are in it.
type Text struct {
	whole, folded string
	seen          [1 << 10]uint64 // a bit for each piece, by its hash
}

// NewText looks through a text once.
func NewText(s string) *Text {
	t := &Text{whole: s, folded: fold(s)}
	for i := 0; i+piece <= len(t.folded); i++ {
		h := hash(t.folded[i:])
		t.seen[h/64] |= 1 << (h % 64)
	}
	return t
}

// String is the text.
func (t *Text) String() string { return t.whole }

const piece = 3

func hash(s string) uint32 {
	return (uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2])) * 2654435761 >> 16
}

// mayHave tells whether one of the words can be in the text.
func (t *Text) mayHave(words []string) bool {
	for _, w := range words {
		if t.mayHold(w) {
			return true
		}
	}
	return len(words) == 0
}

func (t *Text) mayHold(word string) bool {
	if len(word) < piece {
		return strings.Contains(t.folded, word)
	}
	for i := 0; i+piece <= len(word); i++ {
		if h := hash(word[i:]); t.seen[h/64]&(1<<(h%64)) == 0 {
			return false
		}
	}
	return true
}

// fold makes all letters small that an expression without case takes for the same
// as one of a to z: two of those are not of ASCII.
func fold(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case strings.HasPrefix(s[i:], "ſ"):
			b, i = append(b, 's'), i+len("ſ")-1
		case strings.HasPrefix(s[i:], "\u212a"): // Kelvin
			b, i = append(b, 'k'), i+len("\u212a")-1
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
