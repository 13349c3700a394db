//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

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
	elsewhere := []string{"worktree.merge_after_index", "worktree.merge_after_undo", "worktree.merge_before_replan"} // TestLongDeaths of the room worktree comes by there
	var places []string
	for _, name := range failpoint.Names() {
		merge := strings.HasPrefix(name, "worktree.merge_") && !slices.Contains(elsewhere, name)
		if merge || strings.HasPrefix(name, mergePoint) || name == treePoint {
			places = append(places, name)
		}
	}
	all := b.sweep(t, places, 1, b.mergeDiesAt)
	t.Logf("%d moments", all.points)
}

func (b *bench) mergeDiesAt(arms []point) (p point, seen tally, err error) {
	r, err := b.mergeRig()
	if err != nil {
		return p, seen, err
	}
	defer r.wipe()
	c, err := r.start(r.armed("stop", arms...), "run", "merge.yaml", "--agent", "scripted:script.yaml")
	if err != nil {
		return p, seen, err
	}
	p, pid, err := r.stands(c)
	if err != nil {
		return p, seen, err
	}
	seen.points++
	c.signal(syscall.SIGKILL)
	if _, err := c.wait(); err != nil {
		return p, seen, err
	}
	if err := r.killKeeper(); err != nil {
		return p, seen, err
	}
	if p.name != lastPlace { // else it is gone, and its number may be another's
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be the driver
	}
	if held, err := r.finish(); err != nil || held > 0 {
		return p, seen, errors.Join(err, fmt.Errorf("held %d times", held))
	}
	return p, seen, r.merged()
}
