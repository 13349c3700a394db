package supervise

import (
	"bytes"
	"slices"
)

const (
	maxLine  = 24 << 20 // an answer of agent.MaxAnswer fits in a record, with its escapes
	keepHead = 4 << 10  // of a line that is too long
	keepLine = 1 << 20  // a buffer that grew past this is let go after its line
)

// lines cuts a stream of any bytes into lines. What is longer than max is left
// out and counted, so that the memory is bounded whatever comes.
type lines struct {
	max  int
	buf  []byte
	over bool // the line that is being read is too long
	long int  // how many were

	past func(head []byte) // told of each such line, with its beginning; nil = nobody asks
}

// feed takes in the next bytes and hands on each line that they end, without
// its end. The slice is good only until each returns.
func (l *lines) feed(p []byte, each func([]byte)) {
	for len(p) > 0 {
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			l.hold(p)
			return
		}
		switch {
		case l.over:
		case len(l.buf) == 0 && at <= l.max:
			each(trimCR(p[:at]))
		default:
			if l.hold(p[:at]); !l.over {
				each(trimCR(l.buf))
			}
		}
		l.next()
		p = p[at+1:]
	}
}

// end hands on what came after the last line end.
func (l *lines) end(each func([]byte)) {
	if len(l.buf) > 0 && !l.over {
		each(trimCR(l.buf))
	}
	l.next()
}

func (l *lines) hold(p []byte) {
	switch {
	case l.over:
	case len(l.buf)+len(p) > l.max:
		head := l.head(p)
		l.over, l.buf = true, nil
		l.long++
		if l.past != nil {
			l.past(head)
		}
	default:
		l.buf = append(l.buf, p...)
	}
}

// head is how a line begins that ends up too long.
func (l *lines) head(p []byte) []byte {
	h := slices.Clone(l.buf[:min(len(l.buf), keepHead)])
	return append(h, p[:min(len(p), keepHead-len(h))]...)
}

func (l *lines) next() {
	l.over = false
	if cap(l.buf) > keepLine {
		l.buf = nil
	}
	l.buf = l.buf[:0]
}

func trimCR(b []byte) []byte { return bytes.TrimSuffix(b, []byte{'\r'}) }
