package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
	"github.com/belay-run/belay/story"
)

// entry is one line of a run's log.
type entry struct {
	at       time.Time
	level    logLevel
	text     string
	decision bool // the story on the screen tells it already
}

// logLines makes the lines of a run's log out of its story: one for each decision
// and one more that it is on record, and what is asked of an agent that finishes
// a sub-recipe, and what came of it. It is pure.
type logLines struct {
	story *story.Story
}

// of is the entries that news is worth.
func (t logLines) of(n *story.News) []entry {
	if n.Decision != nil && n.Decision.Plan != nil {
		return t.chosen(n.Decision)
	}
	if n.Attempt == nil || n.Attempt.Role != belay.RoleRecovery { // it finishes a sub-recipe
		return nil
	}
	permit, asked := n.Answer.(effect.AnswerAgent)
	switch {
	case n.What == story.AttemptStarted:
		return t.prompted(n)
	case asked && !permit.OK:
		return say(n.At, logWarning, "Agent recovery invocation failed for sub-recipe '%s': %s", t.recipe(n.Place), permit.Error)
	case n.What == story.AttemptJudged:
		return t.recovered(n)
	}
	return nil
}

func say(at time.Time, level logLevel, format string, args ...any) []entry {
	return []entry{{at: at, level: level, text: fmt.Sprintf(format, args...)}}
}

// recipe is the name of the sub-recipe that a step calls.
func (t logLines) recipe(at story.Place) string {
	if def := t.story.Def(at); def != nil {
		return def.Recipe
	}
	return string(at.Path)
}

// chosen is a recovery that was chosen.
func (t logLines) chosen(d *story.Decision) []entry {
	p := d.Plan
	lines := []entry{
		{at: d.At, level: logInfo, text: decisionLine(d), decision: true},
		{at: d.At, level: logInfo, decision: true, text: classic.Entry{
			TaskID: d.Name(), StrategyChosen: classic.Strategy{Kind: strategyOf(p.Act)}, Reason: p.Reason,
		}.Line()},
	}
	if p.Act == belay.ActRecover {
		f, _ := t.story.Tree.Run(d.Run).Fallen(d.Path)
		lines = append(lines, say(d.At, logWarning, "Sub-recipe '%s' failed (step '%s'). Attempting agent recovery.", t.recipe(d.Place), strings.Join(f.Steps, ", "))...)
	}
	for _, no := range p.Refused {
		if no.Act == belay.ActRecover && no.Why == recovery.NoAgent {
			lines = append(lines, say(d.At, logWarning, "Cannot attempt agent recovery: no adapter configured")...)
		}
	}
	return lines
}

// strategyOf is the word of a recovery: one of the six classic ones, or its own.
func strategyOf(act belay.Act) belay.Act {
	if classic := act.Row().Classic; classic != "" {
		return classic
	}
	return act
}

// decisionLine is the line of a decision: task, rule, and what the strategy needs.
func decisionLine(of *story.Decision) string {
	attempt, p := of.N, of.Plan
	if p.Policy == recovery.PolicyClassic {
		attempt = max(attempt-1, 0) // it counts the failures before this one
	}
	x := classic.Context{TaskID: of.Name(), AttemptCount: attempt, AssignedTo: recovery.Role(of.Role)}
	d := classic.Decision{Rule: classic.Rule(p.Rule), Strategy: classic.Strategy{
		Kind: strategyOf(p.Act), BackoffMS: max(p.Due.Sub(of.At), 0).Milliseconds(),
		NewRole: recovery.Role(p.Role), Subtasks: make([]classic.Subtask, len(p.Parts)),
	}}
	line := d.Line(x)
	switch {
	case p.Act == belay.ActFailover:
		return fmt.Sprintf("%s from=%s to=%s", line, story.AgentName(of.Agent), story.AgentName(p.Agent))
	case p.Act.Row().Classic == "" && p.Act != belay.ActGiveUp:
		return fmt.Sprintf("%s attempt=%d", line, attempt)
	}
	return line
}

// prompted is what an agent that finishes a sub-recipe is asked.
func (t logLines) prompted(n *story.News) []entry {
	job, ok := t.story.Tree.Job(n.Attempt.Key)
	if !ok || job.Agent == nil || len(job.Agent.Prompt) == 0 {
		return nil // it has ended already: the prompt is among the files of the attempt
	}
	var text string
	if json.Unmarshal(job.Agent.Prompt[0].JSON, &text) != nil {
		return nil
	}
	return say(n.At, logDebug, "Recovery prompt for sub-recipe '%s': %s", t.recipe(n.Place), text)
}

// recovered is what an agent that was to finish a sub-recipe came to.
func (t logLines) recovered(n *story.News) []entry {
	name, report, v := t.recipe(n.Place), n.Attempt.Report(), n.Attempt.Verdict
	why := "nobody knows"
	if v.Failure != nil {
		why = v.Failure.Cause
	}
	good := report != nil && report.Result.Final && !report.Result.Error
	switch {
	case v.OK && story.UnverifiedBy(v):
		return say(n.At, logInfo, "Agent recovery succeeded for sub-recipe '%s' (step '%s'), unverified: no check looked at its work", name, n.Path)
	case v.OK:
		return say(n.At, logInfo, "Agent recovery succeeded for sub-recipe '%s' (step '%s')", name, n.Path)
	case good && strings.TrimSpace(report.Result.Excerpt) == "":
		return say(n.At, logWarning, "Agent recovery returned empty output for sub-recipe '%s'", name)
	case report != nil && report.Result.GaveUp:
		return say(n.At, logWarning, "Agent recovery reported unrecoverable failure for sub-recipe '%s': %s", name, agent.Preview(report.Result.Excerpt))
	case good:
		return say(n.At, logWarning, "Agent recovery of sub-recipe '%s' was not accepted: %s", name, why)
	}
	return say(n.At, logWarning, "Agent recovery invocation failed for sub-recipe '%s': %s", name, why)
}
