package main_test

import (
	"bufio"
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
// the first.
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
  *"make part 1"*) echo 1 > a ;;
  *"make part 2"*) echo 2 > b ;;
  *"make part 3"*) [ -f a ] && echo 3 > c ;;
  esac ;;
review) echo '{"findings": []}' ;;
reflect) echo '{"goal_status": "ACHIEVED", "summary": "all there"}' ;;
*) echo fine ;;
esac
`

// TestDoKilled kills the driver of a task of three workstreams at moments that only the
// seed decides, and resumes: once on a change, ten times with BELAY_SWEEPS=all.
//
// promise: K2
func TestDoKilled(t *testing.T) {
	t.Parallel()
	trials := 1
	if wholeSweep() {
		trials = 10
	}
	seed := uint64(chosenSeed())
	for trial := range trials {
		t.Run(fmt.Sprint(trial), func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			killedTask(t, rand.New(rand.NewPCG(seed, uint64(trial))), false)
		})
	}
}

// TestDoWorktreeRemoved kills the driver of a task, removes the worktree of the run, and
// resumes once.
//
// promise: K2
func TestDoWorktreeRemoved(t *testing.T) {
	t.Parallel()
	killedTask(t, rand.New(rand.NewPCG(1, 1)), true)
}

func killedTask(t *testing.T, dice *rand.Rand, remove bool) {
	t.Helper()
	p := newStage(t)
	repo, bot, settings := filepath.Join(p.dir, "repo"), filepath.Join(p.dir, "bot"), filepath.Join(p.dir, "settings.yaml")
	for _, err := range []error{
		os.Mkdir(repo, 0o700),
		os.WriteFile(bot, []byte(threeStreams), 0o700),
		os.WriteFile(settings, []byte("agents: {bot: {kind: command, program: ["+bot+"]}}\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	newRepo(t, repo)
	args := []string{"do", "three parts", "--agent", "bot", "--id", "x", "--no-plan-review", "-C", repo}
	kills, times, lines := 0, 3, func() int { return 2 + dice.IntN(40) }
	if remove {
		times, lines = 1, func() int { return 20 } // agents are at work
	}
	for range times {
		killed, code := p.killAtLine(t, settings, lines(), args)
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
	if trees, _ := filepath.Glob(filepath.Join(p.state, "runs", "x", "trees", "tree-*")); remove { // a pattern that is right
		if len(trees) != 1 || os.RemoveAll(trees[0]) != nil {
			t.Fatalf("the worktree of the run is not there to be removed: %q", trees)
		}
	}
	out, talk, code := p.typed(t, []string{"BELAY_CONFIG=" + settings}, "resume", "x")
	if code != 0 {
		t.Fatalf("after %d kills: exit %d\n%s%s", kills, code, out, talk)
	}
	for _, c := range []struct{ want, args string }{
		{"a\nb\nc\n", "ls-tree --name-only belay/three-parts"},
		{"", "status --porcelain"},
	} {
		got, err := exec.Command("git", append([]string{"-C", repo}, strings.Fields(c.args)...)...).Output()
		if err != nil || string(got) != c.want {
			t.Errorf("after %d kills: git %s: %q, %v", kills, c.args, got, err)
		}
	}
}

// killAtLine runs belay and kills it as soon as it has said so many lines. It says
// whether it lived that long, and else its exit code.
func (p stage) killAtLine(t *testing.T, settings string, lines int, args []string) (killed bool, code int) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"--state", p.state}, args...)...)
	cmd.Env = append(os.Environ(), "BELAY_CONFIG="+settings)
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
