//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/exit"
)

// TestLoggedOut shows that a CLI that nobody is logged in to is told before
// anything starts, with the cure. Of the others only a run can tell.
func TestLoggedOut(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, kind := range clis(t) {
		if agent.Known(kind).AskLogin == nil {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			write(t, p.home, map[string]string{
				".config/belay/config.yaml": config(t, kind, row{access: agent.AccessEdit}, setups(kind, p.home, "")),
				"recipe.yaml":               "name: one\nsteps:\n  - {id: first, command: echo started > started}\n  - {id: work, agent: " + string(kind) + ", prompt: hi, expect: answer}\n",
			})
			env := p.env("XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"), "XDG_STATE_HOME="+filepath.Join(p.home, ".state"))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, bin, "run", filepath.Join(p.home, "recipe.yaml"))
			cmd.Dir, cmd.Env = p.work, env
			out, _ := cmd.CombinedOutput() // the code is what counts
			if code := cmd.ProcessState.ExitCode(); code != exit.Infra {
				t.Errorf("exit %d, want %d", code, exit.Infra)
			}
			for _, want := range []string{"agent " + string(kind) + " is not logged in", agent.Known(kind).Login.Cure} {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("it does not say %q", want)
				}
			}
			if seen, _ := filepath.Glob(filepath.Join(p.work, "*")); len(seen) > 0 {
				t.Errorf("something was started: %v", seen)
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}
