package check

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/belay-run/belay/worktree"
)

// A trying runs what is to be tried in a copy.
type trying func(worktree.Throwaway) (Tried, error)

// earlier runs the tests with test files in the place of those that the work has: the ones
// that were there before it, and those that were written for it, as they were written. One run
// is for both where they are other files, and all of them pass. Where the work changed the test
// command, those that were written must also pass with it as it was: it may leave them out now.
func earlier(ctx context.Context, t Trial, tree worktree.Throwaway, programs string, run trying) (r Tried, err error) {
	was := tests{}
	if t.Old != "" {
		if was, err = redefined(ctx, t, tree, programs); err != nil {
			return r, err
		}
	}
	command := was.defines
	list := unlike(t, tree)
	if len(t.Forms) == 0 || len(list)+len(command)+len(was.scripts()) == 0 {
		r, _, err = oldWith(ctx, t, tree, was, run)
		return r, err
	}
	if len(list) > 0 && len(t.Forms) == 1 && len(t.Broken) == 0 {
		was.with = t.Forms[0]
	}
	r, both, err := oldWith(ctx, t, tree, was, run)
	if len(list) == 0 {
		if err == nil && r.Passed {
			if why := asWritten(ctx, t, run, command, was.scripts()); why != "" {
				r.Passed, r.Defines, r.Why = false, command, "with the tests that were written: "+why
			}
		}
		return r, err
	}
	fails := ""
	switch {
	case both && err == nil && r.Passed:
	case both && err == nil && len(r.Files)+len(r.Defines) == 0: // only the written ones were other files
		fails = whyNot(r)
	default:
		fails = asWritten(ctx, t, run, command, was.scripts())
	}
	if err != nil || both && fails != "" { // nothing is known of those that were there before
		r = Tried{Passed: true}
	}
	r.Written, r.Fails = list, fails
	return r, nil
}

// tests are what the tests were when the work began.
type tests struct {
	defines []string                     // files that say what the command does or which tests run
	added   []string                     // tests that came with the work, where these were changed: they may need them
	named   []string                     // others that it names
	with    map[string]worktree.TestFile // files that come back in the same run, if they are none of these
}

// old runs the tests with the test files and the test command of t.Old. A script that
// the command names may be a check or the program itself: with its old text the tests
// are run once more where they count nothing. Both tells whether the other files came back, too.
func old(ctx context.Context, t Trial, tree worktree.Throwaway, was tests, run trying) (r Tried, both bool, err error) {
	r = Tried{Passed: true}
	defines, files := was.defines, []string(nil)
	for _, named := range [][]string{nil, was.named} {
		also := slices.Concat(was.defines, was.added, named)
		if t.Old != "" {
			if files, err = tree.OldTests(ctx, t.Old, also); err != nil {
				return r, false, err
			}
		}
		same := func(name string) bool { _, is := was.with[name]; return is }
		if both = was.with != nil && len(was.defines)+len(was.named) == 0 && !slices.ContainsFunc(files, same); both {
			if err := tree.WithTests(ctx, was.with); err != nil {
				return r, true, err
			}
		}
		if both || len(files)+len(also) > 0 {
			if r, err = run(tree); err != nil {
				return r, both, err
			}
		}
		defines = append(slices.Clone(was.defines), slices.DeleteFunc(slices.Clone(named), worktree.IsTest)...)
		if len(was.named) == 0 || !r.Passed || r.Counted {
			break
		}
	}
	r.Files, r.Defines = files, defines
	return r, both, nil
}

// settled takes of files that have more than settings of tests the text that the copy has, if
// only something else in them is not as it was.
func settled(forms []map[string]worktree.TestFile, tree worktree.Throwaway) {
	for _, form := range forms {
		for name, f := range form {
			part := parts[path.Base(name)]
			if now := tree.Text(name); part != nil && now != nil && bytes.Equal(part(now), part(f.Text)) {
				f.Text = now
				form[name] = f
			}
		}
	}
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
// run, and with a test command as it was in t.Old; "" = it passes. What cannot be run so has not
// passed, and scripts of the command that the work changed must see the work.
func asWritten(ctx context.Context, t Trial, run trying, command, scripts []string) string {
	if len(t.Broken) > 0 {
		return "what was kept of " + strings.Join(t.Broken, ", ") + " was changed"
	}
	for _, form := range t.Forms {
		r, err := inForm(ctx, t, form, run, command)
		if err != nil {
			return "they could not be run: " + err.Error()
		}
		if !r.Passed {
			return whyNot(r)
		}
		tests := func(c worktree.Throwaway) error { return c.WithTests(ctx, form) }
		before := func(c worktree.Throwaway) error {
			if len(command) > 0 {
				if err := c.PutBack(ctx, t.Old, command); err != nil {
					return err
				}
			}
			return tests(c)
		}
		if len(scripts) > 0 {
			if why := unseeing(ctx, t, scripts, before, tests, run); why != "" {
				return why
			}
		}
	}
	return ""
}

// inForm runs something in a new copy with the test files in one form.
func inForm(ctx context.Context, t Trial, form map[string]worktree.TestFile, run trying, command []string) (Tried, error) {
	tree, err := worktree.ThrowawayOf(ctx, t.Dir, t.Commit, t.Base, t.Copy+"-written")
	if err != nil {
		return Tried{}, err
	}
	defer tree.Remove()
	if len(tree.Unlike(form))+len(command) == 0 { // as it is
		return Tried{Passed: true}, nil
	}
	if len(command) > 0 {
		if err := tree.PutBack(ctx, t.Old, command); err != nil {
			return Tried{}, err
		}
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
