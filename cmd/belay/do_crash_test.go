package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// threeStreams plays the agents of a task of three workstreams; the third one needs
// the first. Where they are to conflict, the first two change the same line, and who
// resolves that keeps both.
const threeStreams = `#!/bin/bash
prompt=$(cat)
case $BELAY_STEP in
classify-and-decompose) cat <<'END'
{"task_type": "Development", "goal": "all parts are there",
 "success_criteria": [{"id": "c1", "text": "all", "check": "test -f a -a -f b -a -f c"}],
 "workstreams": [{"name": "a", "description": "make part 1"}, {"name": "b", "description": "make part 2"},
                 {"name": "c", "description": "make part 3", "needs": ["a"]}]}
END
;;
implement)
  case $prompt in
  *"make part 1"*) echo 1 > a; [ -z "$CONFLICT" ] || echo 1 > shared ;;
  *"make part 2"*) echo 2 > b; [ -z "$CONFLICT" ] || echo 2 > shared ;;
  *"make part 3"*) [ -f a ] && echo 3 > c ;;
  esac ;;
execute-workstreams) kept=$(grep -v '^[<=>|]\{7\}' shared | sort -u); echo "$kept" > shared ;;
review) echo '{"findings": []}' ;;
reflect) echo '{"goal_status": "ACHIEVED", "summary": "all there"}' ;;
*) echo fine ;;
esac
`

// TestDoKilled kills the driver of a task of three workstreams at moments that only the
// seed decides, and resumes: once on a change, ten times with BELAY_SWEEPS=all. What it
// came to is what a run that nobody killed comes to, also where two workstreams conflict.
//
// promise: K2
func TestDoKilled(t *testing.T) {
	t.Parallel()
	trials := 1
	if wholeSweep() {
		trials = 10
	}
	seed := uint64(chosenSeed())
	for name, conflict := range map[string]bool{"side by side": false, "in conflict": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := newKilling(t, conflict).unkilled(t)
			for trial := range trials {
				t.Run(fmt.Sprint(trial), func(t *testing.T) {
					t.Parallel()
					t.Logf("seed %d", seed)
					killedTask(t, rand.New(rand.NewPCG(seed, uint64(trial))), conflict, false, want)
				})
			}
		})
	}
}

// TestDoWorktreeRemoved kills the driver of a task, removes the worktree of the run, and
// resumes once.
//
// promise: K2
func TestDoWorktreeRemoved(t *testing.T) {
	t.Parallel()
	killedTask(t, rand.New(rand.NewPCG(1, 1)), false, true, newKilling(t, false).unkilled(t))
}

// killing is a place where the task is done.
type killing struct {
	stage
	repo     string
	env      []string
	settings string
}

func newKilling(t *testing.T, conflict bool) killing {
	t.Helper()
	k := killing{stage: newStage(t)}
	k.repo, k.settings = filepath.Join(k.dir, "repo"), filepath.Join(k.dir, "settings.yaml")
	bot := filepath.Join(k.dir, "bot")
	k.env = []string{"BELAY_CONFIG=" + k.settings}
	if conflict {
		k.env = append(k.env, "CONFLICT=1")
	}
	for _, err := range []error{
		os.Mkdir(k.repo, 0o700),
		os.WriteFile(bot, []byte(threeStreams), 0o700),
		os.WriteFile(k.settings, []byte("agents: {bot: {kind: command, program: ["+bot+"]}}\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	newRepo(t, k.repo)
	return k
}

func (k killing) task() []string {
	return []string{"do", "three parts", "--agent", "bot", "--id", "x", "--no-plan-review", "-C", k.repo}
}

// unkilled is what the task comes to when nobody kills it.
func (k killing) unkilled(t *testing.T) string {
	t.Helper()
	if out, talk, code := k.typed(t, k.env, k.task()...); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, talk)
	}
	return k.came(t)
}

// came is what the task came to: what is in each file of the result, how many commits that
// has, what else is in the repository, what the receipt says, and what the audit finds.
func (k killing) came(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, args := range []string{
		"ls-tree -r belay/three-parts", "rev-list --count main..belay/three-parts", "rev-list --count main",
		"status --porcelain", "for-each-ref --format=%(refname) refs/heads",
	} {
		got, err := exec.Command("git", append([]string{"-C", k.repo}, strings.Fields(args)...)...).CombinedOutput()
		fmt.Fprintf(&all, "git %s: %v\n%s", args, err, got)
	}
	var r struct {
		Status   string
		ExitCode int `json:"exit_code"`
		Task     struct{ Verdict string }
		Criteria []struct{ ID, Verdict string }
		Left     struct {
			Held        []string
			NotFinished []string `json:"not_finished"`
		}
	}
	if err := json.Unmarshal([]byte(k.belay(t, "receipt", "x", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&all, "receipt: %+v\n", r)
	_, talk, code := k.typed(t, k.env, "audit", "x")
	fmt.Fprintf(&all, "audit: %d %s\n", code, talk)
	return all.String()
}

func killedTask(t *testing.T, dice *rand.Rand, conflict, remove bool, want string) {
	t.Helper()
	k := newKilling(t, conflict)
	args := k.task()
	kills, times, lines := 0, 3, func() int { return 2 + dice.IntN(40) }
	if remove {
		times, lines = 1, func() int { return 20 } // agents are at work
	}
	for range times {
		killed, code := k.killAtLine(t, lines(), args)
		if !killed && code != 0 {
			t.Fatalf("after %d kills: exit %d", kills, code)
		}
		if !killed {
			break
		}
		kills++
		args = []string{"resume", "x"}
	}
	if t.Logf("%d kills", kills); kills == 0 {
		t.Error("it ended before it could be killed: that shows nothing")
	}
	if trees, _ := filepath.Glob(filepath.Join(k.state, "runs", "x", "trees", "tree-*")); remove { // a pattern that is right
		if len(trees) != 1 || os.RemoveAll(trees[0]) != nil {
			t.Fatalf("the worktree of the run is not there to be removed: %q", trees)
		}
	}
	out, talk, code := k.typed(t, k.env, "resume", "x")
	if code != 0 {
		t.Fatalf("after %d kills: exit %d\n%s%s", kills, code, out, talk)
	}
	if got := k.came(t); got != want {
		t.Errorf("after %d kills it came to\n%s\nand without any to\n%s", kills, got, want)
	}
}

// killAtLine runs belay and kills it as soon as it has said so many lines. It says
// whether it lived that long, and else its exit code.
func (k killing) killAtLine(t *testing.T, lines int, args []string) (killed bool, code int) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"--state", k.state}, args...)...)
	cmd.Env = append(os.Environ(), k.env...)
	talk, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(talk)
	for ; lines > 0 && said.Scan(); lines-- {
	}
	if lines == 0 {
		_ = cmd.Process.Kill() // it may have ended by itself, which its exit code tells
	}
	_, _ = io.Copy(io.Discard, talk)
	_ = cmd.Wait() // killed: that is what this is about
	return cmd.ProcessState.ExitCode() == -1, cmd.ProcessState.ExitCode()
}
