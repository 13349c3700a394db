//go:build linux

package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

// A machine that stands still is no silence of the agent: it goes on as if
// nothing had been.
//
// promise: F2
func TestStandstillIsNoSilence(t *testing.T) {
	t.Parallel()
	patiently(t, time.Second, func(window time.Duration) error {
		more := window * 2 / 5 // it is looked at some times more
		r := newRig(t).script(fmt.Sprintf("- say: I begin\n- run: touch ../up; until [ -e ../go ]; do sleep 0.01; done; sleep %.2f\n- answer: done\n", more.Seconds()))
		r.order.Windows.Tool, r.order.Windows.Silence, r.order.Windows.Timeout = window, window, 2*window
		var out, talk bytes.Buffer
		cmd := r.start(&out, &talk)
		root := filepath.Dir(r.order.Dir)
		until(t, "it is up, or late", func() bool { return there(filepath.Join(root, "up")) || there(r.order.Report) })
		stopAll(t, cmd)
		<-time.After(3 * window) // what is looked at is that it passes
		d, err := goOn(r, cmd, &out, &talk)
		if err != nil || d.Ended != effect.EndedItself || d.Resumes != 0 {
			return fmt.Errorf("ended %q, resumes %d, notes %v: %w", d.Ended, d.Resumes, d.Notes, err)
		}
		return nil
	})
}

// goOn lets a stopped attendant and its agent go on, to a good end.
func goOn(r *rig, cmd *exec.Cmd, out, talk *bytes.Buffer) (done, error) {
	r.t.Helper()
	if err := errors.Join(cmd.Process.Signal(syscall.SIGCONT), put(filepath.Join(filepath.Dir(r.order.Dir), "go"), "")); err != nil {
		r.t.Fatal(err)
	}
	d := r.wait(cmd, out, talk)
	if d.code != 0 || d.out != "done" {
		return d, fmt.Errorf("exit %d, said %q", d.code, d.out)
	}
	return d, nil
}

// Who left before the clock was looked at, late, ended by itself.
func TestLeftBeforeALateLook(t *testing.T) {
	t.Parallel()
	patiently(t, 2*time.Second, func(window time.Duration) error {
		r := newRig(t).script("- run: touch ../up; until [ -e ../go ]; do sleep 0.01; done\n- run: touch ../left\n- answer: done\n")
		r.order.Windows.Timeout = window
		var out, talk bytes.Buffer
		cmd := r.start(&out, &talk)
		root := filepath.Dir(r.order.Dir)
		until(t, "it is up, or late", func() bool { return there(filepath.Join(root, "up")) || there(r.order.Report) })
		stopAll(t, cmd)
		if err := put(filepath.Join(root, "go"), ""); err != nil {
			t.Fatal(err)
		}
		until(t, "it left, or was late", func() bool { return there(filepath.Join(root, "left")) || there(r.order.Report) })
		<-time.After(window) // what is looked at is that it passes
		d, err := goOn(r, cmd, &out, &talk)
		if err != nil || d.Ended != effect.EndedItself {
			return fmt.Errorf("ended %q, notes %v: %w", d.Ended, d.Notes, err)
		}
		return nil
	})
}

// What a standstill took is taken off every window, and no more than it took.
func TestStood(t *testing.T) {
	t.Parallel()
	began := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	v := newWatch(Windows{}, agent.Traits{Streams: true}, false, 0, began)
	v.sign(began, *kind(agent.SignStart))
	v.stood(began.Add(9*mnt), 8*mnt)
	if got := v.tick(began.Add(9 * mnt)); got.kind != actNone {
		t.Errorf("after a standstill: %+v", got)
	}
	if got := v.tick(began.Add(18 * mnt)); got.kind != actKill && got.note != effect.NoteQuiet {
		t.Errorf("nine minutes of silence and one before: %+v", got)
	}
	if got := v.tick(began.Add(18*mnt + sec)); got.why != effect.EndedSilence {
		t.Errorf("silence: %+v", got)
	}
	v.sign(began.Add(20*mnt), *kind(agent.SignStart))
	v.stood(began.Add(20*mnt), mnt)
	if v.last.After(began.Add(20 * mnt)) {
		t.Errorf("the last sign is of the future: %s", v.last)
	}
	late := began.Add(6*time.Hour + 9*mnt) // both were taken off
	if got := v.tick(late.Add(-sec)); got.why == effect.EndedDeadline {
		t.Errorf("its time is over: %+v", got)
	}
	if got := v.tick(late); got.why != effect.EndedDeadline {
		t.Errorf("its time goes on: %+v", got)
	}
}

// slow is a reader that takes nothing until it is let go.
type slow struct {
	got bytes.Buffer
	let chan struct{}
}

func (s *slow) Write(b []byte) (int, error) {
	<-s.let
	return s.got.Write(b)
}

// The last words are heard also when what came before them could not be passed
// on for a while: a slow disk costs time, and no answer.
//
// promise: H3
func TestSlowReaderCostsNoWords(t *testing.T) {
	t.Parallel()
	// Line by line: 64 to 96 KiB find room behind the attendant, the rest before it.
	r := newRig(t).command(`line=$(printf %0999d 7); for i in {1..118}; do echo $line; done; echo last words; touch ../left`)
	var out bytes.Buffer
	talk := &slow{let: make(chan struct{})}
	cmd := r.start(&out, talk)
	until(t, "it left", func() bool { return there(filepath.Join(filepath.Dir(r.order.Dir), "left")) })
	<-time.After(2 * drainFor) // what is looked at is that it passes
	close(talk.let)
	d := r.wait(cmd, &out, &bytes.Buffer{})
	if d.code != 0 || d.out != "last words" || !strings.HasSuffix(talk.got.String(), "\nlast words\n") {
		t.Fatalf("exit %d, said %q, passed on %d bytes", d.code, d.out, talk.got.Len())
	}
}
