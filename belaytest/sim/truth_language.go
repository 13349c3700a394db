package sim

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

// shape is what a run walks through: the recipe with its foreach and repeat steps
// as calls, one step for each item of a list, or one for each round.
func (t *truth) shape(prog *recipe.Recipe, run belay.RunID, e event.RunStarted) *recipe.Recipe {
	c := *prog
	c.Steps = nil
	if e.Each != "" || e.Repeat != "" || e.Finally {
		c.Hooks = recipe.Hooks{} // they are around the list, not around its items
	}
	if e.Finally {
		t.w.stats.Finally++
	}
	for i := range prog.Steps {
		def := prog.Steps[i]
		if def.Finally && e.Each == "" && e.Repeat == "" { // they are a run of their own
			switch first := i == 0 || !prog.Steps[i-1].Finally; {
			case !e.Finally && first:
				c.Steps = append(c.Steps, recipe.Step{ID: recipe.FinallyID, Type: belay.TypeRecipe, Finally: true, Optional: true, Retry: recipe.Retry{MaxAttempts: 1}})
				continue
			case !e.Finally:
				continue
			case first:
				def.Needs = nil
			default:
				def.Needs = []int{len(c.Steps) - 1}
			}
		} else if e.Finally {
			continue
		}
		if e.Repeat == def.ID {
			c.Steps = roundsOf(def)
			t.w.stats.Rounds += int64(len(c.Steps))
		}
		if e.Repeat != "" {
			continue
		}
		if e.Each == "" {
			if def.Foreach != "" || def.Repeat != nil {
				def.Verify, def.Once, def.Retry.MaxAttempts = nil, false, 1
			}
			c.Steps = append(c.Steps, def)
			continue
		}
		if def.ID != e.Each {
			continue
		}
		var items []json.RawMessage
		list := e.Items
		if list == nil {
			list = t.given(run, def.Foreach)
		}
		if err := json.Unmarshal(list, &items); err != nil {
			t.w.violate("items come from a list", "%s: %v", def.Foreach, err)
		}
		t.w.stats.Items += int64(len(items))
		for n := range items {
			item := def
			item.ID = belay.Path(fmt.Sprintf("item-%d", n+1))
			item.Needs, item.Optional, item.Foreach = nil, false, ""
			c.Steps = append(c.Steps, item)
		}
	}
	return &c
}

// roundsOf are the rounds of a step: one after the other, whatever became of the
// one before.
func roundsOf(def recipe.Step) []recipe.Step {
	list := make([]recipe.Step, def.Repeat.Max)
	for n := range list {
		round := def
		round.ID = belay.Path(fmt.Sprintf("round-%d", n+1))
		round.Needs, round.Optional, round.Repeat = nil, true, nil
		if n > 0 {
			round.Needs = []int{n - 1}
		}
		list[n] = round
	}
	return list
}

// lastRound is the last round that was taken in a run that is rounds, "" elsewhere.
func (t *truth) lastRound(run belay.RunID) belay.Path {
	last := belay.Path("")
	if t.first[run].Repeat == "" {
		return last
	}
	for i := range t.progs[run].Steps {
		if d := t.steps[stepName(run, t.progs[run].Steps[i].ID)]; d.settled && d.phase != "not taken" {
			last = d.path
		}
	}
	return last
}

// given is the value that a run began with: its own, or that of the run it
// inherits from.
func (t *truth) given(run belay.RunID, name string) json.RawMessage {
	e := t.first[run]
	if v, own := e.Vars[name]; own || !e.Inherit {
		return v.JSON
	}
	return t.given(run[:strings.LastIndexByte(string(run), '/')], name)
}

// beside checks that a hook begins when its step does not run: the first one
// before all attempts, the last one when the step is settled.
func (t *truth) beside(e event.AttemptStarted, d *stepTruth) {
	_, hook := e.Path.Hook()
	is := hook != ""
	if is != (e.Role == belay.RoleHook) {
		t.w.violate("a hook stands beside its step", "%s at %s", e.Key, e.Path)
	}
	if !is {
		return
	}
	t.w.stats.Hooks++
	d.hook = hook
	for _, a := range t.attempts {
		if a.open && a.step == d {
			t.w.violate("a hook stands beside its step", "%s starts while its step is busy", e.Key)
		}
	}
	if want := map[string]bool{"pre_step": false, "post_step": true, "on_error": true}; d.settled != want[hook] {
		t.w.violate("a hook stands beside its step", "%s starts and its step is %q", e.Key, d.phase)
	}
	if hook == "post_step" && !d.done || hook == "on_error" && d.done {
		t.w.violate("a hook stands beside its step", "%s starts and its step is %q", e.Key, d.phase)
	}
}

// hooked checks that every step that was settled had its last hook.
func (t *truth) hooked(run belay.RunID) {
	hooks := t.progs[run].Hooks
	for i := range t.progs[run].Steps {
		d := t.steps[stepName(run, t.progs[run].Steps[i].ID)]
		if d.path == recipe.FinallyID {
			continue // it has none
		}
		failed := d.phase == "failed" || d.phase == "refused"
		if d.done && hooks.PostStep != nil && d.hook != "post_step" || failed && hooks.OnError != nil && d.hook != "on_error" {
			t.w.violate("a hook stands beside its step", "%s has ended, and %s is %q without its last hook", run, d.path, d.phase)
		}
	}
}
