package flow_test

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
)

// A driver in a few lines: it asks the brain, would write the records down, and
// does what is to be done. Here nothing is started: each script is said to have
// ended with 0, a second later.
func ExampleTree_Turn() {
	r, problems := recipe.Parse("two.yaml", []byte(`
name: two
steps:
  - id: build
    command: make
  - id: test
    needs: [build]
    command: make test
`))
	if r == nil {
		fmt.Println(problems)
		return
	}
	tree := flow.NewTree("demo", flow.Library{Recipes: map[string]*recipe.Recipe{r.Digest: r}})
	now := time.Unix(0, 0).UTC()
	facts := []flow.Fact{
		{Run: "demo", Event: event.RunStarted{Schema: event.Schema, Name: r.Name, Recipe: r.Digest, Limits: belay.DefaultLimits()}},
		{Run: "demo", Event: event.RunAttached{Epoch: 1}},
	}
	for tree.Status() == belay.Running || len(facts) > 0 {
		turn, err := tree.Turn(now, facts...)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, rec := range turn.Records { // a driver writes them to disk here, before it acts
			fmt.Println(rec.At.Second(), rec.Event.Kind())
		}
		facts = nil
		now = now.Add(time.Second)
		for _, e := range turn.Effects {
			if do, ok := e.(effect.Do); ok {
				fmt.Println("  do", do.Job.Script)
				facts = append(facts, flow.Fact{Run: do.Job.Run, Event: event.AttemptEnded{
					Key: do.Job.Key, Observation: effect.Observation{Began: true, Ended: now},
				}})
			}
		}
	}
	fmt.Println(tree.Status())
	// Output:
	// 0 run.started
	// 0 run.attached
	// 0 attempt.started
	//   do make
	// 1 attempt.ended
	// 1 attempt.judged
	// 1 attempt.started
	//   do make test
	// 2 attempt.ended
	// 2 attempt.judged
	// 2 run.ended
	// ACHIEVED
}
