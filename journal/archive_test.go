package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/archive"
)

var noLimit = archive.Limits{Files: archive.MaxFiles, Bytes: archive.MaxBytes}

func as(id belay.RunID) func(*View) (archive.Manifest, error) {
	return func(*View) (archive.Manifest, error) { return archive.Manifest{Run: id}, nil }
}

func sound(*View) error { return nil }

// A run that somebody drives, whose keeper lives, that has a worktree or something
// that no archive can hold stays where it is, untouched.
func TestRetireRefuses(t *testing.T) {
	t.Parallel()
	s := newState(t)
	driven := newRun(t, s, 3)
	_, err := s.Retire(driven.ID, as(driven.ID))
	var used *InUse
	if !errors.As(err, &used) {
		t.Errorf("a run that is driven: %v", err)
	}
	must(t, driven.Close())
	for name, arrange := range map[string]func(Folder){
		"worktree": func(f Folder) { must(t, os.MkdirAll(f.in("trees/one"), 0o700)) },
		"link":     func(f Folder) { must(t, os.Symlink("/etc/passwd", f.in("logs/link"))) },
	} {
		id, f := closed(t, s, 3)
		arrange(f)
		if _, err := s.Retire(id, as(id)); !errors.As(err, &used) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := viewLoad(f); err != nil || exists(s.archivePath(archiveName, id)) {
			t.Errorf("%s: the run was touched: %v", name, err)
		}
	}
	id, f := closed(t, s, 3)
	no := errors.New("it went on")
	if _, err := s.Retire(id, func(*View) (archive.Manifest, error) { return archive.Manifest{}, no }); !errors.Is(err, no) || !exists(f.Journal()) {
		t.Errorf("who decides said no: %v", err)
	}
	if _, err := s.Retire("nobody", as("nobody")); err == nil {
		t.Error("a run that is not there was retired")
	}
}

// What is retired is found, has the same records, and is not made a second time.
func TestRetire(t *testing.T) {
	t.Parallel()
	s := newState(t)
	id, f := closed(t, s, 5)
	want, err := viewLoad(f)
	must(t, err)
	must(t, os.MkdirAll(f.in("logs/x.agent/home"), 0o700))
	must(t, os.WriteFile(f.in("logs/x.agent/home/.netrc"), []byte("password"), 0o600))
	must(t, os.WriteFile(f.in("logs/one.log"), []byte("text"), 0o600))
	_, err = s.Retire(id, as(id))
	must(t, err)
	if exists(string(f)) {
		t.Error("the folder is still there")
	}
	lies, err := s.FindArchived(string(id[:3]))
	must(t, err)
	v, err := s.Look(lies, true)
	must(t, err)
	got, err := v.Load()
	if err != nil || numbers(got) != numbers(want) {
		t.Errorf("records %s, want %s (%v)", numbers(got), numbers(want), err)
	}
	if !exists(v.in("logs/one.log")) || exists(v.in("logs/x.agent/home")) {
		t.Error("the log is not there, or the home of an agent is")
	}
	dir := string(v.Folder)
	must(t, v.Close())
	if exists(dir) {
		t.Error("what was unpacked is still there")
	}
	if _, err := s.Create(id); !errors.Is(err, ErrExists) {
		t.Errorf("another run with its id: %v", err)
	}
}

// The database of a stranger is not believed: what reads it would run its views
// and triggers.
func TestImportOfAStrangersDatabase(t *testing.T) {
	t.Parallel()
	s := newState(t)
	id, f := closed(t, s, 3)
	pack := func(name belay.RunID, change string) []byte {
		t.Helper()
		copied := copyDir(t, f)
		c, err := sqlite3.Open(copied.Journal())
		must(t, err)
		must(t, c.Exec(change+"; PRAGMA journal_mode=DELETE"))
		must(t, c.Close())
		info, err := os.Stat(copied.Journal())
		must(t, err)
		var b bytes.Buffer
		_, err = archive.Write(&b, archive.Manifest{Run: name}, []archive.File{{Name: journalName, Path: copied.Journal(), Size: info.Size()}})
		must(t, err)
		return b.Bytes()
	}
	other := newState(t)
	for name, text := range map[string][]byte{
		"view": pack(id, `ALTER TABLE records RENAME TO r; CREATE VIEW records AS
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS seq, 1 AS epoch, 1 AS at, '' AS run, '' AS kind, x'' AS body, x'' AS hash FROM n`),
		"trigger":      pack(id, "CREATE TRIGGER t AFTER INSERT ON records BEGIN SELECT 1; END"),
		"more tables":  pack(id, "CREATE TABLE more (x)"),
		"changed":      pack(id, "UPDATE records SET body = x'7b7d' WHERE seq = 2"),
		"a record off": pack(id, "DELETE FROM records WHERE seq = 1"),
		"no records":   pack(id, "DELETE FROM records"),
		"another run":  pack("another", "SELECT 1"),
		"no id":        pack("../x", "SELECT 1"),
	} {
		var bad *Foreign
		if _, _, err := other.Import(bytes.NewReader(text), noLimit, sound); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(other.dir, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	good := pack(id, "SELECT 1")
	for _, known := range []bool{false, true} {
		if _, was, err := other.Import(bytes.NewReader(good), noLimit, sound); err != nil || was != known {
			t.Errorf("known %v: %v, %v", known, was, err)
		}
	}
	if _, _, err := s.Import(bytes.NewReader(good), noLimit, sound); err == nil {
		t.Error("a run that is here was imported")
	}
}
