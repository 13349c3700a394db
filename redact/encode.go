package redact

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// kind is how a pattern is written.
type kind uint8

const (
	kindText   kind = iota // as text, each character in any of its spellings
	kindBase64             // in base64 of either alphabet, which may be broken into lines
	kindHex                // as hex digits, with or without something between the bytes
)

// pattern is one thing to look for.
type pattern struct {
	kind kind
	text string // the value; its characters in base64
	sure int    // how many of the first bytes of text can be written in one way that begins as they do
	cut  int    // how many of them at the end of a text are the beginning of a secret that was cut off
}

// patterns is what to look for, each once, in a fixed order.
func patterns(values []string) []pattern {
	var all []pattern
	for _, v := range values {
		v = strings.TrimSpace(v) // a newline after the value in a file is often lost on the way
		if len(v) < MinLen {
			continue
		}
		all = append(all, sought(v)...)
		for _, part := range partsOf(v) {
			all = append(all, sought(part)...)
		}
	}
	slices.SortFunc(all, func(a, b pattern) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.text, b.text), cmp.Compare(a.cut, b.cut))
	})
	return slices.CompactFunc(all, func(a, b pattern) bool { return a.kind == b.kind && a.text == b.text })
}

// sought is a value in all the ways in which it is looked for.
func sought(v string) []pattern {
	cut := open(v) + minPart
	list := []pattern{{kind: kindText, text: v, cut: cut}, {kind: kindHex, text: v, cut: cut}}
	for _, text := range windows(v) {
		if len(text) >= MinLen {
			list = append(list, pattern{kind: kindBase64, text: text, sure: len(text), cut: (cut*8 + 5) / 6})
		}
	}
	return list
}

// minRest is how long the rest of a window is that is looked for by itself.
const minRest = 8

// windows is how v looks inside the base64 of a longer text, at each of the
// three places it can begin at. Characters that also hold bits of a neighbour
// are left off, since they differ from text to text; at the end of the text the
// last one has no neighbour, and there may be padding.
//
// Before the third character of a pattern no line may break (a line that ends
// with the right letter would be held back), so windows without their first
// characters are there too.
func windows(v string) []string {
	var out []string
	for lead := range 3 {
		padded := append(make([]byte, lead), v...)
		from := (8*lead + 5) / 6
		to := max(from, 8*len(padded)/6) // nothing has no window
		whole := base64.StdEncoding.EncodeToString(padded)
		window := whole[from:to]
		out = append(out, window)
		if end := strings.TrimRight(whole, "="); len(end) > to {
			out = append(out, end[from:], whole[from:])
		}
		for skip := 1; skip < 3 && len(window)-skip >= minRest; skip++ {
			out = append(out, window[skip:])
		}
	}
	return out
}

// The bytes that may stand between those of a pattern.
var (
	breaks   = []string{"\n", "\r\n", `\n`, `\r\n`, `\\n`, "%0A", "%0D%0A", "%0a", "%0d%0a", "\n ", "\r\n ", "\n\t", "&#10;"}
	dividers = []string{" ", ":", "-", "%", `\x`, `\\x`, " 0x", ", 0x", ",0x", ", "}
	both     = append(slices.Clone(dividers), breaks...)
)

// firstBreak is how many characters come before a line may break.
const firstBreak = 3

// gaps is what may stand before unit k of a pattern.
func (p *pattern) gaps(k int) []string {
	switch {
	case p.kind == kindText || k == 0:
		return nil
	case p.kind == kindHex && k < firstBreak:
		return dividers
	case p.kind == kindHex:
		return both
	case k < firstBreak:
		return nil
	}
	return breaks
}

// unit is the part of the text at k that is written as one.
func (p *pattern) unit(k int) string {
	if p.kind != kindText || p.text[k] < utf8.RuneSelf {
		return p.text[k : k+1]
	}
	_, size := utf8.DecodeRuneInString(p.text[k:])
	return p.text[k : k+size]
}
