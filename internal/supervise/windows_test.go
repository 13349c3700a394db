package supervise

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

// moment is one thing that happens at a time after the start: a sign, or a
// look at the clock, and what the watch must ask for then.
type moment struct {
	at   time.Duration
	sign *agent.Sign // nil: a look at the clock
	want act         // text: a part of it
}

func said(text string) *agent.Sign { return &agent.Sign{Kind: agent.SignText, Text: text} }
func kind(k agent.SignKind) *agent.Sign {
	return &agent.Sign{Kind: k, Session: "s-1", ID: "call"}
}
func waits(d time.Duration) *agent.Sign {
	return &agent.Sign{Kind: agent.SignRetry, Text: "529", Wait: d}
}
func note(n effect.NoteKind) act { return act{kind: actNote, note: n} }
func kill(e effect.EndedBy) act  { return act{kind: actKill, why: e} }
func stop(e effect.EndedBy) act  { return act{kind: actInterrupt, why: e} }

const sec, mnt = time.Second, time.Minute

// promise: F2
func TestWatch(t *testing.T) {
	t.Parallel()
	good := agent.Traits{Streams: true, Resumes: true}
	for name, c := range map[string]struct {
		traits  agent.Traits
		preset  bool
		resumes int
		windows Windows
		moments []moment
	}{
		"never a word": {traits: good, resumes: 1, moments: []moment{
			{at: 59 * sec}, {at: 60 * sec, want: note(effect.NoteQuiet)}, {at: 61 * sec},
			{at: 119 * sec}, {at: 120 * sec, want: kill(effect.EndedFirst)},
		}},
		"never a word of one with a preset id: there may be no session yet": {traits: good, preset: true, resumes: 1, moments: []moment{
			{at: 61 * sec, want: note(effect.NoteQuiet)}, {at: 120 * sec, want: kill(effect.EndedFirst)},
		}},
		"never a word of one that does not stream": {traits: agent.Traits{}, moments: []moment{
			{at: 9 * mnt}, {at: 10 * mnt, want: note(effect.NoteQuiet)}, {at: 20 * mnt, want: kill(effect.EndedFirst)},
		}},
		"a retry, then long thinking": {traits: good, resumes: 1, moments: []moment{
			{at: 1 * sec, sign: waits(0), want: note(effect.NoteRetry)}, {at: 2 * sec, sign: kind(agent.SignModel)},
			{at: 7 * mnt, sign: kind(agent.SignLife)}, {at: 11 * mnt}, {at: 12 * mnt, sign: kind(agent.SignModel)}, {at: 13 * mnt},
		}},
		"silence": {traits: good, resumes: 1, moments: []moment{
			{at: 1 * sec, sign: kind(agent.SignStart)}, {at: 5 * mnt},
			{at: 5*mnt + sec, want: note(effect.NoteQuiet)}, {at: 9 * mnt},
			{at: 10*mnt + sec, want: stop(effect.EndedSilence)},
		}},
		"silence, and no session is known": {traits: good, resumes: 1, moments: []moment{
			{at: 0, sign: said("hm")}, {at: 5 * mnt, want: note(effect.NoteQuiet)}, {at: 10 * mnt, want: kill(effect.EndedSilence)},
		}},
		"silence, and the preset session began": {traits: good, preset: true, resumes: 1, moments: []moment{
			{at: 0, sign: said("hm")}, {at: 10 * mnt, want: stop(effect.EndedSilence)},
		}},
		"silence of one that cannot go on": {traits: agent.Traits{Streams: true}, resumes: 1, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 10 * mnt, want: kill(effect.EndedSilence)},
		}},
		"silence, and no resume is left": {traits: good, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 10 * mnt, want: kill(effect.EndedSilence)},
		}},
		"silence of one that does not stream": {traits: agent.Traits{Resumes: true}, resumes: 1, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 9 * mnt}, {at: 10 * mnt, want: note(effect.NoteQuiet)},
			{at: 19 * mnt}, {at: 20 * mnt, want: stop(effect.EndedSilence)},
		}},
		"life starts the window again": {traits: good, resumes: 1, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 9 * mnt, want: note(effect.NoteQuiet)},
			{at: 9*mnt + sec, sign: kind(agent.SignLife)}, {at: 13 * mnt}, {at: 15 * mnt, want: note(effect.NoteQuiet)},
			{at: 19*mnt + sec, want: stop(effect.EndedSilence)},
		}},
		"a tool may take longer": {traits: good, resumes: 1, moments: []moment{
			{at: 0, sign: kind(agent.SignTool)}, {at: 14 * mnt}, {at: 15 * mnt, want: note(effect.NoteQuiet)},
			{at: 29 * mnt}, {at: 30 * mnt, want: stop(effect.EndedTool)},
		}},
		"a tool that ended does not": {traits: good, resumes: 1, moments: []moment{
			{at: 0, sign: kind(agent.SignTool)}, {at: mnt, sign: kind(agent.SignDone)},
			{at: 7 * mnt, want: note(effect.NoteQuiet)}, {at: 11 * mnt, want: stop(effect.EndedSilence)},
		}},
		"babble by size": {traits: good, resumes: 1, windows: Windows{BabbleChars: 10}, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 1 * sec, sign: said("12345")}, {at: 2 * sec},
			{at: 3 * sec, sign: said("6")}, {at: 4 * sec}, {at: 5 * sec, sign: said("7890")}, {at: 5 * sec, want: note(effect.NoteQuiet)},
			{at: 6 * sec, sign: said("x")}, {at: 7 * sec}, {at: 8 * sec, sign: said("y")}, {at: 9 * sec, want: stop(effect.EndedBabble)},
		}},
		"a long answer is no babble": {traits: good, resumes: 1, windows: Windows{BabbleChars: 10}, moments: []moment{
			{at: 1 * sec, sign: said("12345")}, {at: 2 * sec, sign: said("an answer that is long")}, {at: 3 * sec},
			{at: 4 * sec, sign: kind(agent.SignFinal)}, {at: 5 * sec},
		}},
		"a tool is no babble": {traits: good, resumes: 1, windows: Windows{BabbleChars: 10}, moments: []moment{
			{at: 1 * sec, sign: said("12345")}, {at: 2 * sec, sign: kind(agent.SignTool)}, {at: 3 * sec, sign: kind(agent.SignDone)},
			{at: 4 * sec, sign: said("123456")}, {at: 4 * sec, sign: said("7")}, {at: 5 * sec, want: note(effect.NoteQuiet)}, {at: 6 * sec},
		}},
		"babble by time": {traits: good, resumes: 1, windows: Windows{Babble: 10 * mnt, Silence: time.Hour}, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 0, sign: said("a")}, {at: 4 * mnt, sign: said("b")},
			{at: 5 * mnt, want: note(effect.NoteQuiet)}, {at: 9 * mnt, sign: said("c")}, {at: 10 * mnt, want: stop(effect.EndedBabble)},
		}},
		"nothing but retries": {traits: good, resumes: 1, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 1 * mnt, sign: waits(0), want: note(effect.NoteRetry)},
			{at: 5 * mnt, sign: waits(0)}, {at: 10 * mnt, sign: waits(0)}, {at: 10 * mnt},
			{at: 11 * mnt, want: kill(effect.EndedRetries)},
		}},
		"a sign of life between retries is no progress": {traits: good, resumes: 1, moments: []moment{
			{at: 1 * mnt, sign: waits(0), want: note(effect.NoteRetry)}, {at: 8 * mnt, sign: kind(agent.SignLife)},
			{at: 11 * mnt, want: kill(effect.EndedRetries)},
		}},
		"text ends a row of retries": {traits: good, resumes: 1, moments: []moment{
			{at: 1 * mnt, sign: waits(0), want: note(effect.NoteRetry)}, {at: 8 * mnt, sign: said("at last")},
			{at: 11 * mnt}, {at: 12 * mnt, sign: waits(0), want: note(effect.NoteRetry)},
		}},
		"a wait that is too long is not waited for": {traits: good, resumes: 1, moments: []moment{
			{at: 1 * mnt, sign: waits(time.Hour), want: kill(effect.EndedRetries)},
		}},
		"a wait past the deadline": {traits: good, windows: Windows{Timeout: 5 * mnt}, moments: []moment{
			{at: 4 * mnt, sign: waits(2 * mnt), want: kill(effect.EndedRetries)},
		}},
		"the deadline comes whatever it says": {traits: good, resumes: 1, windows: Windows{Timeout: 5 * mnt}, moments: []moment{
			{at: 0, sign: kind(agent.SignStart)}, {at: 5*mnt - 1, sign: said("nearly")}, {at: 5 * mnt, want: kill(effect.EndedDeadline)},
		}},
		"six hours are enough": {traits: good, moments: []moment{
			{at: 6*time.Hour - 1, sign: kind(agent.SignTool)}, {at: 6 * time.Hour, want: kill(effect.EndedDeadline)},
		}},
		"an end that does not end": {traits: good, resumes: 1, moments: []moment{
			{at: 0, sign: kind(agent.SignTool)}, {at: 1 * sec, sign: kind(agent.SignFinal)},
			{at: 31 * sec, want: note(effect.NoteQuiet)}, {at: 61 * sec, want: kill(effect.EndedSilence)},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			v := newWatch(c.windows, c.traits, c.preset, c.resumes, began)
			for i, m := range c.moments {
				var got act
				if m.sign != nil {
					got = v.sign(began.Add(m.at), *m.sign)
				} else {
					got = v.tick(began.Add(m.at))
				}
				if got.kind != m.want.kind || got.why != m.want.why || got.note != m.want.note {
					t.Fatalf("moment %d at %s: %+v, want %+v", i, m.at, got, m.want)
				}
				if (got.kind == actKill || got.kind == actInterrupt) && got.text == "" {
					t.Fatalf("moment %d: no reason is told", i)
				}
			}
		})
	}
}

// The second hang of one attempt is its end.
func TestWatchOnceMore(t *testing.T) {
	t.Parallel()
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	v := newWatch(Windows{}, agent.Traits{Streams: true, Resumes: true}, false, 1, began)
	v.sign(began, *kind(agent.SignTool))
	if got := v.tick(began.Add(30 * mnt)); got.kind != actInterrupt {
		t.Fatalf("first time: %+v", got)
	}
	at := began.Add(31 * mnt)
	v.begin(at)
	if got := v.tick(at.Add(mnt)); got.kind != actNote || !strings.Contains(got.text, string(effect.EndedFirst)) {
		t.Fatalf("a new process has its own first window: %+v", got)
	}
	v.sign(at.Add(mnt), *kind(agent.SignStart))
	if got := v.tick(at.Add(11 * mnt)); got.kind != actKill || got.why != effect.EndedSilence {
		t.Fatalf("second time: %+v", got)
	}
}

// Who tells of no tools is measured by the size of its answer alone: by the
// bytes of its lines and the ends between them, to the byte.
// promise: F2
func TestWatchAnswer(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	v := newWatch(Windows{BabbleChars: 3, Babble: sec}, agent.Traits{Untold: true, Resumes: true}, false, 1, at)
	v.most = 7
	for _, line := range []string{"123", "", "45"} { // 3+1+0+1+2
		if got := v.sign(at, *said(line)); got.kind != actNone {
			t.Fatalf("after %q: %+v", line, got)
		}
		if got := v.tick(at.Add(mnt)); got.kind != actNone {
			t.Fatalf("a minute after %q: %+v", line, got)
		}
	}
	if got := v.sign(at, *said("")); got.kind != actKill || got.why != effect.EndedOutput {
		t.Fatalf("one byte more: %+v", got)
	}
}

// However many tools an agent begins, what is kept of them is bounded.
func TestWatchManyTools(t *testing.T) {
	t.Parallel()
	at := time.Now()
	v := newWatch(Windows{}, agent.Traits{Streams: true}, false, 0, at)
	for i := range 50_000 {
		v.sign(at, agent.Sign{Kind: agent.SignTool, ID: strconv.Itoa(i)})
	}
	if why, _ := v.window(); why != effect.EndedTool || len(v.tools) > maxRunning {
		t.Fatalf("%s, %d tools", why, len(v.tools))
	}
}
