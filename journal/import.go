package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/archive"
)

// Import takes an archive of a run from elsewhere. It believes nothing of it: the
// file is unpacked within limits, its journal must have the form of one and prove
// itself, and check must find nothing wrong with the run. What is refused leaves
// nothing. known is true for one that is here already, byte for byte.
func (s *State) Import(r io.Reader, most archive.Limits, check func(*View) error) (a Archived, known bool, err error) {
	room, err := s.newRoom()
	if err != nil {
		return a, false, err
	}
	defer func() { err = first(err, room.remove()) }()
	// The unpacked files have a folder of their own in it.
	inner := &sideRoom{dir: room.in("files")}
	if err := os.Mkdir(inner.dir, dirMode); err != nil {
		return a, false, unwritten("import run", inner.dir, err)
	}
	part := room.in("archive")
	if err := takeIn(part, r, most); err != nil {
		return a, false, err
	}
	if a, err = s.proveForeign(part, inner, most, check); err != nil {
		return a, false, err
	}
	if s.hasRun(a) {
		return a, false, exit.New(exit.Invalid, "import run", fmt.Errorf("there is a run %s here already", a.Run),
			"import it into a state directory of its own: belay --state DIR import FILE")
	}
	if err := makeDirs(s.dir, importedName); err != nil {
		return a, false, err
	}
	a.Path, a.Imported = s.archivePath(importedName, a.Run), true
	err = os.Link(part, a.Path)
	switch {
	case errors.Is(err, os.ErrExist):
		if same, err := sameFiles(part, a.Path); err != nil || same {
			return a, same, err
		}
		return a, false, exit.New(exit.Invalid, "import run", fmt.Errorf("another archive of run %s was imported before", a.Run),
			"remove "+a.Path+", or import it into a state directory of its own: belay --state DIR import FILE")
	case err != nil:
		return a, false, unwritten("import run", a.Path, err)
	}
	return a, false, s.disk.syncDir(s.in(importedName))
}

func (s *State) hasRun(a Archived) bool {
	return exists(string(s.Folder(a.Run))) || exists(s.archivePath(archiveName, a.Run))
}

// takeIn copies what is given, up to the limit.
func takeIn(path string, r io.Reader, most archive.Limits) error {
	var bad error
	err := writeFile(path, func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(r, most.Bytes+1))
		if err == nil && n > most.Bytes {
			bad = foreign(&archive.Refused{Big: true, Why: fmt.Sprintf("it is bigger than %d bytes", most.Bytes)})
		}
		return err
	})
	if bad != nil {
		return bad
	}
	if err != nil {
		return unwritten("import run", path, err)
	}
	return nil
}

// proveForeign unpacks an archive of a stranger and proves what is in it.
func (s *State) proveForeign(path string, room *sideRoom, most archive.Limits, check func(*View) error) (a Archived, err error) {
	f, err := os.Open(path)
	if err != nil {
		return a, unwritten("import run", path, err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	a.Size = sizeOf(f)
	a.Manifest, err = archive.Extract(f, room.dir, most, nil)
	var bad *archive.Refused
	switch {
	case errors.As(err, &bad):
		return a, foreign(err)
	case err != nil:
		return a, unwritten("import run", room.dir, err)
	case !validID(string(a.Run)):
		return a, foreign(fmt.Errorf("%.60q cannot be the id of a run", a.Run))
	}
	v, err := openView(Folder(room.dir), disk{})
	if err != nil {
		return a, foreign(err)
	}
	defer func() { err = first(err, v.Close()) }()
	if err := v.plain(); err != nil {
		return a, foreign(fmt.Errorf("its journal cannot be read: %w", err))
	}
	recs, err := v.Load()
	switch {
	case err != nil:
		return a, foreign(err)
	case len(recs) == 0 || recs[0].Run != a.Run:
		return a, foreign(fmt.Errorf("its journal is not that of run %s", a.Run))
	}
	if err := check(v); err != nil {
		return a, foreign(err)
	}
	return a, nil
}

// plain refuses a database that has anything but the one table of a journal: a
// view or a trigger of a stranger would be run by whoever reads it.
func (v *View) plain() error {
	if err := v.conn.Exec("PRAGMA trusted_schema=OFF"); err != nil {
		return err
	}
	fresh, err := sqlite3.Open(":memory:")
	if err != nil {
		return err
	}
	err = migrate(fresh, 0, recordSteps)
	want, errWant := schemaOf(fresh)
	if err := errors.Join(err, errWant, fresh.Close()); err != nil {
		return err
	}
	have, err := schemaOf(v.conn)
	if err == nil && have != want {
		err = errors.New("it has another form than one of belay")
	}
	return err
}

func schemaOf(c *sqlite3.Conn) (text string, err error) {
	err = each(c, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name", nil, func(q *sqlite3.Stmt) {
		text += q.ColumnText(0) + " " + q.ColumnText(1) + " " + q.ColumnText(2) + " " + q.ColumnText(3) + "\n"
	})
	return text, err
}

// foreign is the refusal of a file that somebody gave: it is bad input, and not
// damage of a run of this state directory.
func foreign(err error) error {
	hint := "nothing was kept of it; ask for the file again, made with belay export"
	var why *archive.Refused
	if errors.As(err, &why) && why.Big {
		hint = "nothing was kept of it; if you trust it, --max-size takes more"
	}
	return exit.New(exit.Invalid, "import run", &Foreign{err}, hint)
}

// Foreign says why an archive from elsewhere was not taken.
type Foreign struct{ Err error }

func (e *Foreign) Error() string { return e.Err.Error() }

func sameFiles(a, b string) (bool, error) {
	have, err := digestOf(a)
	if err != nil {
		return false, err
	}
	there, err := digestOf(b)
	return have == there, err
}

func digestOf(path string) (d digest, err error) {
	f, err := openArchive(path)
	if err != nil {
		return d, err
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return d, refused("import run", path, "cannot be read", "check the disk", err)
	}
	copy(d[:], h.Sum(nil))
	return d, nil
}
