package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/task"
	"github.com/belay-run/belay/worktree"
)

// headOf is the file with the commit that was checked out when files were listed.
func headOf(list string) string { return list + ".head" }

// firstHead is the commit that was checked out when the first round began, or the recipe that
// is run by itself; not ok where nobody looked.
func (r runPlace) firstHead() (string, bool) {
	for _, name := range []string{"round-1", lookList} {
		if b, err := os.ReadFile(headOf(r.list(name))); err == nil {
			return strings.TrimSpace(string(b)), true
		}
	}
	return "", false
}

// commitID is how a commit may be cited.
var commitID = pattern.Lazy(`^[0-9a-fA-F]{7,64}$`)

// known looks a commit up that is cited: it was there when the run began, it has what is quoted
// of it, and it changed what its criterion says. Where nobody said that it is a commit, it
// may be something else, and is not wrong.
func (r runPlace) known(ctx context.Context, args []string) error {
	id, quote, criterion := args[0], args[1], args[2]
	var got struct {
		Criterion string `json:"criterion,omitempty"`
		Commit    string `json:"commit"`
		Holds     bool   `json:"holds"`
		Wrong     string `json:"wrong,omitempty"`
	}
	got.Commit = id
	if plainID().MatchString(criterion) {
		got.Criterion = criterion
	}
	base, looked := r.firstHead()
	if !looked { // an earlier Belay began the run
		r.object(got)
		return nil
	}
	wrong := "it is no id of a commit"
	var c worktree.KnownCommit
	var err error
	if commitID().MatchString(id) {
		if c, wrong, err = worktree.CommitIn(ctx, ".", base, id); err != nil {
			return infra("look a commit up", err)
		}
	}
	if wrong == "" {
		files, texts := task.OfCommit(args[3], criterion)
		wrong = disagrees(ctx, c, append(texts, quote), files)
	}
	if got.Holds = wrong == ""; !got.Holds && args[4] != "false" {
		got.Wrong = fmt.Sprintf("commit %.12s: %s", id, wrong)
	}
	r.object(got)
	return nil
}

// disagrees says what a commit does not have that it is to have; "" = it has all of it.
func disagrees(ctx context.Context, c worktree.KnownCommit, texts, files []string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" && !c.Has(ctx, text) {
			return fmt.Sprintf("neither its message nor what it changed has %q", text)
		}
	}
	if len(files) > 0 && !slices.ContainsFunc(c.Files, func(name string) bool { return task.InFiles(files, name) }) {
		return "it changed none of the files of its criterion"
	}
	return ""
}
