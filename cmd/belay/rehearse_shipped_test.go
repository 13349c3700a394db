package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/rehearse"
)

// planned is a plan of one workstream, as the steps of belay do read it.
func planned(kind string, streams ...string) string {
	list := []map[string]string{}
	for _, s := range streams {
		list = append(list, map[string]string{"name": s, "description": "make part " + s})
	}
	made := "one.txt" // a check that passes before the work proves nothing about it
	if kind == "Q&A" || kind == "Investigation" {
		made = "README.md"
	}
	b, _ := json.Marshal(map[string]any{ // it is made of texts
		"type": kind, "goal": "it is there", "count": len(list), "streams": list,
		"criteria": []map[string]string{{"id": "c1", "text": "it is there", "check": "test -s " + made}},
	})
	return "plan=" + string(b)
}

// shippedPlays are the days on which each shipped recipe is rehearsed: the first on a
// change, all of them together take every step.
func shippedPlays() map[string][][]string {
	limit, parts, pr := "task_description=add a limit", "task_description=add two unclear parts", "publish=pr"
	return map[string][][]string{
		"qa": {{limit}}, "operations": {{limit}}, "investigation-workflow": {{limit}}, "plan-reviewer": {{limit}},
		"default-workflow": {{limit, pr, "track=true"}},
		"publish-work":     {{pr, "title=a limit"}},
		"plan-review":      {{limit, planned("Development", "one")}},
		"round": {
			{limit, planned("Development", "one")},
			{limit, planned("Q&A", "one")}, {limit, planned("Operations", "one")}, {limit, planned("Investigation", "one")},
		},
		"smart-orchestrator": {{parts, pr}},
	}
}

// shippedStage is a repository whose copies can be pushed to and have pull requests.
func shippedStage(t *testing.T) (repo string, env []string) {
	t.Helper()
	work := t.TempDir()
	repo, home, bin := filepath.Join(work, "repo"), filepath.Join(work, "home"), filepath.Join(work, "bin")
	template := filepath.Join(work, "template")
	for _, dir := range []string{repo, home, bin, template, filepath.Join(work, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, work, "init", "-q", "--bare", filepath.Join(template, "pushed.git")) // a part of each new repository
	for path, text := range map[string]string{
		filepath.Join(repo, "README.md"):  "the limit is 3\n",
		filepath.Join(repo, "Makefile"):   ".PHONY: test\ntest:\n\t@echo 3 passed, 0 failed\n",
		filepath.Join(home, ".gitconfig"): "[init]\n\ttemplateDir = " + template + "\n[protocol \"ext\"]\n\tallow = always\n[url \"ext::pushed %S\"]\n\tinsteadOf = origin\n",
		filepath.Join(bin, "pushed"):      "#!/bin/sh\nexec \"$1\" \"$(git rev-parse --git-common-dir)/pushed.git\"\n", // also from a worktree
		filepath.Join(bin, "gh"):          "#!/bin/sh\npr=$(git rev-parse --git-common-dir)/pr\ncase \"$1 $2\" in\n'pr create') cat >/dev/null; echo https://example.org/pull/1 > \"$pr\" ;;\nesac\nif [ -f \"$pr\" ]; then cat \"$pr\"; fi\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	newRepo(t, repo)
	gitIn(t, repo, "add", "-A")
	gitIn(t, repo, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "a limit")
	return repo, append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "BELAY_STATE="+filepath.Join(work, "state"),
		"TMPDIR="+filepath.Join(work, "tmp"), "PATH="+bin+":"+os.Getenv("PATH"))
}

// Every fault at every step of every shipped recipe: none ends in a false 0, and none
// goes on for ever. With BELAY_SWEEPS=all all of it; a change tries a few faults of
// each, which the seed chooses.
// promise: X
func TestLongMatrixOfShipped(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	repo, env := shippedStage(t)
	script, err := filepath.Abs("testdata/shipped/agents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seed, plays := chosenSeed(), shippedPlays()
	hit := map[string]bool{}
	for _, name := range library.ShippedNames() {
		t.Run(name, func(t *testing.T) {
			days := plays[name]
			if len(days) == 0 {
				t.Fatalf("%s is shipped, and no day of it is rehearsed", name)
			}
			args := []string{"--limit", "5m"}
			if name == "smart-orchestrator" || name == "default-workflow" { // as they run by their names: else there is no branch to offer and to publish
				args = append(args, "--isolate")
			}
			if !wholeSweep() {
				days, args = days[:1], append(args, "--sample", "1", "--seed", fmt.Sprint(seed))
			}
			for _, sets := range days {
				args := slices.Clone(args)
				for _, s := range sets {
					args = append(args, "--set", s)
				}
				for _, c := range playShipped(t, env, append([]string{name, "-C", repo, "--script", script}, args...)) {
					hit[string(c.Step)] = hit[string(c.Step)] || c.Run && c.Word != rehearse.NotHit
				}
			}
		})
	}
	t.Logf("seed %d", seed)
	if wholeSweep() {
		everyStepWasHit(t, hit)
	}
}

// playShipped plays a matrix, and holds each of its cells against the promise.
func playShipped(t *testing.T, env, args []string) []rehearse.Cell {
	t.Helper()
	cmd := exec.Command(program, append([]string{"rehearse", "--matrix", "--json"}, args...)...)
	cmd.Env = env
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	var cells []rehearse.Cell
	for line := range strings.Lines(string(out)) {
		var c rehearse.Cell
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if c.Bad || c.Word == "endless" {
			t.Errorf("%s: %s: %s", c.Name(), c, c.Why)
		}
		cells = append(cells, c)
	}
	if err != nil || len(cells) < 2 {
		t.Errorf("belay %q: %d cells, %v: %s", args, len(cells), err, &said)
	}
	return cells
}

// everyStepWasHit wants a fault at every step that starts a process, but for those that
// a good day does not come to.
func everyStepWasHit(t *testing.T, hit map[string]bool) {
	t.Helper()
	const badDays = " classify-again review-open tests-counted unreadable-plan report-hollow flag-hollow keep-plan keep-best standing-round old-tests file-routing-bug adaptive-execute-development adaptive-execute-investigation "
	for _, name := range library.ShippedNames() {
		set, err := library.Shelf{Work: t.TempDir()}.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range rehearse.Targets(set) {
			step := string(target.Step)
			if target.Fits(rehearse.LyingRecovery) == nil && !hit[step] && !strings.Contains(badDays, " "+step+" ") {
				t.Errorf("%s: no fault came to %s: which day would take it?", name, step)
			}
		}
	}
}
