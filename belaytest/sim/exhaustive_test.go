package sim

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/fault"
)

// wide is the one with the most orders of messages.
const wide = "side by side"

// small are the recipes of which everything is tried.
var small = []struct {
	name, source string
	subs         map[string]string
}{
	{"one after the other", "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, command: y}\n", nil},
	{"once with a check", "name: n\nsteps:\n- {id: a, command: x, once: true, verify: z}\n", nil},
	{"once without", "name: n\nsteps:\n- {id: a, command: x, once: true}\n", nil},
	{wide, "name: n\nsteps:\n- {id: a, command: x, needs: []}\n- {id: b, command: y, needs: []}\n", nil},
	{"nested, with a second attempt", "name: n\nsteps:\n- {id: s, recipe: sub, retry: 2}\n",
		map[string]string{"sub": "name: sub\nsteps:\n- {id: a, command: x}\n"}},
}

// TestLongExhaustive tries every order of messages, every exit code and every
// crash on small recipes: one crash of the driver or of the keeper, and with
// BELAY_SIM_DEEP=1 two of the driver and one of the keeper in the same run. On a
// change, steps side by side lose their keeper only: the driver's crashes are as many
// states as all the rest, and random seeds try them too.
//
// promise: K2, K4
func TestLongExhaustive(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	scopes := []Scope{{DriverCrashes: 1}, {KeeperCrashes: 1}}
	if os.Getenv("BELAY_SIM_DEEP") != "" {
		scopes = []Scope{{DriverCrashes: 1, KeeperCrashes: 1}, {DriverCrashes: 2}, {DriverCrashes: 2, KeeperCrashes: 1}}
	}
	var all Stats
	var mu sync.Mutex
	var work sync.WaitGroup
	for _, c := range small {
		for _, s := range scopes {
			if c.name == wide && s == (Scope{DriverCrashes: 1}) {
				continue
			}
			work.Go(func() {
				e := Explore(c.source, c.subs, s)
				mu.Lock()
				defer mu.Unlock()
				if e.Violation != nil {
					t.Errorf("%s: %v\n%s", c.name, e.Violation, strings.Join(e.Trace, "\n"))
				}
				t.Logf("%-30s crashes of driver %d, keeper %d: %7d states %7d paths",
					c.name, s.DriverCrashes, s.KeeperCrashes, e.States, e.Paths)
				all.Add(e.Stats)
			})
		}
	}
	work.Wait()
	for _, f := range []fault.Found{fault.Adopted, fault.Harvested, fault.Unborn, fault.Lost} {
		if all.Found[foundIndex(f)] == 0 {
			t.Errorf("no attempt was ever %s", f)
		}
	}
	for _, end := range []belay.Status{belay.Achieved, belay.Failed, belay.Partial, belay.Held} {
		if all.Ends[endIndex(end)] == 0 {
			t.Errorf("no run was ever %s", end)
		}
	}
}
