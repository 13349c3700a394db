package check

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
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
	maxSaid  = 2000            // characters of the end of an output
	endDelay = 2 * time.Second // for the output of what was ended
)

// Trial is what is to be run in a copy of a commit.
type Trial struct {
	Dir    string        // whose repository, and where in it
	Commit string        // "" = the folder as it is
	Base   string        // what the work began with: its rules say which ignored files may be in the copy
	Copy   string        // the folder for the copy: it is emptied before, and removed
	Old    string        // test files of this tree come back that the commit changed; without any, nothing is run
	Tests  bool          // the tests of the repository, by Script where the settings name one
	Args   []string      // else this
	Script string        // the test command of the settings
	Within time.Duration // 0 = as long as it takes
}

// Tried is how it ended. A trial that could not be made is an error instead.
type Tried struct {
	ID     string `json:"id,omitempty"`
	Exit   int    `json:"exit"`
	Passed bool   `json:"passed"`
	Why    string `json:"why,omitempty"` // it did not pass
	Said   string `json:"said,omitempty"`

	Files []string `json:"files,omitempty"` // test files that are as they were before
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
	if t.Old != "" {
		files, err := tree.OldTests(ctx, t.Old)
		if err != nil || len(files) == 0 {
			return Tried{Passed: err == nil}, err
		}
		defer func() { r.Files = files }()
	}
	if t.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Within)
		defer cancel()
	}
	switch {
	case t.Tests && t.Script == "":
		return repositoryTests(ctx, tree.Dir, env, to, judge)
	case t.Tests:
		t.Args = []string{"bash", "-c", t.Script}
	}
	if len(t.Args) == 0 {
		return r, errors.New("there is nothing to run")
	}
	return tryCommand(ctx, t, tree.Dir, env, to)
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
	switch tally := agent.TallyOf(text); {
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
