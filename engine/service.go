package engine

import (
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
)

// cameOf is what an attempt says about its service. What Belay ended by its own
// clock says nothing about it, unless the agent did nothing but call again.
func cameOf(r *effect.AgentReport) (belay.Class, bool) {
	if r == nil {
		return belay.ClassNone, false
	}
	switch r.Ended {
	case effect.EndedItself:
		return r.Result.Class, r.Result.Final && !r.Result.Error
	case effect.EndedRetries:
		if r.Result.Class == belay.ClassNone {
			return belay.ClassTransient, false
		}
		return r.Result.Class, false
	case effect.EndedFirst, effect.EndedSilence, effect.EndedTool, effect.EndedBabble, effect.EndedDeadline, effect.EndedSignal,
		effect.EndedOutput:
	}
	return belay.ClassNone, false
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
			if !r.Steps[i].Type.Agent() {
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
