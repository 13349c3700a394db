package rehearse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// maxCopy bounds the copy of a directory that is no repository.
const maxCopy = 200 << 20

// TooBig is a directory that is not copied.
type TooBig struct{ Dir string }

func (e *TooBig) Error() string {
	return fmt.Sprintf("%s holds more than %d MB and is no git repository", e.Dir, maxCopy>>20)
}

// Copy makes a copy of a directory to work in, and says where in it the
// directory is. Of a git repository that is a clone with the same branch, the
// uncommitted and the untracked files, and no remote: nothing leads back. The
// folder that the copy is in is no part of it.
func Copy(ctx context.Context, from, to string) (string, error) {
	from, to = clean(from), clean(filepath.Dir(to))+"/"+filepath.Base(to)
	top, err := git(ctx, from, "rev-parse", "--show-toplevel")
	if err != nil {
		return to, copyPlain(ctx, from, to)
	}
	top = clean(strings.TrimSuffix(top, "\n"))
	if err := clone(ctx, top, to); err != nil {
		return "", fmt.Errorf("copy %s: %w", top, err)
	}
	below, err := filepath.Rel(top, from)
	if err != nil {
		return "", fmt.Errorf("copy %s: %w", from, err)
	}
	dir := filepath.Join(to, below)
	return dir, os.MkdirAll(dir, 0o755) // a folder without files is in no commit
}

// Template makes a repository of its own with one commit, of a folder without what is
// around it; "" stands for an empty one. CopyTemplate makes the copies to work in: they
// are cheap, and there are hundreds in a matrix.
func Template(ctx context.Context, from, to string) error {
	if from != "" {
		if err := copyPlain(ctx, clean(from), to); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "--template=", to}, {"-C", to, "add", "-A"},
		{"-C", to, "-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost", "commit", "-q", "--allow-empty", "-m", "before the rehearsal"},
	} {
		if _, err := git(ctx, filepath.Dir(to), args...); err != nil {
			return err
		}
	}
	return nil
}

// CopyTemplate copies what Template made.
func CopyTemplate(ctx context.Context, from, to string) error { return copyPlain(ctx, from, to) }

// clean is the path without links in it, as far as it exists.
func clean(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// git asks git about a directory, whatever repository the environment names.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}

// clone copies a repository with what is not committed in it.
func clone(ctx context.Context, top, to string) error {
	if _, err := git(ctx, top, "rev-parse", "--verify", "-q", "HEAD"); err != nil {
		if _, err := git(ctx, filepath.Dir(to), "init", "-q", to); err != nil { // no commit yet
			return err
		}
	} else {
		if _, err := git(ctx, top, "clone", "-q", "--no-tags", "--", top, to); err != nil {
			return err
		}
		if _, err := git(ctx, to, "remote", "remove", "origin"); err != nil {
			return err
		}
	}
	for _, key := range []string{"user.name", "user.email"} { // the repository's own; others are everywhere
		value, err := git(ctx, top, "config", "--local", key)
		if err != nil {
			continue // it has none
		}
		if _, err := git(ctx, to, "config", key, strings.TrimSuffix(value, "\n")); err != nil {
			return err
		}
	}
	return overlay(ctx, top, to)
}

// overlay brings what differs from the last commit.
func overlay(ctx context.Context, top, to string) error {
	changed, err := git(ctx, top, "ls-files", "-z", "--modified", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	staged, err := git(ctx, top, "diff", "--cached", "--name-only", "-z")
	if err != nil {
		return err
	}
	for _, name := range strings.Split(changed+staged, "\x00") {
		if name == "" {
			continue
		}
		src, dst := filepath.Join(top, name), filepath.Join(to, name)
		if strings.HasPrefix(src, filepath.Dir(to)+"/") {
			continue // the copy itself
		}
		info, err := os.Lstat(src)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.RemoveAll(dst)
		case err == nil && info.IsDir():
			continue // a repository in the repository
		case err == nil:
			if err = os.MkdirAll(filepath.Dir(dst), 0o755); err == nil {
				err = copyOne(src, dst, info)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyPlain copies a directory as it is, up to a size.
func copyPlain(ctx context.Context, from, to string) error {
	var size int64
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != from {
			return nil // it went away meanwhile
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if d.IsDir() && path == filepath.Dir(to) {
			return filepath.SkipDir // the copy itself
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, below)
		if d.IsDir() {
			return os.MkdirAll(dst, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > maxCopy {
			return &TooBig{from}
		}
		return copyOne(path, dst, info)
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}

// copyOne copies a file or a link; sockets and the like are left out.
func copyOne(src, dst string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(src)
		if err != nil {
			return err
		}
		_ = os.Remove(dst) // one may be there from the last commit
		return os.Symlink(to, dst)
	case info.Mode().IsRegular():
		b, err := os.ReadFile(src)
		if err != nil {
			return err
		}
		_ = os.Remove(dst) // as above; it may be a link
		return os.WriteFile(dst, b, info.Mode().Perm())
	}
	return nil
}
