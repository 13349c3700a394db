package agent

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay"
)

// What a reader keeps is bounded, whatever a CLI prints.
const (
	maxText    = 8 << 20 // of the final text
	maxCause   = 600
	maxCommand = 2000
	maxHead    = 50 // tool calls kept from the beginning
	maxTail    = 50 // and from the end
	maxOpen    = 500
	maxDenied  = 50
	maxMutter  = 40 // lines of stderr
)

// book is what all readers keep: the facts so far.
type book struct {
	res     belay.AgentResult
	answer  text
	head    []*belay.ToolCall
	tail    []*belay.ToolCall
	open    map[string]*belay.ToolCall
	pending *fault   // what it retries after, until it goes on
	stderr  []string // the last lines
}

// text is a string that grows up to a limit and knows its true size.
type text struct {
	b    strings.Builder
	size int64
	full bool // something was left out: what follows it is no part of the beginning
}

func (t *text) add(s string) {
	t.size += int64(len(s))
	if t.full {
		return
	}
	t.full = t.size > maxText
	t.b.WriteString(cut(s, maxText-t.b.Len()))
}

func (t *text) set(s string) {
	*t = text{}
	t.add(s)
}

func life() []Sign { return []Sign{{Kind: SignLife}} }

// bad counts a line that is no record. It is a sign of life all the same.
func (b *book) bad(line []byte) []Sign {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	b.res.Bad++
	return life()
}

// start notes that the CLI is up.
func (b *book) start(session string) []Sign {
	b.knows(session)
	return []Sign{{Kind: SignStart, Session: session}}
}

// knows keeps the session; the last one told is the one to go on with.
func (b *book) knows(session string) {
	if session != "" {
		b.res.Session = session
	}
}

// say notes a piece of what the model says.
func (b *book) say(s string) []Sign {
	b.pending = nil
	b.answer.add(s)
	return []Sign{{Kind: SignText, Text: s}}
}

// begin notes that a tool began. What was said before it is not the final text.
func (b *book) begin(id string, call belay.ToolCall) []Sign {
	b.pending = nil
	b.answer.set("")
	c := b.keep(call)
	if id != "" && len(b.open) < maxOpen {
		if b.open == nil {
			b.open = map[string]*belay.ToolCall{}
		}
		c.Open = true
		b.open[id] = c
	}
	shown := *c
	shown.Open = true
	return []Sign{{Kind: SignTool, ID: id, Tool: &shown}}
}

// done notes that a tool ended. What the end tells is put over what the
// beginning told; an end without a beginning is a whole call.
func (b *book) done(id string, end belay.ToolCall) []Sign {
	b.pending = nil
	c, ok := b.open[id]
	if ok {
		delete(b.open, id)
		c.Open = false
	} else {
		b.answer.set("")
		c = b.keep(belay.ToolCall{Name: "unknown"}) // it began in an earlier process
	}
	if end.Name != "" {
		c.Name = end.Name
	}
	if end.Command != "" {
		c.Command = cut(end.Command, maxCommand)
	}
	if end.Path != "" {
		c.Path = cut(end.Path, maxCommand)
	}
	if end.Exit != nil {
		c.Exit = end.Exit
		c.Failed = *end.Exit != 0
	}
	c.Failed = c.Failed || end.Failed
	c.Denied = c.Denied || end.Denied
	shown := *c
	return []Sign{{Kind: SignDone, ID: id, Tool: &shown}}
}

// keep stores a call among the first or the last of them.
func (b *book) keep(call belay.ToolCall) *belay.ToolCall {
	call.Command = cut(call.Command, maxCommand)
	call.Path = cut(call.Path, maxCommand)
	call.Name = cut(call.Name, 200)
	c := &call
	b.res.ToolCount++
	if len(b.head) < maxHead {
		b.head = append(b.head, c)
		return c
	}
	if len(b.tail) == maxTail {
		b.tail = append(b.tail[:0], b.tail[1:]...)
	}
	b.tail = append(b.tail, c)
	return c
}

// deny notes that a tool was refused to the agent.
func (b *book) deny(name string) {
	name = cut(name, 200)
	for _, d := range b.res.Denied {
		if d == name {
			return
		}
	}
	if name != "" && len(b.res.Denied) < maxDenied {
		b.res.Denied = append(b.res.Denied, name)
	}
}

// retry notes that the CLI calls its model again.
func (b *book) retry(f fault) []Sign {
	b.res.Retries++
	b.pending = &f
	return []Sign{{Kind: SignRetry, Text: cut(f.text, maxCause), Wait: f.after}}
}

// fail sets the error flag and what is known of the error.
func (b *book) fail(f fault) {
	b.res.Error = true
	b.blame(f)
	if b.res.Stop == belay.StopUnknown {
		b.res.Stop = belay.StopError
	}
}

// blame notes what went wrong, without the error flag.
func (b *book) blame(f fault) {
	b.res.Class = f.class
	b.res.Status = f.status
	b.res.RetryAfter = f.after
	b.res.Reset = f.reset
	b.res.Cause = cut(strings.TrimSpace(f.text), maxCause)
}

// final notes the record that ends a run.
func (b *book) final() []Sign {
	b.pending = nil
	b.res.Final = true
	return []Sign{{Kind: SignFinal, Session: b.res.Session}}
}

// mutter keeps a line of stderr for the cause, and says nothing: a CLI that
// only writes warnings has not begun to work.
func (b *book) mutter(line []byte) []Sign {
	s := strings.TrimSpace(plain(string(line)))
	if s == "" {
		return nil
	}
	if len(b.stderr) == maxMutter {
		b.stderr = append(b.stderr[:0], b.stderr[1:]...)
	}
	b.stderr = append(b.stderr, cut(s, maxCause))
	return nil
}

// explain says what is known of an end that no record explains.
type explain func(code int, stderr []string) fault

// unknownExit is for a CLI whose exit codes and stderr tell nothing more.
func unknownExit(_ int, stderr []string) fault { return fault{text: last(stderr)} }

// end closes the book. A reason that only the process knows is asked for when
// it ended badly by itself and no record said why; a signal is left to the one
// who sent it.
func (b *book) end(e Exit, why explain) belay.AgentResult {
	r := &b.res
	r.Exit, r.Signal = e.Code, e.Signal
	r.Text, r.TextSize = b.answer.b.String(), b.answer.size
	r.Tools = nil
	for _, c := range append(b.head[:len(b.head):len(b.head)], b.tail...) {
		r.Tools = append(r.Tools, *c)
	}
	switch {
	case !r.Final && b.pending != nil:
		b.blame(*b.pending)
	case e.Code != 0 && e.Signal == 0 && r.Class == belay.ClassNone && r.Cause == "":
		f := why(e.Code, b.stderr)
		if f.class == belay.ClassNone {
			f.class = belay.ClassUnknown
		}
		b.blame(f)
	}
	if r.Error && r.Class == belay.ClassNone {
		r.Class = belay.ClassUnknown
	}
	b.wait(e.At)
	return *r
}

// wait fills in the times at which it is worth trying again: the typed ones
// first, then what the words of the error say.
func (b *book) wait(at time.Time) {
	r := &b.res
	if r.Cause == "" || r.RetryAfter > 0 || !r.Reset.IsZero() {
		return
	}
	r.RetryAfter = waitIn(r.Cause)
	if r.RetryAfter == 0 {
		r.Reset = resetIn(r.Cause, at)
	}
}

// cut shortens text to a number of bytes, never inside a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// plain takes the colours of a terminal out of a line.
func plain(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		j := i + 2
		for j < len(s) && (s[j] == ';' || s[j] >= '0' && s[j] <= '9') {
			j++
		}
		if j < len(s) {
			j++
		}
		s = s[:i] + s[j:]
	}
}
