package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// The steps of the recipes of belay do whose results are shown as they come.
const (
	planStep  belay.Path = "parse-decomposition"  // in the recipe itself
	mendStep  belay.Path = "rewrite"              // in a round of the review
	gapStep   belay.Path = "detect-execution-gap" // in a round
	judgeStep belay.Path = "judge-round"          // in a round
	bestStep  belay.Path = "best-round"           // in the recipe itself
	standStep belay.Path = "standing-round"       // after it, where the files of the best one are not there
	roundStep            = "round-"               // and its number

	publishStep belay.Path = "publish" // in the recipe itself
)

// taskPlan is what that step gives.
type taskPlan struct {
	Type     string `json:"type"`
	Goal     string `json:"goal"`
	Criteria []struct {
		ID    string   `json:"id"`
		Text  string   `json:"text"`
		Check string   `json:"check"`
		Files []string `json:"files"`
	} `json:"criteria"`
	Streams []struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Needs       []string `json:"needs"`
	} `json:"streams"`
	MaxAgents int      `json:"max_agents"`
	Warnings  []string `json:"warnings"`
	Fallback  bool     `json:"fallback"`
}

// doesTask tells whether a run is one of belay do, however it was started.
func doesTask(o *engine.Open) bool {
	root := o.Tree.Run(o.ID)
	return root != nil && root.Recipe() != nil && root.Recipe().Name == doRecipe
}

// planOnly tells whether a task was only to be planned.
func planOnly(tree *flow.Tree) bool { return slices.Contains(tree.Started().Exclude, workTag) }

// taskLines is what is shown of a task beside its steps: the plan before anything is
// worked on, that nobody did the work, what each
// round amounts to, and the best one.
func taskLines(tree *flow.Tree, read func(belay.Value) []byte, n *story.News) []string {
	if n.Path == publishStep && n.Run.Depth() == 0 {
		return publishLines(n)
	}
	if n.What != story.AttemptJudged || n.Attempt == nil || n.Attempt.Observation == nil || n.Attempt.Observation.Output == nil {
		return nil
	}
	out := *n.Attempt.Observation.Output
	switch depth := n.Run.Depth(); {
	case n.Path == planStep && depth == 0 && planOnly(tree):
		return nil // it is the answer, and printed at the end
	case n.Path == planStep && depth == 0, n.Path == mendStep && depth > 0:
		var p taskPlan
		if story.Decode(out, read, &p); p.Type != "" && (depth == 0 || !p.Fallback) {
			return p.lines(tree)
		}
	case n.Path == gapStep && depth > 0:
		var gap struct{ Banner string }
		if story.Decode(out, read, &gap); gap.Banner != "" {
			lines := strings.Split(gap.Banner, "\n")
			for i := range lines {
				lines[i] = readable.Clean(lines[i])
			}
			return lines
		}
	case n.Path == judgeStep && depth > 0:
		return roundLines(n.Run, out, read)
	case n.Path == bestStep && depth == 0:
		return bestLines("best", out, read)
	case n.Path == standStep && depth == 0:
		return bestLines("left", out, read)
	}
	return nil
}

// judgedRound is what the step gives that judges a round, or chooses one.
type judgedRound struct {
	Round  int    `json:"round"`
	Line   string `json:"line"`
	Met    int    `json:"met"`
	Total  int    `json:"total"`
	Last   bool   `json:"last"`
	Rounds int    `json:"rounds"`

	Warnings []string `json:"warnings"`
}

func roundLines(run belay.RunID, out belay.Value, read func(belay.Value) []byte) []string {
	var r judgedRound
	parent, ok := run.Parent()
	number, isRound := strings.CutPrefix(string(parent.Path), roundStep)
	if story.Decode(out, read, &r); !ok || !isRound || r.Line == "" {
		return nil
	}
	lines := []string{fmt.Sprintf("%-8s  %s", "round "+number, readable.Clean(r.Line))}
	for _, w := range r.Warnings {
		lines = append(lines, "          warning: "+readable.Clean(w))
	}
	return lines
}

func bestLines(word string, out belay.Value, read func(belay.Value) []byte) []string {
	var r judgedRound
	if story.Decode(out, read, &r); r.Round == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%-8s  round %d of %d: %s", word, r.Round, r.Rounds, readable.Clean(r.Line))}
}

// publishLines say where the work went, or that it is reached and went nowhere.
func publishLines(n *story.News) []string {
	if n.What != story.AttemptJudged || n.Attempt == nil || n.Attempt.Verdict == nil || n.Attempt.Observation == nil || n.Attempt.Observation.Child == nil {
		return nil
	}
	if v := n.Attempt.Verdict; !v.OK {
		lines := []string{"publish   reached, not published"}
		if v.Failure != nil {
			lines[0] += ": " + readable.Clean(v.Failure.Cause)
		}
		return append(lines, "          to publish it again: belay resume "+string(n.Run))
	}
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(n.Attempt.Observation.Child.Outputs[name].JSON, &s) // what is not there is empty
		return readable.Clean(strings.TrimSpace(s))
	}
	lines := []string{fmt.Sprintf("publish   branch %s is pushed to origin", text("branch"))}
	if url := text("pull_request"); url != "" {
		lines = append(lines, "          pull request: "+url)
	}
	return lines
}

// plannedLines is the plan of a run that only was to make one.
func plannedLines(o *engine.Open) []string {
	var p taskPlan
	if story.Decode(o.Tree.Run(o.ID).Vars()["plan"], blobs(o.Blob), &p); p.Type == "" {
		return nil
	}
	return p.lines(o.Tree)
}

func (p taskPlan) lines(tree *flow.Tree) []string {
	checked := 0
	for _, c := range p.Criteria {
		if c.Check != "" {
			checked++
		}
	}
	lines := []string{
		fmt.Sprintf("plan      %s · %s · %s (%d with a check) · %s", p.Type, readable.Many(len(p.Streams), "workstream"),
			criteria(len(p.Criteria)), checked, p.most(tree)),
		"  goal    " + readable.Clean(p.Goal),
	}
	for _, c := range p.Criteria {
		proof := ""
		switch {
		case c.Check != "":
			proof = "  check: " + readable.Command(c.Check)
		case len(c.Files) > 0:
			proof = "  files: " + readable.Clean(strings.Join(c.Files, " "))
		}
		lines = append(lines, fmt.Sprintf("  %-6s  %s%s", readable.Clean(c.ID), readable.Clean(c.Text), proof))
	}
	if len(p.Streams) > 1 {
		for _, s := range p.Streams {
			text := readable.Clean(s.ID)
			if what := tui.Title(s.Description); what != "" && what != text {
				text += ": " + what
			}
			if len(s.Needs) > 0 {
				text += "  after " + readable.Clean(strings.Join(s.Needs, ", "))
			}
			lines = append(lines, "  stream  "+text)
		}
	}
	for _, w := range p.Warnings {
		lines = append(lines, "  note    "+readable.Clean(w))
	}
	for _, text := range []string{p.unprovable(tree), p.undeclared(tree.Started().Dir), p.scarce(tree)} {
		if text != "" {
			lines = append(lines, "  note    "+text)
		}
	}
	return lines
}

// most is how far the work may go: rounds, and agents.
func (p taskPlan) most(tree *flow.Tree) string {
	rounds, starts := p.bounds(tree)
	return fmt.Sprintf("at most %s and %s", readable.Many(rounds, "round"), readable.Many(starts, "agent start"))
}

// unprovable names the criteria that nothing can prove, whatever the agents do.
func (p taskPlan) unprovable(tree *flow.Tree) string {
	if p.Type != development && p.Type != "Operations" { // others are proven by citations
		return ""
	}
	var tests, trust bool
	vars := tree.Run(tree.Runs()[0]).Vars()
	_ = json.Unmarshal(vars["has_tests"].JSON, &tests)        // false where nobody says it
	_ = json.Unmarshal(vars["trust_reflection"].JSON, &trust) // the same
	var ids []string
	for _, c := range p.Criteria {
		if c.Check == "" && (len(c.Files) == 0 || !tests) {
			ids = append(ids, readable.Clean(c.ID))
		}
	}
	if len(ids) == 0 || trust {
		return ""
	}
	have := "has"
	if len(ids) > 1 {
		have = "have"
	}
	return fmt.Sprintf("%s %s no check: the result is PARTIAL at best; give checks with --criteria, or accept the reflecting agent's word with --trust-reflection",
		strings.Join(ids, ", "), have)
}

// undeclared names the programs of a directory that a check names, and that are not among the files
// of its criterion: somebody may have meant them to be changed.
func (p taskPlan) undeclared(dir string) string {
	if p.Type != development {
		return ""
	}
	var list []string
	for _, c := range p.Criteria {
		var there []string
		for _, word := range recipe.WordsOf(c.Check) {
			for more := true; more; _, word, more = strings.Cut(word, "/") { // what is before may be a variable
				name := path.Clean(word)
				if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && !slices.Contains(there, name) {
					there = append(there, name)
				}
			}
		}
		there = slices.DeleteFunc(there, func(name string) bool {
			return worktree.IsTest(name) || slices.ContainsFunc(c.Files, func(f string) bool { return path.Clean(f) == name })
		})
		if named := (shellTexts{}).Names(c.Check, there); len(named) > 0 {
			list = append(list, readable.Clean(fmt.Sprintf("%s (%s)", c.ID, strings.Join(named, ", "))))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "if the work changes a program that a check names, the criterion is unproven unless it has the program under files: " + strings.Join(list, ", ")
}

func criteria(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return fmt.Sprintf("%d criteria", n)
}
