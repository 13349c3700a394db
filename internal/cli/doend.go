package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// taskIn is the task of an open run; nil when it is a run of another recipe.
func taskIn(o *engine.Open) *story.Task {
	return story.TaskOf(o.Tree, blobs(o.Blob))
}

// blobs reads values that are too big for the records.
func blobs(read func(sha string, most int64) ([]byte, error)) func(belay.Value) []byte {
	return func(v belay.Value) []byte {
		b, err := read(v.Sha, recipe.MaxBytes)
		if err != nil {
			return nil // it is told without
		}
		return b
	}
}

// wordsOf is the result of a task that is one in words: of a question and of an
// investigation. What an operation says of itself is a report, too.
func wordsOf(t *story.Task) string {
	if t == nil || t.Type == development {
		return ""
	}
	return t.Answer
}

// answerLine prints the answer as a line for programs.
func (a *app) answerLine(o *engine.Open) {
	t := taskIn(o)
	if text := wordsOf(t); text != "" {
		a.object(struct {
			Kind string      `json:"kind"`
			Run  belay.RunID `json:"run"`
			Type string      `json:"type"`
			Text string      `json:"text"`
		}{"task.answer", o.ID, t.Type, text})
	}
}

// taskEnd prints the end of a task: first the answer or the plan, which are the
// result, then what it came to and what to type next.
func (a *app) taskEnd(ctx context.Context, o *engine.Open, acc *story.Account, res belay.RunResult, kept []hand.Kept) {
	t := acc.Task
	said := wordsOf(t)
	a.out.acts = a.out.acts && said == "" && !t.Planned // a result that nobody got is none
	if t.Planned && res.Status == belay.Achieved {
		a.out.lines(plannedLines(o))
		if !a.quiet {
			a.out.line("next: %s", tui.Next(acc, tui.NewNames(o.Tree), a.name()))
			a.out.line("run %s %s: nothing was carried out", o.ID, story.StatusWord(res.Status, true))
		}
		return
	}
	if said != "" {
		a.out.markdown(strings.Split(readable.Harmless(said), "\n"))
	}
	if a.quiet && res.Code == exit.OK {
		for _, w := range t.Warnings {
			a.warn(w)
		}
		return
	}
	if said != "" {
		a.out.line("")
	}
	a.out.lines(withReceipt(a.oursIn(tui.TaskSummary(acc, o.Tree, res, a.workLines(ctx, o, t, kept), a.name())), a.name(), o.ID))
}

// workLines say where the work of a task is: the branch of the result, and those of
// workstreams whose work is not part of it.
func (a *app) workLines(ctx context.Context, o *engine.Open, t *story.Task, kept []hand.Kept) []string {
	var lines []string
	mine := o.Tree.Status().Terminal() || slices.ContainsFunc(kept, func(k hand.Kept) bool { return k.Dir == t.Dir })
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), standWithin) // who stopped it wants to know, too
	defer cancel()
	switch repo := o.Tree.Started().Dir; {
	case t.Pushed != "":
		lines = append(lines, publishedLines(repo, t)...)
	case t.Branch == "":
	case isMerged(ctx, repo, t):
		lines = append(lines, "nothing is to be merged: what is checked out in "+readable.Clean(repo)+" has the work already")
	case t.Offered && worktree.HasWork(ctx, repo, t.Branch):
		lines = append(lines, mergeLabel+mergeLine(repo, t.Branch))
	case t.Offered || !mine || !there(t.Dir):
	case worktree.HasWork(ctx, repo, t.Branch):
		lines = append(lines, fmt.Sprintf("work that nobody judged is on branch %s   # look: %s log -p ..%s", story.Quote(t.Branch), gitAt(repo), story.Quote(t.Branch)))
	case worktree.Glance(ctx, t.Dir).Dirty:
		lines = append(lines, "nothing is committed; what is there: "+gitAt(t.Dir)+" status")
	}
	if words := t.BackWords(); words != "" {
		lines = append(lines, readable.Clean(words))
	}
	for _, k := range kept {
		if k.Dir == t.Dir || slices.Contains(k.Why, worktree.ReasonUnknown) && !there(k.Dir) {
			continue
		}
		look := gitAt(o.Tree.Started().Dir) + " log -p .." + story.Quote(k.Branch)
		if worktree.Glance(ctx, k.Dir).Dirty { // what an agent left that failed
			look = gitAt(k.Dir) + " status"
		}
		lines = append(lines, fmt.Sprintf("not part of it: branch %s   # look: %s", story.Quote(k.Branch), look))
	}
	return lines
}

// publishedLines say where the work was published, and how to take it from there.
func publishedLines(dir string, t *story.Task) []string {
	lines := []string{"published: branch " + readable.Clean(t.Pushed) + " at origin"}
	if t.PR != "" {
		return append(lines, "to merge the work, merge the pull request: "+readable.Clean(t.PR))
	}
	return append(lines, mergeLabel+mergeLine(dir, "origin/"+t.Pushed))
}

// mergeLine is the command that merges a branch into the tree of a directory.
func mergeLine(dir, branch string) string { return gitAt(dir) + " merge " + story.Quote(branch) }

// here is the directory of the user; "" when it is not known.
func here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// gitAt is how git is called for the tree of a directory from where the user is.
func gitAt(dir string) string {
	if at := here(); at != "" && worktree.Whole(at) == worktree.Whole(dir) {
		return "git"
	}
	return "git -C " + story.Quote(dir)
}
