package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest/leak"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/proc"
)

// childVar names the part that a second process of the test binary plays.
const childVar = "BELAY_JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	if part := os.Getenv(childVar); part != "" {
		if err := play(part, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(scratch.Use(func() int { return leak.None(m.Run) }))
}

// play is what a child process does.
func play(part string, args []string) error {
	s, err := OpenState(args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	switch part {
	case "hold":
		return playHold(s, belay.RunID(args[1]))
	case "write":
		return playWrite(s, belay.RunID(args[1]))
	case "grow":
		return playGrow(s)
	case "enter":
		return playEnter(s, args[1:])
	case "tell":
		return playTell(s, args[1:])
	}
	return fmt.Errorf("no part %q", part)
}

// child is a second process that says lines and lives until it is released.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	in    io.WriteCloser
}

func start(t *testing.T, part string, args ...string) *child {
	t.Helper()
	return startIn(t, exec.Command(os.Args[0], args...), part)
}

func startIn(t *testing.T, cmd *exec.Cmd, part string) *child {
	t.Helper()
	cmd.Env = append(os.Environ(), childVar+"="+part)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{t: t, cmd: cmd, lines: bufio.NewScanner(out), in: in}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill() // it may have ended by itself
			_ = cmd.Wait()         // killed on purpose
		}
	})
	return c
}

// line is the next thing that the child says.
func (c *child) line() string {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("the child said nothing more: %v", c.lines.Err())
	}
	return c.lines.Text()
}

// release lets the child go on to its end.
func (c *child) release() {
	c.t.Helper()
	must(c.t, c.in.Close())
	must(c.t, c.cmd.Wait())
}

func (c *child) kill() {
	c.t.Helper()
	must(c.t, c.cmd.Process.Kill())
	_ = c.cmd.Wait() // says that it was killed
}

// waitForRelease blocks a child until its parent lets it go.
func waitForRelease() { _, _ = io.Copy(io.Discard, os.Stdin) } // an error is a release too

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newState(t testing.TB) *State {
	t.Helper()
	s, err := OpenState(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// newRun is a run with n records, still held.
func newRun(t testing.TB, s *State, n int) *Run {
	t.Helper()
	r, err := s.Create("")
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	fillRun(t, r, n)
	return r
}

func fillRun(t testing.TB, r *Run, n int) {
	t.Helper()
	for i := range n {
		_, err := r.Append([]event.Record{nth(r.ID, i)})
		must(t, err)
	}
	r.Beat(Sign{Phase: "test", Done: int64(n)})
}

// nth is some record.
func nth(id belay.RunID, i int) event.Record {
	return event.Record{Run: id, Event: event.StepSkipped{Path: belay.Path(fmt.Sprintf("step%d", i)), By: "me", Why: "because"}}
}

// closed is the folder of a run with n records that nobody holds.
func closed(t testing.TB, s *State, n int) (belay.RunID, Folder) {
	t.Helper()
	r, err := s.Create("")
	must(t, err)
	fillRun(t, r, n)
	must(t, r.Close())
	return r.ID, r.Folder
}

// deadline is a context that ends before the test binary would.
func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func copyDir(t testing.TB, from Folder) Folder {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(to, os.DirFS(string(from))))
	return Folder(to)
}

func numbers(recs []event.Record) string {
	var b strings.Builder
	for _, r := range recs {
		fmt.Fprintf(&b, "%d ", r.Seq)
	}
	return strings.TrimSpace(b.String())
}

var errStopped = errors.New("stopped by the test")

func cancelled(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(ctx)
}

func self(t testing.TB) proc.Identity {
	t.Helper()
	id, err := proc.Self()
	must(t, err)
	return id
}
