package sim

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
)

// Scope bounds an exhaustive exploration.
type Scope struct {
	DriverCrashes int
	KeeperCrashes int
}

// Explored is what an exploration came to.
type Explored struct {
	Paths     int // walks to an end
	States    int // different states in which something was to be chosen
	Stats     Stats
	Violation *Violation
	Trace     []string // of the walk that broke a rule
}

// Explore walks through everything that can happen to a recipe: in every
// state every message, exit code and crash that could be next. A state that
// was seen before is not walked again.
func Explore(source string, subs map[string]string, s Scope) Explored {
	b := book{names: []string{"root"}, sources: []string{source}}
	for _, name := range sortedNames(subs) {
		b.names, b.sources = append(b.names, name), append(b.sources, subs[name])
	}
	var e Explored
	if err := b.parse(); err != nil {
		e.Violation = &Violation{Rule: "recipe", What: err.Error()}
		return e
	}
	seen := map[uint64]bool{}
	var prefix []int
	for {
		c := &walk{scope: s, prefix: prefix, seen: seen, answers: 1}
		w := newWorld(c, b, NoBug)
		w.run()
		e.count(w, c)
		if w.broken != nil {
			e.Violation, e.Trace = w.broken, retrace(c, b, s)
			break
		}
		var more bool
		if prefix, more = c.nextPrefix(); !more {
			break
		}
	}
	e.States = len(seen)
	return e
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (e *Explored) count(w *world, c *walk) {
	if c.pruned {
		return
	}
	e.Paths++
	r := w.result(0)
	e.Stats.Add(r.Stats)
}

// retrace walks the same way again and tells its story.
func retrace(c *walk, b book, s Scope) []string {
	again := &walk{scope: s, answers: 1, seen: map[uint64]bool{}}
	for _, t := range c.taken {
		again.prefix = append(again.prefix, t.pick)
	}
	w := newWorld(again, b, NoBug)
	w.trace = &trace{}
	w.run()
	return w.trace.lines
}

// walk is chaos that takes one way through all choices.
type walk struct {
	scope   Scope
	prefix  []int // choices to be taken again
	taken   []taken
	seen    map[uint64]bool
	pruned  bool
	answers int
}

// taken is one choice out of n.
type taken struct{ pick, n int }

// choose takes the next choice out of n.
func (c *walk) choose(n int) int {
	if n == 1 {
		return 0
	}
	pick := 0
	if i := len(c.taken); i < len(c.prefix) {
		pick = c.prefix[i]
	}
	c.taken = append(c.taken, taken{pick, n})
	return pick
}

// nextPrefix is the way that differs from this one in its last open choice.
func (c *walk) nextPrefix() ([]int, bool) {
	for i := len(c.taken) - 1; i >= 0; i-- {
		if t := c.taken[i]; t.pick+1 < t.n {
			next := make([]int, 0, i+1)
			for _, o := range c.taken[:i] {
				next = append(next, o.pick)
			}
			return append(next, t.pick+1), true
		}
	}
	return nil, false
}

// next chooses what happens next: anything that could, or a crash.
func (c *walk) next(w *world) *happening {
	for {
		ready := w.agenda.ready()
		if len(ready) == 0 {
			return nil
		}
		if len(c.taken) >= len(c.prefix) {
			at := c.print(w)
			if c.seen[at] {
				c.pruned = true
				w.agenda.list = nil
				w.abandoned = true
				return nil
			}
			c.seen[at] = true
		}
		var crashes []func()
		if c.scope.DriverCrashes > 0 && w.driver != nil {
			crashes = append(crashes, func() { c.scope.DriverCrashes--; w.driver.die("here") })
		}
		if c.scope.KeeperCrashes > 0 && w.keeper != nil {
			crashes = append(crashes, func() { c.scope.KeeperCrashes--; w.keeper.crash() })
		}
		pick := c.choose(len(ready) + len(crashes))
		if pick < len(ready) {
			return ready[pick]
		}
		crashes[pick-len(ready)]()
	}
}

// print is what tells one state of the world from another: all that was
// written, all that is under way, and what may still go wrong. Clocks are left
// out: they only tell how long the way was.
func (c *walk) print(w *world) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, c.scope.DriverCrashes, c.scope.KeeperCrashes, c.answers, w.boot)
	for _, r := range w.mailbox {
		fmt.Fprintln(h, "mail", r.ID, r.Choice)
	}
	for _, r := range w.disk {
		printEvent(h, r)
	}
	for _, l := range w.ledger {
		fmt.Fprintln(h, "line", l.kind, l.key)
	}
	for _, p := range w.procs {
		fmt.Fprintln(h, "process", p.job.Key, p.prog.code, p.next, p.why, p.keeper == w.keeper)
	}
	for _, name := range sortedNames(w.effects) {
		fmt.Fprintln(h, "effect", name, w.effects[name])
	}
	if d := w.driver; d != nil {
		fmt.Fprintln(h, "driver", d.epoch, d.attached, len(d.facts), len(d.early), d.keeper == w.keeper, d.wake != nil)
	}
	if k := w.keeper; k != nil {
		fmt.Fprintln(h, "keeper", k.epoch, k.driver != nil && k.driver == w.driver)
	}
	var pending []string
	for _, p := range w.agenda.list {
		pending = append(pending, p.lane+"|"+p.what)
	}
	slices.Sort(pending)
	_, _ = io.WriteString(h, strings.Join(pending, "\n")) // a hash takes everything
	return h.Sum64()
}

func printEvent(h io.Writer, r event.Record) {
	fmt.Fprint(h, r.Epoch, r.Run, r.Event.Kind())
	switch e := r.Event.(type) {
	case event.AttemptStarted:
		fmt.Fprint(h, e.Key)
	case event.AttemptFound:
		fmt.Fprint(h, e.Key, e.How)
	case event.AttemptEnded:
		fmt.Fprint(h, e.Key, e.Observation.Exit, e.Observation.KilledBy)
	case event.AttemptJudged:
		fmt.Fprint(h, e.Key, e.Verdict.OK, e.Verdict.Unknown)
	case event.RecoveryChosen:
		fmt.Fprint(h, e.Path, e.Plan.Act)
	case event.ItemAnswered:
		fmt.Fprint(h, e.Path, e.Choice)
	}
	fmt.Fprintln(h)
}

func (c *walk) lag(lag) time.Duration { return 0 }

// dies is asked only where a crash is not the same as one before the turn.
func (c *walk) dies(_ *world, at point) bool {
	if c.scope.DriverCrashes == 0 || at != afterAppend && at != betweenDeeds {
		return false
	}
	if c.choose(2) == 0 {
		return false
	}
	c.scope.DriverCrashes--
	return true
}

func (c *walk) diskFull(*world) bool      { return false }
func (c *walk) survivors(_, most int) int { return most }
func (c *walk) strike(*world)             {}

// behave gives every attempt both codes; its work is there half-way.
func (c *walk) behave(w *world, j effect.Job) program {
	step := stepName(j.Run, j.Path)
	if j.Role == belay.RoleVerify {
		return program{acts: []act{{time.Second, func(*process) (int, bool) {
			if w.effects[step] {
				return 0, true
			}
			return 1, true
		}}}}
	}
	code := c.choose(2)
	return program{code: code, acts: []act{
		{time.Second, func(*process) (int, bool) { w.effects[step] = w.effects[step] || code == 0; return 0, false }},
		{time.Second, func(*process) (int, bool) { return code, true }},
	}}
}

// rested gives a held step every answer, and none.
func (c *walk) rested(w *world, s belay.Status) {
	if s != belay.Held || c.answers == 0 {
		return
	}
	c.answers--
	choices := []string{"", event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip}
	choice := choices[c.choose(len(choices))]
	if choice == "" {
		return
	}
	w.post(event.Request{Run: w.root, By: "somebody", Ask: event.RequestAnswer, Why: "looked", Choice: choice})
	w.resumeLater()
}
