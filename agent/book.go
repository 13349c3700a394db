package agent

import (
	"bytes"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// What a reader keeps is bounded, whatever a CLI prints.
const (
	maxShown   = 1 << 20 // of a text that is longer than MaxAnswer
	maxCause   = 600
	maxCommand = 2000
	maxHead    = 50 // tool calls kept from the beginning
	maxTail    = 50 // and from the end
	maxOpen    = 500
	maxDenied  = 50
	maxMutter  = 40 // lines of stderr
	maxName    = 200
	maxSession = 1000 // a longer id is none
)

// book is what all readers keep: the facts so far.
type book struct {
	res     belay.AgentResult
	answer  text
	head    []*belay.ToolCall
	tail    []*belay.ToolCall
	open    map[string]*belay.ToolCall
	whole   map[string]string          // the commands of open calls that were cut
	held    int                        // bytes of them
	failed  map[string]*belay.ToolCall // ended, and not well: a later record may tell that they were refused
	pending *fault                     // what it retries after, until it goes on
	stderr  []string                   // the last lines
	told    string                     // of those that are gone, the last that says what happened
	hide    func(string) string
}

// text is a string that grows up to a limit and knows its true size.
type text struct {
	b    strings.Builder
	size int64
	full bool // something was left out: what follows it is no part of the beginning
	lost int  // a line of it was longer than this, and was not read; 0 = none was
}

func (t *text) add(s string) {
	t.size += int64(len(s))
	if t.full {
		return
	}
	if t.full = t.size > MaxAnswer; !t.full {
		t.b.WriteString(s)
		return
	}
	before := t.b.String() // it is no answer any more: enough is kept to show
	t.b.Reset()
	t.b.WriteString(cut(before, maxShown))
	if t.b.Len() == len(before) {
		t.b.WriteString(cut(s, maxShown-len(before)))
	}
}

func (t *text) set(s string) {
	*t = text{}
	t.add(s)
}

func life() []Sign { return []Sign{{Kind: SignLife}} }

// each reads all records of a line.
func (b *book) each(line []byte, one func(record) []Sign) []Sign {
	recs := records(line)
	if recs == nil {
		return b.bad(line)
	}
	var signs []Sign
	for _, rec := range recs {
		signs = append(signs, one(rec)...)
	}
	return signs
}

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
	if len(session) > maxSession {
		session = ""
	}
	return []Sign{{Kind: SignStart, Session: session}}
}

// knows keeps the session; the last one told is the one to go on with.
func (b *book) knows(session string) {
	if session != "" && len(session) <= maxSession {
		b.res.Session = session
	}
}

// thinks notes that the model is at work: what was retried has come through.
func (b *book) thinks() []Sign {
	b.pending = nil
	return []Sign{{Kind: SignModel}}
}

// say notes a piece of what the model says.
func (b *book) say(s string) []Sign {
	b.pending = nil
	b.answer.add(s)
	return []Sign{{Kind: SignText, Text: s}}
}

// retry notes that the CLI calls its model again.
func (b *book) retry(f fault) []Sign {
	b.res.Retries++
	b.pending = &f
	return []Sign{{Kind: SignRetry, Text: b.short(f.text, maxCause), Wait: f.after}}
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
	b.res.Cause = b.short(strings.TrimSpace(f.text), maxCause)
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
	s := words(line)
	if s == "" {
		return nil
	}
	if len(b.stderr) == maxMutter {
		if telling().MatchString(b.stderr[0]) {
			b.told = b.stderr[0]
		}
		b.stderr = append(b.stderr[:0], b.stderr[1:]...)
	}
	b.stderr = append(b.stderr, b.short(s, maxWords))
	return nil
}

// explain says what is known of an end that no record explains.
type explain func(code int, stderr []string) fault

// unknownExit is for a CLI whose exit codes and stderr tell nothing more.
func unknownExit(_ int, stderr []string) fault { return fault{text: reason(stderr)} }

// end closes the book. A reason that only the process knows is asked for when
// it ended badly by itself and no record said why; a signal is left to the one
// who sent it.
func (b *book) end(e Exit, why explain) belay.AgentResult {
	r := &b.res
	r.Exit, r.Signal = e.Code, e.Signal
	r.Text, r.TextSize = b.answer.b.String(), b.answer.size
	if b.answer.lost > 0 {
		r.Cut = LongLine(b.answer.lost)
	}
	r.Tools = nil
	for _, c := range append(b.head[:len(b.head):len(b.head)], b.tail...) {
		r.Tools = append(r.Tools, *c)
	}
	switch {
	case !r.Final && b.pending != nil:
		b.blame(*b.pending)
	case e.Code != 0 && e.Signal == 0 && r.Class == belay.ClassNone && r.Cause == "":
		said := b.stderr
		if b.told != "" {
			said = append([]string{b.told}, said...)
		}
		f := why(e.Code, said)
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

func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}
