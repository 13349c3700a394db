package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// maxTail is how much of the end of the output travels with the exit.
const maxTail = 2 << 10

// output is where the streams of one attempt go. It never refuses bytes: a
// program must not hang because our disk is full.
type output struct {
	mu     sync.Mutex
	log    segments
	out    *capture // nil: stdout is not wanted as a value
	door   any      // the filter of stdout, if there is one
	tail   []byte   // of standard error, or of both streams where they are one
	std    []byte   // the tail of standard output, where that is wanted as a value
	sum    hash.Hash
	size   int64
	fault  fault.Fault
	detail string
}

func newOutput(s *Spawn) *output {
	o := &output{log: newSegments(s.Log, s.MaxLog)}
	if s.Out != "" {
		o.out = newCapture(s.Out, s.MaxOut)
	}
	return o
}

// sink is the end of one stream.
type sink struct {
	o   *output
	std bool // standard output
}

func (s sink) Write(p []byte) (int, error) {
	if len(p) > 0 {
		s.o.take(p, s.std)
	}
	return len(p), nil
}

func (s sink) Close() error { return nil } // the output outlives its streams

func (o *output) take(p []byte, std bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sum == nil {
		o.sum = sha256.New()
	}
	o.sum.Write(p)
	o.size += int64(len(p))
	if err := o.log.write(p); err != nil {
		o.fail(fault.Disk, err.Error())
	}
	if !std || o.out == nil {
		o.tail = keepTail(o.tail, p)
		return
	}
	o.std = keepTail(o.std, p)
	if bad, err := o.out.write(p); err != nil {
		o.fail(bad, err.Error())
	}
}

// fail keeps the first fault; what follows is often its echo.
func (o *output) fail(f fault.Fault, detail string) {
	if o.fault == fault.None {
		o.fault, o.detail = f, detail
	}
}

// settle closes the files and writes what was seen into the exit.
func (o *output) settle(e *Exit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.log.close(); err != nil {
		o.fail(fault.Disk, err.Error())
	}
	e.LogSize, e.LogKept = o.size, o.log.kept
	e.LogSha, e.Tail = digest(o.sum), joinTails(cleanTail(o.std), cleanTail(o.tail))
	if o.out != nil {
		if err := o.out.close(); err != nil {
			o.fail(fault.Disk, err.Error())
		}
		e.OutSize, e.OutSha, e.OutInline = o.out.size, digest(o.out.sum), o.out.inline()
		if d, ok := o.door.(interface{ Hid() bool }); ok {
			e.Hidden = d.Hid()
		}
	}
	if e.Fault == fault.None {
		e.Fault, e.Detail = o.fault, o.detail
	}
}

func digest(h hash.Hash) string {
	if h == nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func keepTail(tail, p []byte) []byte {
	if len(p) >= maxTail {
		return append(tail[:0], p[len(p)-maxTail:]...)
	}
	if over := len(tail) + len(p) - maxTail; over > 0 {
		tail = tail[:copy(tail, tail[over:])]
	}
	return append(tail, p...)
}

// joinTails puts the tail of standard error behind that of standard output. Of two pipes
// nobody knows what was printed first, and the same failure has to read the same each time.
func joinTails(out, talk []byte) []byte {
	if len(out) == 0 {
		return talk
	}
	if len(talk) == 0 {
		return out
	}
	if out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	const half = maxTail / 2
	out = lastOf(out, max(half, maxTail-len(talk)))
	return append(out, lastOf(talk, maxTail-len(out))...)
}

// lastOf is the end of a text, beginning with a whole rune.
func lastOf(text []byte, most int) []byte {
	at := max(0, len(text)-most)
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}

// cleanTail makes the tail valid: a rune that was cut at its start is dropped,
// other bad bytes are replaced.
func cleanTail(tail []byte) []byte {
	if len(tail) == maxTail {
		for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
			tail = tail[1:]
		}
	}
	if utf8.Valid(tail) {
		return tail
	}
	return lastOf([]byte(strings.ToValidUTF8(string(tail), string(utf8.RuneError))), maxTail) // replacing made it longer
}

// capture keeps standard output as a value: in memory while it is small, then
// in a file.
type capture struct {
	path string
	max  int64
	mem  []byte
	file *os.File
	sum  hash.Hash
	size int64
	over bool // past the limit, or the disk refused: nothing more is taken
}

func newCapture(path string, limit int64) *capture {
	if limit <= 0 {
		limit = DefaultMaxOut
	}
	return &capture{path: path, max: limit}
}

func (c *capture) write(p []byte) (fault.Fault, error) {
	if c.over {
		return fault.None, nil
	}
	if c.size+int64(len(p)) > c.max {
		c.over = true
		return fault.Output, fmt.Errorf("output is over %d bytes", c.max)
	}
	if c.sum == nil {
		c.sum = sha256.New()
	}
	c.sum.Write(p)
	c.size += int64(len(p))
	if c.file == nil && c.size <= belay.MaxInline {
		c.mem = append(c.mem, p...)
		return fault.None, nil
	}
	if err := c.spill(p); err != nil {
		c.over = true
		return fault.Disk, err
	}
	return fault.None, nil
}

func (c *capture) spill(p []byte) error {
	if c.file == nil {
		f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("open output: %w", err)
		}
		c.file = f
		if _, err := f.Write(c.mem); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		c.mem = nil
	}
	if _, err := c.file.Write(p); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// close puts a big output on disk: the exit that names it comes after. One that
// is not whole is of use to nobody and is removed.
func (c *capture) close() error {
	if c.file == nil {
		return nil
	}
	if c.over {
		if err := errors.Join(c.file.Close(), os.Remove(c.path)); err != nil {
			return fmt.Errorf("remove output: %w", err)
		}
		return nil
	}
	if err := c.file.Sync(); err != nil {
		_ = c.file.Close() // the first error is what counts
		return fmt.Errorf("sync output: %w", err)
	}
	if err := c.file.Close(); err != nil {
		return fmt.Errorf("close output: %w", err)
	}
	return nil
}

// inline is the whole output when it is small and whole.
func (c *capture) inline() []byte {
	if c.file != nil || c.over {
		return nil
	}
	return c.mem
}
