package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/ledger"
)

// cameOf is what an attempt says about its service. What Belay ended by its own
// clock says nothing about it, unless the agent did nothing but call again.
func cameOf(r *effect.AgentReport, now time.Time) ledger.Call {
	if r == nil {
		return ledger.Call{}
	}
	call := ledger.Call{Class: r.Result.Class, After: r.Result.RetryAfter}
	if left := r.Result.Reset.Sub(now); call.After == 0 && left > 0 {
		call.After = left
	}
	switch r.Ended {
	case effect.EndedItself:
		call.OK = r.Result.Final && !r.Result.Error
		return call
	case effect.EndedRetries:
		if call.Class == belay.ClassNone {
			call.Class = belay.ClassTransient
		}
		return call
	case effect.EndedFirst, effect.EndedSilence, effect.EndedTool, effect.EndedBabble, effect.EndedDeadline, effect.EndedSignal,
		effect.EndedOutput:
	}
	return ledger.Call{}
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
