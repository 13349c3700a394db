package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// peaks is the most memory, in KiB, that the processes of one run had, and what
// the run left on the disk.
type peaks struct {
	driver, keeper, attendant int64
	disk                      int64 // bytes
	took                      time.Duration
}

func (p peaks) mb() float64 { return float64(p.driver+p.keeper+p.attendant) / 1024 }

func (p peaks) String() string {
	return fmt.Sprintf("%.1f + %.1f + %.1f MB", float64(p.driver)/1024, float64(p.keeper)/1024, float64(p.attendant)/1024)
}

// watched runs a recipe of one agent step and looks at its processes.
func (b *bench) watched(id, repo, script, file string, env ...string) (peaks, error) {
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return peaks{}, err
	}
	cmd := b.cmdIn(state, "run", "-q", "--id", id, "-C", repo, "--agent", "scripted:"+script, file)
	cmd.Env = append(cmd.Env, env...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return peaks{}, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var p peaks
	folder := filepath.Join(state, "runs", id)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return peaks{}, fmt.Errorf("run: %w", err)
			}
			p.took = time.Since(began)
			p.disk, err = sizeOf(folder)
			return p, err
		case <-tick.C:
			p.driver = max(p.driver, peakOfPid(cmd.Process.Pid))
			p.keeper = max(p.keeper, peakOf("keeper", folder))
			p.attendant = max(p.attendant, peakOf("attend", folder))
		}
	}
}

// sizeOf is how much the files below a folder take.
func sizeOf(folder string) (int64, error) {
	var total int64
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		return nil
	})
	return total, err
}

// agentMemory is what Belay needs beside an agent, and the agent alone.
func (b *bench) agentMemory() error {
	repo, script, file, err := b.agentStep("- sleep: 1s\n- answer: done\n")
	if err != nil {
		return err
	}
	bare := exec.Command(b.belay, "scripted", script)
	bare.Dir = repo
	alone, err := watchedAlone(bare)
	if err != nil {
		return fmt.Errorf("run the bare agent: %w", err)
	}
	p, err := b.watched("beside", repo, script, file)
	if err != nil {
		return err
	}
	row("peak memory of the bare scripted agent", "%.1f MB", float64(alone)/1024)
	row("beside it: driver, keeper and attendant", "%s", p)
	return nil
}

// watchedAlone runs a program and is its peak memory in KiB.
func watchedAlone(cmd *exec.Cmd) (int64, error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for peak := int64(0); ; {
		select {
		case err := <-done:
			return peak, err
		case <-tick.C:
			peak = max(peak, peakOfPid(cmd.Process.Pid))
		}
	}
}

// talk is what driver, keeper and attendant need while an agent prints 10 GB,
// and what is kept of it.
func (b *bench) talk() error {
	const gigabytes, kept = 10, 64 << 20
	repo, script, file, err := b.agentStep(fmt.Sprintf("- flood: %dGB\n- answer: done\n", gigabytes))
	if err != nil {
		return err
	}
	p, err := b.watched("talk", repo, script, file, "BELAY_LOGS_MAX_BYTES=64MiB")
	if err != nil {
		return err
	}
	row(fmt.Sprintf("%d GB of an agent's output", gigabytes), "%.0f s, %.0f MB/s", p.took.Seconds(), gigabytes*1000/p.took.Seconds())
	row("peak memory, driver, keeper and attendant", "%s", p)
	row("kept of it, with a limit of 64 MiB", "%.1f MiB, journal and all", float64(p.disk)/(1<<20))
	b.goal("memory of a run with 10 GB of an agent's output, MB", p.mb(), 100)
	b.goal("the run's folder, MiB (64 of them the log)", float64(p.disk)/(1<<20), kept/(1<<20)+4)
	return nil
}
