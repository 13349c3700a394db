package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
		p.tooOld, p.noCommit, p.unfinished, p.sparse,
		func(ctx context.Context) (string, error) { return p.unlikeFiles(ctx, root) },
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

// versions is what programs said that they are: a run asks before each step.
var versions sync.Map

// tooOld looks whether git can merge trees.
func (p place) tooOld(ctx context.Context) (string, error) {
	program, err := exec.LookPath(cmp.Or(p.program, "git"))
	if err != nil {
		return "", err
	}
	out, known := versions.Load(program)
	if !known {
		if out, err = p.line(ctx, "version"); err != nil {
			return "", err
		}
		versions.Store(program, out)
	}
	var major, minor int
	version := strings.TrimPrefix(fmt.Sprint(out), "git version ")
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major > 2 || major == 2 && minor >= 38 {
		return "", nil //nolint:nilerr // a version that nobody can read may be a new one
	}
	return "git " + version + " is too old; it takes git 2.38 or newer", nil
}

func (p place) noCommit(ctx context.Context) (string, error) {
	if head, _, sure := p.readHead(p.own); sure && head != p.zero {
		if _, ok := p.looseTree(head); ok {
			return "", nil
		}
	}
	if _, err := p.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
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
	if !exists(filepath.Join(p.own, "info", "sparse-checkout")) { // without the list nothing is left out
		return "", nil
	}
	if on, err := p.line(ctx, "config", "--bool", "core.sparseCheckout"); err == nil && on == "true" {
		return "the tree is a sparse checkout", nil
	}
	return "", ctx.Err()
}

// unlikeFiles looks for what a worktree cannot show: submodules and repositories that
// nobody tracks would be empty folders, and files need room.
func (p place) unlikeFiles(ctx context.Context, root string) (string, error) {
	why, need, err := p.sized(ctx)
	if why != "" || err != nil {
		return why, err
	}
	return tooLittleRoom(need, root)
}

// sized looks for repositories inside the tree, and adds up its files.
func (p place) sized(ctx context.Context) (why string, need int64, err error) {
	modules, err := p.fromIndex(ctx, func(r rawEntry) bool { return r.mode == 0o160000 })
	if err != nil {
		return "", 0, err
	}
	if len(modules) > 0 {
		return "the repository has submodules (" + shown(modules[0].path) + ")", 0, nil
	}
	out, err := p.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", 0, err
	}
	others := records(out)
	for _, path := range others {
		if strings.HasSuffix(path, "/") { // git does not look into it
			return "another repository is inside the tree (" + shown(strings.TrimSuffix(path, "/")) + ")", 0, nil
		}
	}
	need, err = p.size(ctx, others)
	return "", need, err
}

// tooLittleRoom compares the size of files with what is free.
func tooLittleRoom(need int64, root string) (string, error) {
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

// size is about what the files of the tree take: tracked ones as git saw them last;
// others, and those that git must look at again, as they are.
func (p place) size(ctx context.Context, others []string) (sum int64, err error) {
	look := others
	err = readIndex(filepath.Join(p.own, "index"), len(p.zero)/2, func(r rawEntry) {
		if sum += r.size; r.size == 0 {
			look = append(look, string(r.path))
		}
	})
	if errors.Is(err, errIndex) {
		var all []indexed
		all, err = p.askIndex(ctx, func(rawEntry) bool { return true })
		sum, look = 0, others
		for _, e := range all {
			look = append(look, e.path)
		}
	}
	if err != nil {
		return 0, err
	}
	for _, path := range look {
		if fi, err := os.Lstat(filepath.Join(p.top, path)); err == nil {
			sum += fi.Size()
		}
	}
	return sum, nil
}
