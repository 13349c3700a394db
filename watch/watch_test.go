package watch

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
)

var rules = Rules{Poll: time.Minute, Stall: 30 * time.Minute, Resumes: 3, Total: 10}

// world is one run under a watch with a clock of its own.
type world struct {
	t     *testing.T
	now   Clock
	run   Run
	mem   Memory
	rules Rules
	last  Decision
	told  int // events that were new
	start int // drivers that were started
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, rules: rules,
		now: Clock{Boot: "b1", Awake: time.Hour, Wall: time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)},
		run: Run{ID: "r", Status: belay.Running, Begun: true, Owner: OwnerAlive, Driver: "d1"},
	}
}

// pass lets time go by and looks once at its end; the memory goes through JSON,
// as it does when a watch is killed and started again.
func (w *world) pass(d time.Duration) Decision {
	w.now.Awake += d
	w.now.Wall = w.now.Wall.Add(d)
	kept, err := w.mem.Text()
	if err != nil {
		w.t.Fatal(err)
	}
	mem, err := Recall(kept)
	if err != nil {
		w.t.Fatal(err)
	}
	w.last, w.mem = Decide(w.run, mem, w.rules, w.now)
	if !w.last.Shown {
		w.told++
	}
	if w.last.Start {
		w.start++
	}
	return w.last
}

// ticks looks every minute for a while.
func (w *world) ticks(d time.Duration) Decision {
	for range int(d / time.Minute) {
		w.pass(time.Minute)
	}
	return w.last
}

func (w *world) want(e Event, words string) {
	w.t.Helper()
	if w.last.Event != e || !strings.Contains(w.last.Reason, words) {
		w.t.Errorf("got %s %q, want %s with %q", w.last.Event, w.last.Reason, e, words)
	}
}

// promise: W2, W3, W4, W9, W13
func TestStall(t *testing.T) {
	for name, play := range map[string]func(w *world){
		"S01 nothing finished": func(w *world) {
			w.ticks(32 * time.Minute)
			w.want(NeedsYou, "nothing was finished for more than 30m")
			if w.last.Rest || w.last.Code() != exit.Held {
				w.t.Errorf("%+v", w.last)
			}
		},
		"S02 S09 finished work": func(w *world) {
			for range 10 {
				w.ticks(20 * time.Minute)
				w.run.Done++
			}
			w.pass(time.Minute)
			w.want(Running, "")
		},
		"S06 a watch that comes back later": func(w *world) {
			w.pass(0)
			w.pass(31 * time.Minute)
			w.want(NeedsYou, "")
		},
		"S07 before and after": func(w *world) {
			w.pass(0)
			w.pass(30 * time.Minute)
			w.want(Running, "")
			w.pass(time.Second)
			w.want(NeedsYou, "")
		},
		"S11 another driver has the whole time": func(w *world) {
			w.pass(0)
			w.run.Driver = "d2"
			w.pass(29 * time.Minute)
			w.pass(29 * time.Minute)
			w.want(Running, "")
		},
		"S12 an agent within its own limit": func(w *world) {
			w.pass(0)
			w.run.Allowed = w.now.Wall.Add(45 * time.Minute)
			w.ticks(44 * time.Minute)
			w.want(Running, "within their own limits")
		},
		"S20 an agent beyond its limit": func(w *world) {
			w.pass(0)
			w.run.Allowed = w.now.Wall.Add(45 * time.Minute)
			w.ticks(46 * time.Minute)
			w.want(NeedsYou, "")
		},
		"S16 attempts that end and begin, and nothing is finished": func(w *world) {
			w.pass(0)
			for i := range 40 {
				w.run.Tried, w.run.Allowed, w.run.Until = i, w.now.Wall.Add(6*time.Hour), w.now.Wall.Add(2*time.Minute)
				w.pass(time.Minute)
			}
			w.want(NeedsYou, "nothing was finished for more than 30m, in 5 or more attempts")
		},
		"S17 a memory of long ago, and work went on": func(w *world) {
			w.pass(0)
			w.run.Done = 7
			w.pass(5 * time.Hour)
			w.want(Running, "")
		},
		"S10 a memory that knows little, and nothing moves": func(w *world) {
			w.mem = Memory{Done: 3}
			w.run.Done = 3
			w.pass(0)
			w.pass(31 * time.Minute)
			w.want(NeedsYou, "")
		},
		"S18 a count that goes down and up again": func(w *world) {
			w.run.Done = 3
			w.pass(0)
			for i := range 40 {
				w.run.Done = 2 + int64(i%2)
				w.pass(time.Minute)
			}
			w.want(NeedsYou, "")
		},
		"S19 dead before its first record": func(w *world) {
			w.run.Begun, w.run.Owner = false, OwnerDead
			w.pass(0)
			w.want(Stale, "")
			w.ticks(4 * time.Minute)
			w.want(NeedsYou, "before the first record")
		},
		"suspended for a night": func(w *world) {
			w.ticks(20 * time.Minute)
			w.now.Wall = w.now.Wall.Add(9 * time.Hour) // the machine was not awake
			w.ticks(5 * time.Minute)
			w.want(Running, "")
		},
		"stopped by a signal for a night": func(w *world) {
			w.ticks(20 * time.Minute)
			w.run.Owner = OwnerFrozen
			w.ticks(9 * time.Hour)
			w.want(Running, "stopped by a signal")
			w.run.Owner = OwnerAlive
			w.ticks(5 * time.Minute)
			w.want(Running, "driven")
			w.ticks(10 * time.Minute)
			w.want(NeedsYou, "")
		},
		"the clock on the wall jumps": func(w *world) {
			w.ticks(10 * time.Minute)
			w.now.Wall = w.now.Wall.Add(-72 * time.Hour)
			w.ticks(10 * time.Minute)
			w.want(Running, "")
			w.now.Wall = w.now.Wall.Add(300 * time.Hour)
			w.pass(time.Minute)
			w.want(Running, "")
		},
		"a tree that another run has": func(w *world) {
			w.run.Waits = "the tree of run x"
			w.ticks(5 * time.Hour)
			w.want(Running, "waits for the tree of run x")
		},
		"a retry in an hour": func(w *world) {
			w.pass(0)
			w.run.Waits, w.run.Until = "a retry", w.now.Wall.Add(time.Hour)
			w.ticks(59 * time.Minute)
			w.want(Running, "waits for a retry")
		},
	} {
		t.Run(name, func(t *testing.T) { play(newWorld(t)) })
	}
}

// promise: W5, W6, W7, W8
func TestResume(t *testing.T) {
	for name, play := range map[string]func(w *world){
		"M06 dead for three looks": func(w *world) {
			w.pass(time.Minute)
			w.run.Owner = OwnerDead
			w.ticks(3 * time.Minute)
			w.want(Stale, "nobody drives it; the watch acts when that has lasted 3m")
			w.pass(time.Minute)
			w.want(Resumed, "")
			if !w.last.Start || w.last.Count != 1 || w.last.Most != 3 {
				w.t.Errorf("%+v", w.last)
			}
		},
		"single looks, by cron": func(w *world) { // each is a watch of its own
			w.rules.Poll = DefaultPoll
			w.run.Owner = OwnerDead
			for range 60 { // however many there are
				w.pass(time.Second)
				w.want(Stale, "the watch acts when that has lasted 1m30s")
			}
			w.pass(time.Minute)
			w.want(Resumed, "")
			for range 3 { // each driver dies at once
				w.ticks(3 * time.Minute)
			}
			w.want(RestartCap, "")
			if w.start != 3 {
				w.t.Errorf("%d starts, want 3", w.start)
			}
		},
		"a step of a run that was stopped started it": func(w *world) {
			w.run.Owner, w.run.Above, w.run.How = OwnerDead, "top", belay.Stopped
			w.ticks(7 * 24 * time.Hour)
			w.want(NeedsYou, "a step of run top started it, and that one is STOPPED")
			if w.start != 0 || w.last.Next != "resume top" {
				w.t.Errorf("%d starts, %+v", w.start, w.last)
			}
			w.run.Above = "" // it was resumed, or this one was
			w.pass(time.Minute)
			w.want(Resumed, "")
		},
		"M08 an owner that cannot be proven": func(w *world) {
			w.run.Owner = OwnerUnproven
			w.ticks(time.Hour)
			w.want(NeedsYou, "cannot be told")
		},
		"R01 R02 a stalemate comes before the cap": func(w *world) {
			w.run.Owner, w.run.Stalemate, w.mem.Resumes = OwnerDead, "synth_failure", 3
			w.ticks(time.Hour)
			w.want(Stalemate, "synth_failure")
			if w.start != 0 || w.last.Code() != exit.Held {
				w.t.Errorf("%d starts, %+v", w.start, w.last)
			}
		},
		"R03 three in a row": func(w *world) {
			w.run.Owner = OwnerDead
			w.ticks(7 * 24 * time.Hour)
			w.want(RestartCap, "3 times in a row")
			if w.start != 3 || w.last.Count != 3 || w.last.Most != 3 || w.last.Code() != exit.Held {
				w.t.Errorf("%d starts, %+v", w.start, w.last)
			}
			if w.told > 3*2+2 {
				w.t.Errorf("said %d things", w.told)
			}
		},
		"R04 another cap": func(w *world) {
			w.rules.Resumes = 5
			w.run.Owner = OwnerDead
			w.ticks(24 * time.Hour)
			if w.start != 5 {
				w.t.Errorf("%d starts", w.start)
			}
		},
		"W6 none at all": func(w *world) {
			w.rules.Resumes = 0
			w.run.Owner = OwnerDead
			w.ticks(24 * time.Hour)
			if w.start != 0 || w.last.Event != RestartCap {
				w.t.Errorf("%d starts, %+v", w.start, w.last)
			}
		},
		"R08 finished work gives the tries back, and a life has an end": func(w *world) {
			w.run.Owner = OwnerDead
			for range 5 {
				w.ticks(8 * time.Minute) // two tries
				w.run.Done++
			}
			w.ticks(24 * time.Hour)
			w.want(RestartCap, "10 times in its life")
			if w.start != 10 {
				w.t.Errorf("%d starts", w.start)
			}
		},
		"R11 the same end twice": func(w *world) {
			w.run.Owner = OwnerDead
			w.ticks(4 * time.Minute)
			w.mem = w.mem.Ended("exit 8: no space")
			w.ticks(4 * time.Minute)
			w.mem = w.mem.Ended("exit 8: no space")
			w.ticks(time.Hour)
			w.want(NeedsYou, "ended the same way 2 times: exit 8: no space")
			if w.start != 2 {
				w.t.Errorf("%d starts", w.start)
			}
		},
		"a variable is not there": func(w *world) {
			w.run.Owner, w.run.Lacks = OwnerDead, []string{"API_KEY"}
			w.ticks(time.Hour)
			w.want(NeedsYou, "API_KEY")
			if w.start != 0 {
				w.t.Errorf("%d starts", w.start)
			}
		},
		"parked": func(w *world) {
			w.run.Owner, w.run.Parked = OwnerDead, w.now.Wall.Add(50*time.Minute)
			w.ticks(49 * time.Minute)
			w.want(Running, "parked")
			w.pass(time.Minute)
			w.want(Resumed, "its time has come")
			if w.mem.Resumes != 0 || w.mem.Total != 0 {
				w.t.Errorf("a wake cost a try: %+v", w.mem)
			}
			w.ticks(24 * time.Hour) // and its driver dies each time before it does anything
			w.want(RestartCap, "")
			if w.start != 4 {
				w.t.Errorf("%d starts", w.start)
			}
		},
		"parked, and somebody asks something": func(w *world) {
			w.run.Status, w.run.Owner, w.run.Parked = belay.Parked, OwnerDead, w.now.Wall.Add(50*time.Hour)
			w.pass(time.Minute)
			w.want(Running, "parked until 2026-03-03T04:00:00Z")
			if !w.last.Again.Equal(w.run.Parked) {
				w.t.Errorf("%+v", w.last)
			}
			w.run.Mail = w.now.Wall
			w.pass(time.Minute)
			w.want(Resumed, "somebody asks")
			if !w.last.Start || !w.last.Wake || w.mem.Total != 0 {
				w.t.Errorf("%+v", w.last)
			}
		},
		"answered": func(w *world) {
			w.run.Status, w.run.Owner = belay.Held, OwnerDead
			w.ticks(time.Hour)
			w.want(NeedsYou, "held")
			w.run.Status, w.run.Answered = belay.Running, w.now.Wall
			w.pass(time.Minute)
			w.want(Resumed, "answered")
		},
		"parked, and just woken by a person": func(w *world) { // whose driver gives no sign yet
			w.run.Status, w.run.Owner, w.run.Parked = belay.Parked, OwnerDead, w.now.Wall.Add(50*time.Hour)
			w.ticks(time.Hour)
			w.run.Status, w.run.Parked = belay.Running, time.Time{}
			w.pass(time.Minute)
			w.want(Stale, "nobody drives it")
			w.ticks(3 * time.Minute)
			w.want(Resumed, "nobody drove it")
			if w.start != 1 || w.mem.Total != 1 {
				w.t.Errorf("%d starts, %+v", w.start, w.mem)
			}
		},
		"another boot": func(w *world) {
			w.pass(time.Minute)
			w.now.Boot, w.now.Awake = "b2", time.Minute
			w.run.Owner = OwnerDead
			w.pass(0)
			w.want(Stale, "")
			w.ticks(3 * time.Minute)
			w.want(Resumed, "")
		},
	} {
		t.Run(name, func(t *testing.T) { play(newWorld(t)) })
	}
}

// What has ended is never started again, however long it is looked at.
// promise: W13
func TestNeverReopens(t *testing.T) {
	for status, want := range map[belay.Status]Event{
		belay.Achieved: Complete, belay.Failed: Failed, belay.Partial: Failed, belay.NotAchieved: Failed,
		belay.Hollow: Failed, belay.Aborted: Failed, belay.Stalemate: Stalemate, belay.Held: NeedsYou, belay.Stopped: NeedsYou,
	} {
		w := newWorld(t)
		w.run.Status, w.run.Owner = status, OwnerDead
		w.ticks(24 * time.Hour)
		if w.start != 0 || w.last.Event != want || w.told != 1 || !w.last.Rest {
			t.Errorf("%s: %d starts, said %d things, %+v", status, w.start, w.told, w.last)
		}
	}
}

func TestWorst(t *testing.T) {
	of := func(events ...Event) (all []Decision) {
		for _, e := range events {
			all = append(all, Decision{Event: e})
		}
		return all
	}
	for _, c := range []struct {
		all  []Decision
		code int
	}{
		{of(Complete, Complete), exit.OK},
		{of(Complete, Running), exit.Window},
		{of(Running, Failed, Complete), exit.Watched},
		{of(Failed, NeedsYou, Running), exit.Held},
		{of(Failed, RestartCap), exit.Held},
		{of(Broken, NeedsYou), exit.Watch},
		{of(Event("?")), exit.Watch},
	} {
		if d, ok := Worst(c.all); !ok || d.Code() != c.code {
			t.Errorf("%v: %d, want %d", c.all, d.Code(), c.code)
		}
	}
	if _, ok := Worst(nil); ok {
		t.Error("the worst of nothing")
	}
}

// What was counted and cannot be read gives no tries back, and what another
// version keeps is kept.
// promise: W4, W6
func TestMemory(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"x", `{"resumes":"3"}`, `{"resumes":-1}`, `[]`, `{"total":3`} {
		if m, err := Recall(bad); err == nil || m.Resumes != 0 {
			t.Errorf("%s: %+v, %v", bad, m, err)
		}
	}
	m, err := Recall(`{"resumes":2,"later":{"a":1},"lastSeenPhase":3}`)
	if err != nil || m.Resumes != 2 {
		t.Fatal(m, err)
	}
	m.Resumes++
	text, err := m.Text()
	if err != nil || !strings.Contains(text, `"later":{"a":1}`) || !strings.Contains(text, `"lastSeenPhase":3`) || !strings.Contains(text, `"resumes":3`) {
		t.Errorf("%s, %v", text, err)
	}
	if again, err := Recall(text); err != nil || again.Resumes != 3 {
		t.Errorf("%+v, %v", again, err)
	}
	d := Forgotten("r", errors.New("why"))
	if d.Start || !d.Rest || d.Code() != exit.Held || !strings.Contains(d.Next, "clear r restarts") {
		t.Errorf("%+v", d)
	}
	whole, err := Memory{
		Done: 1, Driver: "d", Boot: "b", Moved: 1, Dead: 1, Frozen: 1, Resumes: 1, Total: 1,
		Woken: time.Unix(1, 0), Exit: "e", Same: 1, Event: Running, Reason: "r",
	}.Text()
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Recall(whole); err != nil || all.other != nil {
		t.Errorf("memoryKeys lacks %v, %v", all.other, err)
	}
}

// A watch looks again when the time of a parked run comes, not only at its poll.
// promise: W13
func TestPause(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	at := func(d time.Duration) Decision { return Decision{Again: now.Add(d)} }
	for _, c := range []struct {
		all  []Decision
		want time.Duration
	}{
		{nil, time.Minute},
		{[]Decision{{}, at(time.Hour)}, time.Minute},
		{[]Decision{at(40 * time.Second), at(20 * time.Second), {}}, 20 * time.Second},
		{[]Decision{at(-time.Hour)}, soonest},
	} {
		if got := Pause(c.all, rules, now); got != c.want {
			t.Errorf("%+v: %s, want %s", c.all, got, c.want)
		}
	}
}

// The last line of a watch names what it left alone, and why, and no more of them
// than a person reads.
//
// promise: W9
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	rest := func(id belay.RunID, status belay.Status) Decision {
		d, _ := Decide(Run{ID: id, Status: status, Begun: true, Reason: "so: it is"}, Memory{}, Rules{}, Clock{})
		return d
	}
	all := []Decision{rest("d", belay.Achieved), rest("c", belay.Failed), rest("b", belay.Paused), rest("a", belay.Stopped), {Run: "e", Event: Running}}
	if got, want := Left(all), "not resumed: a (it was stopped), b (it was paused), c (it ended FAILED)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, id := range []belay.RunID{"f", "g", "h", "i"} {
		all = append(all, rest(id, belay.Held))
	}
	if got := Left(all); !strings.HasSuffix(got, "f (it is held), g (it is held), 2 more (belay inbox lists them)") {
		t.Error(got)
	}
	if got := Left(all[:1]); got != "" {
		t.Error(got)
	}
}

// A stop of the watch that leads counts when it lasts: for more looks than a driver may
// be away.
func TestRelief(t *testing.T) {
	for looks, want := range map[int]bool{0: false, 1: false, stalePolls: false, stalePolls + 1: true, 99: true} {
		if Relieves(looks) != want {
			t.Errorf("after %d looks: %v", looks, !want)
		}
	}
}

// promise: W12, X
func TestOver(t *testing.T) {
	rests, goes := Decision{Event: NeedsYou, Rest: true}, Decision{Event: Running}
	for name, c := range map[string]struct {
		all   []Decision
		later bool
		want  bool
	}{
		"none from the beginning":       {nil, false, true},
		"all rest":                      {[]Decision{rests, rests}, false, true},
		"one goes on":                   {[]Decision{rests, goes}, false, false},
		"none, but later ones count":    {nil, true, false},
		"all rest, later ones count":    {[]Decision{rests}, true, false},
		"one goes on, later ones count": {[]Decision{goes}, true, false},
	} {
		if is := Over(c.all, c.later); is != c.want {
			t.Errorf("%s: %v, want %v", name, is, c.want)
		}
	}
}
