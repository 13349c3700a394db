package journal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A driver that is killed while it forks leaves its lock to the child, until that comes to
// its exec. Who resumes in that moment waits for it, and is not told that a dead process
// drives the run.
func TestLockOfADeadDriver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), lockName)
	dead := exec.Command("sleep", "1000")
	must(t, dead.Start())
	id := self(t)
	id.Pid = dead.Process.Pid
	must(t, dead.Process.Kill())
	_ = dead.Wait() // it was killed

	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	must(t, err)
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	writeHolder(f, id)
	heir := exec.Command("sleep", "0.2")
	heir.ExtraFiles = []*os.File{f}
	must(t, heir.Start())
	must(t, f.Close())
	l, err := takeLock("x", path, self(t))
	must(t, err)
	must(t, heir.Wait())

	var busy *Busy
	if _, err := takeLock("x", path, self(t)); !errors.As(err, &busy) || busy.Holder != self(t) {
		t.Errorf("the lock of a living driver: %v", err)
	}
	must(t, l.release())
}
