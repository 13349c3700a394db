package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/worktree"
)

const (
	maxSaid    = 2000            // characters of the end of an output
	maxAltered = 20              // files that are named
	endDelay   = 2 * time.Second // for the output of what was ended
)

// Trial is what is to be run in a copy of a commit.
type Trial struct {
	Dir     string                         // whose repository, and where in it
	Commit  string                         // "" = the folder as it is
	Base    string                         // what the work began with: its rules say which ignored files may be in the copy
	Copy    string                         // the folder for the copy: it is emptied before, and removed
	Old     string                         // test files of this tree, and what defines its test command, come back where the commit changed them; without any, nothing is run
	Forms   []map[string]worktree.TestFile // test files as they were written during the run: in each of these forms what is run must pass, too
	FormsIn string                         // the folder that has them
	Broken  []string                       // such files of which nothing is kept any more
	Judged  string                         // a shell text that passes is run again with the files that it names as they were in this tree, where the commit changed them; "" = it is not
	Reads   Reader                         // with Judged or Begun
	Program []string                       // of these the ones that the work is to change
	Begun   *Begun                         // in a directory without a repository; nil = nobody asks
	As      bool                           // the tests are run with Old and Forms alone; where these differ in nothing, nothing is run
	Tests   bool                           // the tests of the repository, by Script where the settings name one
	Args    []string                       // else this
	Script  string                         // the test command of the settings
	Doubt   bool                           // a command that passes is run in an empty folder, too
	First   string                         // and in a copy of this commit, which does not have the work; tests only where their output counts none; "" = it is not
	Within  time.Duration                  // 0 = as long as it takes
}

// Tried is how it ended. A trial that could not be made is an error instead.
type Tried struct {
	ID     string `json:"id,omitempty"`
	Exit   int    `json:"exit"`
	Passed bool   `json:"passed"`
	Always bool   `json:"always,omitempty"` // it passes in an empty folder, too
	First  bool   `json:"first,omitempty"`  // it passes in a copy of what the work began with, too
	Why    string `json:"why,omitempty"`    // it did not pass

	Written []string `json:"written,omitempty"`       // test files that are not as they were written during the run
	Fails   string   `json:"written_fails,omitempty"` // why it does not pass with these as they were written
	In      string   `json:"written_in,omitempty"`    // the folder where they are as they were written

	Changed   []string `json:"names_changed,omitempty"` // files that it names, that the work changed and was to change
	Added     []string `json:"names_added,omitempty"`   // files that it names and that came with the work
	Rewritten []string `json:"rewritten,omitempty"`     // files that it names and that the work changed: as they were before, it does not pass
	Lost      bool     `json:"lost,omitempty"`          // there is no copy of Rewritten, or of Defines, as they were before
	Said      string   `json:"said,omitempty"`

	Counted bool     `json:"counted,omitempty"`        // its output says how many tests ran
	Once    bool     `json:"counted_before,omitempty"` // it does not, and did in a copy of what the work began with
	Files   []string `json:"files,omitempty"`          // test files that are as they were before
	Defines []string `json:"defines,omitempty"`        // files that say what the test command does or which tests run, and are no tests, as they were before
	Altered []string `json:"altered,omitempty"`        // ignored files in the copy that were changed since the worktree was made, where no agent works
}

// Judge says why tests prove nothing; nil when they passed.
type Judge func(effect.CheckReport) *belay.Failure

// At runs a trial. What it writes is thrown away.
func At(ctx context.Context, t Trial, env []string, to Streams, judge Judge) (r Tried, err error) {
	tree, err := worktree.ThrowawayOf(ctx, t.Dir, t.Commit, t.Base, t.Copy)
	if err != nil {
		return r, err
	}
	defer tree.Remove()
	defer func() {
		if len(r.Written) > 0 {
			r.In = t.FormsIn
		}
	}()
	defer func() { r.Altered = tree.Altered[:min(len(tree.Altered), maxAltered)] }()
	settled(t.Forms, tree)
	if t.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Within)
		defer cancel()
	}
	if t.Tests && t.Script != "" {
		t.Args = []string{"bash", "-c", t.Script}
	}
	run := func(in worktree.Throwaway) (Tried, error) {
		if t.Tests && t.Script == "" {
			return repositoryTests(ctx, in.Dir, env, to, judge)
		}
		return tryCommand(ctx, t, in.Dir, env, to)
	}
	switch {
	case t.As && t.Begun != nil:
		if r.Defines = t.Begun.lost(tree.Dir); len(r.Defines) > 0 {
			r.Lost, r.Why = true, "there is no copy of it as it was before the work"
			return r, nil
		}
		return earlier(ctx, t, tree, variable(env, "PATH"), run)
	case t.As:
		return earlier(ctx, t, tree, variable(env, "PATH"), run)
	case !t.Tests && len(t.Args) == 0:
		return r, errors.New("there is nothing to run")
	}
	if r, err = run(tree); err != nil || !r.Passed {
		return r, err
	}
	if t.Tests {
		return r, once(ctx, t, &r, run)
	}
	return r, again(ctx, t, tree, env, Streams{Out: io.Discard, Err: io.Discard}, &r) // what it prints without the work would be read as of the work
}

// once looks whether tests whose output counts none counted some before the work. Whatever the
// work changed, they are then not the tests that they were.
func once(ctx context.Context, t Trial, r *Tried, run trying) error {
	if t.First == "" || r.Counted {
		return nil
	}
	before, err := worktree.ThrowawayOf(ctx, t.Dir, t.First, t.Base, t.Copy+"-first")
	if err != nil {
		return err
	}
	defer before.Remove()
	was, err := run(before)
	r.Once = err == nil && was.Counted // where they cannot be run there, nothing is known
	return nil
}

// again runs a command that passed where the work is not.
func again(ctx context.Context, t Trial, tree worktree.Throwaway, env []string, to Streams, r *Tried) error {
	if t.Doubt {
		empty, err := tree.Beside("empty")
		if err != nil {
			return err
		}
		nothing, err := tryCommand(ctx, t, empty, env, to)
		if r.Always = nothing.Passed; err != nil {
			return err
		}
	}
	run := func(in worktree.Throwaway) (Tried, error) { return tryCommand(ctx, t, in.Dir, env, to) }
	if err := named(ctx, t, tree, run, r); err != nil {
		return err
	}
	if r.Written = unlike(t, tree); len(r.Written) > 0 {
		r.Fails = asWritten(ctx, t, run, nil, nil)
	}
	if t.First == "" {
		return nil
	}
	before, err := worktree.ThrowawayOf(ctx, t.Dir, t.First, t.Base, t.Copy+"-first")
	if err != nil {
		return err
	}
	defer before.Remove()
	without, err := tryCommand(ctx, t, before.Dir, env, to)
	r.First = without.Passed
	return err
}

// redefined are the files that said what the test command does when the work began, and
// are not as they were: those that have its text or settings, are tests or came before it with
// the work, and others that it names.
func redefined(ctx context.Context, t Trial, tree worktree.Throwaway, path string) (w tests, err error) {
	now := Find(tree.Dir, Top(tree.Dir, tree.Dir), path)
	var plan effect.TestPlan
	err = tree.As(ctx, t.Old, func() {
		plan = Find(tree.Dir, Top(tree.Dir, tree.Dir), path)
		w.defines = before(now, plan, tree.Dir)
		if t.Script != "" {
			plan.Top, plan.Commands = tree.Dir, append(plan.Commands, Plan(tree.Dir, t.Script, path).Commands...)
		}
	})
	w.defines = slices.DeleteFunc(w.defines, func(name string) bool { return !(level{tree.Dir}).has(name) })
	if err != nil || len(plan.Commands) == 0 { // all of it came with the work
		return w, err
	}
	added, settings, err := tree.ChangedTests(ctx, t.Old)
	for _, name := range settings {
		if !slices.Contains(w.defines, name) {
			w.defines = append(w.defines, name)
		}
	}
	for _, c := range plan.Commands {
		l := level{filepath.Join(plan.Top, c.Dir)}
		for _, f := range c.Files {
			name, outside := filepath.Rel(tree.Dir, filepath.Join(l.dir, f.Path))
			switch {
			case outside != nil || !slices.Contains(inShell, c.Kind) && parts[f.Path] == nil || l.sum(f.Path) == f || slices.Contains(w.defines, name):
			case f.Path == c.From || f.Sum == "" || parts[f.Path] != nil:
				w.defines = append(w.defines, name)
			default:
				w.named = append(w.named, name)
			}
		}
	}
	if len(w.defines) > 0 { // tests that came with such a file may need it
		w.added = added
	}
	return w, err
}

// before are the files that are not there, in a tree as it was, and that would come before
// what says there how tests are run: the definition of a command that was none, and what the
// tool of one that was reads first. They are named from a directory.
func before(now, was effect.TestPlan, dir string) []string {
	var list []string
	add := func(at, name string) {
		rel, err := filepath.Rel(dir, filepath.Join(at, name))
		if err == nil && !(level{at}).has(name) && !slices.Contains(list, rel) {
			list = append(list, rel)
		}
	}
	if len(was.Commands) == 0 { // all of it came with the work
		return nil
	}
	for _, c := range now.Commands {
		if !slices.ContainsFunc(was.Commands, func(o effect.TestCommand) bool { return o.Kind == c.Kind && o.Dir == c.Dir }) {
			add(filepath.Join(now.Top, c.Dir), c.From)
		}
	}
	for _, c := range was.Commands {
		for at := filepath.Join(was.Top, c.Dir); below(was.Top, at); at = filepath.Dir(at) {
			for _, name := range leading[c.Kind] {
				add(at, name)
			}
		}
	}
	return list
}

// repositoryTests runs the tests that the copy has, as expect: tests does.
func repositoryTests(ctx context.Context, dir string, env []string, to Streams, judge Judge) (Tried, error) {
	plan := Find(dir, Top(dir, dir), variable(env, "PATH"))
	kept := &extract{to: to.Err}
	runs := runTests(ctx, Order{Dir: dir, Run: dir, Tests: &plan}, env, Streams{Out: kept, Err: kept})
	r := Tried{Said: lastPart(kept.String())}
	for _, t := range runs {
		if t.Exit != 0 {
			r.Exit = t.Exit
		}
		r.Counted = r.Counted || t.Tally != nil && !t.Tally.None
	}
	f := judge(effect.CheckReport{Dir: dir, Tests: runs})
	switch {
	case f == nil:
		r.Passed = true
	case f.Kind == belay.Infrastructure:
		return r, errors.New(f.Cause)
	default:
		r.Why = f.Cause
		if ctx.Err() != nil {
			r.Why = "the tests did not end in time"
		}
	}
	return r, nil
}

// tryCommand runs a command. One that exits with 0 and says that no test ran has
// shown nothing.
func tryCommand(ctx context.Context, t Trial, dir string, env []string, to Streams) (r Tried, err error) {
	cmd := command(ctx, t.Args[0], dir, env, t.Args[1:]...)
	if !strings.ContainsRune(t.Args[0], filepath.Separator) {
		if cmd.Path = program(t.Args[0], dir, variable(env, "PATH")).Path; cmd.Path == "" {
			return r, fmt.Errorf("there is no %s on the PATH", t.Args[0])
		}
		cmd.Err = nil // of a look at another PATH
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with all that it started
	kept := &extract{to: to.Err}
	err = proc.Capture(cmd, endDelay, kept, nil)
	text := kept.String()
	r.Said = lastPart(text)
	var exit *exec.ExitError
	tally := agent.TallyOf(text)
	r.Counted = tally != nil && !tally.None
	switch {
	case ctx.Err() != nil:
		r.Exit, r.Why = 124, fmt.Sprintf("it did not end within %s", t.Within)
	case errors.As(err, &exit):
		r.Exit = exit.ExitCode()
		r.Why = fmt.Sprintf("exit %d", r.Exit)
		if last := lastLine(text); last != "" {
			r.Why += ": " + last
		}
	case err != nil:
		return r, err
	case tally != nil && tally.None:
		r.Why = "exit 0, and no test ran"
	default:
		r.Passed = true
	}
	return r, nil
}

// lastPart is the end of an output.
func lastPart(text string) string {
	r := []rune(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"))
	return string(r[max(0, len(r)-maxSaid):])
}
