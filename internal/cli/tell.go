package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/recovery"
)

// entry is one line of a run's log.
type entry struct {
	at       time.Time
	level    logLevel
	text     string
	decision bool // the story on the screen tells it already
}

// teller makes the lines of a run's log out of its records: one for each
// decision and one more that it is on record, and what is asked of an agent
// that finishes a sub-recipe, and what came of it. It is pure.
type teller struct {
	tree     *flow.Tree
	attempts map[place]int
	agents   map[place]string
	roles    map[place]string
	ended    map[belay.Key]*belay.AgentReport // of agents that finish a sub-recipe
}

// newTeller starts from a tree as it stands.
func newTeller(tree *flow.Tree) *teller {
	t := &teller{
		tree: tree, attempts: map[place]int{}, agents: map[place]string{}, roles: map[place]string{},
		ended: map[belay.Key]*belay.AgentReport{},
	}
	tui.Walk(tree, "", func(run belay.RunID, _ int, v flow.StepView) {
		at := place{run, v.Path}
		t.attempts[at] = v.Attempt
		if job, ok := tree.Job(v.Key); ok && job.Agent != nil && job.Role == belay.RoleMain {
			t.agents[at] = job.Agent.Name
		}
	})
	return t
}

// lines are the entries that a record is worth.
func (t *teller) lines(r belay.Record) []entry {
	switch e := r.Event.(type) {
	case belay.AttemptStarted:
		at := place{r.Run, e.Path}
		switch e.Role {
		case belay.RoleMain:
			t.attempts[at], t.agents[at] = e.Attempt, e.Agent
		case belay.RoleRecovery:
			return t.prompted(r, e)
		case belay.RoleVerify, belay.RoleHook, belay.RoleRepair, belay.RolePlan, belay.RoleMerge:
		}
	case belay.AnswerGiven:
		if key, asks := strings.CutSuffix(string(e.Key), "?agent"); asks && !e.Answer.OK {
			if name, _, ok := t.finishes(r.Run, belay.Key(key)); ok {
				return say(r, logWarning, "Agent recovery invocation failed for sub-recipe '%s': %s", name, e.Answer.Error)
			}
		}
	case belay.AttemptEnded:
		if _, _, ok := t.finishes(r.Run, e.Key); ok {
			t.ended[e.Key] = e.Observation.Agent
		}
	case belay.AttemptJudged:
		if name, step, ok := t.finishes(r.Run, e.Key); ok {
			return t.recovered(r, e, name, step)
		}
	case belay.RecoveryChosen:
		return t.chosen(r, e)
	}
	return nil
}

func say(r belay.Record, level logLevel, format string, args ...any) []entry {
	return []entry{{at: r.At, level: level, text: fmt.Sprintf(format, args...)}}
}

// finishes tells whether a key is that of an agent that finishes a sub-recipe:
// of which, and for which step.
func (t *teller) finishes(run belay.RunID, k belay.Key) (name string, step belay.Path, ok bool) {
	path, _, ok := strings.Cut(strings.TrimPrefix(string(k), string(run)+":"), "@"+string(belay.RoleRecovery)+".")
	if !ok {
		return "", "", false
	}
	return t.recipe(place{run, belay.Path(path)}), belay.Path(path), true
}

// recipe is the name of the sub-recipe that a step calls.
func (t *teller) recipe(at place) string {
	if s := t.tree.Run(at.run); s != nil {
		for i := range s.Recipe().Steps {
			if def := &s.Recipe().Steps[i]; def.ID == at.path {
				return def.Recipe
			}
		}
	}
	return string(at.path)
}

// chosen is a way out that was chosen.
func (t *teller) chosen(r belay.Record, e belay.RecoveryChosen) []entry {
	at, p := place{r.Run, e.Path}, e.Plan
	task := tui.StepName(r.Run, e.Path)
	lines := []entry{
		{at: r.At, level: logInfo, text: t.decision(at, task, p, r.At), decision: true},
		{at: r.At, level: logInfo, decision: true, text: recovery.Entry{
			TaskID: task, StrategyChosen: recovery.Strategy{Kind: strategyOf(p.Act)}, Reason: p.Reason,
		}.Line()},
	}
	if p.Role != "" {
		t.roles[at] = p.Role
	}
	if p.Act == belay.ActRecover {
		f, _ := t.tree.Run(r.Run).Fallen(e.Path)
		lines = append(lines, say(r, logWarning, "Sub-recipe '%s' failed (step '%s'). Attempting agent recovery.", t.recipe(at), strings.Join(f.Steps, ", "))...)
	}
	for _, no := range p.Refused {
		if no.Act == belay.ActRecover && no.Why == recovery.NoAgent {
			lines = append(lines, say(r, logWarning, "Cannot attempt agent recovery: no adapter configured")...)
		}
	}
	return lines
}

// strategyOf is the word of a way out: one of the six classic ones, or its own.
func strategyOf(act belay.Act) recovery.Kind {
	if act == belay.ActHold {
		return recovery.Escalate
	}
	return recovery.Kind(act)
}

// decision is the line of a decision: task, rule, and what the strategy needs.
func (t *teller) decision(at place, task string, p belay.Plan, now time.Time) string {
	attempt := t.attempts[at]
	if p.Policy == recovery.PolicyClassic {
		attempt = max(attempt-1, 0) // it counts the failures before this one
	}
	x := recovery.Context{TaskID: task, AttemptCount: attempt, AssignedTo: t.role(at)}
	d := recovery.Decision{Rule: recovery.Rule(p.Rule), Strategy: recovery.Strategy{
		Kind: strategyOf(p.Act), BackoffMS: max(p.Due.Sub(now), 0).Milliseconds(),
		NewRole: recovery.Role(p.Role), Subtasks: make([]recovery.Subtask, len(p.Parts)),
	}}
	line := d.Line(x)
	switch p.Act {
	case belay.ActFailover:
		return fmt.Sprintf("%s from=%s to=%s", line, tui.AgentName(t.agents[at]), tui.AgentName(p.Agent))
	case belay.ActResume, belay.ActFresh, belay.ActRepair, belay.ActRecover, belay.ActFallback:
		return fmt.Sprintf("%s attempt=%d", line, attempt)
	case belay.ActRetry, belay.ActReassign, belay.ActDecompose, belay.ActSkip, belay.ActGiveUp, belay.ActAbort, belay.ActHold:
	}
	return line
}

// role is the role that a step had before it is given to another.
func (t *teller) role(at place) recovery.Role {
	if r := t.roles[at]; r != "" {
		return recovery.Role(r)
	}
	if s := t.tree.Run(at.run); s != nil {
		for i := range s.Recipe().Steps {
			if def := &s.Recipe().Steps[i]; def.ID == at.path && def.Role != "" {
				return recovery.Role(def.Role)
			}
		}
	}
	return recovery.Coder
}

// prompted is what an agent that finishes a sub-recipe is asked.
func (t *teller) prompted(r belay.Record, e belay.AttemptStarted) []entry {
	job, ok := t.tree.Job(e.Key)
	if !ok || job.Agent == nil || len(job.Agent.Prompt) == 0 {
		return nil // it has ended already: the prompt is among the files of the attempt
	}
	var text string
	if json.Unmarshal(job.Agent.Prompt[0].JSON, &text) != nil {
		return nil
	}
	return say(r, logDebug, "Recovery prompt for sub-recipe '%s': %s", t.recipe(place{r.Run, e.Path}), text)
}

// recovered is what an agent that was to finish a sub-recipe came to.
func (t *teller) recovered(r belay.Record, e belay.AttemptJudged, name string, step belay.Path) []entry {
	report := t.ended[e.Key]
	delete(t.ended, e.Key)
	why := "nobody knows"
	if e.Verdict.Failure != nil {
		why = e.Verdict.Failure.Cause
	}
	good := report != nil && report.Result.Final && !report.Result.Error
	switch {
	case e.Verdict.OK:
		return say(r, logInfo, "Agent recovery succeeded for sub-recipe '%s' (step '%s')", name, step)
	case good && strings.TrimSpace(report.Result.Excerpt) == "":
		return say(r, logWarning, "Agent recovery returned empty output for sub-recipe '%s'", name)
	case report != nil && report.Result.GaveUp:
		return say(r, logWarning, "Agent recovery reported unrecoverable failure for sub-recipe '%s': %s", name, agent.Preview(report.Result.Excerpt))
	case good:
		return say(r, logWarning, "Agent recovery of sub-recipe '%s' was not accepted: %s", name, why)
	}
	return say(r, logWarning, "Agent recovery invocation failed for sub-recipe '%s': %s", name, why)
}
