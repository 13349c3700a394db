package supervise

import "bytes"

// maxHeld is how much of a line without an end waits for it.
const maxHeld = 64 << 10

// whole passes a stream on in whole lines. Two streams share one log, where
// secrets are looked for: a line of one in the middle of a line of the other
// would cut a secret in two that nobody finds any more.
type whole struct {
	to   *tap
	held []byte
}

func (w *whole) write(b []byte) {
	end := bytes.LastIndexByte(b, '\n') + 1
	switch {
	case end == 0:
		w.held = append(w.held, b...)
	case len(w.held) == 0:
		w.to.write(b[:end])
		w.held = append(w.held, b[end:]...)
	default:
		w.held = append(w.held, b[:end]...)
		w.flush()
		w.held = append(w.held, b[end:]...)
	}
	if len(w.held) > maxHeld {
		w.flush()
	}
}

func (w *whole) flush() {
	w.to.write(w.held)
	w.held = w.held[:0]
}
