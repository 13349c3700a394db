package flow

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
)

// minPart is the least time that a part of a task has.
const minPart = time.Minute

// planned is the recovery that an agent's plan makes: its parts, or what is left
// when it has none that are of use.
func (s *State) planned(i int, now time.Time) belay.Plan {
	st := &s.steps[i]
	var raw json.RawMessage
	if o := st.helper.told.Output; o != nil && o.Inline() {
		raw = o.JSON
	}
	parts, err := recovery.ReadParts(raw, s.taskOf(i))
	if o := st.helper.told.Output; o != nil && !o.Inline() {
		err = fmt.Errorf("it is %d bytes long, and a plan has %d at most", o.Size, belay.MaxInline)
	}
	if err != nil {
		p := s.decide(i, now)
		p.Refused = append([]belay.NotTaken{{Act: belay.ActDecompose, Why: "the plan is of no use: " + err.Error()}}, p.Refused...)
		return p
	}
	p := *st.plan
	p.Rule, p.Parts, p.Due, p.Counts = "planned", parts, now, false
	p.Reason = fmt.Sprintf("split into %d parts", len(parts))
	return p
}

// startParts begins the parts of a step's task as a child run.
func (s *State) startParts(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	n := st.attempt + 1
	key := s.mainKey(i, n)
	started := event.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: n, Child: s.id.Child(def.ID, n)}
	return startRun{Started: started, Child: s.below(key, event.RunStarted{
		Name: s.prog.Name, Recipe: s.started.Recipe, File: s.prog.File, Split: s.origin(i), Parts: st.nextAttempt.parts,
		Dir: s.root(i), Hidden: s.hiddenDown(i), Vars: s.splitVars(i),
	})}
}

// Joined is what is said for a task whose parts are done, and of which nobody can
// see whether they are the whole.
const Joined = "joined, unverified"

// unjoined tells whether nothing in the recipe checks the parts of a step's task
// as a whole. That of a part is no question of its own: the whole is checked, or
// it is not.
func (s *State) unjoined(i int) bool {
	def := &s.prog.Steps[i]
	return s.steps[i].nextAttempt.parts != nil && s.started.Split == "" && def.Verify == nil && !demands(string(s.Expects(i)))
}

// origin is the name of a step in its recipe's own text: a part is known by
// the step whose task was split.
func (s *State) origin(i int) belay.Path {
	switch {
	case s.started.Split != "":
		return s.started.Split
	case s.started.Each != "":
		return s.started.Each
	case s.started.Repeat != "":
		return s.started.Repeat
	}
	return s.prog.Steps[i].ID
}

// below gives the first record of a child run what it has from its parent.
func (s *State) below(key belay.Key, e event.RunStarted) event.RunStarted {
	e.Schema, e.Inherit, e.Parent, e.Limits = event.Schema, true, key, s.started.Limits
	e.Include, e.Exclude, e.Compat = s.started.Include, s.started.Exclude, s.started.Compat
	e.Agent, e.Classic = s.started.Agent, s.started.Classic
	return e
}

// pieces is the recipe of the parts of a task: one agent step for each, with
// nothing of the step around it but who does it, where, and what it expects.
// Where the step has results, one more makes them of what the parts answered.
func pieces(prog *recipe.Recipe, def *recipe.Step, parts []belay.Part) *recipe.Recipe {
	c := *prog
	c.Hooks, c.Rules, c.Ends, c.AllowEmpty, c.Isolate = recipe.Hooks{}, nil, nil, true, false // it works where the step does
	c.Steps = make([]recipe.Step, len(parts))
	for k, p := range parts {
		item := *def
		item.ID = belay.Path(fmt.Sprintf("part-%d", k+1))
		item.Condition, item.Tags, item.Group, item.Foreach, item.Items, item.Repeat = nil, nil, "", "", nil, nil
		item.Verify, item.Once, item.Optional, item.Escalate, item.Cure, item.Fallback, item.IsFallback = nil, false, false, false, false, nil, false
		item.Retry, item.Isolate = recipe.Retry{MaxAttempts: 1}, recipe.IsolateUnsaid
		item.Output, item.Outputs, item.JSON, item.Keys = "", nil, effect.JSONAuto, nil
		if e := belay.Expect(def.Expect); e == belay.ExpectTests || e == belay.ExpectPR {
			item.Expect = string(belay.ExpectAnswer) // the whole is looked at when all parts are done
		}
		item.Needs = make([]int, 0, len(p.Needs))
		for _, n := range p.Needs {
			item.Needs = append(item.Needs, n-1)
		}
		if def.Timeout > 0 {
			item.Timeout = max(minPart, def.Timeout/time.Duration(len(parts)+1))
		}
		item.Prompt = expr.Plain(partTask(p, k+1, len(parts)))
		c.Steps[k] = item
	}
	if def.Output != "" || len(def.Outputs) > 0 {
		c.Steps = append(c.Steps, joint(c.Steps, def))
	}
	return &c
}

// splitTask is the variable that holds the whole task for the step that joins.
const splitTask = "split_task"

// splitVars are what the step that joins the parts is told beside their answers.
func (s *State) splitVars(i int) map[string]belay.Value {
	if def := &s.prog.Steps[i]; def.Output == "" && len(def.Outputs) == 0 {
		return nil
	}
	return map[string]belay.Value{splitTask: belay.Text(s.taskOf(i))}
}

// joint is the step that makes one result of what the parts answered: the
// output of the step whose task was split.
func joint(parts []recipe.Step, def *recipe.Step) recipe.Step {
	join := parts[len(parts)-1]
	join.ID, join.Output, join.Outputs, join.JSON, join.Keys = "join", def.Output, def.Outputs, def.JSON, def.Keys
	join.Expect = string(belay.ExpectAnswer)
	join.Needs = make([]int, 0, len(parts))
	text := "A task was split, and all of its parts are done. Do none of them again. Give the result of the whole task,\n" +
		"as it asks for it, from what the parts answered and from the files.\n\n## The task\n\n{{" + splitTask + "}}"
	for k := range parts {
		name := fmt.Sprintf("split_part_%d", k+1)
		parts[k].Output = name
		join.Needs = append(join.Needs, k)
		text += fmt.Sprintf("\n\n## What part %d answered\n\n{{%s}}", k+1, name)
	}
	join.Prompt, _ = expr.ParseText(text) // its names are our own
	return join
}

// partTask is what the agent of a part is told.
func partTask(p belay.Part, k, of int) string {
	text := p.Task
	if p.Title != "" && p.Title != p.Task {
		text = p.Title + "\n\n" + text
	}
	if p.Check != "" {
		text += "\n\nIt is done when: " + p.Check
	}
	return fmt.Sprintf("%s\n\nThis is part %d of %d of a larger task. Do this part only; others do the rest.", text, k, of)
}
