package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/internal/ondisk"
)

// delta is a path that two trees have otherwise: "mode id" in each, "" = not there.
type delta struct{ path, was, now string }

// edits are the paths in which two trees differ.
func (g git) edits(ctx context.Context, from, to string) ([]delta, error) {
	if from == to {
		return nil, nil
	}
	if list, known := diffs.get(from, to); known {
		return slices.Clone(list), nil
	}
	out, err := g.run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", "--end-of-options", from, to)
	if err != nil {
		return nil, err
	}
	var list []delta
	rec := records(out)
	for i := 0; i+1 < len(rec); i += 2 {
		w := strings.Fields(strings.TrimPrefix(rec[i], ":"))
		if len(w) != 5 {
			return nil, fmt.Errorf("git prints %q for a change", rec[i])
		}
		list = append(list, delta{rec[i+1], entryOf(w[0], w[2]), entryOf(w[1], w[3])})
	}
	tell(from, to, list)
	return list, nil
}

// entryOf is "mode id", or "" of a mode that says that nothing is there.
func entryOf(mode, id string) string {
	if mode == "000000" {
		return ""
	}
	return mode + " " + id
}

// regular tells whether an entry is a plain file.
func regular(entry string) bool { return strings.HasPrefix(entry, "100") }

// unseen stands for a file that is there and that no tree holds.
const unseen = "unseen"

// entries are paths of the tree as they are on disk now.
func (p place) entries(ctx context.Context, list []delta) (map[string]string, error) {
	own, done, err := p.apart(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	left := int64(maxReading)
	s := shot{place: own, left: &left}
	want := map[string]bool{}
	var look []entry
	for _, e := range list {
		want[e.path] = true
		look = append(look, entry{path: e.path})
	}
	if err := s.fill(ctx, look); err != nil {
		return nil, err
	}
	found, err := own.fromIndex(ctx, func(r rawEntry) bool {
		stub, cut := bytes.CutPrefix(r.path, []byte(unkeptRoot+"/"))
		return want[string(r.path)] || cut && want[string(stub)]
	})
	if err != nil {
		return nil, err
	}
	is := map[string]string{}
	for _, e := range found {
		if stub, cut := strings.CutPrefix(e.path, unkeptRoot+"/"); cut && want[stub] {
			is[stub] = unseen
		} else {
			is[e.path] = e.entry()
		}
	}
	return is, nil
}

// applier writes the files of one tree over those of another.
type applier struct {
	place
	stage string // the folder in which files are made ready
	keep  string // a folder that is not removed, though it may be empty
	stats map[string]os.FileInfo
	dirs  map[string]bool // in which names changed
}

// apply makes the files in which two trees differ what the second has. One that
// is as in the second is left alone; one that is neither as in the first nor as
// in the second is given back, and then nothing is written, unless these are
// left alone too. What was seen of the files before may save a look.
func (p place) apply(ctx context.Context, from, to string, o MergeOrder, seen sight, leave bool) ([]delta, error) {
	list, err := p.edits(ctx, from, to)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	keep, err := realPath(o.Tree)
	if err != nil {
		keep = p.top
	}
	seen, err = p.seeAgain(ctx, list, seen)
	if err != nil {
		return nil, err
	}
	a := applier{place: p, stage: filepath.Join(p.own, "belay-"+planName(o.Key)), keep: keep, stats: seen.stats, dirs: map[string]bool{}}
	var todo, others []delta
	for _, e := range list {
		switch seen.now[e.path] {
		case e.now:
		case e.was:
			todo = append(todo, e)
		default:
			others = append(others, e)
		}
	}
	if len(others) > 0 && !leave {
		return others, nil
	}
	defer func() { _ = os.RemoveAll(a.stage) }() // the next call clears it too
	if err := a.prepare(ctx, to, todo); err != nil {
		return nil, fmt.Errorf("make the files ready: %w", err)
	}
	others, err = a.write(ctx, todo)
	if leave {
		others = nil
	}
	return others, errors.Join(err, a.sync())
}

// prepare writes the new files into the stage as git would check them out, with
// the attributes of the tree that they are of.
func (a *applier) prepare(ctx context.Context, tree string, todo []delta) error {
	if err := os.RemoveAll(a.stage); err != nil {
		return err
	}
	for _, e := range todo { // a call that was killed may have left one
		_ = os.Remove(a.temp(filepath.Join(a.top, e.path))) // nearly always there is none
	}
	files := filepath.Join(a.stage, "files")
	if err := os.MkdirAll(files, 0o700); err != nil {
		return err
	}
	var paths strings.Builder
	for _, e := range todo {
		if e.now != "" {
			paths.WriteString(e.path + "\x00")
		}
	}
	if paths.Len() == 0 {
		return nil
	}
	g := a.in(files).with("GIT_DIR="+a.own, "GIT_WORK_TREE="+files, "GIT_INDEX_FILE="+filepath.Join(a.stage, "index"))
	if _, err := g.run(ctx, "read-tree", "--end-of-options", tree); err != nil {
		return err
	}
	if _, err := g.feed(ctx, []byte(paths.String()), "checkout-index", "--force", "-z", "--stdin"); err != nil {
		return err
	}
	return a.syncStage(todo)
}

// syncStage makes the new files last before any of them is where it belongs.
func (a *applier) syncStage(todo []delta) error {
	for _, e := range todo {
		if !regular(e.now) {
			continue
		}
		f, err := os.Open(a.ready(e))
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// ready is where the new file of an edit lies.
func (a *applier) ready(e delta) string { return filepath.Join(a.stage, "files", e.path) }

// write does the edits: first what goes, so that a folder can stand where a file
// was. It stops at a file that somebody changed since the look.
func (a *applier) write(ctx context.Context, todo []delta) ([]delta, error) {
	slices.SortStableFunc(todo, func(x, y delta) int { // what goes comes first
		return b2i(x.now != "") - b2i(y.now != "")
	})
	for i, e := range todo {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failpoint.Hit("worktree.merge_before_file")
		if !a.same(e.path) {
			return todo[i:], nil
		}
		var err error
		if e.now == "" {
			err = a.remove(e)
		} else {
			err = a.put(e)
		}
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", shown(e.path), err)
		}
	}
	return nil, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// same tells whether a path is as it was when it was looked at. A folder that
// was in the way of a file is gone by now.
func (a *applier) same(path string) bool {
	was := a.stats[path]
	is, err := os.Lstat(filepath.Join(a.top, path))
	if was == nil || was.IsDir() {
		return err != nil || is.IsDir()
	}
	return err == nil && os.SameFile(was, is) && was.Size() == is.Size() && was.ModTime().Equal(is.ModTime()) && was.Mode() == is.Mode()
}

// remove takes a file away, and the folders that are empty without it.
func (a *applier) remove(e delta) error {
	full := filepath.Join(a.top, e.path)
	if behindLink(a.top, e.path) {
		return nil // it is not a file of this tree
	}
	if err := os.Remove(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(full); dir != a.top && !below(dir, a.keep); dir = filepath.Dir(dir) {
		a.dirs[filepath.Dir(dir)] = true
		if os.Remove(dir) != nil { // it is not empty
			a.dirs[dir] = true
			return nil
		}
		delete(a.dirs, dir)
	}
	return nil
}

// put brings a new file to its place in one move.
func (a *applier) put(e delta) error {
	full := filepath.Join(a.top, e.path)
	if behindLink(a.top, e.path) {
		return errors.New("a directory on the way to it is a symbolic link")
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil { // as the user's umask says
		return err
	}
	if fi, err := os.Lstat(full); err == nil && fi.IsDir() {
		if err := os.Remove(full); err != nil { // only an empty one goes
			return err
		}
	}
	was := a.stats[e.path]
	if regular(e.now) && was != nil && was.Mode().IsRegular() && e.was[:6] == e.now[:6] {
		if err := os.Chmod(a.ready(e), was.Mode().Perm()); err != nil {
			return err
		}
	}
	a.dirs[filepath.Dir(full)] = true
	err := os.Rename(a.ready(e), full)
	if errors.Is(err, errOtherDisk) {
		return a.carry(e, full)
	}
	return err
}

// temp is a name beside a file that is always the same, so that a leftover can be
// found.
func (a *applier) temp(full string) string {
	return filepath.Join(filepath.Dir(full), "."+filepath.Base(a.stage)+".tmp")
}

// carry is put where git's folder is on another disk.
func (a *applier) carry(e delta, full string) error {
	tmp := a.temp(full)
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fi, err := os.Lstat(a.ready(e))
	if err != nil {
		return err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		err = (&copier{from: "/"}).link(a.ready(e), tmp)
	} else if err = copyFile(a.ready(e), tmp, fi); err == nil {
		err = ondisk.Names(tmp) // the file itself
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp, full)
}

// sync makes the names last.
func (a *applier) sync() error {
	var err error
	for dir := range a.dirs {
		if e := ondisk.Names(dir); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
