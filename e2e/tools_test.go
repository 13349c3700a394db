//go:build e2e && linux

package e2e

import (
	"bytes"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
	"github.com/belay-run/belay/exit"
)

// TestRoleTools shows that the tools of a role reach the CLIs that heed them: who
// may only read writes a file with the one that is named, and not with another.
// promise: R10
func TestRoleTools(t *testing.T) {
	t.Parallel()
	bin := build(t)
	names := map[agent.Kind][2]string{ // what writes, and what does not
		agent.Claude:  {"Write", "Read"},
		agent.Gemini:  {"write_file", "read_file"},
		agent.Qwen:    {"write_file", "read_file"},
		agent.Copilot: {"create", "bash"},
	}
	for _, kind := range clis(t) {
		tools, ok := names[kind]
		if ok != agent.HeedsTools(kind) {
			t.Errorf("%s heeds tools: %v; it is in the table: %v", kind, !ok, ok)
		}
		if !ok {
			continue
		}
		for i, tool := range tools {
			t.Run(string(kind)+"/"+tool, func(t *testing.T) {
				t.Parallel()
				r := row{expect: belay.ExpectChange, access: agent.AccessRead}
				d := driveRole(t, bin, kind, r, []string{tool}, []model.Behaviour{model.Tool}, patience)
				want := exit.OK
				if i > 0 {
					want = exit.Hollow
				}
				if d.exit != want {
					t.Errorf("belay exit %d, want %d", d.exit, want)
				}
				if kind == agent.Claude && bytes.Contains(d.out, []byte(`"denied":["Bash"]`)) != (i > 0) {
					t.Error("its record of what was denied is not as it should be")
				}
				d.check(t, i == 0)
			})
		}
	}
}
