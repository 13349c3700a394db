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
	"bytes"
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
// It searches values in the way of Wu and Manber: the block of three bytes at the end
// of a window as long as the shortest pattern tells how far the window can
// move, so most bytes of a log are never looked at.
type Redactor struct {
	sorted [][]byte         // all patterns in byte order, to ask for a prefix
	window int              // length of the shortest pattern
	shift  []uint8          // block → how far the window may move; 0: look closer
	bucket map[uint16][]int // block at the window's end → patterns, longest first
	shaped bool             // tokens are hidden by their shape too
}

// New makes a redactor for the values, their encodings and the shapes of
// tokens. Blanks around a value do not count as part of it.
func New(values []string) *Redactor {
	r := Values(values)
	r.shaped = true
	return r
}

// Values is a redactor for the values alone, without shapes.
func Values(values []string) *Redactor {
	r := &Redactor{sorted: patterns(values)}
	if len(r.sorted) == 0 {
		return r
	}
	r.window = min(maxWindow, len(slices.MinFunc(r.sorted, byLen)))
	r.index()
	return r
}

const (
	blockLen  = 3
	blockBits = 15
	maxWindow = 64 // a longer one moves no faster and would not fit the table
)

func byLen(a, b []byte) int { return cmp.Compare(len(a), len(b)) }

// block is the slot of the three bytes that end before b[end].
func block(b []byte, end int) uint16 {
	h := uint32(b[end-3]) | uint32(b[end-2])<<8 | uint32(b[end-1])<<16
	return uint16(h * 2654435761 >> (32 - blockBits))
}

func (r *Redactor) index() {
	r.shift = make([]uint8, 1<<blockBits)
	for i := range r.shift {
		r.shift[i] = uint8(r.window - blockLen + 1)
	}
	r.bucket = map[uint16][]int{}
	for i, p := range r.sorted {
		for end := blockLen; end <= r.window; end++ {
			h := block(p, end)
			r.shift[h] = min(r.shift[h], uint8(r.window-end))
		}
		last := block(p, r.window)
		r.bucket[last] = append(r.bucket[last], i)
	}
	for _, list := range r.bucket {
		slices.SortFunc(list, func(a, b int) int { return byLen(r.sorted[b], r.sorted[a]) })
	}
}

// Empty tells whether there is nothing to hide.
func (r *Redactor) Empty() bool { return len(r.sorted) == 0 && !r.shaped }

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
}

// scan appends what may be shown of b to dst. It stops at the first byte that
// may be the beginning of a secret whose rest is still to come, unless this is
// the final piece, and says how many bytes it used. Secrets that overlap are
// replaced as one, so that none leaves its rest behind.
func (r *Redactor) scan(dst, b []byte, st *state, final bool) (out []byte, used int) {
	spans, used := r.values(b, final, st.spans[:0])
	end, open := st.hidden, class(0) // all before end is hidden already
	if r.shaped {
		s := shapes{b: b, prev: st.prev, final: final, spans: spans, hold: len(b)}
		end, open = s.goOn(st)
		s.find()
		spans, used = s.spans, min(used, s.hold)
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

// values adds the places of all values, and says up to where b is judged.
func (r *Redactor) values(b []byte, final bool, spans []span) ([]span, int) {
	if len(r.sorted) == 0 {
		return spans, len(b)
	}
	i := 0
	for i < len(b) {
		length, step, wait := r.look(b, i, final)
		if wait {
			break
		}
		if length > 0 {
			if n := len(spans); n > 0 && i < spans[n-1].to {
				spans[n-1].to = max(spans[n-1].to, i+length)
			} else {
				spans = append(spans, span{mark: i, from: i, to: i + length})
			}
		}
		i += step
	}
	return spans, i
}

// look says what begins at b[i]: the longest secret there (0: none), how far
// the next place worth a look is, or that more bytes are needed to tell.
func (r *Redactor) look(b []byte, i int, final bool) (length, step int, wait bool) {
	if i+r.window > len(b) {
		if final { // no secret is as short as what is left
			return 0, len(b) - i, false
		}
		return 0, 1, r.begins(b[i:])
	}
	h := block(b, i+r.window)
	if s := r.shift[h]; s > 0 {
		return 0, int(s), false
	}
	rest := b[i:]
	for _, k := range r.bucket[h] {
		p := r.sorted[k]
		if len(rest) >= len(p) {
			if bytes.Equal(rest[:len(p)], p) {
				return len(p), 1, false
			}
		} else if !final && bytes.Equal(rest, p[:len(rest)]) {
			return 0, 0, true // longer ones come first, so the longest wins
		}
	}
	return 0, 1, false
}

// begins tells whether some pattern begins with all of b.
func (r *Redactor) begins(b []byte) bool {
	i, _ := slices.BinarySearchFunc(r.sorted, b, bytes.Compare)
	return i < len(r.sorted) && bytes.HasPrefix(r.sorted[i], b)
}
