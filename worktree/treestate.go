package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/belay-run/belay"
)

// maxContent is the size of a file that is kept; of a bigger one only a digest is.
// Only tests set it.
var maxContent = int64(100 << 20)

// Limits of a print.
const (
	maxHashed  = 1 << 30 // of a file that is read; of a bigger one size and time count
	maxReading = 8 << 30 // of all files together that are read for their digest
	maxNesting = 4       // repositories inside repositories
)

// Tree is a working tree to look at. It is the whole work tree that Dir
// belongs to, even when Dir is a folder inside of it: an agent that is started
// in a folder changes files beside it too.
type Tree struct {
	Dir  string
	Git  string   // the program; "" = git
	Skip []string // folders that are not looked at: what Belay itself writes is nobody's work

	Guard *belay.Guarding // files whose change Since tells apart; nil = none

	// Secret tells whether a known secret stands in what it reads: the content of
	// such a file goes into no object of the repository. nil = nothing is known.
	Secret func(io.Reader) bool

	missed *bool // where a look tells that it left out a repository inside; nil = nobody asks
	most   int64 // bytes of files that are not as committed; with more there is no look; 0 = any
}

// State is the state of the working tree. One "git status" on a copy of the
// index finds what is not as in the index; only those files are read, into the
// copy, and the copy is written as a tree. The real index is never written,
// nor locked.
//
// The objects go straight into the repository, not into a folder of their own:
// a print is compared with one of an earlier attempt, after a crash by another
// process, and that needs both trees. Nothing refers to them, so git's own
// housekeeping takes them away after some weeks.
//
// An empty file that is there for a moment in git's folder tells the time by the
// clock of the files.
//
// Where git sees no work tree the print is a digest of names and contents.
func (t Tree) State(ctx context.Context) belay.TreeState {
	p, err := t.look(ctx, 0)
	if err != nil {
		p.Error = err.Error()
	}
	return p
}

// errBare is given for a repository without a work tree: what is in its folder
// is git's, and nobody's work.
var errBare = errors.New("a bare repository, or a folder of git's own: there are no files to look at")

func (t Tree) look(ctx context.Context, depth int) (belay.TreeState, error) {
	at, err := find(ctx, t.Git, t.Dir)
	if ctx.Err() != nil {
		return belay.TreeState{}, ctx.Err()
	}
	if errors.Is(err, errNoTree) {
		return belay.TreeState{}, errBare
	}
	if err != nil { // no repository, a broken one, or no git: names and contents still tell a change
		return walk(ctx, t.Dir, maxEntries, t.leftOut(t.Dir))
	}
	began := int64(0)
	if depth == 0 {
		began = at.moment()
	}
	own, done, err := at.apart(ctx)
	if err != nil {
		return belay.TreeState{}, err
	}
	defer done()
	left := int64(maxReading)
	s := shot{place: own, depth: depth, skip: t.Skip, out: append(t.leftOut(at.top), at.notWork()...), left: &left, missed: t.missed, secret: t.Secret, most: t.most}
	p, err := s.take(ctx)
	p.At = began
	return p, err
}

// copyIndex copies the index with its time. The time matters: git takes an
// entry for unchanged on its word only when the entry is older than the index.
// It gives the bytes.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was ever added
	}
	if err == nil {
		err = copyBytes(from, to)
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return fmt.Errorf("copy the index: %w", err)
	}
	return nil
}

// copyBytes copies a file without reading it: the kernel can.
func copyBytes(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// shot is one print in the making, with an index of its own.
type shot struct {
	place
	depth int
	skip  []string
	out   []string // of skip, those in this tree, by their paths in it
	left  *int64   // bytes that may still be read of files that are not kept

	missed *bool // see Tree
	most   int64 // see Tree
	secret func(io.Reader) bool
}

func (s shot) take(ctx context.Context) (belay.TreeState, error) {
	p := belay.TreeState{Repo: true}
	out, err := s.run(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
		"--no-renames", "--no-ahead-behind", "--ignore-submodules=none")
	if err != nil {
		return p, err
	}
	st := parseStatus(out)
	st.entries = slices.DeleteFunc(st.entries, func(e entry) bool { return !e.staged && under(e.path, s.out) })
	p.Head, p.Branch, p.Dirty = st.head, st.branch, len(st.entries) > 0
	p.Log = logSize(s.own)
	if !p.Dirty && p.Head != "" {
		p.Tree, err = s.treeOf(ctx, p.Head)
		return p, err
	}
	if s.most > 0 && s.bytesOf(st.entries) > s.most {
		return p, errTooMuch
	}
	if slices.ContainsFunc(st.entries, func(e entry) bool { return e.between }) {
		p.Index = s.stagedTree(ctx)
	}
	if err := s.fill(ctx, st.entries); err != nil {
		return p, err
	}
	p.Tree, err = s.line(ctx, "write-tree")
	return p, err
}

// stagedTree is the tree of the index as it is, "" where it has none: in the
// middle of a merge. Another copy of the index is written for it, so that the
// times in the first one stay what they are.
func (s shot) stagedTree(ctx context.Context) string {
	dir, err := os.MkdirTemp("", "belay-staged-")
	if err != nil {
		return ""
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover in the temp folder harms nobody
	index := filepath.Join(dir, "index")
	if err := copyIndex(filepath.Join(s.own, "index"), index); err != nil {
		return ""
	}
	tree, err := s.with("GIT_INDEX_FILE="+index).line(ctx, "write-tree")
	if err != nil {
		return ""
	}
	return tree
}

// fill brings the copy of the index up to what the files are.
func (s shot) fill(ctx context.Context, entries []entry) error {
	var read []string        // paths whose content git shall read
	var info strings.Builder // entries that are made by hand
	for _, e := range entries {
		made, err := s.byHand(ctx, e)
		switch {
		case err != nil:
			return err
		case made.keep:
		case made.line != "":
			info.WriteString(made.line + "\t" + strings.TrimSuffix(e.path, "/") + "\x00")
			if made.unkept != "" {
				info.WriteString(made.unkept + "\t" + unkeptRoot + "/" + e.path + "\x00")
			}
		default:
			read = append(read, e.path)
		}
	}
	if info.Len() > 0 {
		if _, err := s.feed(ctx, []byte(info.String()), "update-index", "--add", "--replace", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if len(read) == 0 {
		return nil
	}
	paths := []byte(strings.Join(read, "\x00") + "\x00")
	_, err := s.feed(ctx, paths, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.raw(ctx, read, err)
}

// raw takes the files as they are, when git cannot: a filter of the repository
// is missing here or fails. What made git fail is given if this does no better.
func (s shot) raw(ctx context.Context, paths []string, cause error) error {
	var names, info strings.Builder
	var found []string
	for _, p := range paths {
		fi, err := os.Lstat(filepath.Join(s.top, p))
		if missing(err) {
			info.WriteString(s.gone().line + "\t" + p + "\x00")
		}
		if err != nil || !fi.Mode().IsRegular() {
			continue // a link: its entry stays as it was
		}
		found = append(found, fileMode(fi)+"\t"+p)
		names.WriteString(quoted(p) + "\n")
	}
	out, err := s.feed(ctx, []byte(names.String()), "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return errors.Join(cause, err)
	}
	ids := strings.Fields(out)
	if len(ids) != len(found) {
		return cause
	}
	for i, f := range found {
		mode, p, _ := strings.Cut(f, "\t")
		info.WriteString(mode + " " + ids[i] + "\t" + p + "\x00")
	}
	_, err = s.feed(ctx, []byte(info.String()), "update-index", "--add", "--replace", "-z", "--index-info")
	return err
}

// hand is how an entry gets into the index without git reading the file.
type hand struct {
	keep bool   // it is there already
	line string // "mode id"; "" = git shall read it

	unkept string // "mode id" of what stands for a file that is not kept
}

// missing tells whether nothing is at a path.
func missing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// gone takes a path out of the index.
func (s shot) gone() hand { return hand{line: "0 " + s.zero} }

// byHand decides about one entry of the status.
func (s shot) byHand(ctx context.Context, e entry) (hand, error) {
	full := filepath.Join(s.top, e.path)
	if e.staged { // the same in the index and on disk
		fi, err := os.Lstat(full)
		if err == nil && fi.Mode().IsRegular() && !behindLink(s.top, e.path) && (fi.Size() > maxContent || s.secretIn(ctx, full)) {
			return s.unkept(ctx, full, fi) // to stage a file is no change of it
		}
		return hand{keep: true}, nil
	}
	if behindLink(s.top, e.path) {
		return s.gone(), nil
	}
	fi, err := os.Lstat(full)
	if missing(err) {
		return hand{}, nil // git sees that it is gone
	}
	if err != nil {
		return s.gone(), nil
	}
	switch {
	case fi.IsDir() && (e.submodule || strings.HasSuffix(e.path, "/")):
		return s.nested(ctx, full)
	case fi.IsDir():
		return s.gone(), nil // a folder where a file was: its files have entries of their own
	case fi.Mode()&os.ModeSymlink != 0:
		return hand{}, nil
	case !fi.Mode().IsRegular():
		return s.gone(), nil // a pipe or a socket has no content
	case fi.Size() > maxContent || !readable(full) || s.secretIn(ctx, full):
		return s.unkept(ctx, full, fi)
	}
	return hand{}, nil
}

// miss leaves an entry as it was, because nobody looked what is there.
func (s shot) miss() hand {
	if s.missed != nil {
		*s.missed = true
	}
	return hand{keep: true}
}

// nested is the entry of a repository inside this one, tracked as a submodule
// or not: its commit, or one made of its files when they are not as committed.
func (s shot) nested(ctx context.Context, dir string) (hand, error) {
	at, err := find(ctx, s.program, dir)
	if real, bad := realPath(dir); err != nil || bad != nil || at.top != real || s.depth >= maxNesting {
		return s.miss(), ctx.Err() // no repository of its own, or too deep
	}
	sub, err := Tree{Dir: dir, Git: s.program, Skip: s.skip, missed: s.missed, Secret: s.secret}.look(ctx, s.depth+1)
	if err != nil {
		return hand{}, fmt.Errorf("look into %s: %w", filepath.Base(dir), err)
	}
	if !sub.Repo { // it was one a moment ago
		return s.miss(), nil
	}
	if !sub.Dirty && sub.Head != "" {
		return hand{line: "160000 " + sub.Head}, nil
	}
	if sub.Head == "" && sub.Tree == at.emptyTree() {
		return s.gone(), nil // nothing is in it
	}
	// always the same commit for the same files, so that prints stay equal
	g := at.with(author("@1 +0000")...)
	id, err := commitTree(ctx, g, sub.Tree, sub.Head, "files of a repository inside another")
	return hand{line: "160000 " + id}, err
}
