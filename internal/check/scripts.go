package check

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/belay-run/belay/worktree"
)

// compiled are the endings of files that are sources of a program, where a command names them.
var compiled = []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".go", ".rs", ".java", ".kt", ".cs", ".swift", ".zig", ".f90", ".pas"}

// scripts are the files that the test command names, that the work changed, and that can say
// what is run.
func (w tests) scripts() []string {
	return slices.DeleteFunc(slices.Clone(w.named), func(name string) bool { return slices.Contains(compiled, path.Ext(name)) })
}

// oldWith is old, and looks at the scripts of the command where these did not come back: a
// script that the work wrote anew can run other tests, and print that they passed.
func oldWith(ctx context.Context, t Trial, tree worktree.Throwaway, was tests, run trying) (r Tried, both bool, err error) {
	r, both, err = old(ctx, t, tree, was, run)
	scripts := was.scripts()
	if err != nil || both || len(scripts) == 0 || slices.Contains(r.Defines, scripts[0]) {
		return r, both, err
	}
	if !r.Passed && !slices.ContainsFunc(scripts, worktree.IsTest) { // a script that is a test as well came back for that
		return r, both, nil
	}
	before := func(c worktree.Throwaway) error {
		_, err := c.OldTests(ctx, t.Old, slices.Concat(was.defines, was.added))
		return err
	}
	if why := unseeing(ctx, t, scripts, before, func(worktree.Throwaway) error { return nil }, run); why != "" {
		r.Passed, r.Why, r.Defines = false, why, append(slices.Clone(r.Defines), scripts...)
	}
	return r, both, nil
}

// unseeing says why scripts do not count: as they were before the work it does not pass with
// them, and as they are now it passes without the work, too. A script may be the program
// itself, or have to be another one for this work: then it fails without the rest of it. Before
// and now prepare the copies for the two. "" = they count, or nothing else was changed.
func unseeing(ctx context.Context, t Trial, scripts []string, before, now func(worktree.Throwaway) error, run trying) string {
	was := inCopy(ctx, t, t.Copy+"-scripts", func(c worktree.Throwaway) error {
		if err := before(c); err != nil {
			return err
		}
		return c.PutBack(ctx, t.Old, scripts)
	}, run)
	if was.Passed {
		return ""
	}
	without := inCopy(ctx, t, t.Copy+"-without", func(c worktree.Throwaway) error {
		rest, err := c.Changed(ctx, t.Old, "AMTD")
		rest = slices.DeleteFunc(rest, func(name string) bool {
			return worktree.IsTest(name) || worktree.IsTestSettings(name) || slices.Contains(scripts, name)
		})
		if err == nil && len(rest) == 0 {
			err = fmt.Errorf("nothing but %s was changed", strings.Join(scripts, ", "))
		}
		if err == nil {
			err = c.PutBack(ctx, t.Old, rest)
		}
		if err != nil {
			return err
		}
		return now(c)
	}, run)
	if !without.Passed {
		return ""
	}
	return fmt.Sprintf("with %s as before the work it does not pass (%s); as it is now it passes without the work, too", strings.Join(scripts, ", "), whyNot(was))
}

// inCopy runs something in a new copy that was prepared. What cannot be run has not passed.
func inCopy(ctx context.Context, t Trial, at string, prepare func(worktree.Throwaway) error, run trying) (r Tried) {
	tree, err := worktree.ThrowawayOf(ctx, t.Dir, t.Commit, t.Base, at)
	if err == nil {
		defer tree.Remove()
		err = prepare(tree)
	}
	if err == nil {
		r, err = run(tree)
	}
	if err != nil {
		return Tried{Why: err.Error()}
	}
	return r
}
