package scripted

// endSize is how much of the beginning and of the end of an output is told.
const endSize = 32 << 10

// twoEnds keeps the beginning and the end of what is written to it.
type twoEnds struct {
	head, tail []byte
	left       bool // something between them was left out
}

func (t *twoEnds) Write(b []byte) (int, error) {
	n := len(b)
	fits := min(len(b), endSize-len(t.head))
	t.head, b = append(t.head, b[:fits]...), b[fits:]
	t.tail = append(t.tail, b[max(0, len(b)-endSize):]...)
	t.left = t.left || len(b) > endSize
	if over := len(t.tail) - endSize; over > 0 {
		t.tail = append(t.tail[:0], t.tail[over:]...)
		t.left = true
	}
	return n, nil
}

// String is what was kept; what was left out is a line of its own.
func (t *twoEnds) String() string {
	if t.left {
		return string(t.head) + "\n…\n" + string(t.tail)
	}
	return string(t.head) + string(t.tail)
}
