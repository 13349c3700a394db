package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/proc"
)

// State is a state directory.
type State struct {
	dir  string
	disk disk
	self proc.Identity
	dead func(proc.Identity) bool // proof, not absence of news

	still error // why nothing can be written, for who only looks; nil = it can

	mu    sync.Mutex // owns index
	index *sqlite3.Conn
}

// OpenState opens a state directory and makes it where there is none. It
// refuses a directory that it cannot trust, and mends nothing that it did not
// make itself.
func OpenState(dir string) (*State, error) {
	if dir == "" {
		return nil, refused("open state", "the state directory", "has no name", "set BELAY_STATE or HOME", nil)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, refused("open state", dir, "has no absolute path", "name an absolute directory", err)
	}
	if err := local(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return nil, refused("open state", dir, "cannot be made", "check the permissions above it", err)
	}
	if err := makeDirs(dir, runsName, sockName); err != nil {
		return nil, err
	}
	hide(dir)
	self, err := proc.Self()
	if err != nil {
		return nil, exit.New(exit.Infra, "open state", err, "check that process information can be read")
	}
	s := &State{dir: dir, self: self, dead: proven}
	if exists(s.indexPath()) {
		if err := private(s.indexPath(), false); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// hide has git leave a state directory alone. In a repository it would be a part of its
// uncommitted work, and change with every record.
func hide(dir string) {
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil { // it is there, or nothing can be written
		return
	}
	_, _ = f.WriteString("*\n") // without it nothing is lost
	_ = f.Close()               // so too here
}

// Proven tells whether a process is known to be dead: that there is no news of it
// proves nothing.
func (s *State) Proven(id proc.Identity) bool { return s.dead(id) }

// Dir is the state directory.
func (s *State) Dir() string { return s.dir }

// Folder is the folder of the root run of id.
func (s *State) Folder(id belay.RunID) Folder {
	return Folder(filepath.Join(s.dir, runsName, string(id.Root())))
}

// Socket is the path at which the keeper of id's root run listens.
func (s *State) Socket(id belay.RunID) string {
	return filepath.Join(s.dir, sockName, string(id.Root()))
}

func (s *State) indexPath() string { return s.in(indexName) }

func (s *State) in(name string) string { return filepath.Join(s.dir, name) }

// Close closes the index, if it was used.
func (s *State) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil {
		return nil
	}
	if s.still != nil {
		err := s.index.Close()
		s.index = nil
		return err
	}
	if unlock, err := lockDir(s.dir); err == nil { // else it is closed without tidying in turn
		defer unlock()
	}
	err := s.index.Close() // the last one to close it leaves one file
	s.index = nil
	if err != nil {
		return unwritten("close index", s.indexPath(), err)
	}
	return nil
}

// Create makes the folder of a new run and takes its lock. An empty id is
// drawn; a given one that exists is ErrExists, unless it never began.
func (s *State) Create(id belay.RunID) (*Run, error) {
	if id != "" && !validID(string(id)) {
		return nil, exit.New(exit.Usage, "create run", fmt.Errorf("%q cannot be the id of a run", id),
			"use 1 to 40 of a-z, 0-9, - and _, with a letter or digit first")
	}
	unlock, err := s.lockRuns()
	if err != nil {
		return nil, err
	}
	id, l, err := s.claim(id)
	unlock()
	if err != nil {
		return nil, err
	}
	r, err := s.furnish(id, l)
	if err != nil {
		// Nothing was ever written in it, and nobody else had its lock.
		_ = s.Folder(id).remove() // the error that matters is err
		_ = l.release()           // so too here
		return nil, err
	}
	return r, nil
}

// claim makes the run's folder and takes its lock.
func (s *State) claim(id belay.RunID) (belay.RunID, *lock, error) {
	name, err := s.makeFolder(id)
	if err != nil {
		return "", nil, err
	}
	failpoint.Hit("create.folder")
	l, err := takeLock(name, s.Folder(name).in(lockName), s.self)
	failpoint.Hit("create.lock")
	if err != nil {
		_ = s.Folder(name).remove() // made just now; the error that matters is err
		return "", nil, err
	}
	return name, l, nil
}

// makeFolder makes the run's folder; only one process can.
func (s *State) makeFolder(id belay.RunID) (belay.RunID, error) {
	for try := range 40 {
		name := id
		if name == "" {
			name = draw(5 + try/10) // crowded: longer ones
		}
		if s.hasArchive(name) { // two runs with one id could not be told apart
			if id != "" {
				return "", exit.New(exit.Usage, "create run "+string(id), ErrExists, "it is in the archive: choose another id")
			}
			continue
		}
		err := os.Mkdir(string(s.Folder(name)), dirMode)
		switch {
		case err == nil:
			return name, nil
		case !errors.Is(err, fs.ErrExist):
			return "", unwritten("create run", string(s.Folder(name)), err)
		case id != "" && s.vacate(id) != nil:
			return "", taken(id)
		}
	}
	return "", refused("create run", filepath.Join(s.dir, runsName), "has no free id left", "remove old runs", nil)
}

// furnish fills a claimed folder. Where it cannot, the lock is still held.
func (s *State) furnish(id belay.RunID, l *lock) (*Run, error) {
	f := s.Folder(id)
	for _, name := range []string{inName, logsName, blobsName} {
		if err := os.Mkdir(f.in(name), dirMode); err != nil {
			return nil, unwritten("create run", f.in(name), err)
		}
	}
	failpoint.Hit("create.rooms")
	r, err := openRun(id, f, l, s.self, s.disk)
	if err != nil {
		return nil, err
	}
	failpoint.Hit("create.journal")
	if err := r.begin(); err != nil {
		return nil, first(err, r.closeFiles())
	}
	if err := s.disk.syncDir(filepath.Dir(string(f))); err != nil {
		return nil, first(err, r.closeFiles())
	}
	return r, nil
}

// Open takes the lock of a run for driving it; Load must follow.
func (s *State) Open(id belay.RunID) (*Run, error) {
	f, err := s.find(id)
	if err != nil {
		return nil, err
	}
	l, err := takeLock(id.Root(), f.in(lockName), s.self)
	if err != nil {
		return nil, err
	}
	r, err := openRun(id.Root(), f, l, s.self, s.disk)
	if err != nil {
		return nil, first(err, l.release())
	}
	return r, nil
}

// View opens a run for reading, without its lock.
func (s *State) View(id belay.RunID) (*View, error) {
	f, err := s.find(id)
	if err != nil {
		return nil, err
	}
	return openView(f, s.disk)
}

// find is the folder of a run that exists and can be trusted. A journal that is
// missing never was, or is lost: the index knows which runs came to rest.
func (s *State) find(id belay.RunID) (Folder, error) {
	f, err := s.folderOf(id)
	var never *Unbegun
	if errors.As(err, &never) {
		if rested, bad := s.rested(id.Root()); bad == nil && rested {
			return "", damaged(f.Journal(), 0, "it is missing", nil)
		}
	}
	return f, err
}

// folderOf is find without the index, which may be in the making.
func (s *State) folderOf(id belay.RunID) (Folder, error) {
	f := s.Folder(id)
	if !validID(string(id.Root())) || !exists(string(f)) {
		return "", unknown(string(id))
	}
	if err := private(string(f), true); err != nil {
		return "", err
	}
	if !exists(f.Journal()) {
		if !s.Begun(id) {
			return f, NeverBegan(id.Root())
		}
		return "", damaged(f.Journal(), 0, "it is missing", nil)
	}
	return f, private(f.Journal(), false)
}

func unknown(id string) error {
	return exit.New(exit.Usage, "find run", &Unknown{ID: id}, "list the runs with belay runs")
}

// Resolve finds the run that a prefix names. The id of a child run is found by
// its root.
func (s *State) Resolve(prefix string) (belay.RunID, error) {
	root, rest, child := strings.Cut(prefix, "/")
	if child {
		rest = "/" + rest
	}
	if whole := belay.RunID(root); validID(root) && isDir(string(s.Folder(whole))) {
		return whole + belay.RunID(rest), nil // nobody needs the list: it may be long
	}
	ids, err := s.ids()
	if err != nil {
		return "", err
	}
	var fit []belay.RunID
	for _, id := range ids {
		if root != "" && strings.HasPrefix(string(id), root) {
			fit = append(fit, id)
		}
	}
	switch len(fit) {
	case 0:
		return "", unknown(prefix)
	case 1:
		return fit[0] + belay.RunID(rest), nil
	}
	return "", exit.New(exit.Usage, "find run", &Ambiguous{Prefix: root, IDs: fit}, "give more of its id")
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// ids are the root runs that have a folder, in order.
func (s *State) ids() ([]belay.RunID, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, runsName))
	if err != nil {
		return nil, refused("list runs", filepath.Join(s.dir, runsName), "cannot be read", "check its permissions", err)
	}
	var ids []belay.RunID
	for _, e := range entries {
		if e.IsDir() && validID(e.Name()) {
			ids = append(ids, belay.RunID(e.Name()))
		}
	}
	return ids, nil
}

// letters are those that nobody takes for another one.
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

// Draw is an id for a run that is to be named before it is made. It is longer than others:
// nobody looked whether it is free.
func Draw() belay.RunID { return draw(8) }

func draw(n int) belay.RunID {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return belay.RunID(b)
}

func validID(id string) bool {
	if len(id) == 0 || len(id) > 40 || id[0] == '-' || id[0] == '_' {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
