package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A copy into which somebody wrote each time is not read: it may be torn.
//
// promise: X
func TestCopyThatIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to, tries := filepath.Join(dir, "from"), filepath.Join(dir, "to"), 0
	must(t, os.WriteFile(from, []byte("a"), 0o600))
	written := func(last int) func(to, path string) error {
		tries = 0
		return func(to, path string) error {
			if tries++; tries > last {
				return copyBoth(to, path)
			}
			return errors.Join(copyBoth(to, path), os.WriteFile(path+"-wal", make([]byte, tries), 0o600))
		}
	}
	if err := copyInPeace(to, from, written(copyTries)); !errors.Is(err, errWritten) || tries != copyTries {
		t.Errorf("written each time: %v after %d", err, tries)
	}
	if err := copyInPeace(to, from, written(2)); err != nil || fileSize(to+"-wal") != 2 {
		t.Errorf("written twice: %v, %d bytes", err, fileSize(to+"-wal"))
	}
}

// The log goes when the last who wrote leaves, also while it is copied: the
// database alone is all there is then.
//
// promise: X
func TestCopyWhoseLogGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for _, side := range []string{"", "-wal"} {
		must(t, os.WriteFile(from+side, []byte("a"), 0o600))
		must(t, os.WriteFile(to+side, []byte("b"), 0o600)) // of a copy before
	}
	err := copyInPeace(to, from, func(to, path string) error {
		if exists(path + "-wal") {
			must(t, os.Remove(path+"-wal"))
		}
		return copyBoth(to, path)
	})
	if err != nil || exists(to+"-wal") || fileSize(to) != 1 {
		t.Errorf("%v, a log is there: %v", err, exists(to+"-wal"))
	}
	must(t, os.Remove(from))
	if err := copyInPeace(to, from, copyBoth); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no database: %v", err)
	}
}
