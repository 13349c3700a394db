package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
)

// site is where the program is tried: one directory with a recipe, one client, and
// workers that all have the same name and state directory, one after the other.
type site struct {
	t    *testing.T
	dir  string
	env  []string
	host string
}

// newSite has a recipe and an environment of its own.
func newSite(t *testing.T, addr, recipe string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), host: fmt.Sprintf("site-%d", time.Now().UnixNano())}
	put(t, filepath.Join(s.dir, "recipe.yaml"), recipe)
	put(t, filepath.Join(s.dir, "settings.yaml"), "")
	s.env = append(os.Environ(),
		"TEMPORAL_ADDRESS="+addr, "BELAY_ENGINE=temporal", "BELAY_TEMPORAL_TASK_QUEUE="+s.host, "BELAY_TEMPORAL_HOST="+s.host,
		"BELAY_STATE="+filepath.Join(s.dir, "client"), "BELAY_CONFIG="+filepath.Join(s.dir, "settings.yaml"),
		"HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "GIT_CONFIG_NOSYSTEM=1")
	return s
}

// crew is a worker as a process.
type crew struct {
	t     *testing.T
	cmd   *exec.Cmd
	said  *heard
	ended chan struct{}
	err   error
}

// heard is what a process printed, for who looks while it prints.
type heard struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.String()
}

// worker starts a worker; more are variables of its environment.
func (s *site) worker(args []string, more ...string) *crew {
	s.t.Helper()
	w := &crew{t: s.t, said: &heard{}, ended: make(chan struct{})}
	w.cmd = exec.Command("belay-temporal", append([]string{"--state", filepath.Join(s.dir, "host"), "worker"}, args...)...)
	w.cmd.Env, w.cmd.Stderr, w.cmd.Dir = append(s.env[:len(s.env):len(s.env)], more...), w.said, s.dir
	if err := w.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { // it ends with the process
		defer close(w.ended)
		w.err = w.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		w.signal(syscall.SIGKILL) // the test has its answer by now
		<-w.ended
		if s.t.Failed() {
			s.t.Logf("worker: %s", w.said)
		}
	})
	return w
}

// signal signals a worker; one that has ended takes none.
func (w *crew) signal(sig syscall.Signal) {
	if err := w.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.t.Fatal(err)
	}
}

// leaves waits for the end of a worker that was told to end.
func (w *crew) leaves(within time.Duration) {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(within):
		w.t.Fatalf("the worker did not end within %s: %s", within, w.said)
	}
	if w.err != nil {
		w.t.Errorf("the worker ended with %v", w.err)
	}
}

// working tells whether a worker has not ended.
func (w *crew) working() bool {
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// do runs the program as a client, and gives its exit code and what it printed.
func (s *site) do(more []string, args ...string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // after the test, too
	defer cancel()
	cmd := exec.CommandContext(ctx, "belay-temporal", args...)
	cmd.Dir, cmd.Env = s.dir, append(s.env[:len(s.env):len(s.env)], more...)
	out, err := cmd.CombinedOutput()
	var bad *exec.ExitError
	if err != nil && !errors.As(err, &bad) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// begin runs the program as a client in the background; end waits for it, and gives
// its exit code and what it printed.
func (s *site) begin(args ...string) (end func() (int, string)) {
	s.t.Helper()
	cmd, said := exec.Command("belay-temporal", args...), &heard{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, said, said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // it ends with the process
		defer close(ended)
		_ = cmd.Wait() // its code says it
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, or nobody waits for it any more
		<-ended
	})
	return func() (int, string) {
		select {
		case <-ended:
			return cmd.ProcessState.ExitCode(), said.String()
		case <-time.After(2 * time.Minute):
			return -1, "it never ended: " + said.String()
		}
	}
}

// must is do for what has to end in 0.
func (s *site) must(args ...string) string {
	s.t.Helper()
	code, out := s.do(nil, args...)
	if code != 0 {
		s.t.Fatalf("belay-temporal %s: %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// comes waits until something is so.
func (s *site) comes(what string, is func() bool) time.Duration {
	s.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > 90*time.Second {
			s.t.Fatalf("%s: it never came to that", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

func (s *site) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

func (s *site) touch(name string) { put(s.t, filepath.Join(s.dir, name), "") }

// lines is how many lines a file has.
func (s *site) lines(name string) int {
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

// records are those of a run, as a client that looks has them.
func (s *site) records(id string) []event.Record {
	s.t.Helper()
	s.must("show", id)
	state, err := journal.OpenState(filepath.Join(s.dir, "client"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = state.Close() }() // only read
	view, err := state.View(belay.RunID(id))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = view.Close() }() // only read
	recs, err := view.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	return recs
}

// found are the ways in which open attempts were found.
func found(recs []event.Record) (how []string) {
	for _, r := range recs {
		if e, ok := r.Event.(event.AttemptFound); ok {
			how = append(how, string(e.How))
		}
	}
	return how
}
