package supervise

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/belay-run/belay/agent"
)

// lay puts settings beneath those of the user for one start, and gives the
// variable that names them; none where somebody else's file would not be read
// any more for it, or where the CLI would not believe ours.
func lay(d *agent.Defaults, env []string) ([]string, error) {
	if d == nil || taken(d, env) {
		return nil, nil
	}
	if err := put(d.File, d.Text); err != nil {
		return nil, err
	}
	if d.Root && !roots(d.File) {
		return nil, nil
	}
	return []string{d.Env + "=" + d.File}, nil
}

// taken tells whether somebody has a file of their own in this place.
func taken(d *agent.Defaults, env []string) bool {
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && (name == d.Env || slices.Contains(d.Yields, name)) {
			return true
		}
	}
	_, err := os.Stat(d.System)
	return !errors.Is(err, fs.ErrNotExist) // one that cannot be looked at may be there
}

// roots tells whether nobody but root can have written a file, or put another
// one in its place.
func roots(file string) bool {
	straight, err := filepath.EvalSymlinks(file)
	if err != nil || straight != file {
		return false
	}
	for p := file; ; p = filepath.Dir(p) {
		info, err := os.Lstat(p)
		if err != nil {
			return false
		}
		owner, ok := info.Sys().(*syscall.Stat_t)
		if !ok || owner.Uid != 0 || info.Mode().Perm()&0o022 != 0 {
			return false
		}
		if p == filepath.Dir(p) {
			return true
		}
	}
}

// put writes a file of a start, for its owner only.
func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replace(path, []byte(text))
}
