package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/ondisk"
)

// private refuses a path that another user may own, read or have put there.
func private(path string, dir bool) error {
	info, err := os.Lstat(path)
	if err != nil {
		return refused("check state", path, "cannot be looked at", "check its permissions", err)
	}
	if why, hint := objection(path, info, dir, os.Geteuid()); why != "" {
		return refused("check state", path, why, hint, nil)
	}
	return nil
}

// objection says what speaks against a file or directory, and the cure.
func objection(path string, info fs.FileInfo, dir bool, uid int) (why, hint string) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a symbolic link", "name the real directory, or remove the link"
	case dir && !info.IsDir():
		return "is not a directory", "move it away or name another state directory"
	case !dir && !info.Mode().IsRegular():
		return "is not a regular file", "move it away"
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != uid {
		return "belongs to another user", "name a state directory of your own (BELAY_STATE)"
	}
	if info.Mode().Perm()&0o077 != 0 {
		mode := "600 "
		if dir {
			mode = "700 "
		}
		return "can be accessed by other users", "run chmod " + mode + path
	}
	return "", ""
}

// local refuses network file systems, on which locks and syncs are not what
// they are on a local one.
func local(path string) error {
	for !exists(path) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
	}
	name, err := networkFS(path)
	if err != nil {
		return refused("check state", path, "cannot be asked for its file system", "check its permissions", err)
	}
	if name != "" {
		return refused("check state", path, "lies on a network file system ("+name+")",
			"name a state directory on a local disk (BELAY_STATE)", nil)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func writable(path string) error {
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return refused("check state", path, "is not writable", "check its permissions and the mount", err)
	}
	return nil
}

// makeDirs makes a private directory with others in it, where they are not there,
// and refuses those that cannot be trusted or written.
func makeDirs(dir string, in ...string) error {
	outer, err := makeDir(dir)
	inner := false
	for _, name := range in {
		if err == nil {
			var made bool
			made, err = makeDir(filepath.Join(dir, name))
			inner = inner || made
		}
	}
	if err == nil && inner {
		err = syncDir(dir)
	}
	if err == nil && outer {
		err = syncDir(filepath.Dir(dir))
	}
	return err
}

func makeDir(path string) (made bool, err error) {
	err = os.Mkdir(path, dirMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = private(path, true)
	case err != nil:
		return false, refused("make state", path, "cannot be made", "check the permissions of "+filepath.Dir(path), err)
	default:
		made = true
	}
	return made, first(err, writable(path))
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	if err := ondisk.Names(path); err != nil {
		return unwritten("sync directory", path, err)
	}
	return nil
}
