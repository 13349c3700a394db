package redact

import (
	"bytes"
)

// span is a part of the bytes that is hidden.
type span struct {
	mark     int // where that begins by which it is known
	from, to int
	open     class // it goes on behind the end of what is known so far
}

// shapes looks for the shapes of secrets in one piece. What it says of a place
// depends only on the bytes from there on and the two before it, so that it
// says the same however the text is cut.
type shapes struct {
	b     []byte
	prev  [2]byte // the bytes before b
	final bool    // nothing comes after b
	spans []span
	hold  int                       // the first byte that cannot be judged yet
	ends  [8]struct{ from, to int } // of each class, the run that was measured last
}

// find adds the spans of all secrets by shape but those of tokens, for which at
// is called.
func (s *shapes) find() {
	s.marked(keyBegin, s.key)
	s.marked(urlMark, s.password)
}

// goOn is how far the secrets go on that the last piece ended with, and which
// of them do not end here either. A key may have stopped before the others, at
// dashes that could end it.
func (s *shapes) goOn(st *state) (end int, open class) {
	end = st.hidden
	for c := classAlnum; c != 0; c <<= 1 {
		if st.open&c == 0 {
			continue
		}
		var to int
		var more class
		if c == classKey {
			to, more = s.keyEnd(st.key)
			st.key = to
		} else if to = s.end(c, st.hidden); to == len(s.b) && !s.final {
			more = c
		}
		end, open = max(end, to), open|more
	}
	return end, open
}

// wait says that the bytes from i on cannot be judged yet.
func (s *shapes) wait(i int) { s.hold = min(s.hold, i) }

// before is the byte n places in front of i.
func (s *shapes) before(i, n int) byte {
	if i >= n {
		return s.b[i-n]
	}
	return s.prev[2-(n-i)]
}

// begins tells whether a word begins at i. The n of \n is no letter of it.
func (s *shapes) begins(i int) bool {
	c := s.before(i, 1)
	if sets[c]&classWord == 0 {
		return true
	}
	return (c == 'n' || c == 't' || c == 'r') && s.before(i, 2) == '\\'
}

// at looks for a token, and for the name of the header that carries one, at a place
// where the first bytes of one stand.
func (s *shapes) at(i int) {
	c := s.b[i]
	for k := range tokens[c] {
		s.token(i, &tokens[c][k])
	}
	switch c {
	case signed[0]:
		s.signed(i)
	case authorization[0], authorization[0] - 'a' + 'A':
		s.header(i)
	}
}

// whole tells whether b has the text at i; it waits when b ends within it.
func (s *shapes) whole(i int, text string) bool {
	rest := s.b[i:]
	if len(rest) < len(text) {
		if !s.final && string(rest) == text[:len(rest)] {
			s.wait(i)
		}
		return false
	}
	return string(rest[:len(text)]) == text
}

func (s *shapes) token(i int, k *token) {
	if !s.whole(i, k.prefix) || !k.strong && !s.begins(i) {
		return
	}
	from := i + len(k.prefix)
	to := s.end(k.body, from)
	switch n := to - from; {
	case n <= k.least && to == len(s.b) && !s.final && (k.exact || n < k.least):
		s.wait(i)
	case n < k.least, k.exact && n > k.least, k.mixed && !mixed(s.b[from:from+k.least]):
	case k.exact:
		s.add(i, i, to, 0)
	default:
		s.add(i, i, to, k.body)
	}
}

// mixed tells a key from words with dashes between them.
func mixed(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' }) >= 0
}

func (s *shapes) signed(i int) {
	if !s.whole(i, signed) || !s.begins(i) {
		return
	}
	dot := s.end(classDash, i)
	if dot-i > maxPart || dot-i < signedPart && dot < len(s.b) {
		return
	}
	if dot == len(s.b) {
		if !s.final {
			s.wait(i)
		}
		return
	}
	if s.b[dot] != '.' {
		return
	}
	second := s.end(classDash, dot+1)
	switch {
	case second-dot-1 >= signedPart:
		s.add(i, i, s.end(classToken, i), classToken)
	case second == len(s.b) && !s.final:
		s.wait(i)
	}
}

// add notes a secret; with a class it goes on for as long as that does.
func (s *shapes) add(mark, from, to int, c class) {
	if to < len(s.b) || s.final {
		c = 0
	}
	s.spans = append(s.spans, span{mark, from, to, c})
}

// end is where the run of a class that begins at i ends.
func (s *shapes) end(c class, i int) int {
	memo := &s.ends[slot(c)]
	if i >= memo.from && i < memo.to { // many places of one run ask
		return memo.to
	}
	to := i
	for to < len(s.b) && sets[s.b[to]]&c != 0 {
		to++
	}
	memo.from, memo.to = i, to
	return to
}

// slot is the number of a class's only bit.
func slot(c class) int {
	n := 0
	for c > 1 {
		c >>= 1
		n++
	}
	return n
}
