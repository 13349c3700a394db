package proc

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/belay-run/belay/fault"
)

// A child that was forked and cannot be watched does not run on unheld, and is
// not said never to have begun.
// promise: K5
func TestUnwatchedChildIsEnded(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	files := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setpgid: true}}
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "trap '' TERM; sleep 300; sleep 300"}, attr)
	if err != nil {
		t.Fatal(err)
	}
	_, err = hold(pid, func(int) (child, error) { return child{}, syscall.EMFILE })
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("%v", err)
	}
	if p, err := look(pid); !errors.Is(err, ErrGone) {
		t.Errorf("it is there: %+v %v", p, err)
	}
	bad, err := faultOf(err, "/no/such/folder")
	e := (&attempt{}).unborn(bad, err)
	if e.Fault != fault.Spawn || !e.Began || e.Code != noCode || e.Detail == "" {
		t.Errorf("%+v", e)
	}
}
