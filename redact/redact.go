// Package redact hides secrets in bytes on their way to a log, a record or a
// screen: values that it is given, as they are and in the usual encodings, and
// whatever has the well-known shape of a key or token. What it does not find it
// passes on untouched, byte for byte.
//
// It refuses to guess: a hash or an id that merely looks random is left alone,
// values shorter than MinLen are not hidden (they would hide half of every
// log), and it reads no environment and no file by itself.
package redact

import (
	"cmp"
	"slices"
)

// Replacement stands where a secret was.
const Replacement = "[REDACTED]"

// MinLen is the length in bytes from which a value is hidden.
const MinLen = 6

// Redactor hides a fixed set of values, and tokens of well-known shapes. The
// zero value hides nothing. It is read only after New, so any number of
// goroutines may share it.
//
// A value can be written in too many ways to list them all. But the first three
// bytes of all these ways are few: a table of bits tells at which places of a
// text a secret may begin, and only there it is read character by character.
type Redactor struct {
	patterns []pattern
	spelled  spelled
	starts   starts          // first bytes → patterns
	filter   *filter         // knows the first bytes
	short    map[string]bool // beginnings of the first bytes
	shaped   bool            // tokens are hidden by their shape too
}

// New makes a redactor for the values, their encodings and the shapes of
// tokens. Blanks around a value do not count as part of it. Of a value with
// several lines each line is hidden too, of one that is JSON each string, and at
// the end of a text the beginning of any of them: what was cut off there.
func New(values []string) *Redactor {
	r := Values(values)
	r.shaped = true
	r.filter.addTokens()
	return r
}

// Values is a redactor for the values alone, without shapes.
func Values(values []string) *Redactor {
	r := &Redactor{patterns: patterns(values), filter: &filter{}}
	if len(r.patterns) > 0 {
		r.index()
	}
	return r
}

// startLen is how many bytes tell whether a closer look is worth the time.
const startLen = 3

func (r *Redactor) index() {
	r.spelled, r.short = spelled{}, map[string]bool{}
	lists := map[uint32][]int{}
	for i := range r.patterns {
		p := &r.patterns[i]
		r.spelled.add(p)
		r.spelled.starts(p, 0, "", func(start string) {
			for n := 1; n < startLen; n++ {
				r.short[start[:n]] = true
			}
			key := word([]byte(start))
			if list := lists[key]; len(list) == 0 || list[len(list)-1] != i {
				lists[key] = append(list, i)
			}
		})
	}
	for key := range lists {
		r.filter.add(key)
	}
	r.starts = newStarts(lists)
}

// Empty tells whether there is nothing to hide.
func (r *Redactor) Empty() bool { return len(r.patterns) == 0 && !r.shaped }

// Bytes is b with every secret replaced. It is b itself when there is nothing
// to hide, and never changes b.
func (r *Redactor) Bytes(b []byte) []byte {
	out, _ := r.Hide(b)
	return out
}

// Hide is Bytes, and tells whether there was something to hide.
func (r *Redactor) Hide(b []byte) (out []byte, hid bool) {
	if r.Empty() {
		return b, false
	}
	var st state
	out, _ = r.scan(make([]byte, 0, len(b)), b, &st, true)
	if !st.hid {
		return b, false
	}
	return out, true
}

// String is s with every secret replaced.
func (r *Redactor) String(s string) string {
	if r.Empty() {
		return s
	}
	return string(r.Bytes([]byte(s)))
}

// state is what is known of a stream between two pieces of it.
type state struct {
	prev   [2]byte // the last bytes that were settled
	hidden int     // how many of the bytes to come belong to a secret already replaced
	open   class   // it goes on behind them for as long as these do
	key    int     // where the body of a private key goes on, if it does
	hid    bool    // something was replaced
	spans  []span  // reused
	shapes []span  // reused
}

// scan appends what may be shown of b to dst. It stops at the first byte that
// may be the beginning of a secret whose rest is still to come, unless this is
// the final piece, and says how many bytes it used. Secrets that overlap are
// replaced as one, so that none leaves its rest behind.
func (r *Redactor) scan(dst, b []byte, st *state, final bool) (out []byte, used int) {
	s := shapes{b: b, prev: st.prev, final: final, hold: len(b), spans: st.shapes[:0]}
	end, open := st.hidden, class(0) // all before end is hidden already
	if r.shaped {
		end, open = s.goOn(st)
	}
	spans, used := r.starting(b, final, st.spans[:0], &s)
	if r.shaped {
		s.find()
		st.shapes = s.spans
		spans, used = append(spans, s.spans...), min(used, s.hold)
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		used = unmarked(spans, used)
	}
	st.spans = spans
	shown := min(end, used)
	for _, p := range spans {
		if p.from >= used {
			break
		}
		if p.from >= end {
			dst = append(append(dst, b[shown:p.from]...), Replacement...)
			st.hid = true
		}
		end, open = max(end, p.to), open|p.open
		shown = min(end, used)
		if p.open == classKey {
			st.key = p.to
		}
	}
	st.hidden, st.open, st.key = max(0, end-used), open, max(0, st.key-used)
	st.remember(b[:used])
	return append(dst, b[shown:used]...), used
}

// unmarked is the last place up to used at which no secret is cut from the mark
// by which it is known.
func unmarked(spans []span, used int) int {
	for again := true; again; {
		again = false
		for _, p := range spans {
			if p.mark < used && p.from >= used {
				used, again = p.mark, true
			}
		}
	}
	return used
}

func (st *state) remember(b []byte) {
	switch n := len(b); {
	case n >= 2:
		st.prev = [2]byte{b[n-2], b[n-1]}
	case n == 1:
		st.prev = [2]byte{st.prev[1], b[0]}
	}
}

// starting adds the places of all values, and those of tokens to s, and says up to
// where b is judged.
func (r *Redactor) starting(b []byte, final bool, spans []span, s *shapes) ([]span, int) {
	if r.Empty() {
		return spans, len(b)
	}
	for i := r.filter.next(b, 0); i < len(b); i = r.filter.next(b, i+1) {
		if r.shaped {
			s.at(i)
		}
		length, wait := r.look(b[i:], final)
		if wait {
			return spans, i
		}
		if length == 0 {
			continue
		}
		if n := len(spans); n > 0 && i < spans[n-1].to {
			spans[n-1].to = max(spans[n-1].to, i+length)
		} else {
			spans = append(spans, span{mark: i, from: i, to: i + length})
		}
	}
	return spans, len(b)
}

// look says what begins with b: the longest secret there (0: none), or that
// more bytes are needed to tell.
func (r *Redactor) look(b []byte, final bool) (length int, wait bool) {
	if len(r.patterns) == 0 {
		return 0, false
	}
	if len(b) < startLen {
		return 0, !final && r.short[string(b)] // no secret is as short as that
	}
	for _, k := range r.starts.of(word(b)) {
		p := &r.patterns[k]
		n, head, more := r.spelled.match(p, b)
		if more && !final {
			return 0, true
		}
		if more && p.cutAt(head) {
			n = len(b) // the text was cut off in the middle of it
		}
		length = max(length, n)
	}
	return length, false
}
