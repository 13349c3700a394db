package redact

import (
	"errors"
	"io"
)

// piece is how much of a big write is looked at in one go; it bounds the memory.
const piece = 64 << 10

// ErrClosed is the answer to a write after Close.
var ErrClosed = errors.New("redacting writer is closed")

// Writer hides secrets in what is written to it and passes the rest to w. A
// secret is found however the writes cut it. Only bytes that may be the
// beginning of a secret are held back, fewer than the longest pattern has;
// Close passes them on. Close does not close w. The writer is for one goroutine.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	if r.Empty() {
		return through{w}
	}
	return &writer{r: r, w: w}
}

// through is the writer that has nothing to hide.
type through struct{ io.Writer }

func (through) Close() error { return nil }

type writer struct {
	r      *Redactor
	w      io.Writer
	held   []byte // may be the beginning of a secret
	out    []byte // reused
	hidden int    // how many bytes of held belong to a secret already replaced
	err    error  // the first error is the answer to every later call
}

func (w *writer) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if w.err != nil {
			return done, w.err
		}
		n := min(piece, len(p)-done)
		w.pass(p[done:done+n], false)
		if w.err != nil {
			return done, w.err
		}
		done += n
	}
	return done, w.err
}

func (w *writer) Close() error {
	if w.err != nil {
		if errors.Is(w.err, ErrClosed) {
			return nil
		}
		return w.err
	}
	w.pass(nil, true)
	err := w.err
	if err == nil {
		w.err = ErrClosed
	}
	w.held, w.out = nil, nil
	return err
}

// pass takes in b and hands on what is settled.
func (w *writer) pass(b []byte, final bool) {
	if len(w.held) > 0 || final {
		w.held = append(w.held, b...)
		b = w.held
	}
	out, used, hidden := w.r.scan(w.out[:0], b, w.hidden, final)
	w.out, w.hidden = out, hidden
	w.held = append(w.held[:0], b[used:]...) // moves to the front when b is held itself
	if len(out) == 0 {
		return
	}
	n, err := w.w.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	w.err = err
}
