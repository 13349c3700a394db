package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
)

// gate asks whether the service that an agent calls takes calls now.
func (w *drive) gate(q belay.Question) belay.Answer {
	if w.Gate == nil || q.Name == "" {
		return belay.Answer{OK: true}
	}
	g, err := w.Gate(q.Name, q.Agent, q.Retry, w.now())
	if err != nil {
		return belay.Answer{Error: "what is known of " + q.Name + " could not be read: " + err.Error()}
	}
	return belay.Answer{OK: g.OK, Error: g.Why, Until: g.Until, Spent: g.Spent}
}

// tell says what came of an agent's attempt to those who count for the service
// that it calls. An attempt that came to nothing is told of too: it may be the
// one that all others wait for.
func (w *drive) tell(job belay.Job, r *belay.AgentReport) error {
	if job.Agent == nil || w.Told == nil {
		return nil
	}
	class, ok := cameOf(r)
	return w.Told(job.Agent.Name, job.Key, class, ok, w.now())
}

// cameOf is what an attempt says about its service. What Belay ended by its own
// clock says nothing about it, unless the agent did nothing but call again.
func cameOf(r *belay.AgentReport) (belay.Class, bool) {
	if r == nil {
		return belay.ClassNone, false
	}
	switch r.Ended {
	case belay.EndedItself:
		return r.Result.Class, r.Result.Final && !r.Result.Error
	case belay.EndedRetries:
		if r.Result.Class == belay.ClassNone {
			return belay.ClassTransient, false
		}
		return r.Result.Class, false
	case belay.EndedFirst, belay.EndedSilence, belay.EndedTool, belay.EndedBabble, belay.EndedDeadline, belay.EndedSignal,
		belay.EndedOutput:
	}
	return belay.ClassNone, false
}

// gateOf asks in the index, which all runs on the machine share. What the
// budget counted for an agent that may not start is given back.
func (o *Open) gateOf(name string, k belay.Key, retry bool, now time.Time) (journal.Gate, error) {
	g, err := o.local.State.Service(o.local.service(name), k, retry, now)
	if err == nil && !g.OK {
		err = o.books.state.GiveBack(o.session.Tree, o.books.key(k))
	}
	return g, err
}

// toldOf counts in the index what came of a call.
func (o *Open) toldOf(name string, k belay.Key, class belay.Class, ok bool, now time.Time) error {
	return o.local.State.Told(o.local.service(name), k, class, ok, now)
}

func (l *Local) service(agent string) string {
	if l.Service == nil || agent == "" {
		return agent
	}
	return l.Service(agent)
}

// ServicesOf names the services that the agents of a run may call, as they are
// counted.
func (l *Local) ServicesOf(t *flow.Tree) []string {
	first := t.Started()
	uses := first.Agents
	names := slices.Clone(first.Staff)
	for _, p := range first.Roles {
		names = append(names, p.Agent)
	}
	for _, r := range t.Library().Recipes {
		for i := range r.Steps {
			if r.Steps[i].Type != belay.TypeAgent {
				continue
			}
			uses = true
			if name := r.Steps[i].Agent; !strings.Contains(name, ":") && !strings.HasPrefix(first.Agent, name+":") {
				names = append(names, name)
			}
		}
	}
	if uses {
		names = append(names, first.Agent)
	}
	for i, name := range names {
		names[i] = l.service(name)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
}

// cleared takes the counts back that are kept for all runs, once the record of
// a person's wish is on disk. Those of the run are in its records.
func (o *Open) cleared(recs []belay.Record) error {
	for _, r := range recs {
		e, ok := r.Event.(belay.RunCleared)
		if !ok {
			continue
		}
		switch e.What {
		case belay.CountBreakers:
			for _, name := range o.local.ServicesOf(o.Tree) {
				if err := o.local.State.ClearServices(name); err != nil {
					return err
				}
			}
		case belay.CountBudget:
			o.anew = r.At
			if o.session.Depth > 0 {
				continue // what all may use is the business of the run that began the tree
			}
			if err := o.local.State.ClearPurse(o.session.Tree, o.Tree.Started().Limits.Budget, r.At); err != nil {
				return err
			}
		case belay.CountAttempts:
		}
	}
	return nil
}

// clearedAt is when a budget was last taken back; zero = never.
func clearedAt(recs []belay.Record) time.Time {
	var at time.Time
	for _, r := range recs {
		if e, ok := r.Event.(belay.RunCleared); ok && e.What == belay.CountBudget {
			at = r.At
		}
	}
	return at
}
