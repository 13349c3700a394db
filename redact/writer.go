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
// beginning of a secret are held back, never many;
// Close passes them on. Close does not close w. The writer is for one goroutine.
func (r *Redactor) Writer(w io.Writer) *Writer {
	return &Writer{r: r, w: w}
}

// Writer is one stream in which secrets are hidden.
type Writer struct {
	r    *Redactor
	w    io.Writer
	held []byte // may be the beginning of a secret
	out  []byte // reused
	st   state
	err  error // the first error is the answer to every later call
}

// Finder tells whether something to hide stands in what it reads; nil when
// there is nothing to hide.
func (r *Redactor) Finder() func(io.Reader) bool {
	if r.Empty() {
		return nil
	}
	return func(in io.Reader) bool {
		w := r.Writer(io.Discard)
		_, err := io.Copy(w, in)
		return errors.Join(err, w.Close()) == nil && w.Hid() // what cannot be read is kept by nobody
	}
}

// Hid tells whether something was hidden so far.
func (w *Writer) Hid() bool { return w.st.hid }

func (w *Writer) Write(p []byte) (int, error) {
	if w.r.Empty() && w.err == nil {
		return w.w.Write(p)
	}
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

func (w *Writer) Close() error {
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
func (w *Writer) pass(b []byte, final bool) {
	if len(w.held) > 0 || final {
		w.held = append(w.held, b...)
		b = w.held
	}
	out, used := w.r.scan(w.out[:0], b, &w.st, final)
	w.out = out
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
