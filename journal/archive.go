package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/archive"
	"github.com/belay-run/belay/internal/failpoint"
)

// Runs that lie in one file each: those that were taken out of the way here, and
// those that came from elsewhere.
const (
	archiveName  = "archive"
	importedName = "imported"
)

// Archived is a run in one file. It can only be looked at.
type Archived struct {
	archive.Manifest
	Path     string
	Imported bool // it came from elsewhere
	Size     int64
}

// ReadOnly says that a run lies in an archive and can only be looked at.
type ReadOnly struct {
	Run      belay.RunID
	Imported bool
}

func (e *ReadOnly) Error() string {
	if e.Imported {
		return fmt.Sprintf("run %s was imported: it can only be looked at here", e.Run)
	}
	return fmt.Sprintf("run %s is in the archive: it can only be looked at", e.Run)
}

func (s *State) archivePath(folder string, id belay.RunID) string {
	return filepath.Join(s.dir, folder, string(id)+archive.Ext)
}

// Archived lists the runs that lie in archives, the newest first. Of each file it
// reads only the beginning; one that cannot be read is named by its error.
func (s *State) Archived() (list []Archived, bad []error, err error) {
	for _, folder := range []string{archiveName, importedName} {
		entries, err := os.ReadDir(s.in(folder))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, refused("list archives", s.in(folder), "cannot be read", "check its permissions", err)
		}
		for _, e := range entries {
			id, ok := strings.CutSuffix(e.Name(), archive.Ext)
			if !ok || !validID(id) {
				continue
			}
			a, err := s.archived(folder, belay.RunID(id))
			if err != nil {
				bad = append(bad, err)
				continue
			}
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b Archived) int { return b.Started.Compare(a.Started) })
	return list, bad, nil
}

func (s *State) archived(folder string, id belay.RunID) (Archived, error) {
	path := s.archivePath(folder, id)
	f, err := openArchive(path)
	if err != nil {
		return Archived{}, err
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	m, err := archive.ReadManifest(f)
	if err == nil && m.Run != id {
		err = &archive.Refused{Why: fmt.Sprintf("it holds run %q", m.Run)}
	}
	if err != nil {
		return Archived{}, damaged(path, 0, err.Error(), nil)
	}
	return Archived{Manifest: m, Path: path, Imported: folder == importedName, Size: sizeOf(f)}, nil
}

func openArchive(path string) (*os.File, error) {
	if err := private(path, false); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, refused("open archive", path, "cannot be read", "check its permissions", err)
	}
	return f, nil
}

// FindArchived finds the archive of the run that a prefix names. The id of a
// child run is found by its root.
func (s *State) FindArchived(prefix string) (Archived, error) {
	root, _, _ := strings.Cut(prefix, "/")
	for _, folder := range []string{archiveName, importedName} {
		if validID(root) && exists(s.archivePath(folder, belay.RunID(root))) {
			return s.archived(folder, belay.RunID(root)) // nobody needs the list: it may be long
		}
	}
	var fit []belay.RunID
	where := map[belay.RunID]string{}
	for _, folder := range []string{archiveName, importedName} {
		entries, err := os.ReadDir(s.in(folder))
		if err != nil {
			continue // there are none
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), archive.Ext)
			id := belay.RunID(name)
			if !ok || !validID(name) || root == "" || !strings.HasPrefix(name, root) || where[id] != "" {
				continue
			}
			where[id] = folder
			fit = append(fit, id)
		}
	}
	switch len(fit) {
	case 0:
		return Archived{}, unknown(prefix)
	case 1:
		return s.archived(where[fit[0]], fit[0])
	}
	return Archived{}, exit.New(exit.Usage, "find run", &Ambiguous{Prefix: root, IDs: fit}, "give more of its id")
}

// hasArchive tells whether an id is that of a run in an archive.
func (s *State) hasArchive(id belay.RunID) bool {
	return exists(s.archivePath(archiveName, id)) || exists(s.archivePath(importedName, id))
}

// Look opens a run that lies in an archive: its files are unpacked for as long as
// the view is open, without its logs unless they are wanted.
func (s *State) Look(a Archived, logs bool) (*View, error) {
	room, err := s.newRoom()
	if err != nil {
		return nil, err
	}
	v, err := s.unpack(a.Path, room, archive.Limits{Files: a.Files, Bytes: a.Bytes}, func(name string) bool {
		return logs || !strings.HasPrefix(name, logsName+"/")
	})
	if err != nil {
		return nil, first(err, room.remove())
	}
	return v, nil
}

// unpack puts an archive into a folder, and opens what is in it.
func (s *State) unpack(path string, room *sideRoom, most archive.Limits, want func(string) bool) (*View, error) {
	f, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	_, err = archive.Extract(f, room.dir, most, want)
	var bad *archive.Refused
	switch {
	case errors.As(err, &bad):
		return nil, damaged(path, 0, bad.Why, nil)
	case err != nil:
		return nil, unwritten("unpack "+path, room.dir, err)
	}
	v, err := openView(Folder(room.dir), disk{})
	if err != nil {
		return nil, err
	}
	v.room = room
	return v, nil
}

// packing is what goes into the archive of a run.
type packing struct {
	files []archive.File
	odd   []string  // what is no file and no folder: it cannot be packed
	room  *sideRoom // holds the copies of what somebody may be writing
}

// pack collects the files of a run. The beat is taken first: it may lag behind the
// records, and is never ahead of them.
func (s *State) pack(v *View) (p packing, err error) {
	if p.room, err = s.newRoom(); err != nil {
		return p, err
	}
	defer func() {
		if err != nil {
			err = first(err, p.room.remove())
		}
	}()
	copies := map[string]string{}
	if exists(v.in(beatName)) {
		copies[beatName] = p.room.in(beatName)
		if err := copyFile(p.room.in(beatName), v.in(beatName)); err != nil {
			return p, unwritten("pack run", p.room.in(beatName), err)
		}
	}
	copies[journalName] = p.room.in(journalName)
	if err := v.copyTo(p.room.in(journalName)); err != nil {
		return p, err
	}
	if err := p.collect(string(v.Folder), copies); err != nil {
		return p, refused("pack run", string(v.Folder), "cannot be read", "check its permissions", err)
	}
	return p, nil
}

// copyTo writes the journal, as it is at one moment, into a file of its own.
func (v *View) copyTo(path string) error {
	err := v.conn.Exec("VACUUM INTO " + sqlite3.Quote(path))
	if err == nil {
		err = os.Chmod(path, fileMode)
	}
	if err != nil {
		return unwritten("copy journal", path, err)
	}
	return nil
}

func (p *packing) collect(dir string, copies map[string]string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case name == ".":
			return nil
		case d.IsDir() && archive.Left(name):
			return fs.SkipDir
		case d.IsDir() || !archive.Kept(name):
			return nil
		case !d.Type().IsRegular():
			p.odd = append(p.odd, name)
			return nil
		}
		if copied := copies[name]; copied != "" {
			path = copied
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		p.files = append(p.files, archive.File{Name: name, Path: path, Size: info.Size(), Time: info.ModTime()})
		return nil
	})
}

// Export writes a run into one file, as it is now. It changes nothing.
func (s *State) Export(w io.Writer, v *View, m archive.Manifest) (_ archive.Manifest, err error) {
	p, err := s.pack(v)
	if err != nil {
		return m, err
	}
	defer func() { err = first(err, p.room.remove()) }()
	if m, err = archive.Write(w, m, p.files); err != nil {
		return m, unwritten("export run", string(v.Folder), err)
	}
	return m, nil
}

// InUse says why a run cannot be taken out of the way.
type InUse struct{ Why string }

func (e *InUse) Error() string { return e.Why }

// Retire puts a run into the archive and removes its folder, once the archive is
// proven to hold it. Who calls it decides from the records, with the run in hand,
// whether it may go and what the archive says of it. Killed at any moment it can
// be done again.
func (s *State) Retire(id belay.RunID, decide func(*View) (archive.Manifest, error)) (size int64, err error) {
	err = s.inHand(id, func(f Folder) error {
		if size, err = s.putAway(id, f, decide); err != nil {
			size = 0
			return err
		}
		failpoint.Hit("retire.archived")
		if err := f.remove(); err != nil {
			return unwritten("remove run", string(f), err)
		}
		failpoint.Hit("retire.removed")
		return s.forget(id)
	})
	return size, err
}

// Remove removes a run and all that was written about it. Who calls it decides from the
// records, with the run in hand, whether it may go. While something of it is left in
// repositories, the list keeps that there was such a run, so that gc knows whose it is.
func (s *State) Remove(id belay.RunID, leaves bool, decide func(*View) error) error {
	return s.inHand(id, func(f Folder) error {
		v, err := openView(f, s.disk)
		if err != nil {
			return err
		}
		if err := first(decide(v), v.Close()); err != nil {
			return err
		}
		if err := f.remove(); err != nil {
			return unwritten("remove run", string(f), err)
		}
		if leaves {
			return s.Seen(id)
		}
		return s.forget(id)
	})
}

// inHand does something with a run that nobody drives or keeps, and that has no worktree.
func (s *State) inHand(id belay.RunID, do func(Folder) error) (err error) {
	f, err := s.find(id)
	if err != nil {
		return err
	}
	l, err := takeLock(id, f.in(lockName), s.self)
	var busy *Busy
	switch {
	case errors.As(err, &busy):
		return &InUse{busy.Error()}
	case err != nil && !exists(string(f)):
		return unknown(string(id)) // another one was faster
	case err != nil:
		return err
	}
	defer func() { err = first(err, l.release()) }()
	switch {
	case !free(f.KeeperLock()):
		return &InUse{"its keeper lives"}
	case !emptyDir(f.in("trees")):
		return &InUse{"it has worktrees"}
	}
	return do(f)
}

// putAway writes the archive of a run and proves it.
func (s *State) putAway(id belay.RunID, f Folder, decide func(*View) (archive.Manifest, error)) (size int64, err error) {
	v, err := openView(f, s.disk)
	if err != nil {
		return 0, err
	}
	defer func() { err = first(err, v.Close()) }()
	m, err := decide(v)
	if err != nil {
		return 0, err
	}
	p, err := s.pack(v)
	if err != nil {
		return 0, err
	}
	defer func() { err = first(err, p.room.remove()) }()
	if len(p.odd) > 0 {
		return 0, &InUse{fmt.Sprintf("%s in it is no file that belay made", p.odd[0])}
	}
	if err := makeDirs(s.dir, archiveName); err != nil {
		return 0, err
	}
	part := p.room.in("archive")
	if err := writeFile(part, func(w io.Writer) error {
		_, err := archive.Write(w, m, p.files)
		return err
	}); err != nil {
		return 0, unwritten("archive run", part, err)
	}
	failpoint.Hit("retire.written")
	if err := s.proveArchive(part, p.files, v); err != nil {
		return 0, err
	}
	if err := os.Rename(part, s.archivePath(archiveName, id)); err != nil {
		return 0, unwritten("archive run", s.archivePath(archiveName, id), err)
	}
	return fileSize(s.archivePath(archiveName, id)), s.disk.syncDir(s.in(archiveName))
}

// proveArchive reads an archive back: every file is in it as it is, and the copy
// of the journal has the same records, to the last one.
func (s *State) proveArchive(path string, files []archive.File, v *View) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return unwritten("archive run", path, err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	if err := archive.Same(f, files); err != nil {
		return exit.New(exit.Infra, "archive run", err, "check the disk; nothing was removed")
	}
	copied, err := openView(Folder(filepath.Dir(path)), disk{})
	if err != nil {
		return err
	}
	defer func() { err = first(err, copied.Close()) }()
	have, err := copied.reader().whole(copied.Folder, unheard)
	if err != nil {
		return err
	}
	want, err := v.reader().whole(v.Folder, unheard)
	if err == nil && have != want {
		err = exit.New(exit.Infra, "archive run", errors.New("the copy of the journal is not the journal"), "check the disk; nothing was removed")
	}
	return err
}

// unheard wants to know only whether records can be read.
func unheard([]event.Record) {}

// forget takes a run out of the list of runs, and out of that of sessions: it lies in the archive, or is gone.
func (s *State) forget(id belay.RunID) error {
	if err := os.Remove(s.Socket(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritten("forget run", s.Socket(id), err)
	}
	return s.change("forget run", func(c *sqlite3.Conn) error {
		return errors.Join(run(c, "DELETE FROM runs WHERE id = ?", id), run(c, "DELETE FROM watched WHERE run = ?", id),
			run(c, "DELETE FROM sessions WHERE run = ?", id))
	})
}

// Forget finishes the retirement of a run whose folder is gone and whose archive
// is there; it does nothing for any other.
func (s *State) Forget(id belay.RunID) error {
	if exists(string(s.Folder(id))) || !exists(s.archivePath(archiveName, id)) {
		return nil
	}
	return s.forget(id)
}

// emptyDir tells whether there is nothing in a folder, or no folder.
func emptyDir(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0 || errors.Is(err, fs.ErrNotExist)
}

// writeFile makes a private file that is durable when it returns.
func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
