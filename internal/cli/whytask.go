package cli

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// whyTask is what a run of belay do is about, and what became of each criterion.
type whyTask struct {
	Text     string                `json:"text"`
	Type     string                `json:"type,omitempty"`
	Goal     string                `json:"goal,omitempty"`
	Criteria []story.TaskCriterion `json:"criteria,omitempty"`
	Findings []story.TaskFinding   `json:"review_findings,omitempty"` // blocking ones
	Warnings []string              `json:"warnings,omitempty"`
	Aside    string                `json:"aside,omitempty"`    // the folder with files of later rounds that the best one replaced
	PutAway  []string              `json:"put_away,omitempty"` // the first of them
	Rounds   int                   `json:"rounds"`
	Best     int                   `json:"best_round,omitempty"`
	Answer   string                `json:"answer,omitempty"`
	Branch   string                `json:"branch,omitempty"` // that the result is on
	Merged   bool                  `json:"merged,omitempty"` // what is checked out where the run was started has the result

	of *story.Task
}

func (s *runView) taskFacts(ctx context.Context, t *story.Task) *whyTask {
	if t == nil {
		return nil
	}
	w := &whyTask{Text: t.Text, Type: t.Type, Goal: t.Goal, Criteria: t.Criteria, Findings: t.Findings, Warnings: t.Warnings, Aside: t.Aside, PutAway: t.PutAway, Rounds: t.Rounds, Best: t.Best, Answer: wordsOf(t), of: t}
	if there(t.Dir) && (t.Commit == "" || t.Left()) {
		w.Branch = t.Branch
	}
	if w.Branch != "" && s.lies == nil {
		ctx, cancel := context.WithTimeout(ctx, lookWithin)
		defer cancel()
		w.Merged = isMerged(ctx, s.Tree.Started().Dir, t)
	}
	return w
}

// isMerged tells whether the result of a task is in what is checked out in a directory.
func isMerged(ctx context.Context, dir string, t *story.Task) bool {
	return t.Offered && t.Left() && worktree.Contains(ctx, dir, t.Commit, "HEAD")
}

// taskPart is the task, its criteria, and why those are not met that are not.
func (w *whyFacts) taskPart(p *page) {
	t := w.Task
	if t == nil {
		return
	}
	p.head("TASK")
	if t.of.File != "" {
		p.text("  ", tui.TaskTitle(t.of))
	} else {
		p.text("  ", readable.Cut(readable.Clean(t.Text), 3*pageWidth))
	}
	if t.Goal != "" && t.Goal != t.Text {
		p.text("  goal: ", t.Goal)
	}
	if t.Rounds == 0 {
		return
	}
	p.head("CRITERIA")
	for i := range t.Criteria {
		c := &t.Criteria[i]
		p.text(fmt.Sprintf("  %-8s  ", tui.CriterionWord(c)), c.ID+": "+c.Text)
		if c.Met() {
			if c.Note != "" {
				p.text("            ", c.Note)
			}
			continue
		}
		p.text("            ", c.Why)
		if c.Exit != nil && *c.Exit != 0 {
			p.whole("            check: " + readable.Command(c.Check))
			p.whole(fmt.Sprintf("            exit code %d", *c.Exit))
			p.quoted(endOf(c.Printed))
		}
	}
	for i := range t.Findings {
		p.text("  review    ", t.Findings[i].Words())
	}
	for _, w := range t.Warnings {
		p.text("  warning   ", w)
	}
	if words := t.of.BackWords(); words != "" {
		p.text("  put away  ", words)
	}
	if t.Answer != "" {
		p.head("ANSWER")
		p.quoted(endOf(t.Answer))
	}
}
