package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// copier copies files and folders of one tree into another that has none there,
// with their modes and times, until a limit.
type copier struct {
	from, to string
	left     int64 // bytes
	files    int
	out      []string // what was left out, and why
	skip     []string // folders that are not copied
}

// entry copies a file, or a folder with all that is in it. One that is too big
// is left out as a whole: half of a folder is worth less than none.
func (c *copier) entry(ctx context.Context, path string) error {
	src := filepath.Join(c.from, path)
	if exists(filepath.Join(c.to, path)) || behindLink(c.from, path) || behindLink(c.to, path) {
		return nil
	}
	size, files, err := extent(ctx, src, c.left, maxCopied-c.files)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errOutput):
		c.leave(path, "it is bigger than the limit")
		return nil
	case err != nil:
		c.leave(path, "it cannot be read")
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.to, path)), 0o777); err != nil { // as the user's umask says
		return err
	}
	c.left -= size
	c.files += files
	return c.copyAll(ctx, src, filepath.Join(c.to, path))
}

// leave names something that was left out.
func (c *copier) leave(path, why string) {
	if len(c.out) < maxLeft {
		c.out = append(c.out, shown(path)+": "+why)
	}
}

// extent counts the bytes and files below a path. It ends with errOutput when
// there are more than that.
func extent(ctx context.Context, path string, bytes int64, most int) (size int64, files int, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone since
		}
		if files++; info.Mode().IsRegular() {
			size += info.Size()
		}
		if size > bytes || files > most {
			return errOutput
		}
		return nil
	})
	return size, files, err
}

// copyAll copies what is below a path. Folders get their mode and time when all
// is in them. A file that vanished meanwhile is none.
func (c *copier) copyAll(ctx context.Context, src, dst string) error {
	type folder struct {
		path string
		info fs.FileInfo
	}
	var folders []folder
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, _ := filepath.Rel(src, path) // it is below src
		to := filepath.Join(dst, rel)
		if err != nil {
			if d != nil && d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone since
		}
		switch {
		case d.IsDir() && slices.Contains(c.skip, path):
			return filepath.SkipDir
		case d.IsDir():
			folders = append(folders, folder{to, info})
			return os.MkdirAll(to, 0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			return c.link(path, to)
		case !info.Mode().IsRegular():
			return nil // a pipe or a socket
		}
		return copyFile(path, to, info)
	})
	for i := len(folders) - 1; i >= 0; i-- {
		f := folders[i]
		err = errors.Join(err, os.Chmod(f.path, f.info.Mode().Perm()), os.Chtimes(f.path, time.Time{}, f.info.ModTime()))
	}
	return err
}

// link copies a symbolic link. One that leads out of the tree by a relative path
// would lead elsewhere from the copy: it gets the absolute one.
func (c *copier) link(src, dst string) error {
	to, err := os.Readlink(src)
	if err != nil {
		return nil //nolint:nilerr // gone since
	}
	if !filepath.IsAbs(to) {
		if full := filepath.Join(filepath.Dir(src), to); !below(c.from, full) {
			to = full
		}
	}
	return os.Symlink(to, dst)
}

// errOtherDisk is what a rename between two disks gives.
const errOtherDisk = syscall.EXDEV

// copyFile copies a regular file, sharing its blocks where the file system can.
func copyFile(src, dst string, info fs.FileInfo) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return nil //nolint:nilerr // gone since, or not readable: then the step cannot have needed it
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if clone(out, in) != nil {
		_, err = io.Copy(out, in)
	}
	err = errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close())
	if err != nil {
		return fmt.Errorf("copy %s: %w", strings.ToValidUTF8(filepath.Base(src), "?"), err)
	}
	return os.Chtimes(dst, time.Time{}, info.ModTime())
}
