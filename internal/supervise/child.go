package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/proc"
)

const (
	drainFor     = time.Second      // what is read after the tree is dead
	killPatience = 10 * time.Second // how long a killed process may take to be gone
	strayGrace   = 500 * time.Millisecond
	toldGrace    = time.Second // from TERM to KILL when we were told to end ourselves
)

// child is one started process of a CLI. Its streams are plain pipes, so that
// waiting for the process never means waiting for who else holds them.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File // our ends
	stdout *os.File
	stderr *os.File
	death  *os.File      // in a namespace: where its first process tells the signal that ended the program
	signal int           // what it told
	gone   chan struct{} // closed when it was waited for
}

// missing says that a program is not there.
type missing struct {
	name string
	err  error
}

func (m *missing) Error() string { return fmt.Sprintf("%s is not to be found: %v", m.name, m.err) }
func (m *missing) Unwrap() error { return m.err }

// start starts the CLI in a process group of its own, or as a part of a PID
// namespace of its own.
func (a *attendant) start(l agent.Launch) (*child, error) {
	env := environment(os.Environ(), l.Unset, l.Env, a.order.Env)
	path, err := lookPath(l.Argv[0], env, a.order.Dir)
	if err != nil {
		return nil, &missing{name: l.Argv[0], err: err}
	}
	a.program = path
	argv := append([]string{path}, l.Argv[1:]...)
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.level == proc.LevelNamespace {
		argv = append(append([]string{}, a.order.Init...), argv...)
		attr = proc.NamespaceAttr()
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // its end is ours to decide, step by step
	cmd.Dir, cmd.Env, cmd.SysProcAttr = a.order.Dir, env, attr
	c := &child{cmd: cmd, gone: make(chan struct{})}
	var theirs []*os.File
	for _, p := range []struct{ ours, theirs func(*os.File) }{
		{func(f *os.File) { c.stdout = f }, func(f *os.File) { cmd.Stdout = f }},
		{func(f *os.File) { c.stderr = f }, func(f *os.File) { cmd.Stderr = f }},
		{func(f *os.File) { c.stdin = f }, func(f *os.File) { cmd.Stdin = f }},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			c.close()
			return nil, errors.Join(fmt.Errorf("start %s: %w", path, err), closeAll(theirs))
		}
		if len(theirs) == 2 {
			r, w = w, r // stdin: we write
		}
		p.ours(r)
		p.theirs(w)
		theirs = append(theirs, w)
	}
	if a.level == proc.LevelNamespace {
		r, w, err := os.Pipe()
		if err != nil {
			c.close()
			return nil, errors.Join(fmt.Errorf("start %s: %w", path, err), closeAll(theirs))
		}
		c.death, cmd.ExtraFiles = r, []*os.File{w}
		theirs = append(theirs, w)
	}
	err = cmd.Start()
	_ = closeAll(theirs) // the child has its own
	if err != nil {
		c.close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return c, nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// close closes our ends of the pipes; who reads or writes them wakes up.
func (c *child) close() {
	for _, f := range []*os.File{c.stdin, c.stdout, c.stderr, c.death} {
		if f != nil {
			_ = f.Close() // stdin may be closed already, the others were only read
		}
	}
}

// drain bounds how long is read: the tree is dead, and whoever may yet
// hold the pipes is not waited for.
func (c *child) drain() {
	at := time.Now().Add(drainFor)
	for _, f := range []*os.File{c.stdout, c.stderr} {
		if err := f.SetReadDeadline(at); err != nil {
			_ = f.Close() // it cannot be bounded, so it ends now
		}
	}
}

// await waits for the process; the owner of the child starts it once.
func (c *child) await() {
	_ = c.cmd.Wait() // how it ended is in its state
	close(c.gone)
}

// exit is how it ended.
func (c *child) exit() (code, signal int) {
	status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal()), int(status.Signal())
	}
	return c.cmd.ProcessState.ExitCode(), c.signal
}

// hearDeath reads which signal ended the program of a namespace; its owner
// waits for it. The pipe ends with the namespace.
func (c *child) hearDeath() {
	if c.death == nil {
		return
	}
	b := make([]byte, 1)
	if n, err := c.death.Read(b); n == 1 && err == nil {
		c.signal = int(b[0])
	}
}

// stop asks the process to end and kills it, and its group, when the grace is
// over or ctx ends. False: not even KILL ended it.
func (c *child) stop(ctx context.Context, sig agent.Stop, grace time.Duration) bool {
	if s := signalOf(sig); s != syscall.SIGKILL {
		_ = c.cmd.Process.Signal(s)                           // one that is gone needs none
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGCONT) // a stopped one would not hear it
		if c.within(ctx, grace) {
			return true
		}
	}
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // not waited for, so nobody else's
	_ = c.cmd.Process.Kill()                              // it may have left its group
	return c.within(context.WithoutCancel(ctx), killPatience)
}

// within tells whether the process is gone before the time is over or ctx ends.
func (c *child) within(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-ctx.Done():
	case <-timer.C:
	}
	return c.left() // both may have come while the machine stood still
}

// left tells whether the process is gone by now.
func (c *child) left() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

func signalOf(s agent.Stop) syscall.Signal {
	switch s {
	case agent.StopInt:
		return syscall.SIGINT
	case agent.StopTerm:
		return syscall.SIGTERM
	case agent.StopKill:
		return syscall.SIGKILL
	}
	return syscall.SIGTERM
}

// environment is the base less the unset names, with the additions over it.
// The marks by which the run knows its processes stay as they are.
func environment(base, unset []string, additions ...[]string) []string {
	drop := map[string]bool{}
	for _, name := range unset {
		drop[name] = true
	}
	var added []string
	for _, list := range additions {
		for _, entry := range list {
			name, _, ok := strings.Cut(entry, "=")
			if !ok || name == "BELAY_MARK" || name == "BELAY_KEY" {
				continue
			}
			drop[name] = true
			added = append(added, entry)
		}
	}
	var env []string
	for _, entry := range base {
		if name, _, _ := strings.Cut(entry, "="); !drop[name] {
			env = append(env, entry)
		}
	}
	return append(env, added...) // of two entries of one name exec takes the last
}

// lookPath finds a program as a shell would in that environment and directory.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	var path string
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = v
		}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue // a program out of the working directory is nobody's wish
		}
		if p, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}
