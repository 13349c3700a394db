package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
)

// shape is a kind of run that can be made as big as one likes.
type shape struct {
	name     string
	recipe   func(n int) string
	parallel int  // slots; 0 = as many as there are steps
	fails    bool // every attempt does
	steps    int  // of the big one; the small one has a fourth of them
}

// grow measures the brain alone: what one turn costs, and the fold of all
// records, for a run of some size and one four times as big. A cost that grows
// with what is open shows as a ratio of about four, one that does not as one. It is
// the time of the processor, so that a busy machine changes little.
func (b *bench) grow() error {
	flat := func(each string) func(int) string {
		return func(n int) string {
			var s strings.Builder
			s.WriteString("name: n\nallow_empty: true\ncontext: {x: '1'}\nsteps:\n")
			for i := range n {
				fmt.Fprintf(&s, "- {id: s%d, %s}\n", i, each)
			}
			return s.String()
		}
	}
	list := func(step string) func(int) string {
		return func(n int) string {
			items := strings.TrimSuffix(strings.Repeat("1,", n), ",")
			return "name: n\nrecursion: {max_total_steps: 1000000}\ncontext: {list: [" + items + "]}\nsteps:\n- {id: each, foreach: list, " + step + "}\n"
		}
	}
	for _, s := range []shape{
		{name: "16,000 steps in a row", recipe: flat("command: 'true'"), parallel: 8, steps: 16000},
		{name: "16,000 open attempts", recipe: flat("needs: [], command: 'true'"), steps: 16000},
		{name: "16,000 attempts that wait for a slot", recipe: flat("needs: [], command: 'true'"), parallel: 8, steps: 16000},
		{name: "16,000 attempts that fail, wait and fail", recipe: flat("needs: [], command: 'true', optional: true, retry: {max_attempts: 2, backoff: 1s}"), fails: true, steps: 16000},
		{name: "16,000 steps that are not taken", recipe: flat("needs: [], command: 'true', condition: \"x == '2'\""), parallel: 8, steps: 16000},
		{name: "1,000 items, 8 at a time", recipe: list("max_parallel: 8, command: 'true'"), steps: 1000},
		{name: "4,000 live child runs", recipe: flat("needs: [], recipe: sub"), steps: 4000},
		{name: "4,000 child runs with timeouts, 8 slots", recipe: flat("needs: [], timeout: 1h, recipe: sub"), parallel: 8, steps: 4000},
	} {
		small, err := s.drive(s.steps / 4)
		if err == nil {
			var big driven
			if big, err = s.drive(s.steps); err == nil {
				b.grown(s, small, big)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (b *bench) grown(s shape, small, big driven) {
	row(s.name, "%7.1f µs a step (%.1f with a fourth of them), longest turn %6.1f ms, fold of %6d records %6.1f ms, from a snapshot %6.1f ms",
		us(big.took)/float64(s.steps), us(small.took)/float64(s.steps/4), ms(big.longest), big.records, ms(big.fold), ms(big.restore))
	b.goal("cost of a step, four times as many: "+s.name, us(big.took)/us(small.took)/4, 2)
	b.goal("cost of a record in the fold, four times as many: "+s.name,
		us(big.fold)/float64(big.records)/(us(small.fold)/float64(small.records)), 2)
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// driven is what one drive came to.
type driven struct {
	took, longest, fold, restore time.Duration
	records                      int
}

// drive plays a driver whose attempts end one after the other, each in a turn of
// its own.
func (s shape) drive(n int) (driven, error) {
	lib, first, err := s.first(n)
	if err != nil {
		return driven{}, err
	}
	tree := flow.NewTree("r", lib)
	at := time.Unix(0, 0).UTC() // any moment will do
	var out driven
	var recs []event.Record
	var open []effect.Job
	begin := processor()
	for facts := first; ; {
		one := time.Now()
		turn, err := tree.Turn(at, facts...)
		if err != nil {
			return driven{}, err
		}
		out.longest = max(out.longest, time.Since(one))
		recs = append(recs, turn.Records...)
		for _, e := range turn.Effects {
			if d, ok := e.(effect.Do); ok {
				open = append(open, d.Job)
			}
		}
		facts = nil
		switch {
		case turn.More:
		case turn.Status.Terminal():
			out.took, out.records = processor()-begin, len(recs)
			for range 3 {
				fold, err := foldAll(lib, recs)
				if err != nil {
					return driven{}, err
				}
				if out.fold == 0 || fold < out.fold {
					out.fold = fold
				}
			}
			out.restore, err = restored(tree, lib)
			return out, err
		case len(open) > 0:
			facts = append(facts, s.ended(open[0], at))
			open = open[1:]
		case turn.Until.After(at):
			at = turn.Until
		default:
			return driven{}, errors.New("nothing is open, and nothing is waited for")
		}
	}
}

func (s shape) ended(j effect.Job, at time.Time) flow.Fact {
	o := effect.Observation{Began: true, Started: at, Ended: at}
	if s.fails {
		o.Exit = 1
	}
	return flow.Fact{Run: j.Run, Event: event.AttemptEnded{Key: j.Key, Observation: o}}
}

// first is the library of a run of n steps, and its first facts.
func (s shape) first(n int) (flow.Library, []flow.Fact, error) {
	lib := flow.Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	for name, src := range map[string]string{"root": s.recipe(n), "sub": "name: sub\nsteps:\n- {id: a, command: 'true'}\n- {id: b, command: 'true'}\n"} {
		r, problems := recipe.Parse(name+".yaml", []byte(src))
		if r == nil {
			return lib, nil, fmt.Errorf("%s", problems[0].Format([]byte(src)))
		}
		lib.Recipes[r.Digest], lib.Names[name] = r, r.Digest
	}
	root := lib.Recipes[lib.Names["root"]]
	vars := map[string]belay.Value{}
	for _, v := range root.Context {
		vars[v.Name] = belay.Value{JSON: json.RawMessage(v.JSON)}
	}
	limits := belay.DefaultLimits()
	limits.MaxTotalSteps = 1 << 30
	if limits.MaxParallel = s.parallel; s.parallel == 0 {
		limits.MaxParallel = 1 << 20
	}
	return lib, []flow.Fact{
		{Run: "r", Event: event.RunStarted{Schema: event.Schema, Name: "n", Recipe: root.Digest, Vars: vars, Dir: "/", Limits: limits}},
		{Run: "r", Event: event.RunAttached{Epoch: 1}},
	}, nil
}

// foldAll is the time in which records become a tree, and the tree is ready to go on.
func foldAll(lib flow.Library, recs []event.Record) (time.Duration, error) {
	begin := processor()
	tree := flow.NewTree("r", lib)
	if err := tree.Follow(recs); err != nil {
		return 0, err
	}
	_, err := tree.Turn(recs[len(recs)-1].At)
	return processor() - begin, err
}

// restored is the time in which a snapshot becomes a tree again.
func restored(tree *flow.Tree, lib flow.Library) (time.Duration, error) {
	b, err := tree.Snapshot()
	if err != nil {
		return 0, err
	}
	begin := processor()
	_, err = flow.Restore("r", lib, b)
	return processor() - begin, err
}

// processor is the time that this process has had, with that of the collector.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // the kernel knows this question
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
