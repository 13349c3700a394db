package sim

import (
	"os"
	"testing"
)

// TestPlantedBugs shows that the rules can fail: each bug is found, by the
// rule that speaks of it, within a stated number of seeds.
//
// promise: K1, K2, K4
func TestPlantedBugs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		bug    Bug
		from   uint64 // no seed before it finds the bug today; with BELAY_SIM_SEEDS all are tried
		within uint64
		rules  []string
	}{
		{"a done step is forgotten", DoneLost, 1, 100, []string{"a verdict is final", "a key is started once", "done is final", "records fit together", "an end is an end"}},
		{"a timer is lost", TimerLost, 1, 100, []string{"liveness"}},
		{"a dead driver's start is obeyed", NoFence, 280, 3000, []string{"write it down, then do it", "a key is started once", "what is found is true", "done is final"}},
		{"effects come before their records", EarlyEffect, 1, 100, []string{"write it down, then do it"}},
		{"a memory that is on no record", Unwritten, 1, 100, []string{"a tree is what its records say"}},
		{"once is ignored", OnceIgnored, 40, 200, []string{"once is once"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			from := c.from
			if os.Getenv("BELAY_SIM_SEEDS") != "" {
				from = 1
			}
			for seed := from; seed <= c.within; seed++ {
				r := Run(seed, Options{Bug: c.bug, Twins: c.bug == Unwritten})
				if r.Violation == nil {
					continue
				}
				for _, rule := range c.rules {
					if r.Violation.Rule == rule {
						t.Logf("found by seed %d: %v", seed, r.Violation)
						return
					}
				}
				t.Fatalf("seed %d: found by another rule: %v", seed, r.Violation)
			}
			t.Fatalf("not found within %d seeds", c.within)
		})
	}
}
