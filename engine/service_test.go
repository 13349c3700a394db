package engine

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
)

// counting is a drive that only counts, over a real state.
func counting(t *testing.T) (*drive, *journal.State) {
	t.Helper()
	st, err := journal.OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	o := &Open{ID: "r", local: &Local{State: st}, session: belay.Session{Tree: "r", Depth: 1}, books: books{state: st, name: "r"}}
	return &drive{Driver: &Driver{
		Ledger: indexLedger{o}, Clock: NewClock(1, time.Time{}),
	}}, st
}

func (w *drive) ask(t *testing.T, k belay.Key, q effect.AskAgent) effect.AnswerAgent {
	t.Helper()
	f, ok := w.answer(t.Context(), effect.Ask{Key: k.About(belay.TopicAgent), Question: q})
	if !ok {
		t.Fatal("no answer")
	}
	return f.Event.(event.AnswerGiven).Answer.(effect.AnswerAgent)
}

func agentJob(key belay.Key) effect.Job {
	return effect.Job{Key: key, Run: "r", Agent: &effect.AgentJob{Name: "claude"}}
}

func report(ended effect.EndedBy, class belay.Class) *effect.AgentReport {
	return &effect.AgentReport{Ended: ended, Result: belay.AgentResult{Final: true, Error: class != belay.ClassNone, Class: class}}
}

// A service that fails is left alone by whoever asks next; what is refused
// costs nothing of the budget, and is not asked of a service with no name.
//
// promise: G4
func TestServiceIsAskedAfterTheBudget(t *testing.T) {
	w, st := counting(t)
	if a := w.ask(t, "r:a.1", effect.AskAgent{Name: "claude", Retry: true}); !a.OK {
		t.Fatalf("%+v", a)
	}
	for _, key := range []belay.Key{"r:a.1", "r:a.2", "r:a.3", "r:a.4", "r:a.5"} {
		if err := w.site().tell(agentJob(key), report(effect.EndedItself, belay.ClassTransient)); err != nil {
			t.Fatal(err)
		}
	}
	if a := w.ask(t, "r:b.1", effect.AskAgent{Name: "claude"}); a.OK || a.Spent || a.Error == "" || !a.Until.After(w.now()) {
		t.Errorf("an open breaker: %+v", a)
	}
	if a := w.ask(t, "r:b.1", effect.AskAgent{Name: "claude", Retry: true}); a.OK || !a.Spent || a.Error == "" {
		t.Errorf("no retries: %+v", a)
	}
	if a := w.ask(t, "r:c.1", effect.AskAgent{Name: "codex", Retry: true}); !a.OK {
		t.Errorf("another service: %+v", a)
	}
	if a := w.ask(t, "r:d.1", effect.AskAgent{}); !a.OK {
		t.Errorf("no service: %+v", a)
	}
	p, err := st.Ledger().Permit("r", "r:e.1", w.now())
	if err != nil || p.Starts != 4 { // a, c, d and this one
		t.Errorf("%+v, %v", p, err)
	}
}

// What an attempt says about its service: its own result, and nothing when
// Belay ended it by its own clock.
func TestWhatIsToldOfAService(t *testing.T) {
	for name, c := range map[string]struct {
		r     *effect.AgentReport
		class belay.Class
		ok    bool
	}{
		"done":          {report(effect.EndedItself, belay.ClassNone), belay.ClassNone, true},
		"no last word":  {&effect.AgentReport{}, belay.ClassNone, false},
		"overload":      {report(effect.EndedItself, belay.ClassTransient), belay.ClassTransient, false},
		"silence":       {report(effect.EndedSilence, belay.ClassTransient), belay.ClassNone, false},
		"its timeout":   {report(effect.EndedDeadline, belay.ClassTimeout), belay.ClassNone, false},
		"stopped":       {report(effect.EndedSignal, belay.ClassNone), belay.ClassNone, false},
		"retries":       {report(effect.EndedRetries, belay.ClassRateLimit), belay.ClassRateLimit, false},
		"plain retries": {&effect.AgentReport{Ended: effect.EndedRetries}, belay.ClassTransient, false},
		"lost":          {nil, belay.ClassNone, false},
	} {
		if got := cameOf(c.r, time.Now()); got != (ledger.Call{Class: c.class, OK: c.ok}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A service says how long it takes no calls, or until when.
func TestUntilWhenAServiceIsToldOf(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for name, c := range map[string]struct {
		r    belay.AgentResult
		want time.Duration
	}{
		"how long":        {belay.AgentResult{RetryAfter: time.Second, Reset: now.Add(time.Hour)}, time.Second},
		"until when":      {belay.AgentResult{Reset: now.Add(time.Minute)}, time.Minute},
		"until the past":  {belay.AgentResult{Reset: now.Add(-time.Minute)}, 0},
		"it does not say": {belay.AgentResult{}, 0},
	} {
		if got := cameOf(&effect.AgentReport{Ended: effect.EndedItself, Result: c.r}, now).After; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
