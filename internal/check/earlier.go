package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/worktree"
)

// A trying runs what is to be tried in a copy.
type trying func(worktree.Throwaway) (Tried, error)

// earlier runs the tests with test files in the place of those that the work has: the ones
// that were there before it, and those that were written for it, as they were written. One run
// is for both where they are other files, and all of them pass.
func earlier(ctx context.Context, t Trial, tree worktree.Throwaway, path string, run trying) (Tried, error) {
	list := unlike(t, tree)
	if len(list) == 0 {
		r, _, err := old(ctx, t, tree, path, run, nil)
		return r, err
	}
	var with map[string]worktree.TestFile
	if len(t.Forms) == 1 && len(t.Broken) == 0 {
		with = t.Forms[0]
	}
	r, both, err := old(ctx, t, tree, path, run, with)
	fails := ""
	switch {
	case both && err == nil && r.Passed:
	case both && err == nil && len(r.Files)+len(r.Defines) == 0: // only the written ones were other files
		fails = whyNot(r)
	default:
		fails = asWritten(ctx, t, run)
	}
	if err != nil || both && fails != "" { // nothing is known of those that were there before
		r = Tried{Passed: true}
	}
	r.Written, r.Fails = list, fails
	return r, nil
}

// old runs the tests with the test files and the test command of t.Old. A script that
// the command names may be a check or the program itself: with its old text the tests
// are run once more where they count nothing. The files of with come back in the same run, if
// they are none of those.
func old(ctx context.Context, t Trial, tree worktree.Throwaway, path string, run trying, with map[string]worktree.TestFile) (r Tried, both bool, err error) {
	r = Tried{Passed: true}
	var defines, named, files []string
	if t.Old != "" {
		if defines, named, err = redefined(ctx, t, tree, path); err != nil {
			return r, false, err
		}
	}
	for _, also := range [][]string{defines, slices.Concat(defines, named)} {
		if t.Old != "" {
			if files, err = tree.OldTests(ctx, t.Old, also); err != nil {
				return r, false, err
			}
		}
		same := func(name string) bool { _, is := with[name]; return is }
		if both = with != nil && len(defines)+len(named) == 0 && !slices.ContainsFunc(files, same); both {
			if err := tree.WithTests(ctx, with); err != nil {
				return r, true, err
			}
		}
		if both || len(files)+len(also) > 0 {
			if r, err = run(tree); err != nil {
				return r, both, err
			}
		}
		defines = slices.DeleteFunc(slices.Clone(also), worktree.IsTest)
		if len(named) == 0 || !r.Passed || r.Counted {
			break
		}
	}
	r.Files, r.Defines = files, defines
	return r, both, nil
}

// unlike are the test files of a copy that are not as they were written in the run.
func unlike(t Trial, tree worktree.Throwaway) []string {
	list := slices.Clone(t.Broken)
	for _, form := range t.Forms {
		list = append(list, tree.Unlike(form)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// asWritten says why something does not pass with the test files as they were written in the
// run; "" = it passes. What cannot be run so has not passed.
func asWritten(ctx context.Context, t Trial, run trying) string {
	if len(t.Broken) > 0 {
		return "what was kept of " + strings.Join(t.Broken, ", ") + " was changed"
	}
	for _, form := range t.Forms {
		r, err := inForm(ctx, t, form, run)
		if err != nil {
			return "they could not be run: " + err.Error()
		}
		if !r.Passed {
			return whyNot(r)
		}
	}
	return ""
}

// inForm runs something in a new copy with the test files in one form.
func inForm(ctx context.Context, t Trial, form map[string]worktree.TestFile, run trying) (Tried, error) {
	tree, err := worktree.ThrowawayOf(ctx, t.Dir, t.Commit, t.Base, t.Copy+"-written")
	if err != nil {
		return Tried{}, err
	}
	defer tree.Remove()
	if len(tree.Unlike(form)) == 0 { // as it is
		return Tried{Passed: true}, nil
	}
	if err := tree.WithTests(ctx, form); err != nil {
		return Tried{}, err
	}
	return run(tree)
}

func whyNot(r Tried) string {
	if r.Why != "" {
		return r.Why
	}
	return fmt.Sprintf("exit %d", r.Exit)
}
