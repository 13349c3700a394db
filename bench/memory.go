package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory is what driver and keeper need while a step prints 1 GB.
func (b *bench) memory() error {
	file, err := b.recipe("flood", 1, `command: "head -c 1073741824 /dev/zero | tr '\\0' x"`)
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return err
	}
	cmd := b.cmdIn(state, "run", "-q", "--id", "flood", file)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	driver, keeper := int64(0), int64(0)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			took := time.Since(began)
			row("1 GB of output", "%.1f s, %.0f MB/s", took.Seconds(), 1073.7/took.Seconds())
			row("peak memory, driver and keeper", "%.1f MB + %.1f MB", float64(driver)/1024, float64(keeper)/1024)
			b.goal("memory of a run with 1 GB of output, MB", float64(driver+keeper)/1024, 50)
			return nil
		case <-tick.C:
			driver = max(driver, peakOfPid(cmd.Process.Pid))
			keeper = max(keeper, peakOf("keeper", filepath.Join(state, "runs", "flood")))
		}
	}
}

// peakOf is the peak memory, in KiB, of the process whose arguments hold all
// the words.
func peakOf(words ...string) int64 {
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range procs {
		line, err := os.ReadFile(p)
		if err != nil || !holds(string(line), words) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
			return peakOfPid(pid)
		}
	}
	return 0
}

// peakOfPid is asked while the process lives: what is told of it afterwards
// counts the memory of who started it, too.
func peakOfPid(pid int) int64 { return kib(fmt.Sprintf("/proc/%d/status", pid), "VmHWM") }

// kib is a number of a file of /proc; 0 when the process is gone.
func kib(file, name string) int64 {
	status, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for _, l := range strings.Split(string(status), "\n") {
		var kb int64
		if n, _ := fmt.Sscanf(l, name+": %d kB", &kb); n == 1 {
			return kb
		}
	}
	return 0
}

func holds(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
