package supervise

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

// Windows are the limits of patience with an agent.
type Windows struct {
	First       time.Duration `json:"first,omitempty"`        // to the first sign, of a CLI that prints as it goes
	Silence     time.Duration `json:"silence,omitempty"`      // without any sign; twice that for a CLI that prints only at the end
	Tool        time.Duration `json:"tool,omitempty"`         // without any sign while a tool runs
	Babble      time.Duration `json:"babble,omitempty"`       // of text without a tool or an end
	BabbleChars int64         `json:"babble_chars,omitempty"` // the same, in bytes of text
	Retries     time.Duration `json:"retries,omitempty"`      // of nothing but retries
	Linger      time.Duration `json:"linger,omitempty"`       // from the final record to the exit
	Timeout     time.Duration `json:"timeout,omitempty"`      // of the whole attempt
	Gentle      time.Duration `json:"gentle,omitempty"`       // from the interrupt to KILL
}

// DefaultWindows is what an order that says nothing gets.
func DefaultWindows() Windows {
	return Windows{
		First: 2 * time.Minute, Silence: 10 * time.Minute, Tool: 30 * time.Minute,
		Babble: 30 * time.Minute, BabbleChars: 200_000, Retries: 10 * time.Minute,
		Linger: time.Minute, Timeout: 6 * time.Hour, Gentle: 5 * time.Second,
	}
}

// orDefault fills in what is not set.
func (w Windows) orDefault() Windows {
	d := DefaultWindows()
	for _, f := range []struct{ have, want *time.Duration }{
		{&w.First, &d.First}, {&w.Silence, &d.Silence}, {&w.Tool, &d.Tool}, {&w.Babble, &d.Babble},
		{&w.Retries, &d.Retries}, {&w.Linger, &d.Linger}, {&w.Timeout, &d.Timeout}, {&w.Gentle, &d.Gentle},
	} {
		if *f.have <= 0 {
			*f.have = *f.want
		}
	}
	if w.BabbleChars <= 0 {
		w.BabbleChars = d.BabbleChars
	}
	return w
}

// maxRunning is how many tools that run at once are told apart.
const maxRunning = 1000

// actKind is the closed list of what the watch asks for.
type actKind string

const (
	actNone      actKind = ""
	actNote      actKind = "note"
	actInterrupt actKind = "interrupt" // end it gently and go on with its session
	actKill      actKind = "kill"
)

// act is what the watch asks for, and why.
type act struct {
	kind actKind
	why  effect.EndedBy  // actInterrupt, actKill
	note effect.NoteKind // actNote
	text string
}

// watch decides from signs and the time what is to be done about an agent. It
// has no clock of its own.
type watch struct {
	w       Windows
	streams bool
	resumes bool  // the CLI can go on with a session
	preset  bool  // the session's id was given to it
	untold  bool  // it tells of no tools: all that it says is its answer
	most    int64 // bytes of an answer; 0 = no limit
	left    int   // how often it may still be interrupted and gone on with

	began    time.Time // the attempt
	started  time.Time // this process
	last     time.Time // the last sign of life
	talk     time.Time // since when it only talks; zero: it does not
	chars    int64     // how much it said since then
	earlier  int64     // the same, less what it said last: that may be its answer
	retrying time.Time // since when it only retries; zero: it does not
	tools    map[string]bool
	anon     int  // tools without an id that run
	heard    bool // any sign of this process
	session  bool // its session is known
	final    bool
	noted    bool // the quiet time was noted
	warned   bool // the talk was noted
}

func newWatch(w Windows, t agent.Traits, preset bool, resumes int, began time.Time) *watch {
	v := &watch{w: w.orDefault(), streams: t.Streams, untold: t.Untold, resumes: t.Resumes, preset: preset, left: resumes, began: began}
	v.begin(began)
	return v
}

// begin says that a process was started.
func (v *watch) begin(at time.Time) {
	v.started, v.last, v.tools, v.anon = at, at, map[string]bool{}, 0
	v.talk, v.chars, v.earlier, v.retrying = time.Time{}, 0, 0, time.Time{}
	v.heard, v.final, v.noted, v.warned = false, false, false, false
}

// sign takes in one sign.
func (v *watch) sign(at time.Time, s agent.Sign) act {
	v.heard, v.last, v.noted = true, at, false
	v.session = v.session || s.Session != "" || v.preset
	switch s.Kind {
	case agent.SignRetry:
		return v.retry(at, s)
	case agent.SignText:
		if v.talk.IsZero() {
			v.talk = at
		}
		v.earlier, v.chars = v.chars, v.chars+int64(len(s.Text))
		v.retrying = time.Time{}
		if v.untold {
			return v.answer()
		}
	case agent.SignTool:
		v.open(s.ID)
		v.progress()
	case agent.SignDone:
		v.shut(s.ID)
		v.progress()
	case agent.SignFinal:
		v.final = true
		v.tools, v.anon = map[string]bool{}, 0
		v.progress()
	case agent.SignModel: // a call of the model came through
		v.retrying = time.Time{}
	case agent.SignStart, agent.SignLife:
	}
	return act{}
}

// answer counts a line of an answer, with its end: the last has none.
func (v *watch) answer() act {
	if v.chars++; v.most > 0 && v.chars-1 > v.most {
		return v.tooMuch()
	}
	return act{}
}

// tooMuch ends an agent whose answer is over the limit: nothing that it may
// still say could mend that.
func (v *watch) tooMuch() act {
	return act{kind: actKill, why: effect.EndedOutput, text: fmt.Sprintf("its answer has more than %d bytes", v.most)}
}

func (v *watch) progress() {
	v.talk, v.chars, v.earlier, v.retrying, v.warned = time.Time{}, 0, 0, time.Time{}, false
}

func (v *watch) open(id string) {
	if id == "" {
		v.anon++
		return
	}
	if len(v.tools) < maxRunning { // as many say the same as more
		v.tools[id] = true
	}
}

func (v *watch) shut(id string) {
	switch {
	case id != "":
		delete(v.tools, id)
	case v.anon > 0:
		v.anon--
	}
}

// retry takes in that the CLI calls the model again: it lives, but it gets
// nowhere. A wait that goes past the end of our patience is not waited for.
func (v *watch) retry(at time.Time, s agent.Sign) act {
	first := v.retrying.IsZero()
	if first {
		v.retrying = at
	}
	if left := v.patience(at); s.Wait > left {
		return act{kind: actKill, why: effect.EndedRetries, text: fmt.Sprintf("it wants to wait %s, and %s are left", s.Wait, left)}
	}
	if !first {
		return act{}
	}
	return act{kind: actNote, note: effect.NoteRetry, text: s.Text}
}

// patience is how long a CLI that only retries has left.
func (v *watch) patience(at time.Time) time.Duration {
	return min(v.began.Add(v.w.Timeout).Sub(at), v.retrying.Add(v.w.Retries).Sub(at))
}

// stood takes in that nobody could do anything for a time, the agent as little
// as we: what it did not say or do then is not held against it. The keeper has
// the last word on the time of an attempt, by the clock.
func (v *watch) stood(now time.Time, d time.Duration) {
	for _, since := range []*time.Time{&v.began, &v.last, &v.talk, &v.retrying} {
		if since.IsZero() {
			continue
		}
		if *since = since.Add(d); since.After(now) { // it came when the standstill was over
			*since = now
		}
	}
}

// tick looks at the clock.
func (v *watch) tick(at time.Time) act {
	if at.Sub(v.began) >= v.w.Timeout && v.retrying.IsZero() {
		return act{kind: actKill, why: effect.EndedDeadline, text: fmt.Sprintf("its time of %s is over", v.w.Timeout)}
	}
	if !v.retrying.IsZero() && v.patience(at) <= 0 {
		return act{kind: actKill, why: effect.EndedRetries, text: fmt.Sprintf("it has only retried for %s", at.Sub(v.retrying).Round(time.Millisecond))}
	}
	if v.babbles(at, 1) {
		return v.enough(effect.EndedBabble, fmt.Sprintf("%d characters in %s without a tool or an end", v.chars, v.talked(at)))
	}
	why, window := v.window()
	quiet := at.Sub(v.last)
	switch {
	case quiet >= window:
		return v.enough(why, fmt.Sprintf("nothing within %s", window))
	case quiet >= window/2 && !v.noted:
		v.noted = true
		return act{kind: actNote, note: effect.NoteQuiet, text: fmt.Sprintf("%s: %s of %s have passed", why, quiet.Round(time.Millisecond), window)}
	case v.babbles(at, 2) && !v.warned:
		v.warned = true
		return act{kind: actNote, note: effect.NoteQuiet, text: fmt.Sprintf("%s: %d characters without a tool or an end", effect.EndedBabble, v.chars)}
	}
	return act{}
}

// babbles tells whether it has talked for a part of what is allowed. What it
// said last may be its answer, and that may be long: it counts once more comes.
// Who tells of no tools is not asked for any.
func (v *watch) babbles(at time.Time, part int64) bool {
	return !v.untold && (v.earlier > v.w.BabbleChars/part || v.talked(at) >= v.w.Babble/time.Duration(part))
}

// talked is for how long it has only talked.
func (v *watch) talked(at time.Time) time.Duration {
	if v.talk.IsZero() {
		return 0
	}
	return at.Sub(v.talk)
}

// window is the one that counts now.
func (v *watch) window() (effect.EndedBy, time.Duration) {
	silence := v.w.Silence
	if !v.streams {
		silence *= 2
	}
	switch {
	case v.final:
		return effect.EndedSilence, v.w.Linger
	case !v.heard && v.streams:
		return effect.EndedFirst, v.w.First
	case !v.heard:
		return effect.EndedFirst, max(silence, v.w.First) // it has nothing to say before its end
	case len(v.tools)+v.anon > 0:
		return effect.EndedTool, v.w.Tool
	}
	return effect.EndedSilence, silence
}

// enough is the end of a window: once more if it can be, else the end.
func (v *watch) enough(why effect.EndedBy, text string) act {
	a := act{kind: actKill, why: why, text: string(why) + ": " + text}
	if v.resumes && v.session && v.left > 0 && !v.final {
		v.left--
		a.kind = actInterrupt
	}
	return a
}
