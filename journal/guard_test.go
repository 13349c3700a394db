package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/exit"
)

// promise: X8
func TestUntrustedState(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"open dir":        func(d string) error { return os.Chmod(d, 0o750) },
		"world dir":       func(d string) error { return os.Chmod(d, 0o701) },
		"open runs":       func(d string) error { return os.Chmod(filepath.Join(d, "runs"), 0o755) },
		"open index":      func(d string) error { return os.Chmod(filepath.Join(d, "index.db"), 0o640) },
		"open sock":       func(d string) error { return os.Chmod(filepath.Join(d, "sock"), 0o710) },
		"linked dir":      func(d string) error { return moveAndLink(d) },
		"linked runs":     func(d string) error { return moveAndLink(filepath.Join(d, "runs")) },
		"linked index":    func(d string) error { return moveAndLink(filepath.Join(d, "index.db")) },
		"runs is a file":  func(d string) error { return replace(filepath.Join(d, "runs")) },
		"index is a dir":  func(d string) error { return replaceByDir(filepath.Join(d, "index.db")) },
		"dangling link":   func(d string) error { return replaceByLink(filepath.Join(d, "runs"), "nowhere") },
		"state is a file": func(d string) error { return replace(d) },
	} {
		dir := usedState(t)
		must(t, spoil(dir))
		wantRefused(t, name, dir)
	}
	wantRefused(t, "no name", "")
}

func TestForeignState(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("giving a directory to another user needs root")
	}
	for _, what := range []string{"", "runs", "index.db"} {
		dir := usedState(t)
		must(t, os.Lchown(filepath.Join(dir, what), 65534, 65534))
		wantRefused(t, "foreign "+what, dir)
	}
}

func TestForeignRun(t *testing.T) {
	t.Parallel()
	s := newState(t)
	id, f := closed(t, s, 1)
	must(t, os.Chmod(f.Journal(), 0o644))
	var refusal *Refused
	if _, err := s.Open(id); !errors.As(err, &refusal) {
		t.Errorf("a journal that others can read: %v", err)
	}
	must(t, os.Chmod(f.Journal(), 0o600))
	must(t, moveAndLink(string(f)))
	if _, err := s.Open(id); !errors.As(err, &refusal) {
		t.Errorf("a linked folder: %v", err)
	}
	if _, err := s.View(id); !errors.As(err, &refusal) {
		t.Errorf("a view of a linked folder: %v", err)
	}
}

// Nobody's permissions are changed behind his back.
func TestNothingIsMended(t *testing.T) {
	t.Parallel()
	dir := usedState(t)
	must(t, os.Chmod(dir, 0o755))
	wantRefused(t, "open dir", dir)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode is now %v, %v", info.Mode(), err)
	}
}

func usedState(t *testing.T) string {
	t.Helper()
	s, err := OpenState(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	must(t, s.NoteRun(Summary{ID: "a"}))
	must(t, s.Close())
	return s.Dir()
}

func wantRefused(t *testing.T, name, dir string) {
	t.Helper()
	_, err := OpenState(dir)
	var refusal *Refused
	var coded *exit.Error
	if !errors.As(err, &refusal) || !errors.As(err, &coded) || coded.Code != exit.Infra || coded.Hint == "" {
		t.Errorf("%s: %v", name, err)
	}
}

func moveAndLink(path string) error {
	if err := os.Rename(path, path+".real"); err != nil {
		return err
	}
	return os.Symlink(path+".real", path)
}

func replace(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o600)
}

func replaceByDir(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o700)
}

func replaceByLink(path, to string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(to, path)
}
