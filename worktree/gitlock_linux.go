package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	maxPids   = 2000 // processes that are looked at
	maxFiles  = 1024 // open files of one process
	maxLocks  = 32
	maxGitRef = 4 << 10 // bytes of a .git file
)

// LockOf is the lock of git that is in the way of work in a directory, with the process
// that is at work; "" = there is none. That it is dead is said only when nobody who could
// have made it is left: somebody may remove it then.
func LockOf(dir string) (path string, pid int, dead bool) {
	tree, gitDir := repository(dir)
	if gitDir == "" {
		return "", 0, false
	}
	locks, pid, dead := locksOf(tree, gitDir)
	if len(locks) == 0 {
		return "", 0, false
	}
	return locks[0].path, pid, dead
}

func locksOf(tree, gitDir string) (locks []lockFile, pid int, dead bool) {
	if locks = gitLocks(gitDir); len(locks) == 0 {
		return nil, 0, false
	}
	pid, sure := holder(locks, []string{tree, gitDir})
	locks = still(locks) // one may go while we look
	return locks, pid, sure && pid == 0 && len(locks) > 0
}

// unlock removes the locks of a worktree that a git left which is dead.
func (p place) unlock() error {
	locks, _, dead := locksOf(p.top, p.own)
	if !dead {
		return nil
	}
	var err error
	for _, l := range locks {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}

// repository is the working tree around a directory and its git directory,
// without symbolic links; none = "". A worktree and a submodule have a file
// that names theirs.
func repository(dir string) (tree, gitDir string) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", ""
	}
	for ; ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		if st, err := os.Stat(at); err == nil {
			if !st.IsDir() {
				at = pointed(dir, at)
			}
			if at, err = filepath.EvalSymlinks(at); err != nil {
				return "", ""
			}
			return dir, at
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// pointed is the directory that a .git file names.
func pointed(dir, file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, maxGitRef)
	n, _ := f.Read(b) // what cannot be read names nothing
	path, ok := strings.CutPrefix(strings.TrimSpace(string(b[:n])), "gitdir: ")
	switch {
	case !ok:
		return ""
	case filepath.IsAbs(path):
		return path
	}
	return filepath.Join(dir, path)
}

// lockFile is a lock as it was found.
type lockFile struct {
	path string
	info fs.FileInfo
}

// gitLocks are the locks directly in a git directory. Belay's own is a file
// that always stays.
func gitLocks(gitDir string) []lockFile {
	names, err := os.ReadDir(gitDir)
	if err != nil {
		return nil
	}
	var locks []lockFile
	for _, d := range names {
		if filepath.Ext(d.Name()) != ".lock" || d.Name() == LockName || len(locks) == maxLocks {
			continue
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			locks = append(locks, lockFile{filepath.Join(gitDir, d.Name()), info})
		}
	}
	return locks
}

// still are the locks that are there as they were.
func still(locks []lockFile) []lockFile {
	var left []lockFile
	for _, l := range locks {
		if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.info) {
			left = append(left, l)
		}
	}
	return left
}

// holder is a living process that has one of the locks open, or a git that
// works in one of the places: git closes a lock while a person edits, and keeps
// it. 0 = there is none, and sure says whether everybody who could have made
// the locks was seen.
func holder(locks []lockFile, places []string) (pid int, sure bool) {
	pids, all := processes()
	sure = all && visible(locks)
	for _, pid := range pids {
		at := filepath.Join("/proc", strconv.Itoa(pid))
		git := isGit(at)
		cwd, err := os.Readlink(filepath.Join(at, "cwd"))
		switch {
		case git && err == nil && within(cwd, places), hasOpen(filepath.Join(at, "fd"), locks):
			return pid, true
		case git && errors.Is(err, fs.ErrPermission):
			sure = false
		}
	}
	return 0, sure
}

// processes are the living ones, and whether these are all.
func processes() ([]int, bool) {
	f, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		pid, bad := strconv.Atoi(name)
		switch {
		case bad != nil:
			continue
		case len(pids) == maxPids:
			return pids, false
		}
		pids = append(pids, pid)
	}
	return pids, err == nil && len(pids) > 0
}

// visible tells whether who made the locks cannot hide from us: it was this user,
// or we are root.
func visible(locks []lockFile) bool {
	me := os.Geteuid()
	for _, l := range locks {
		st, ok := l.info.Sys().(*syscall.Stat_t)
		if me != 0 && (!ok || int(st.Uid) != me) {
			return false
		}
	}
	return true
}

func isGit(at string) bool {
	name, err := os.ReadFile(filepath.Join(at, "comm"))
	comm := strings.TrimSpace(string(name))
	return err == nil && (comm == "git" || strings.HasPrefix(comm, "git-"))
}

func within(path string, places []string) bool {
	for _, place := range places {
		if path == place || strings.HasPrefix(path, strings.TrimSuffix(place, "/")+"/") {
			return true
		}
	}
	return false
}

// hasOpen tells whether one of the locks is among the open files of a process.
// The name is looked at first: to ask for any other file could hang.
func hasOpen(fds string, locks []lockFile) bool {
	f, err := os.Open(fds)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxFiles) // one that has just ended has none open
	for _, name := range names {
		link := filepath.Join(fds, name)
		path, err := os.Readlink(link)
		if err != nil {
			continue
		}
		for _, l := range locks {
			if filepath.Base(path) != filepath.Base(l.path) {
				continue
			}
			if info, err := os.Stat(link); err == nil && os.SameFile(info, l.info) {
				return true
			}
		}
	}
	return false
}
