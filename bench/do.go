package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// task measures Belay itself in a `belay do` of three workstreams that run at the
// same time, in a repository of 50,000 files and in one of 50. What git, the shells
// of the recipe's steps and the agents take is counted apart: a meter stands before
// each of them in PATH. What is left of the time of all processes is Belay's:
// driver, keeper and attendants.
func (b *bench) task() error {
	const many, few = 50_000, 50
	if err := b.meters(); err != nil {
		return err
	}
	repos := map[int]string{}
	for _, n := range []int{many, few} {
		repos[n] = filepath.Join(b.dir, fmt.Sprintf("do-%d", n))
		if err := generate(repos[n], n); err != nil {
			return err
		}
	}
	status, tree, err := b.gitFloors(repos[many])
	if err != nil {
		return err
	}
	began := time.Now()
	best, err := b.doTask(repos[many], 0) // once: git checks out 17 trees for it; the processor's time needs no repeats
	if err != nil {
		return err
	}
	took := time.Since(began)
	var small account
	for i := range b.rounds {
		s, err := b.doTask(repos[few], i)
		if err != nil {
			return err
		}
		small = small.least(s)
	}
	row("git status, 50,000 files", "%.0f ms of a processor", ms(status))
	row("git worktree add, 50,000 files", "%.0f ms of a processor", ms(tree))
	best.print("50,000 files")
	row("it took", "%.0f s", took.Seconds())
	small.print("50 files")
	row("Belay's own time, beside git's in the same run", "%.3f ×", ratioOf(best.belay, best.git))
	row("Belay's own time, beside one git status", "%.2f ×", ratioOf(best.belay, status))
	row("git's, beside one git status", "%.0f ×; beside one git worktree add %.1f ×", ratioOf(best.git, status), ratioOf(best.git, tree))
	b.goal("belay do: Belay's time at 50,000 files against 50", ratioOf(best.belay, small.belay), 1.5)
	b.goal("belay do: Belay's memory at 50,000 files against 50", float64(best.peak)/float64(small.peak), 1.25)
	b.goal("belay do: Belay's time at 50,000 files against git's", ratioOf(best.belay, best.git), 0.15)
	return nil
}

func ratioOf(a, b time.Duration) float64 { return float64(a) / float64(max(b, time.Microsecond)) }

// account is what one `belay do` took of a processor, by whose work it was, and the
// most memory that all processes of Belay had at one time.
type account struct {
	belay, git, steps, agents time.Duration
	gits, shells, calls       int
	peak                      int64 // KiB
}

// least is the one that was disturbed less by other work on the machine.
func (a account) least(o account) account {
	if a.belay > 0 && a.belay <= o.belay {
		return a
	}
	return o
}

func (a account) print(what string) {
	row("belay do, three workstreams, "+what, "Belay %.0f ms, git %.0f ms (%d calls), steps %.0f ms (%d), agents %.0f ms (%d)",
		ms(a.belay), ms(a.git), a.gits, ms(a.steps), a.shells, ms(a.agents), a.calls)
	row("peak memory of all of Belay's processes", "%.1f MB", float64(a.peak)/1024)
}

// meters puts a meter before git, bash and the agent.
func (b *bench) meters() error {
	bin := filepath.Join(b.dir, "meters")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	meter := filepath.Join(b.dir, "meter")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", meter, "./meter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the meter: %w\n%s", err, out)
	}
	for _, name := range []string{"git", "bash", "bot"} {
		if err := os.Symlink(meter, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.dir, "do.yaml"), []byte("agents:\n  bot: {kind: command, program: [bot]}\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "bot.sh"), []byte(player), 0o700) //nolint:gosec // a program
}

// player plays every agent of the task.
const player = `#!/bin/sh
prompt=$(cat)
case $BELAY_STEP in
classify-and-decompose)
  cat <<'END'
{"task_type": "Development", "goal": "all parts are there",
 "success_criteria": [{"id": "c1", "text": "they are there", "check": "test -f a -a -f b -a -f c"}],
 "workstreams": [{"name": "a", "description": "make part a"}, {"name": "b", "description": "make part b"},
                 {"name": "c", "description": "make part c"}]}
END
  ;;
implement)
  sleep 0.3
  for part in a b c; do
    case $prompt in *"make part $part"*) echo "$part" > "$part" ;; esac
  done
  echo "It is made." ;;
review) echo '{"findings": []}' ;;
reflect) echo '{"goal_status": "ACHIEVED", "summary": "all there"}' ;;
*) echo "Nothing to say about it." ;;
esac
`

// doTask runs one task from the sentence to its receipt.
func (b *bench) doTask(repo string, i int) (account, error) {
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return account{}, err
	}
	file := filepath.Join(state, "meter")
	real := map[string]string{"BOT": filepath.Join(b.dir, "bot.sh")}
	for _, name := range []string{"git", "bash"} {
		if real[strings.ToUpper(name)], err = exec.LookPath(name); err != nil {
			return account{}, err
		}
	}
	cmd := b.cmdIn(state, "do", fmt.Sprintf("make the parts, %d", i), "--agent", "bot", "--no-plan-review", "--rounds", "1", "--max-parallel", "3", "-C", repo, "-q")
	cmd.Env = append(cmd.Env, "METER_FILE="+file, "BELAY_CONFIG="+filepath.Join(b.dir, "do.yaml"),
		"PATH="+filepath.Join(b.dir, "meters")+":"+os.Getenv("PATH"))
	for name, path := range real {
		cmd.Env = append(cmd.Env, "METER_"+name+"="+path)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	before := children()
	peak, err := b.peakWhile(cmd)
	if err != nil {
		return account{}, fmt.Errorf("belay do: %w\n%s", err, out.String())
	}
	a := account{belay: children() - before, peak: peak}
	if err := a.read(file); err != nil {
		return account{}, err
	}
	return a, os.RemoveAll(state)
}

// read takes what the meters wrote down, and what they cost themselves, from the
// time of all processes.
func (a *account) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		var name string
		var used, own time.Duration
		if _, err := fmt.Sscan(line, &name, (*int64)(&used), (*int64)(&own)); err != nil {
			continue // an argument with a newline
		}
		a.belay -= used + own
		switch name {
		case "git":
			a.git, a.gits = a.git+used, a.gits+1
		case "bash":
			a.steps, a.shells = a.steps+used, a.shells+1
		case "bot":
			a.agents, a.calls = a.agents+used, a.calls+1
		}
	}
	return nil
}

// peakWhile runs a call of the binary and is the most memory, in KiB, that all
// processes of the binary had together.
func (b *bench) peakWhile(cmd *exec.Cmd) (int64, error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var over atomic.Bool
	peak := make(chan int64)
	go func() {
		most := int64(0)
		for !over.Load() {
			links, _ := filepath.Glob("/proc/[0-9]*/exe")
			sum := int64(0)
			for _, l := range links {
				if to, err := os.Readlink(l); err == nil && to == b.belay {
					sum += kib(filepath.Join(filepath.Dir(l), "status"), "VmRSS")
				}
			}
			most = max(most, sum)
			time.Sleep(20 * time.Millisecond)
		}
		peak <- most
	}()
	err := cmd.Wait()
	over.Store(true)
	return <-peak, err
}

// gitFloors is what git takes of a processor for its status of a repository, and for
// another worktree of it.
func (b *bench) gitFloors(repo string) (status, tree time.Duration, err error) {
	cpu := func(args ...string) (time.Duration, error) {
		before := children()
		err := git(repo, args...)
		return children() - before, err
	}
	if _, err := cpu("status"); err != nil { // the first one fills the caches
		return 0, 0, err
	}
	for i := range b.rounds {
		s, err := cpu("status")
		if err != nil {
			return 0, 0, err
		}
		w, err := cpu("worktree", "add", "-q", "--detach", filepath.Join(b.dir, "floor"))
		if err != nil {
			return 0, 0, err
		}
		if err := git(repo, "worktree", "remove", "--force", filepath.Join(b.dir, "floor")); err != nil {
			return 0, 0, err
		}
		if i == 0 || s < status {
			status = s
		}
		if i == 0 || w < tree {
			tree = w
		}
	}
	return status, tree, nil
}
