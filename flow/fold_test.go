package flow

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/verdict"
)

// What a tree remembers and no record says is found: in every history each turn
// is made by a second tree, too, which knows nothing but the records.
//
// promise: K1
func TestAHiddenFieldIsFound(t *testing.T) {
	t.Parallel()
	rules := verdict.NewClassifier()
	for name, plant := range map[string]func(*Tree){
		"a count of the tree": func(t *Tree) { t.replans += 100 },
		"a request":           func(t *Tree) { t.born[0].seen["q1"] = true },
		"a count of a step": func(t *Tree) {
			for i := range t.born[0].steps {
				t.born[0].steps[i].failed++
			}
		},
		"who does a step": func(t *Tree) {
			for i := range t.born[0].steps {
				t.born[0].steps[i].nextAttempt.agent = "three"
			}
		},
		"a slot":                  func(t *Tree) { t.granting["r:nobody.1"] = true },
		"a question":              func(t *Tree) { t.born[0].steps[0].asked = true },
		"a tree that others have": func(t *Tree) { t.born[0].trees["r:s0.1?tree"] = true },
		"a run nobody asks":       func(t *Tree) { t.born[0].said.turn = t.turns + 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range uint64(histories) {
				h, err := newHistory(1, i, rules)
				for n := 0; err == nil && n < mostSteps; n++ {
					plant(h.tree)
					var more bool
					if more, err = h.step(); !more {
						break
					}
				}
				if err != nil && strings.Contains(err.Error(), "a tree built from the records") {
					t.Logf("found by history %d: %.200s", i, err)
					return
				}
			}
			t.Error("not found")
		})
	}
}

// A stop that is under way when the keeper dies goes on with the next one, and
// is over for another driver: that was sent to go on.
func TestAStopSurvivesItsKeeper(t *testing.T) {
	stopping := func(t *testing.T) *world {
		t.Helper()
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, needs: [], command: y}\n")
		w.turn(request("s", event.RequestStop, ""))
		if n := kills(w.out); n != 2 {
			t.Fatalf("%d are ended", n)
		}
		return w
	}
	for name, tt := range map[string]struct {
		pid   int
		kills int
	}{"the same driver": {0, 1}, "another one": {7, 0}} {
		t.Run(name, func(t *testing.T) {
			w := stopping(t)
			w.turn(
				Fact{"r", event.RunAttached{Epoch: 2, Pid: tt.pid}},
				Fact{"r", event.AttemptFound{Key: "r:a.1", How: fault.Adopted}},
				Fact{"r", event.AttemptFound{Key: "r:b.1", How: fault.Lost}},
			)
			if n := kills(w.out); n != tt.kills {
				t.Fatalf("%d are ended, want %d", n, tt.kills)
			}
			if tt.kills == 0 {
				w.wantStarts("r:b.2")
				return
			}
			w.wantStarts("")
			w.end("r:a.1", effect.Observation{Began: true, Signal: 15, KilledBy: fault.KilledStop})
			w.wantStatus(belay.Stopped, 0)
			w.turn(Fact{"r", event.RunAttached{Epoch: 3, Pid: tt.pid}}) // resumed
			w.wantStarts("r:a.2 r:b.2")
		})
	}
}

// kills counts what a turn ends.
func kills(out Turn) int {
	n := 0
	for _, c := range out.Effects {
		if _, ok := c.(effect.Kill); ok {
			n++
		}
	}
	return n
}
