package engine

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
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

func (w *drive) ask(t *testing.T, q belay.Question) belay.Answer {
	t.Helper()
	f, ok := w.answer(t.Context(), belay.Ask{Key: "r:a.1?x", Question: q})
	if !ok {
		t.Fatal("no answer")
	}
	return f.Event.(belay.AnswerGiven).Answer
}

func agentJob(key belay.Key) belay.Job {
	return belay.Job{Key: key, Run: "r", Agent: &belay.AgentJob{Name: "claude"}}
}

func report(ended belay.EndedBy, class belay.Class) *belay.AgentReport {
	return &belay.AgentReport{Ended: ended, Result: belay.AgentResult{Final: true, Error: class != belay.ClassNone, Class: class}}
}

// A service that fails is left alone by whoever asks next; what is refused
// costs nothing of the budget, and is not asked of a service with no name.
//
// promise: G4
func TestServiceIsAskedAfterTheBudget(t *testing.T) {
	w, st := counting(t)
	if a := w.ask(t, belay.Question{Agent: "r:a.1", Name: "claude", Retry: true}); !a.OK {
		t.Fatalf("%+v", a)
	}
	for _, key := range []belay.Key{"r:a.1", "r:a.2", "r:a.3", "r:a.4", "r:a.5"} {
		if err := w.tell(agentJob(key), report(belay.EndedItself, belay.ClassTransient)); err != nil {
			t.Fatal(err)
		}
	}
	if a := w.ask(t, belay.Question{Agent: "r:b.1", Name: "claude"}); a.OK || a.Spent || a.Error == "" || !a.Until.After(w.now()) {
		t.Errorf("an open breaker: %+v", a)
	}
	if a := w.ask(t, belay.Question{Agent: "r:b.1", Name: "claude", Retry: true}); a.OK || !a.Spent || a.Error == "" {
		t.Errorf("no retries: %+v", a)
	}
	if a := w.ask(t, belay.Question{Agent: "r:c.1", Name: "codex", Retry: true}); !a.OK {
		t.Errorf("another service: %+v", a)
	}
	if a := w.ask(t, belay.Question{Agent: "r:d.1"}); !a.OK {
		t.Errorf("no service: %+v", a)
	}
	p, err := st.Permit("r", "r:e.1", w.now())
	if err != nil || p.Starts != 4 { // a, c, d and this one
		t.Errorf("%+v, %v", p, err)
	}
}

// What an attempt says about its service: its own result, and nothing when
// Belay ended it by its own clock.
func TestWhatIsToldOfAService(t *testing.T) {
	for name, c := range map[string]struct {
		r     *belay.AgentReport
		class belay.Class
		ok    bool
	}{
		"done":          {report(belay.EndedItself, belay.ClassNone), belay.ClassNone, true},
		"no last word":  {&belay.AgentReport{}, belay.ClassNone, false},
		"overload":      {report(belay.EndedItself, belay.ClassTransient), belay.ClassTransient, false},
		"silence":       {report(belay.EndedSilence, belay.ClassTransient), belay.ClassNone, false},
		"its timeout":   {report(belay.EndedDeadline, belay.ClassTimeout), belay.ClassNone, false},
		"stopped":       {report(belay.EndedSignal, belay.ClassNone), belay.ClassNone, false},
		"retries":       {report(belay.EndedRetries, belay.ClassRateLimit), belay.ClassRateLimit, false},
		"plain retries": {&belay.AgentReport{Ended: belay.EndedRetries}, belay.ClassTransient, false},
		"lost":          {nil, belay.ClassNone, false},
	} {
		if class, ok := cameOf(c.r); class != c.class || ok != c.ok {
			t.Errorf("%s: %q, %t", name, class, ok)
		}
	}
}
