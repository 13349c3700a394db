package readable

import (
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// ownCodes are the escape sequences with which Belay colours its words.
var ownCodes = [...]string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"}

// maxSequence bounds how much of an escape sequence is waited for.
const maxSequence = 4 << 10

// Door is the last thing before a terminal: whatever a text brought along that
// a terminal would obey, or that turns the order of letters round, ends here.
// Names, values and logs come from outside, and one forgotten place would be
// enough.
type Door struct {
	w      io.Writer
	strict bool // no colours either: all of it comes from outside

	mu   sync.Mutex // owns what follows
	held []byte     // the beginning of a character or of a sequence
	out  []byte     // reused
}

// NewDoor is a door before a terminal.
func NewDoor(w io.Writer) *Door { return &Door{w: w} }

// Strict is a door for text that is all from outside, before the same terminal.
func (d *Door) Strict() *Door { return &Door{w: d.w, strict: true} }

// Fd is the descriptor of the terminal, so that others can ask it for its size.
func (d *Door) Fd() uintptr {
	if f, ok := d.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

func (d *Door) Write(p []byte) (int, error) { return d.Redraw("", p) }

// Redraw writes p behind moves of the cursor that Belay itself makes.
func (d *Door) Redraw(moves string, p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := p
	if len(d.held) > 0 {
		b = append(d.held, p...)
	}
	d.out = append(d.out[:0], moves...)
	for len(b) > 0 {
		n, shown, whole := d.next(b)
		if !whole && len(b) < maxSequence {
			break
		}
		if shown {
			d.out = append(d.out, b[:n]...)
		}
		b = b[n:]
	}
	d.held = append([]byte(nil), b...)
	if len(d.out) == 0 {
		return len(p), nil
	}
	if _, err := d.w.Write(d.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// next is the length of what comes first in b, whether it is shown, and whether
// all of it is there.
func (d *Door) next(b []byte) (n int, shown, whole bool) {
	if b[0] == 0x1b {
		n := escape(string(b[:min(len(b), maxSequence)]))
		whole := len(b) > 1 && (n < len(b) || ended(b[:n]))
		return n, !d.strict && slices.Contains(ownCodes[:], string(b[:n])), whole
	}
	if b[0] < utf8.RuneSelf {
		return 1, !obeyed(rune(b[0])), true
	}
	if !utf8.FullRune(b) {
		return len(b), false, false
	}
	r, n := utf8.DecodeRune(b)
	return n, (r != utf8.RuneError || n > 1) && !obeyed(r), true
}

// ended tells whether a sequence that goes to the end of what is there is whole.
func ended(seq []byte) bool {
	last := seq[len(seq)-1]
	switch seq[1] {
	case '[':
		return len(seq) > 2 && last >= 0x40 && last <= 0x7e
	case ']', 'P', '_', '^', 'X':
		return last == 0x07 || last == '\\' && seq[len(seq)-2] == 0x1b
	}
	return true
}
