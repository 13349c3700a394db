package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// spare is the room that a disk must have beside the files of a worktree.
const spare = 200 << 20

// CanIsolate tells whether a worktree below root can show the files of the tree
// that a folder belongs to as they are, and if not, why, in a plain sentence.
func CanIsolate(ctx context.Context, dir, root string) (ok bool, why string) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return false, "there is no git repository with files here"
	}
	for _, check := range []func(context.Context) (string, error){
		p.tooOld, p.noCommit, p.unfinished, p.sparse, p.repositoriesInside,
		func(ctx context.Context) (string, error) { return p.tooLittleRoom(ctx, root) },
	} {
		why, err := check(ctx)
		if err != nil {
			return false, "the repository cannot be looked at: " + err.Error()
		}
		if why != "" {
			return false, why
		}
	}
	return true, ""
}

// tooOld looks whether git can merge trees.
func (p place) tooOld(ctx context.Context) (string, error) {
	out, err := p.line(ctx, "version")
	if err != nil {
		return "", err
	}
	var major, minor int
	version := strings.TrimPrefix(out, "git version ")
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major > 2 || major == 2 && minor >= 38 {
		return "", nil //nolint:nilerr // a version that nobody can read may be a new one
	}
	return "git " + version + " is too old; it takes git 2.38 or newer", nil
}

func (p place) noCommit(ctx context.Context) (string, error) {
	_, err := p.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err == nil {
		return "", nil
	}
	return "the repository has no commit yet", ctx.Err()
}

func (p place) unfinished(context.Context) (string, error) {
	if what := p.midway(); what != "" {
		return what + " is not finished in the tree", nil
	}
	return "", nil
}

func (p place) sparse(ctx context.Context) (string, error) {
	if on, err := p.line(ctx, "config", "--bool", "core.sparseCheckout"); err == nil && on == "true" {
		return "the tree is a sparse checkout", nil
	}
	return "", ctx.Err()
}

// repositoriesInside looks for submodules, and for repositories that nobody
// tracks: a worktree would show empty folders in their place.
func (p place) repositoriesInside(ctx context.Context) (string, error) {
	out, err := p.run(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return "", err
	}
	for _, rec := range records(out) {
		if strings.HasPrefix(rec, "160000 ") {
			_, path, _ := strings.Cut(rec, "\t")
			return "the repository has submodules (" + shown(path) + ")", nil
		}
	}
	out, err = p.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", err
	}
	for _, path := range records(out) {
		if strings.HasSuffix(path, "/") { // git does not look into it
			return "another repository is inside the tree (" + shown(strings.TrimSuffix(path, "/")) + ")", nil
		}
	}
	return "", nil
}

// tooLittleRoom compares the size of the files with what is free.
func (p place) tooLittleRoom(ctx context.Context, root string) (string, error) {
	out, err := p.run(ctx, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", err
	}
	var need int64
	for _, path := range records(out) {
		if fi, err := os.Lstat(filepath.Join(p.top, path)); err == nil {
			need += fi.Size()
		}
	}
	for root != "/" && !exists(root) {
		root = filepath.Dir(root)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(root, &st); err != nil {
		return "", err
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:gosec,unconvert // no disk is that big; not the same type everywhere
	if need+spare > free {
		return fmt.Sprintf("the disk is too full: the files take %d MiB, and %d MiB are free", need>>20, free>>20), nil
	}
	return "", nil
}
