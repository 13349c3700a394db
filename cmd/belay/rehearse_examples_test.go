package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/internal/rehearse"
)

// Every fault at every step: no run ends in a false 0, and none goes on for
// ever. make matrix does it for all examples; the tests of every day take two.
// promise: X
func TestLongMatrixOfExamples(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	args, most, ofAgents := []string{"rehearse", "--matrix", "--json"}, 20, 1
	for _, name := range []string{"03-retry", "14-hollow-caught"} {
		args = append(args, filepath.Join("..", "..", "examples", name))
	}
	if os.Getenv("MATRIX") == "all" {
		args, most, ofAgents = append(args[:3], filepath.Join("..", "..", "examples")), 300, 5
	}
	home := t.TempDir()
	cmd := exec.Command(program, args...)
	cmd.Env = append(cmd.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "BELAY_STATE="+filepath.Join(home, "state"), "TMPDIR="+t.TempDir())
	var said strings.Builder
	cmd.Stderr = &said
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began) // not held against a limit: other tests run beside it
	played, agents := 0, 0
	for line := range strings.Lines(string(out)) {
		var c rehearse.Cell
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if c.Bad || c.Fault == "" && c.Code != 0 {
			t.Errorf("%s %s=%s: %s: %s", c.Recipe, c.Step, c.Fault, c, c.Why)
		}
		if c.Run {
			played++
		}
		if c.Run && c.Fault == rehearse.HollowClaim {
			agents++
		}
	}
	if err != nil || played < most || agents < ofAgents {
		t.Errorf("%d rehearsals, %d of agent steps with a hollow claim, %v: %s", played, agents, err, said.String())
	}
	t.Logf("%d rehearsals in %s; alone on two cores it must stay below 3m", played, took.Round(time.Second))
}
