//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/failpoint"
)

const mergeRecipe = `name: merge
steps:
  - {id: one, agent: scripted, prompt: x, expect: change, parallel_group: g}
  - {id: two, agent: scripted, prompt: x, expect: change, parallel_group: g}
`

const mergeScript = `steps:
  one: [{run: 'echo one > one; sed -i s/first/one/ both'}, {answer: made it}]
  two: [{run: 'echo two > two; sed -i s/last/two/ both; rm gone'}, {answer: made it}]
`

// mergeRig is a repository with work of its user that is not committed.
func (b *bench) mergeRig() (*rig, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return nil, err
	}
	err = errors.Join(err, r.put("merge.yaml", mergeRecipe), r.put("script.yaml", mergeScript), r.put(".gitignore", "trace\n"))
	git := exec.Command("sh", "-c", `git init -q . && printf 'first\n\n\n\n\nlast\n' > both && echo x > gone && echo mine > mine && echo staged > staged &&
		git add -A && git -c user.name=a -c user.email=a@example.com commit -q -m first &&
		echo changed >> mine && echo more >> staged && git add staged && echo new > untracked`)
	git.Dir, git.Env = r.work(), r.base
	if out, bad := git.CombinedOutput(); bad != nil {
		err = errors.Join(err, bad, errors.New(string(out)))
	}
	return r, err
}

// merged looks at the tree after the run: the work of both, and that of the user.
func (r *rig) merged() error {
	look := exec.Command("sh", "-c", `cat both one two mine staged untracked; ls; git show :staged; git diff --cached --name-only; git branch --list 'belay/*'`)
	look.Dir, look.Env = r.work(), r.base
	out, err := look.CombinedOutput()
	want := "one\n\n\n\n\ntwo\none\ntwo\nmine\nchanged\nstaged\nmore\nnew\n"
	if got := string(out); err != nil || !strings.HasPrefix(got, want) || strings.Contains(got, "gone") || !strings.HasSuffix(got, "staged\nmore\nstaged\n") {
		return fmt.Errorf("the tree is not what an undisturbed run leaves: %w\n%s", err, got)
	}
	return nil
}

// TestCrashMerges stops a run at every moment of a merge, kills the driver, the
// keeper and the process of the merge, and resumes: the tree is what an unkilled
// run leaves, and what the user had not committed is there.
//
// promise: K1, K4
func TestCrashMerges(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	points, err := b.mergePoints()
	if err != nil {
		t.Fatal(err)
	}
	if len(points) < 8 {
		t.Fatalf("only %d moments of a merge: %v", len(points), points)
	}
	for _, p := range points {
		if err := b.mergeDiesAt(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	t.Logf("%d moments", len(points))
}

func (b *bench) mergePoints() ([]point, error) {
	r, err := b.mergeRig()
	if err != nil {
		return nil, err
	}
	defer r.wipe()
	e, err := r.belay([]string{"BELAY_FP_TRACE=" + r.inWork("trace")}, "run", "merge.yaml", "--agent", "scripted:script.yaml")
	if err != nil || e.code != exit.OK {
		return nil, errors.Join(err, fmt.Errorf("%v", e))
	}
	if err := r.merged(); err != nil {
		return nil, err
	}
	most := map[string]int{}
	for line := range strings.Lines(text(r.inWork("trace"))) {
		f := strings.Fields(line)
		n, err := strconv.Atoi(f[len(f)-1])
		if err != nil {
			return nil, err
		}
		most[f[1]] = max(most[f[1]], n)
	}
	var points []point
	for _, name := range failpoint.Names() {
		if strings.HasPrefix(name, "worktree.merge_") || strings.HasPrefix(name, mergePoint) || name == treePoint {
			for n := range most[name] {
				points = append(points, point{name, n + 1})
			}
		}
	}
	return points, nil
}

func (b *bench) mergeDiesAt(p point) error {
	r, err := b.mergeRig()
	if err != nil {
		return err
	}
	defer r.wipe()
	trace := r.inWork("trace")
	c, err := r.start([]string{fmt.Sprintf("BELAY_FP=%s:stop", p), "BELAY_FP_TRACE=" + trace}, "run", "merge.yaml", "--agent", "scripted:script.yaml")
	if err != nil {
		return err
	}
	pid := 0
	err = until("it is stopped at "+p.String(), func() bool {
		for line := range strings.Lines(text(trace)) {
			if f := strings.Fields(line); len(f) == 3 && f[1] == p.name && f[2] == strconv.Itoa(p.n) {
				pid, _ = strconv.Atoi(f[0]) // a bad one is 0, and waited for
			}
		}
		return pid > 0 && state(pid) == "T"
	})
	if err != nil {
		return err
	}
	c.signal(syscall.SIGKILL)
	if _, err := c.wait(); err != nil {
		return err
	}
	if err := r.killKeeper(); err != nil {
		return err
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may be the driver
	if held, err := r.finish(); err != nil || held > 0 {
		return errors.Join(err, fmt.Errorf("held %d times", held))
	}
	return r.merged()
}
