package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// Driver is the simulator as a driver that the conformance suite can use.
type Driver struct{}

// Abilities are those of a world without agents, secrets and other runs.
func (Driver) Abilities() []belaytest.Ability { return []belaytest.Ability{belaytest.BigValues} }

// Run makes one run of a case in a calm world.
func (Driver) Run(t *testing.T, c belaytest.Case) belaytest.Outcome {
	t.Helper()
	b := book{names: []string{"root"}, sources: []string{c.Recipe}}
	for _, name := range sortedNames(c.Subs) {
		b.names, b.sources = append(b.names, name), append(b.sources, c.Subs[name])
	}
	if err := b.parse(); err != nil {
		t.Fatal(err)
	}
	p := &play{acts: c.Acts}
	w := newWorld(p, b, NoBug)
	w.trace, w.scripted = &trace{}, true
	w.snaps = func() bool { return true } // who comes after a driver that was killed goes on from one
	for _, n := range sortedNames(c.Vars) {
		w.vars[n] = belay.Text(c.Vars[n])
	}
	w.run()
	if w.broken != nil {
		t.Error(w.broken)
	}
	if len(p.acts) > 0 {
		t.Errorf("nobody could %s: it never came to that", p.acts[0].Do)
	}
	if t.Failed() {
		for _, l := range w.trace.lines {
			t.Log(l)
		}
	}
	tree, err := fold(w.root, w.lib, w.disk, w.classes)
	if err != nil {
		t.Fatal(err)
	}
	o := belaytest.Look(tree, w.disk)
	o.Files = map[string]string{}
	for name := range c.Want.Files {
		o.Files[name] = w.files[name]
	}
	return o
}

// play is a calm world in which people follow a list.
type play struct{ acts []belaytest.Act }

func (p *play) next(w *world) *happening  { return w.agenda.first() }
func (p *play) lag(lag) time.Duration     { return time.Millisecond }
func (p *play) dies(*world, point) bool   { return false }
func (p *play) diskFull(*world) bool      { return false }
func (p *play) survivors(_, most int) int { return most }
func (p *play) rested(w *world, _ belay.Status) {
	for len(p.acts) > 0 && !p.acts[0].Waits() {
		p.act(w)
	}
}

// strike does what waits for a file or a record that is there now.
func (p *play) strike(w *world) {
	if len(p.acts) > 0 && w.driver != nil && p.acts[0].Waits() && p.ready(w) {
		p.act(w)
	}
}

// ready tells whether what the next act waits for is there.
func (p *play) ready(w *world) bool {
	a := p.acts[0]
	if _, there := w.files[a.After]; a.After != "" && !there {
		return false
	}
	return a.Seen == nil || slices.ContainsFunc(w.disk, a.Seen)
}

// act does the next thing on the list.
func (p *play) act(w *world) {
	a := p.acts[0]
	p.acts = p.acts[1:]
	r := event.Request{Run: w.root, By: "somebody", Step: a.Step, Choice: a.Choice, What: a.What, Why: "the list says so"}
	switch a.Do {
	case belaytest.Cancel:
		r.Ask = event.RequestCancel
		w.post(r)
	case belaytest.Stop:
		r.Ask = event.RequestStop
		w.post(r)
	case belaytest.Clear:
		if r.Ask = event.RequestClear; w.driver != nil {
			w.post(r)
		} else {
			w.settle(r)
		}
	case belaytest.Touch:
		w.files[a.File] += ""
	case belaytest.Resume:
		w.resumeLater()
	case belaytest.Reopen:
		w.after(time.Second, &happening{what: "reopen", do: func() {
			w.drive(flow.Fact{Run: w.root, Event: event.RunReopened{By: "somebody", Why: "the list says so"}})
		}})
	case belaytest.Answer:
		r.Ask = event.RequestAnswer
		w.settle(r)
		w.resumeLater()
	case belaytest.KillKeeper:
		w.keeper.crash()
	case belaytest.KillDriver:
		w.say("driver is killed")
		w.driver.gone()
		p.rested(w, belay.Running)
	}
}

// behave reads the script.
func (p *play) behave(w *world, j effect.Job) program {
	prog, err := readScript(j.Script)
	if err != nil {
		w.violate("script", "%v", err)
	}
	return prog
}
