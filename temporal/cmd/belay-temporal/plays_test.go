package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/library"
)

// play is a recipe and what somebody types: ID stands for the run, $PLACE for its
// directory, and $HERE for the folder of its files. Of "killed at FILE: COMMAND" what
// drives the run is killed when the file is there.
type play struct {
	name     string
	here     string            // a folder with its recipe and what it needs; "" = files
	files    map[string]string // written into the place's folder
	repo     map[string]string // nil, or what the first commit of the directory has
	env      []string
	commands []string // without the name of the program
	calm     string   // the recipe for the simulator, if that can play it
}

// stage makes the directory of a play, and gives what its environment has.
func (p play) stage(t *testing.T, work, dir string) []string {
	t.Helper()
	here, home := p.here, filepath.Join(work, "home")
	if here == "" {
		here = work
	}
	bin := filepath.Join(work, "bin")
	for _, d := range []string{dir, home, bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(here, "settings.yaml")
	if _, err := os.Stat(settings); err != nil {
		settings = filepath.Join(home, "settings.yaml")
		put(t, settings, strings.ReplaceAll(p.files["settings.yaml"], "$HERE", here))
	}
	for name, text := range p.files {
		if name != "settings.yaml" {
			put(t, filepath.Join(work, name), text)
		}
	}
	put(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = a\n\temail = a@example.org\n")
	if p.repo != nil {
		for name, text := range p.repo {
			put(t, filepath.Join(dir, name), text)
		}
		git(t, dir, home, "init", "-q", "-b", "main")
		git(t, dir, home, "add", "-A")
		git(t, dir, home, "commit", "-q", "--allow-empty", "-m", "first")
	}
	if strings.HasPrefix(p.name, "shipped-") {
		pushable(t, work, dir, home, bin)
	}
	return append([]string{
		"HERE=" + here, "HOME=" + home, "XDG_CONFIG_HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "BELAY_CONFIG=" + settings,
		"PATH=" + bin + ":" + here + ":" + os.Getenv("PATH"), "DEMO_PASSWORD=hunter2-hunter2",
	}, p.env...)
}

// pushable makes a repository that can be pushed from, and a forge that has pull requests.
func pushable(t *testing.T, work, dir, home, bin string) {
	t.Helper()
	bare := filepath.Join(work, "origin.git")
	git(t, work, home, "init", "-q", "--bare", bare)
	git(t, dir, home, "remote", "add", "origin", bare)
	git(t, dir, home, "push", "-q", "origin", "main")
	put(t, filepath.Join(bin, "gh"), "#!/bin/sh\npr=$(git rev-parse --path-format=absolute --git-common-dir)/pr\ncase \"$1 $2\" in\n"+
		"'pr create') cat >/dev/null; echo https://example.org/pull/1 > \"$pr\" ;;\nesac\nif [ -f \"$pr\" ]; then cat \"$pr\"; fi\n")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir, home string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// plays are all of them.
func plays(t *testing.T) []play {
	t.Helper()
	return append(append(examples(t), shipped(t)...), strategies()...)
}

// examples are those of examples/, each as its README says.
func examples(t *testing.T) []play {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	special := map[string]func(*play){
		"11-resume-after-kill": func(p *play) { p.commands[0] = "killed at started: " + p.commands[0] + " --set pause=3" },
		"15-hang-and-resume":   func(p *play) { p.env = []string{"BELAY_AGENTS_SILENCE=2s"} },
		"17-worktree":          func(p *play) { p.repo = map[string]string{} },
		"18-budget": func(p *play) {
			p.commands[0] += " --max-agents 1"
			p.commands = append(p.commands, "answer ID second again --why 'one more is fine'", "resume ID")
		},
		"20-failover": func(p *play) { p.commands[0] += " --staff understudy" },
		"24-ask-a-person": func(p *play) {
			p.commands = append(p.commands, "answer ID greet again --why 'I have logged in'", "resume ID")
		},
		"26-do": func(p *play) {
			p.repo = map[string]string{}
			p.commands = []string{"do 'add a greeting script' --agent player --dir \"$PLACE\" --id ID"}
		},
		"27-approve": func(p *play) {
			p.commands[0] += " --detach"
			p.commands = append(p.commands, "until ID:where.1: inbox", "answer ID:where.1 staging --why 'it is Friday'", "until ACHIEVED: show ID")
		},
	}
	var all []play
	for _, e := range entries {
		if e.Name() == "library" { // a Go program, which has an engine of its own
			continue
		}
		p := play{name: "example-" + e.Name(), here: filepath.Join(root, e.Name()), commands: []string{"run \"$HERE/recipe.yaml\" -C \"$PLACE\" --id ID"}}
		if _, err := os.Stat(filepath.Join(p.here, "script.yaml")); err == nil {
			p.commands[0] += " --agent \"scripted:$HERE/script.yaml\""
		}
		if change := special[e.Name()]; change != nil {
			change(&p)
		}
		p.commands = append(p.commands, "show ID")
		all = append(all, p)
	}
	return all
}

// shipped are the recipes that come with the program, with scripted agents.
func shipped(t *testing.T) []play {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "..", "cmd", "belay", "testdata", "shipped", "agents.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := json.Marshal(map[string]any{
		"type": "Development", "goal": "it is there", "count": 1, "streams": []any{map[string]string{"name": "one", "description": "make part one"}},
		"criteria": []any{map[string]string{"id": "c1", "text": "it is there", "check": "test -s one.txt"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	more := map[string]string{
		"default-workflow": " --set publish=pr", "publish-work": " --set publish=pr --set title='a limit'",
		"plan-review": " --set plan=\"$PLAN\"", "round": " --set plan=\"$PLAN\"", "smart-orchestrator": " --isolate --set publish=pr",
	}
	var all []play
	for _, name := range library.ShippedNames() {
		task := "add a limit"
		if name == "smart-orchestrator" {
			task = "add two unclear parts"
		}
		all = append(all, play{
			name: "shipped-" + name, env: []string{"PLAN=" + string(plan), "SCRIPT=" + script},
			repo:     map[string]string{"README.md": "the limit is 3\n", "Makefile": ".PHONY: test\ntest:\n\t@echo 3 passed, 0 failed\n"},
			commands: []string{"run " + name + " -C \"$PLACE\" --id ID --agent \"scripted:$SCRIPT\" --set task_description='" + task + "'" + more[name], "show ID"},
		})
	}
	return all
}
