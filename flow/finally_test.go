package flow

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

const withFinally = "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, command: y}\nfinally:\n- {id: c, command: one}\n- {id: d, command: two}\n"

// told is what the steps of the nth finally read about the end of the run.
func (w *world) told(child belay.RunID) map[string]any {
	w.t.Helper()
	var v map[string]any
	if err := json.Unmarshal(w.tree.Run(child).Vars()[recipe.RunVar].JSON, &v); err != nil {
		w.t.Fatal(err)
	}
	return v
}

func killed(why fault.KilledBy) effect.Observation {
	return effect.Observation{Signal: 15, KilledBy: why}
}

// checked holds the records against the rules of every journal.
func (w *world) checked() {
	w.t.Helper()
	recs := w.recs
	for i := range recs {
		recs[i].Seq, recs[i].Epoch = int64(i+1), 1
	}
	for _, v := range audit.Check(recs) {
		w.t.Error(v)
	}
}

// The steps of finally run after all others, in their order, and change nothing about
// the end.
//
// promise: X
func TestFinallyChangesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		codes  []int // of a, b, c and d; -1 = it does not run
		status belay.Status
		code   int
	}{
		"success":                              {[]int{0, 0, 0, 0}, belay.Achieved, exit.OK},
		"failure":                              {[]int{7, -1, 0, 0}, belay.Failed, exit.Failed},
		"a finally that fails after a success": {[]int{0, 0, 3, 4}, belay.Achieved, exit.OK},
		"a finally that fails after a failure": {[]int{0, 7, 3, 0}, belay.Failed, exit.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, withFinally)
			for i, key := range []belay.Key{"r:a.1", "r:b.1", "r/finally.1:c.1", "r/finally.1:d.1"} {
				if tt.codes[i] < 0 {
					continue
				}
				w.wantStarts(string(key))
				w.wantStatus(belay.Running, 0)
				w.exit(key, tt.codes[i])
			}
			w.wantStatus(tt.status, tt.code)
			run := w.told("r/finally.1")
			if run["status"] != string(tt.status) || run["code"] != float64(tt.code) || run["ok"] != (tt.code == 0) {
				t.Errorf("they read %v", run)
			}
			if got, want := w.tree.Done(), int64(2-len(minus(tt.codes[:2]))); got != want {
				t.Errorf("%d steps count as progress, want %d", got, want)
			}
			w.checked()
		})
	}
}

func minus(codes []int) (list []int) {
	for _, c := range codes {
		if c != 0 {
			list = append(list, c)
		}
	}
	return list
}

// A cancel ends the steps of the run and leaves those of finally alone, whether they
// have begun or not; a second one ends them.
func TestFinallyAfterACancel(t *testing.T) {
	w := begin(t, withFinally)
	w.turn(request("1", event.RequestCancel, ""))
	w.wantStarts("")
	w.end("r:a.1", killed(fault.KilledCancel))
	w.wantStarts("r/finally.1:c.1")
	w.exit("r/finally.1:c.1", 0)
	w.wantStarts("r/finally.1:d.1")
	w.turn(request("2", event.RequestCancel, ""))
	if n := kills(w.out); n != 1 {
		t.Fatalf("%d are ended by the second one", n)
	}
	w.end("r/finally.1:d.1", killed(fault.KilledCancel))
	w.wantStarts("")
	w.wantStatus(belay.Aborted, exit.Aborted)
	w.checked()

	w = begin(t, withFinally)
	w.exit("r:a.1", 7)
	w.wantStarts("r/finally.1:c.1")
	w.turn(request("1", event.RequestCancel, ""))
	if n := kills(w.out); n != 0 {
		t.Fatalf("%d are ended by the first one", n)
	}
	w.exit("r/finally.1:c.1", 0)
	w.exit("r/finally.1:d.1", 0)
	w.wantStatus(belay.Aborted, exit.Aborted)
}

// The keeper of a run whose driver did not answer a cancel lets nothing begin: the run
// ends without its finally, and does not try for ever.
func TestFinallyIsLeftOutWhereNothingMayBegin(t *testing.T) {
	w := begin(t, withFinally)
	w.turn(request("1", event.RequestCancel, ""))
	w.end("r:a.1", killed(fault.KilledCancel))
	w.wantStarts("r/finally.1:c.1")
	w.turn(Fact{"r/finally.1", event.AttemptEnded{Key: "r/finally.1:c.1", Observation: effect.Observation{Exit: -1, KilledBy: fault.KilledStop}}})
	w.wantStarts("")
	w.wantStatus(belay.Aborted, exit.Aborted)
	w.checked()
}

// A second cancel reaches the finally of a sub-recipe, too.
func TestASecondCancelReachesBelow(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, recipe: sub}\nfinally:\n- {id: z, command: z}\n", "sub", withFinally)
	w.turn(request("1", event.RequestCancel, ""))
	w.end("r/a.1:a.1", killed(fault.KilledCancel))
	w.wantStarts("r/a.1/finally.1:c.1")
	w.turn(request("2", event.RequestCancel, ""))
	if n := kills(w.out); n != 1 {
		t.Fatalf("%d are ended", n)
	}
	w.end("r/a.1/finally.1:c.1", killed(fault.KilledCancel))
	w.wantStarts("")
	w.wantStatus(belay.Aborted, exit.Aborted)
	w.checked()
}

// A run that is stopped or paused has not ended: what it set up is still wanted.
// Neither has one that lost its driver.
func TestFinallyWaitsForTheEnd(t *testing.T) {
	w := begin(t, withFinally)
	w.turn(request("s", event.RequestStop, ""))
	w.end("r:a.1", killed(fault.KilledStop))
	w.wantStarts("")
	w.wantStatus(belay.Stopped, 0)
	w.reload(nil)
	w.wantStarts("r:a.2")
	w.turn(pauseIt())
	w.exit("r:a.2", 7)
	w.wantStarts("")
	w.wantStatus(belay.Paused, 0)
	resumeIt(w, GoOn{})
	w.wantStarts("r/finally.1:c.1")
	w.reload(map[belay.Key]fault.Found{"r/finally.1:c.1": fault.Lost})
	w.wantStarts("r/finally.1:c.2")
	w.exit("r/finally.1:c.2", 0)
	w.turn(request("t", event.RequestStop, ""))
	w.end("r/finally.1:d.1", killed(fault.KilledStop))
	w.wantStatus(belay.Stopped, 0)
	if _, err := w.tree.Rerun("r", "a", "ann", ""); !errors.As(err, new(*CannotRerun)) {
		t.Errorf("a step runs again in the middle of finally: %v", err)
	}
	w.reload(nil)
	w.wantStarts("r/finally.1:d.2")
	w.exit("r/finally.1:d.2", 0)
	w.wantStatus(belay.Failed, exit.Failed)
}

// A run that was opened again has another end.
func TestFinallyRunsAtEveryEnd(t *testing.T) {
	w := begin(t, withFinally)
	w.exit("r:a.1", 7)
	w.exit("r/finally.1:c.1", 0)
	w.exit("r/finally.1:d.1", 0)
	w.wantStatus(belay.Failed, exit.Failed)
	w.turn(w.tree.Reopen("ann", "again")...)
	w.wantStarts("r:a.2")
	w.exit("r:a.2", 0)
	w.exit("r:b.1", 0)
	w.wantStarts("r/finally.2:c.1")
	w.exit("r/finally.2:c.1", 0)
	w.exit("r/finally.2:d.1", 9)
	w.wantStatus(belay.Achieved, exit.OK)
	w.checked()
}

// The finally of a sub-recipe is over before its caller goes on, and what it sets
// stays in it.
func TestFinallyOfASubRecipe(t *testing.T) {
	w := begin(t, "name: n\nends: x\ncontext: {x: ACHIEVED}\nsteps:\n- {id: a, recipe: sub}\n- {id: b, command: y}\n",
		"sub", "name: s\nsteps:\n- {id: a, command: x, output: y}\nfinally:\n- {id: c, command: c, output: x}\n")
	w.end("r/a.1:a.1", printed("kept"))
	w.wantStarts("r/a.1/finally.1:c.1")
	w.end("r/a.1/finally.1:c.1", printed("FAILED"))
	w.wantStarts("r:b.1")
	if v := w.tree.Run("r").Vars(); string(v["x"].JSON) != `"ACHIEVED"` || string(v["y"].JSON) != `"kept"` {
		t.Errorf("the caller has %v", v)
	}
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Achieved, exit.OK)
}

func printed(text string) effect.Observation {
	v := belay.Text(text)
	return effect.Observation{Output: &v}
}

// In finally a person is never asked: what would wait for one has failed.
func TestNobodyIsAskedInFinally(t *testing.T) {
	sub := "name: s\nsteps:\n- {id: a, approve: {prompt: go}}\n- {id: b, command: x}\n"
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\nfinally:\n- {id: c, recipe: sub}\n- {id: d, command: d, once: true}\n- {id: e, command: e}\n", "sub", sub)
	w.exit("r:a.1", 0)
	w.wantStarts("r/finally.1:d.1")
	w.reload(map[belay.Key]fault.Found{"r/finally.1:d.1": fault.Lost})
	w.wantStarts("r/finally.1:e.1")
	w.exit("r/finally.1:e.1", 0)
	w.wantStatus(belay.Achieved, exit.OK)
}
