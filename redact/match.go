package redact

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// spelled knows the spellings of all that the patterns are made of.
type spelled map[kind]map[string][]string

// add notes the spellings of a pattern's parts, and how far it is sure.
func (s spelled) add(p *pattern) {
	if s[p.kind] == nil {
		s[p.kind] = map[string][]string{}
	}
	known, sure := s[p.kind], p.kind == kindText
	for k := 0; k < len(p.text); {
		unit := p.unit(k)
		forms, met := known[unit]
		if !met {
			forms = p.kind.forms(unit)
			known[unit] = forms
		}
		sure = sure && !slices.ContainsFunc(forms, func(f string) bool { return f != unit && f[0] == unit[0] })
		k += len(unit)
		if sure {
			p.sure = k
		}
	}
}

// forms are the ways to write a unit of a pattern; none when it is only itself.
func (k kind) forms(unit string) []string {
	switch k {
	case kindHex:
		lower := hex.EncodeToString([]byte(unit))
		return slices.Compact([]string{lower, strings.ToUpper(lower)})
	case kindBase64:
		switch unit {
		case "+":
			return append(spellings(unit), "-")
		case "/":
			return append(spellings(unit), "_")
		}
	case kindText:
	}
	return spellings(unit)
}

// maxWays bounds in how many ways the beginning of a text is read at once.
const maxWays = 32

// ways are the places up to which a text can be read as the beginning of a
// pattern. There is more than one where a byte may be an escape or itself.
type ways struct {
	at   [maxWays]int
	n    int
	more bool // another reading goes on behind the end of the text
}

func (w *ways) add(i int) {
	if w.n < maxWays && !slices.Contains(w.at[:w.n], i) {
		w.at[w.n] = i
		w.n++
	}
}

// try adds the place behind form, when that stands at i.
func (w *ways) try(b []byte, i int, form string) {
	rest := b[i:]
	switch {
	case len(rest) >= len(form):
		if string(rest[:len(form)]) == form {
			w.add(i + len(form))
		}
	case string(rest) == form[:len(rest)]:
		w.more = true
	}
}

// match tells how many bytes at the beginning of b spell the pattern (0: none),
// and whether bytes behind b could make that more; head is how much of the
// pattern was read then.
func (s spelled) match(p *pattern, b []byte) (length, head int, more bool) {
	k := sureHead(p, b)
	if k < p.sure && k < len(b) && alnum(b[k]) && b[k] != p.text[k] {
		return 0, 0, false // no escape begins with a letter or a digit
	}
	return s.read(p, b, k)
}

// read is match from byte k on, of which all before is as in the pattern.
func (s spelled) read(p *pattern, b []byte, k int) (length, head int, more bool) {
	var one, two ways
	now, next := &one, &two
	now.add(k)
	known := s[p.kind]
	for k < len(p.text) {
		for _, gap := range p.gaps(k) {
			for n := 0; n < now.n; n++ {
				now.try(b, now.at[n], gap)
			}
		}
		unit := p.unit(k)
		next.n, next.more = 0, now.more
		forms := known[unit]
		for _, i := range now.at[:now.n] {
			if forms == nil {
				next.try(b, i, unit)
				continue
			}
			for _, form := range forms {
				next.try(b, i, form)
			}
		}
		if next.n == 0 {
			return 0, k, next.more
		}
		now, next = next, now
		k += len(unit)
	}
	return slices.Max(now.at[:now.n]), k, now.more
}

// sureHead is how much of a pattern stands at the beginning of b as it is, and
// can stand there in no other way. Most of what is looked at ends here.
func sureHead(p *pattern, b []byte) int {
	most := min(p.sure, len(b))
	n := 0
	for n+64 <= most && string(b[n:n+64]) == p.text[n:n+64] {
		n += 64
	}
	for n+8 <= most && string(b[n:n+8]) == p.text[n:n+8] { // one comparison of a word
		n += 8
	}
	for n < most && b[n] == p.text[n] {
		n++
	}
	for n > 0 && n < len(p.text) && p.kind == kindText && !utf8.RuneStart(p.text[n]) {
		n-- // all of a character or nothing
	}
	return n
}

// starts calls found with the first bytes of every way to write a pattern.
func (s spelled) starts(p *pattern, k int, so string, found func(string)) {
	if len(so) >= startLen {
		found(so[:startLen])
		return
	}
	unit := p.unit(k)
	forms := s[p.kind][unit]
	if forms == nil {
		forms = []string{unit}
	}
	for _, gap := range append([]string{""}, p.gaps(k)...) {
		for _, form := range forms {
			s.starts(p, k+len(unit), so+gap+form, found)
		}
	}
}
