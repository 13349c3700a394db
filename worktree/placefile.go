package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errNoRepository is given for a folder that lies in no repository.
var errNoRepository = errors.New("not a git repository")

// readPlace is the work tree that a folder belongs to, by git's own files:
// a repository as git makes it, of this user. It is sure or says no, as readRef;
// errNoRepository is an answer too.
func readPlace(program, real string) (p place, sure bool, err error) {
	device, ok := deviceOf(real)
	if !ok || strings.Contains(real+"/", "/.git/") {
		return place{}, false, nil
	}
	for top := real; ; top = filepath.Dir(top) {
		there, ok := deviceOf(top)
		if ok && there != device { // git looks no further than one file system
			return place{}, true, errNoRepository
		}
		if !ok || looksBare(top) {
			return place{}, false, nil
		}
		info, err := os.Lstat(filepath.Join(top, ".git"))
		if err == nil {
			p, sure := placeAt(program, top, info)
			return p, sure, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return place{}, false, nil
		}
		if top == filepath.Dir(top) {
			return place{}, true, errNoRepository
		}
	}
}

// looksBare tells whether git might take a folder itself for a repository.
func looksBare(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects"))
}

// placeAt is the work tree of a folder with an entry .git.
func placeAt(program, top string, entry os.FileInfo) (place, bool) {
	own := filepath.Join(top, ".git")
	if !entry.IsDir() {
		b, err := os.ReadFile(own)
		to, named := strings.CutPrefix(strings.TrimRight(string(b), "\n\r"), "gitdir: ")
		if err != nil || !named || !entry.Mode().IsRegular() {
			return place{}, false
		}
		if own, err = realPath(joined(top, to)); err != nil {
			return place{}, false
		}
	}
	all, err := sharedBy(own)
	if err != nil {
		return place{}, false
	}
	p := place{git: git{program: program, dir: top}, top: top, own: own, all: all, zero: strings.Repeat("0", 40)}
	for _, name := range []string{top, filepath.Join(top, ".git"), own} {
		if !ours(name) { // git reads no repository of others unless it is told to
			return place{}, false
		}
	}
	return p, exists(filepath.Join(all, "objects")) && exists(filepath.Join(all, "refs")) && p.plainSettings() && headed(own)
}

// plainSettings tells whether the settings of the repository leave its files where
// they usually are, and its objects named as usual.
func (p place) plainSettings() bool {
	text := strings.ToLower(p.settings())
	for _, odd := range []string{"[extensions", "[include", "worktree"} {
		if strings.Contains(text, odd) {
			return false
		}
	}
	return strings.Contains(text, "repositoryformatversion = 0\n") &&
		strings.Count(text, "bare") == strings.Count(text, "bare = false\n")
}

// headed tells whether a git folder has the HEAD that makes it one.
func headed(own string) bool {
	file := filepath.Join(own, "HEAD")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	b, err := os.ReadFile(file)
	text := strings.TrimSpace(string(b))
	return err == nil && (isID(text) || strings.HasPrefix(text, "ref: refs/"))
}

// ours tells whether a file belongs to the user of this process.
func ours(name string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(name, &st) == nil && int(st.Uid) == os.Geteuid()
}

func deviceOf(dir string) (uint64, bool) {
	var st syscall.Stat_t
	err := syscall.Stat(dir, &st)
	return uint64(st.Dev), err == nil //nolint:unconvert // narrower on other systems
}
