package recovery_test

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
)

// The belay policy alone: say what failed and what is allowed, get a plan. The
// history of plans is the caller's to keep; the policy remembers nothing.
func ExampleChoose() {
	s := recovery.Situation{
		Failure: belay.Failure{
			Class: belay.ClassTransient, Level: belay.LevelTyped, Print: "529-overloaded", Cause: "529 overloaded",
		},
		Type: belay.TypeAgent, Agents: true, Agent: "claude", Others: []string{"codex"},
		Now: time.Unix(0, 0).UTC(), Down: time.Unix(0, 0).UTC(), Patience: 10 * time.Second,
	}
	for {
		s.History.Failed++
		s.History.Key = belay.Key(fmt.Sprintf("run:step.%d", s.History.Failed))
		plan := recovery.Choose(s)
		fmt.Printf("%s: %s\n", plan.Act, plan.Reason)
		if plan.Act == belay.ActRetry {
			fmt.Printf("  after %s\n", plan.Due.Sub(s.Now).Round(100*time.Millisecond))
		}
		for _, not := range plan.Refused {
			fmt.Printf("  no %s: %s\n", not.Act, not.Why)
		}
		if plan.Act == belay.ActGiveUp {
			return
		}
		// here the plan is written down and carried out; it fails again
		s.Past = append(s.Past, recovery.Past{Act: plan.Act, Class: plan.Class, Print: plan.Print, Agent: s.Agent, To: plan.Agent, Patient: plan.Patient})
		if plan.Act == belay.ActFailover {
			s.Agent = plan.Agent
		}
		s.Now = plan.Due
	}
	// Output:
	// retry: the service or the network failed: 529 overloaded
	//   after 1.4s
	// retry: the service or the network failed: 529 overloaded
	//   after 2.6s
	// failover: the service or the network failed: 529 overloaded; codex takes over
	//   no retry: tried 2 times for it already
	// retry: the service or the network failed: 529 overloaded
	//   after 1.1s
	// retry: the service or the network failed: 529 overloaded
	//   after 4s
	// retry: the service or the network failed: 529 overloaded
	//   after 900ms
	//   no failover: no other agent is there
	// give_up: 7 attempts failed, and no other recovery applies: 529 overloaded
	//   no retry: tried 3 times for it already
	//   no failover: no other agent is there
	//   no retry: nobody knows when it can go on
	//   no retry: it was waited for since 00:00:00 UTC, and 10s is the longest
}
