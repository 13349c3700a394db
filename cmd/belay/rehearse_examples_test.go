package main_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/rehearse"
)

// Every fault at every step of every example: no run ends in a false 0, and
// none goes on for ever.
// promise: X
func TestMatrixOfExamples(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("some hundred rehearsals take more than a minute, and -short is given")
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(program, "rehearse", "--matrix", dir, "--json")
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
	if err != nil || played < 300 || agents < 5 {
		t.Errorf("%d rehearsals, %d of agent steps with a hollow claim, %v: %s", played, agents, err, said.String())
	}
	t.Logf("%d rehearsals in %s; alone on two cores it must stay below 3m", played, took.Round(time.Second))
}
