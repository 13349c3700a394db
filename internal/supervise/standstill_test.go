//go:build linux

package supervise

import (
	"bytes"
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
	r := newRig(t).script("- say: I begin\n- run: touch ../up; until [ -e ../go ]; do sleep 0.01; done\n- answer: done\n")
	r.order.Windows.Tool, r.order.Windows.Silence, r.order.Windows.Timeout = 2*time.Second, 2*time.Second, 3*time.Second
	var out, talk bytes.Buffer
	cmd := r.start(&out, &talk)
	root := filepath.Dir(r.order.Dir)
	until(t, "it is up", func() bool { return there(filepath.Join(root, "up")) })
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * r.order.Windows.Timeout) // what is looked at is that it passes
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := put(filepath.Join(root, "go"), ""); err != nil {
		t.Fatal(err)
	}
	d := r.wait(cmd, &out, &talk)
	if d.code != 0 || d.out != "done" || d.Ended != effect.EndedItself || d.Resumes != 0 {
		t.Fatalf("exit %d, said %q, ended %q, resumes %d, notes %v", d.code, d.out, d.Ended, d.Resumes, d.Notes)
	}
}

// Who left before the clock was looked at, late, ended by itself.
func TestLeftBeforeALateLook(t *testing.T) {
	t.Parallel()
	r := newRig(t).script("- run: touch ../up; until [ -e ../go ]; do sleep 0.01; done\n- run: touch ../left\n- answer: done\n")
	r.order.Windows.Timeout = 4 * time.Second
	var out, talk bytes.Buffer
	cmd := r.start(&out, &talk)
	root := filepath.Dir(r.order.Dir)
	until(t, "it is up", func() bool { return there(filepath.Join(root, "up")) })
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := put(filepath.Join(root, "go"), ""); err != nil {
		t.Fatal(err)
	}
	until(t, "it left", func() bool { return there(filepath.Join(root, "left")) })
	<-time.After(r.order.Windows.Timeout) // what is looked at is that it passes
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d := r.wait(cmd, &out, &talk)
	if d.code != 0 || d.out != "done" || d.Ended != effect.EndedItself {
		t.Fatalf("exit %d, said %q, ended %q, notes %v", d.code, d.out, d.Ended, d.Notes)
	}
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
