package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/failpoint"
)

// goneMark begins the name of a folder that is being removed. No run can have
// such a name.
const goneMark = ".gone-"

// remove takes the folder of a run away. It loses its name first, in one step:
// one that was removed in part would look like a damaged run.
func (f Folder) remove() error {
	to := filepath.Join(filepath.Dir(string(f)), goneMark+filepath.Base(string(f))+"-"+string(draw(8)))
	failpoint.Hit("remove.before_move")
	if err := os.Rename(string(f), to); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	failpoint.Hit("remove.after_move")
	return removeMoved(to)
}

// removeMoved removes a folder that has lost its name. The journal goes first,
// so that a death in between is a test of what reads half a folder.
func removeMoved(dir string) error {
	if err := os.Remove(Folder(dir).Journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	failpoint.Hit("remove.half")
	return os.RemoveAll(dir)
}

// Remains are the folders of runs that somebody began to remove and did not
// finish, by the run.
func (s *State) Remains() (map[string]belay.RunID, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, runsName))
	if err != nil {
		return nil, refused("list runs", filepath.Join(s.dir, runsName), "cannot be read", "check its permissions", err)
	}
	left := map[string]belay.RunID{}
	for _, e := range entries {
		name, gone := strings.CutPrefix(e.Name(), goneMark)
		if i := strings.LastIndexByte(name, '-'); gone && i > 0 && e.IsDir() {
			left[filepath.Join(s.dir, runsName, e.Name())] = belay.RunID(name[:i])
		}
	}
	return left, nil
}

// Finish removes the rest of such a folder.
func (s *State) Finish(dir string) error {
	if filepath.Dir(dir) != filepath.Join(s.dir, runsName) || !strings.HasPrefix(filepath.Base(dir), goneMark) {
		return refused("remove the rest of a run", dir, "is no such folder", "", nil)
	}
	if err := removeMoved(dir); err != nil {
		return unwritten("remove the rest of a run", dir, err)
	}
	return nil
}
