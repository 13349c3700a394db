package belaytest

import (
	"fmt"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
)

// wait is a script that says that it began, and goes on when somebody lets it.
const wait = "echo x >> starts; touch first; while [ ! -f go ]; do sleep 0.02; done; touch last"

// orphaning: runs whose driver is killed while the keeper lives.
func orphaning() []Case {
	kill := Act{Do: KillDriver, After: "first"}
	once := "name: n\nsteps:\n- {id: a, once: true, command: '" + wait + "'}\n- {id: b, command: test -f last}\n"
	done := Want{
		Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Done},
		Files: texts{"starts": "x\n"},
	}
	return []Case{
		{
			Name: "the driver dies, and the step goes on", Recipe: once,
			Acts: []Act{kill, {Do: Resume}, {Do: Touch, File: "go", Seen: attached(2)}},
			Want: done, Also: found(fault.Adopted),
		},
		{
			Name: "the driver dies, and the step may end before somebody resumes", Recipe: once,
			Acts: []Act{kill, {Do: Touch, File: "go"}, {Do: Resume}},
			Want: done, Also: found(fault.Adopted, fault.Harvested),
		},
		{
			Name: "the driver dies three times", Recipe: once,
			Acts: []Act{
				kill, {Do: Resume}, {Do: KillDriver, Seen: attached(2)}, {Do: Resume}, {Do: KillDriver, Seen: attached(3)}, {Do: Resume},
				{Do: Touch, File: "go", Seen: attached(4)},
			},
			Want: done, Also: found(fault.Adopted),
		},
		{
			Name:   "the driver dies with a child",
			Recipe: "name: n\nsteps:\n- {id: s, recipe: sub}\n- {id: b, command: test -f last}\n",
			Subs:   texts{"sub": "name: sub\nsteps:\n- {id: a, once: true, command: '" + wait + "'}\n"},
			Acts:   []Act{kill, {Do: Resume}, {Do: Touch, File: "go", Seen: attached(2)}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 1, "s.1/a": 1, "b": 1},
				Phases: phases{"s": flow.Done, "s.1/a": flow.Done, "b": flow.Done}, Files: texts{"starts": "x\n"},
			},
			Also: found(fault.Adopted),
		},
		{
			Name:   "the driver dies, and then the keeper",
			Recipe: "name: n\nsteps:\n- {id: a, command: 'test -f first && exit 0; touch first; sleep 60'}\n",
			Acts:   []Act{kill, {Do: Resume}, {Do: KillKeeper, Seen: attached(2)}},
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Done}},
		},
		{
			Name:   "the driver dies, and the run is stopped and resumed",
			Recipe: "name: n\nsteps:\n- {id: a, command: 'test -f first && exit 0; touch first; sleep 60'}\n",
			Acts:   []Act{kill, {Do: Resume}, {Do: Stop, Seen: attached(2)}, {Do: Resume}},
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Done}},
		},
	}
}

// clearing: what is counted against a run, and taken back.
func clearing() []Case {
	kill := func(file string) Act { return Act{Do: KillKeeper, After: file} }
	return []Case{
		{
			Name:   "lost too often, but for somebody who cleared that",
			Recipe: "name: n\nsteps:\n- {id: a, command: 'touch here$BELAY_ATTEMPT; test -f here5 && exit 0; sleep 60'}\n",
			Acts: []Act{
				kill("here1"), kill("here2"), kill("here3"), {Do: Clear, What: event.CountAttempts, After: "here4"},
				{Do: KillKeeper, Seen: cleared},
			},
			Want: Want{Status: belay.Achieved, Attempts: attempts{"a": 5}, Phases: phases{"a": flow.Done}},
		},
		{
			Name:   "lost too often, but for somebody who cleared that while it rested",
			Recipe: "name: n\nsteps:\n- {id: a, command: 'touch here$BELAY_ATTEMPT; test -f here6 && exit 0; sleep 60'}\n",
			Acts: []Act{
				kill("here1"), kill("here2"), kill("here3"), {Do: Stop, After: "here4"},
				{Do: Clear, What: event.CountAttempts, Step: "a"}, {Do: Resume}, kill("here5"),
			},
			Want: Want{Status: belay.Achieved, Attempts: attempts{"a": 6}, Phases: phases{"a": flow.Done}},
		},
	}
}

func cleared(r event.Record) bool { _, ok := r.Event.(event.RunCleared); return ok }

// attached tells that the n-th driver, or keeper, has the run.
func attached(n int64) func(event.Record) bool {
	return func(r event.Record) bool {
		e, ok := r.Event.(event.RunAttached)
		return ok && e.Epoch >= n
	}
}

// found: each attempt that was open when a driver came was found in one of
// these ways, and there was one. Drivers that die by themselves may leave others that did
// not begin.
func found(ways ...fault.Found) func([]event.Record) error {
	return func(recs []event.Record) error {
		n := 0
		for _, r := range recs {
			if e, ok := r.Event.(event.AttemptFound); ok {
				if slices.Contains(ways, e.How) {
					n++
				} else if e.How != fault.Unborn {
					return fmt.Errorf("attempt %s was found %s, want one of %v", e.Key, e.How, ways)
				}
			}
		}
		if n == 0 {
			return fmt.Errorf("no attempt was found, want one of %v", ways)
		}
		return nil
	}
}
