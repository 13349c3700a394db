//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
)

// outage is how long the service is down: longer than a CLI goes on by itself once
// Belay has turned its retries down. With all CLIs it is as long as a bare claude
// survives.
func outage() time.Duration {
	if os.Getenv("AGENTS") == "all" {
		return 90 * time.Second
	}
	return 20 * time.Second
}

// A service that is down for a while is waited for, by every agent, and nobody
// has to ask for it.
// promise: R10
func TestOutage(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, kind := range append(clis(t), agent.Scripted) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			outlast(t, bin, kind)
		})
	}
}

func outlast(t *testing.T, bin string, kind agent.Kind) {
	t.Helper()
	p, down := newPlace(t), outage()
	file := filepath.Join(p.work, "out.txt")
	server, err := model.New(model.Script{Steps: []model.Behaviour{model.Tool}, File: file, Content: content, Down: down})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	began := time.Now()
	name := string(kind)
	var s setup
	if kind == agent.Scripted {
		name += ":" + filepath.Join(p.home, "script.yaml")
		day := filepath.Join(p.home, "day.yaml")
		write(t, p.home, map[string]string{
			"script.yaml": "- play: " + day + "\n",
			"day.yaml":    "- error: {class: transient, status: 529, text: overloaded}\n",
		})
		up := time.AfterFunc(down, func() {
			good := "- write: {path: out.txt, text: " + strconv.Quote(content) + "}\n- answer: done\n"
			if err := os.WriteFile(day+".new", []byte(good), 0o600); err == nil {
				err = os.Rename(day+".new", day)
				if err != nil {
					t.Error(err)
				}
			}
		})
		defer up.Stop()
	} else {
		s = setups(kind, p.home, server.URL())
		write(t, p.home, s.files)
		write(t, p.home, map[string]string{".config/belay/config.yaml": config(t, kind, row{access: agent.AccessEdit}, s)})
	}
	write(t, p.home, map[string]string{
		"recipe.yaml": "name: one-agent\nsteps:\n  - id: work\n    agent: " + string(kind) + "\n    prompt: " + prompt + "\n    expect: change\n    timeout: 2m\n",
	})
	env := p.env(append(s.env, "XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"), "XDG_STATE_HOME="+filepath.Join(p.home, ".state"))...)
	repository(t, p, env)
	ctx, cancel := context.WithTimeout(t.Context(), 6*down)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "run", "--json", "--id", "outage", "--staff", "", "--agent", name, "--max-agents", "3", filepath.Join(p.home, "recipe.yaml"))
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.work, env, 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	err = cmd.Run()
	took := time.Since(began).Round(time.Second)
	data, _ := os.ReadFile(file) // "" when it is not there
	waits := bytes.Count(out.Bytes(), []byte(`"patient":true`))
	t.Logf("%s: exit %d after %s, %d waits, %d calls", kind, cmd.ProcessState.ExitCode(), took, waits, server.Calls())
	if left := sweep(t, mark(p)); err != nil || took < down || string(data) != content || left != 0 || waits == 0 {
		t.Errorf("%v, out.txt %q, %d processes left\n%s\n%s", err, data, left, &out, &talk)
	}
}
