package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/worktree"
)

// writtenFolder is the folder of a run with the test files that its steps wrote.
const writtenFolder = "written"

// tests names the test files that are not as they were at a commit, and keeps them as they
// are: what comes of the work must pass with them.
func (r runPlace) tests(ctx context.Context, base, round string) error {
	number, _ := strconv.Atoi(round) // 0 where a recipe does not say it
	var before worktree.Listing
	if b, err := os.ReadFile(r.list(fmt.Sprintf("round-%d", number))); err == nil { // the files are not the run's alone
		before = worktree.ReadListing(b)
	}
	list, err := worktree.TestsSince(ctx, ".", base, before, r.state)
	if err != nil {
		return infra("look for tests", err)
	}
	if len(list) == 0 {
		return nil
	}
	w := worktree.WrittenTests{Round: number, Run: r.env("BELAY_RUN_ID"), Item: r.env("BELAY_ITEM")}
	if err := worktree.KeepTests(ctx, ".", filepath.Join(r.folder(), writtenFolder), list, w); err != nil {
		return infra("keep the tests", err)
	}
	list = slices.DeleteFunc(list, worktree.IsSharedSettings)
	if len(list) == 0 {
		return nil
	}
	r.out.lines(append([]string{"Tests were written for it. They are kept as they are now, and the work must pass them as they are:"}, list...))
	return nil
}

// untested forgets the tests of workstreams that are not part of the work, by a list of their
// numbers.
func (r runPlace) untested(round, undone string) error {
	number, _ := strconv.Atoi(round)
	var items []int
	if err := json.Unmarshal([]byte(undone), &items); err != nil {
		return invalid("read which workstreams were not done", err, "")
	}
	kept, err := worktree.ReadWrittenTests(filepath.Join(r.folder(), writtenFolder))
	for _, w := range kept {
		if err == nil && w.Round == number && slices.ContainsFunc(items, func(n int) bool { return w.Item == fmt.Sprintf("item-%d", n) }) {
			err = os.RemoveAll(w.In)
		}
	}
	return infra("keep the tests", err)
}

// writtenTests are the test files that steps of the run wrote, in the forms in which they must
// pass, those of which nothing is kept any more, and the folder that has them.
func (a *app) writtenTests() (forms []map[string]worktree.TestFile, broken []string, in string, err error) {
	run := belay.RunID(a.env("BELAY_RUN_ID")).Root()
	state, err := a.stateDir()
	if run == "" || err != nil {
		return nil, nil, "", err
	}
	in = filepath.Join(runPlace{app: a, run: run, state: state}.folder(), writtenFolder)
	kept, err := worktree.ReadWrittenTests(in)
	forms, broken = worktree.TestForms(kept)
	return forms, broken, in, err
}
