package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// watch is a machine with many runs: a thousand that wait for an hour, and fifty
// that work, under one watch. What a look costs must not grow with what waits.
func (b *bench) watch() error {
	const waiting, working, looks = 1000, 50, 10
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return err
	}
	far, err := b.write("far.yaml", "name: far\nsteps:\n  - {id: a, command: exit 1, retry: {max_attempts: 2, backoff: 10h}}\n")
	if err != nil {
		return err
	}
	busy, err := b.write("busy.yaml", "name: busy\nsteps:\n  - {id: a, command: sleep 3600}\n")
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	w := exec.CommandContext(ctx, b.belay, "--state", state, "watch", "--window", "0", "--poll", "1s")
	if err := w.Start(); err != nil {
		return err
	}
	defer func() { end(); _ = w.Wait() }() // it is killed
	begin := time.Now()
	if err := b.detached(state, far, "far", waiting); err != nil {
		return err
	}
	row(fmt.Sprintf("%d runs begin, and park", waiting), "%.1f s", time.Since(begin).Seconds())
	idle, err := perLook(w.Process.Pid, looks)
	if err != nil {
		return err
	}
	left, err := processes(state)
	if err != nil {
		return err
	}
	row("their processes, with the watch", "%d", left)
	if err := b.detached(state, busy, "busy", working); err != nil {
		return err
	}
	defer func() {
		for i := range working {
			_ = b.cmdIn(state, "stop", fmt.Sprintf("busy%d", i)).Run() // the figures are there
		}
	}()
	both, err := perLook(w.Process.Pid, looks)
	if err != nil {
		return err
	}
	list, err := b.quickest(state, "runs")
	if err != nil {
		return err
	}
	inbox, err := b.quickest(state, "inbox")
	if err != nil {
		return err
	}
	memory, err := resident(w.Process.Pid)
	if err != nil {
		return err
	}
	row("a look at those that wait", "%.1f ms of a processor", ms(idle))
	row(fmt.Sprintf("and at %d that work", working), "%.1f ms of a processor", ms(both))
	row("memory of the watch", "%.1f MiB", float64(memory)/(1<<20))
	row("belay runs", "%.0f ms", ms(list))
	row("belay inbox", "%.0f ms", ms(inbox))
	b.goal("inbox of 1050 runs against their list, least of both", ms(inbox)/ms(list), 2)
	b.goal("a look at 1050 runs, ms of a processor", ms(both), 300)
	b.goal("processes of 1000 waiting runs", float64(left-1), 0)
	return nil
}

// quickest is how long a command takes at best.
func (b *bench) quickest(state, command string) (time.Duration, error) {
	var list []time.Duration
	for range 5 {
		at := time.Now()
		if out, err := b.cmdIn(state, command).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w\n%s", err, out)
		}
		list = append(list, time.Since(at))
	}
	return slices.Min(list), nil
}

func (b *bench) write(name, text string) (string, error) {
	file := filepath.Join(b.dir, name)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// detached starts runs, four at a time, and waits until those that park have.
func (b *bench) detached(state, file, name string, n int) error {
	var g errgroup.Group
	g.SetLimit(4)
	for i := range n {
		g.Go(func() error {
			if out, err := b.cmdIn(state, "run", "--detach", "--id", fmt.Sprintf("%s%d", name, i), file).CombinedOutput(); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	time.Sleep(3 * time.Second) // the last ones park, and the watch has seen them
	return nil
}

// perLook is the time of a processor that a process takes in a second, which is one
// look of the watch.
func perLook(pid, looks int) (time.Duration, error) {
	before, err := used(pid)
	if err != nil {
		return 0, err
	}
	time.Sleep(time.Duration(looks) * time.Second)
	after, err := used(pid)
	return (after - before) / time.Duration(looks), err
}

// used is the time of a processor that a process took so far.
func used(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// resident is the memory of a process, in bytes.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// processes is how many have a state directory in their command line.
func processes(state string) (n int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), state) {
			n++
		}
	}
	return n, err
}
