package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/story"
)

const (
	lookEvery  = 20 * time.Millisecond
	readFor    = 600 * time.Millisecond // so that a person can follow
	showWithin = 2 * time.Minute        // for one process of the show
	stopWithin = 8 * time.Second
	hangOn     = 2 * time.Second // for what a dead process had printed
)

// errMissed is that something did not come that the show cannot go on without.
// The promises tell what is missing.
var errMissed = errors.New("it did not come")

// driver is a belay that runs.
type driver struct {
	cmd  *exec.Cmd
	gone chan error
}

// start starts one. Its process group is its own: a Ctrl-C comes to us alone,
// and we end it in order.
func (s *stage) start(v *voice, args ...string) (*driver, error) {
	cmd := exec.Command(s.self, append([]string{"--color", s.color, "--log-level", "error"}, args...)...) //nolint:noctx // it is ended by a signal that lets it end its steps
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, s.folder, v, v
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = hangOn
	if err := cmd.Start(); err != nil {
		return nil, exit.New(exit.Infra, "start belay "+args[0], err, "")
	}
	d := &driver{cmd: cmd, gone: make(chan error, 1)}
	go func() { d.gone <- cmd.Wait() }() // every recovery from this file receives it
	return d, nil
}

func (d *driver) pid() int { return d.cmd.Process.Pid }

// untilStarted waits until the agent is at work that will see its driver die,
// and gives its process.
func (d *driver) untilStarted(ctx context.Context, file string) (pid int, err error) {
	err = d.until(ctx, "the agent's start", func() (bool, error) {
		pids, err := started(file)
		if err != nil || len(pids) == 0 {
			return false, err
		}
		pid = pids[0]
		return true, nil
	})
	if err == nil {
		err = pause(ctx)
	}
	return pid, err
}

// goOn waits until the open attempt was found, lets the agent finish, and gives
// the exit code of the run.
func (d *driver) goOn(ctx context.Context, s *stage) (code int, err error) {
	err = d.until(ctx, "the adoption", func() (bool, error) {
		told, err := s.told()
		if slices.ContainsFunc(told.Attempts, func(a *story.Attempt) bool { return len(a.Found) > 0 }) {
			return true, nil
		}
		return false, err
	})
	if err == nil {
		err = pause(ctx)
	}
	if err == nil {
		err = os.WriteFile(s.path("go"), nil, 0o600)
	}
	if err != nil {
		return code, errors.Join(err, d.stop())
	}
	return d.wait(ctx)
}

// until looks again and again while the process lives.
func (d *driver) until(ctx context.Context, what string, there func() (bool, error)) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	limit := time.NewTimer(showWithin)
	defer limit.Stop()
	for {
		ok, err := there()
		if ok || err != nil {
			return err
		}
		select {
		case <-look.C:
		case err := <-d.gone:
			d.gone <- err
			return fmt.Errorf("wait for %s: belay ended: %w", what, errMissed)
		case <-limit.C:
			return fmt.Errorf("wait for %s: %w", what, errMissed)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pause lets a person read.
func pause(ctx context.Context) error {
	t := time.NewTimer(readFor)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// wait waits for the end and gives the exit code.
func (d *driver) wait(ctx context.Context) (int, error) {
	limit := time.NewTimer(showWithin)
	defer limit.Stop()
	select {
	case <-d.gone:
		d.gone <- nil
		if code := d.cmd.ProcessState.ExitCode(); code >= 0 {
			return code, nil
		}
		return 0, fmt.Errorf("wait for the end of belay: %s: %w", d.cmd.ProcessState, errMissed)
	case <-limit.C:
		return 0, errors.Join(fmt.Errorf("wait for the end of belay: %w", errMissed), d.stop())
	case <-ctx.Done():
		return 0, errors.Join(context.Cause(ctx), d.stop())
	}
}

// kill is kill -9; it tells whether that is what ended it.
func (d *driver) kill() bool {
	_ = d.cmd.Process.Kill() // how it ended is looked at below
	<-d.gone
	d.gone <- nil
	ws, ok := d.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL
}

// stop ends it: gently, then at once.
func (d *driver) stop() error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = d.cmd.Process.Signal(sig) // it may be gone
		limit := time.NewTimer(stopWithin)
		select {
		case <-d.gone:
			limit.Stop()
			d.gone <- nil
			return nil
		case <-limit.C:
		}
	}
	return errors.New("stop belay: it does not end")
}

// started are the starts of the agent that it wrote down itself, outside of
// Belay's state: its process, one line for each.
func started(file string) ([]int, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("count starts: %w", err)
	}
	var pids []int
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("count starts: %w", err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// alive tells whether a process lives.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
