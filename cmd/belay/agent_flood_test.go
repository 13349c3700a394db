//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

const (
	floodWhole  = 1 << 30
	floodPart   = 1 << 27 // more than a process of Belay may have in memory
	floodKept   = 4 << 20
	floodMemory = 100 << 10 // KiB, for each process of ours
	floodCPU    = 20 * time.Second
)

// TestLongAgentFlood puts a flood of an agent's output through a step, 1 GiB with
// BELAY_SWEEPS=all: no process of Belay grows with it, the log keeps its bounds, and
// the true size is known.
//
// The speed is measured and printed. What is held is the time of the
// processors: the time on the wall belongs to whoever shares the machine.
func TestLongAgentFlood(t *testing.T) {
	scratch.Long(t)
	if testing.Short() {
		t.Skip("a flood is not for -short")
	}
	floodSize := int64(floodPart)
	if os.Getenv("BELAY_SWEEPS") == "all" {
		floodSize = floodWhole
	}
	b := newBench(t, false)
	r, err := b.newRig(b.shipped)
	if err != nil {
		t.Fatal(err)
	}
	defer r.wipe()
	if err := r.put("flood.yaml", "name: flood\nsteps:\n  - {id: pour, agent: scripted, prompt: x, output: o, expect: answer}\n"); err != nil {
		t.Fatal(err)
	}
	if err := r.put("script.yaml", fmt.Sprintf("- flood: %d\n- answer: dry again\n", floodSize)); err != nil {
		t.Fatal(err)
	}
	c, err := r.start([]string{fmt.Sprintf("BELAY_LOGS_MAX_BYTES=%d", floodKept)},
		"run", "flood.yaml", "--agent", "scripted:script.yaml")
	if err != nil {
		t.Fatal(err)
	}
	peaks := r.peaks(c)
	e := c.result()
	if e.code != exit.OK || e.signal != 0 {
		t.Fatal(e)
	}
	for _, who := range []string{"run", "keeper", "attend"} {
		if peaks[who] == 0 || peaks[who] > floodMemory {
			t.Errorf("%s had %d KiB in memory, at most %d are allowed", who, peaks[who], floodMemory)
		}
	}
	o := agentEnd(t, r)
	took := o.Ended.Sub(o.Started)
	if o.LogSize < floodSize || o.LogKept == 0 || o.LogKept > 2*floodKept {
		t.Errorf("size %d, kept %d", o.LogSize, o.LogKept)
	}
	if cpu := time.Duration(o.CPU) * time.Microsecond; cpu > floodCPU {
		t.Errorf("%s of processor time, at most %s are allowed", cpu, floodCPU)
	}
	if got := string(o.Output.JSON); got != `"dry again"` {
		t.Errorf("the answer is %s", got)
	}
	t.Logf("%d MiB in %s (%.0f MB/s, %s of processor time); peaks in KiB: %v",
		o.LogSize>>20, took.Round(time.Millisecond), float64(o.LogSize)/1e6/took.Seconds(), time.Duration(o.CPU)*time.Microsecond, peaks)
}

func agentEnd(t *testing.T, r *rig) effect.Observation {
	t.Helper()
	recs, err := r.records()
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if e, ok := rec.Event.(event.AttemptEnded); ok {
			return e.Observation
		}
	}
	t.Fatal("no attempt ended")
	return effect.Observation{}
}

// peaks watches the processes of a run until it ends: the most that each kind
// of them had in memory, in KiB, by the name of its command.
func (r *rig) peaks(c *command) map[string]int {
	most := map[string]int{}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !c.ended() {
		<-tick.C
		for _, pid := range carrying(r.mark) {
			args := strings.Split(text(fmt.Sprintf("/proc/%d/cmdline", pid)), "\x00")
			if len(args) < 2 || filepath.Base(args[0]) != filepath.Base(r.bin) {
				continue
			}
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				continue // gone
			}
			for line := range strings.Lines(string(status)) {
				var n int
				if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &n); err == nil {
					most[args[1]] = max(most[args[1]], n)
				}
			}
		}
	}
	return most
}
