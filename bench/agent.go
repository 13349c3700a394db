package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/worktree"
)

// agents measures what an agent step costs over the bare agent, in an empty
// repository. The agent is the scripted one: it costs next to nothing itself,
// so that what is left is Belay's.
func (b *bench) agents() error {
	repo, script, file, err := b.agentStep("- answer: done\n")
	if err != nil {
		return err
	}
	prompt, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = prompt.Close() }() // read only: nothing to lose
	bare := func() error {
		c := exec.Command(b.belay, "scripted", script)
		c.Dir, c.Stdin = repo, prompt
		return c.Run()
	}
	none, err := b.recipe("none", 1, "command: 'true'")
	if err != nil {
		return err
	}
	status := func() error { return git(repo, "status", "--porcelain") }
	d, err := interleaved(5*b.rounds, bare, b.belayRun("-C", repo, none), b.belayRun("-C", repo, "--agent", "scripted:"+script, file), status)
	if err != nil {
		return err
	}
	row("the bare scripted agent", "%.1f ms", ms(d[0]))
	row("a run of one shell step", "%.1f ms", ms(d[1]))
	row("a run of one agent step", "%.1f ms", ms(d[2]))
	over := d[2] - d[1] - d[0]
	row("what the agent step adds to both", "%.1f ms, %.1f × git status (%.1f ms)", ms(over), ratioOf(over, d[3]), ms(d[3]))
	b.goal("an agent step over the agent and a shell step, ms", ms(over), 15)
	b.goal("the same, × git status", ratioOf(over, d[3]), 5)
	return b.agentMemory()
}

// agentStep is a repository, a script and a recipe of one agent step.
func (b *bench) agentStep(script string) (repo, scriptFile, recipe string, err error) {
	if repo, err = os.MkdirTemp(b.dir, "repo-"); err != nil {
		return "", "", "", err
	}
	scriptFile = filepath.Join(b.dir, filepath.Base(repo)+".script.yaml")
	if err := os.WriteFile(scriptFile, []byte(script), 0o600); err != nil {
		return "", "", "", err
	}
	if err := git(repo, "init", "-q"); err != nil {
		return "", "", "", err
	}
	recipe, err = b.recipe(filepath.Base(repo), 1, "agent: scripted, prompt: go, expect: answer, timeout: 1h")
	return repo, scriptFile, recipe, err
}

func git(dir string, args ...string) error {
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@example.org"}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// evidence measures the look at a working tree of 50,000 files beside one git
// status.
func (b *bench) evidence() error {
	const files = 50_000
	repo := filepath.Join(b.dir, "big")
	if err := generate(repo, files); err != nil {
		return err
	}
	tree := worktree.Tree{Dir: repo}
	ctx := context.Background()
	var before belay.TreeState
	status := func() error { return git(repo, "status", "--porcelain") }
	take := func() error {
		before = tree.State(ctx)
		if before.Error != "" {
			return fmt.Errorf("print: %s", before.Error)
		}
		return nil
	}
	both := func() error {
		if err := take(); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(repo, "d000", "f00.go"), fmt.Appendf(nil, "package p // %s\n", time.Now()), 0o600); err != nil {
			return err
		}
		if e := tree.Since(ctx, before, tree.State(ctx), nil); e.Files != 1 {
			return fmt.Errorf("%d files changed, want 1: %s", e.Files, e.Error)
		}
		return nil
	}
	if err := status(); err != nil { // the first one fills the caches
		return err
	}
	d, err := interleaved(2*b.rounds+1, status, take, both)
	if err != nil {
		return err
	}
	row("git status, 50,000 files", "%.0f ms", ms(d[0]))
	row("one look at the working tree", "%.0f ms, %.2f × git status", ms(d[1]), ms(d[1])/ms(d[0]))
	row("before, after and what changed", "%.0f ms, %.2f × git status", ms(d[2]), ms(d[2])/ms(d[0]))
	b.goal("one look at 50,000 files, × git status", ms(d[1])/ms(d[0]), 2)
	return nil
}

// generate makes a repository of as many files.
func generate(repo string, files int) error {
	const perFolder = 100
	for i := range files {
		dir := filepath.Join(repo, fmt.Sprintf("d%03d", i/perFolder))
		if i%perFolder == 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d.go", i%perFolder)), fmt.Appendf(nil, "package p // %d\n", i), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "bench"}, {"config", "user.email", "bench@example.org"}, {"add", "-A"}, {"commit", "-q", "-m", "all"}} {
		if err := git(repo, args...); err != nil {
			return err
		}
	}
	return nil
}
