package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxCited is how much of a file is looked through for a citation.
const maxCited = 16 << 20

// Quoted is what somebody says stands in a file.
type Quoted struct {
	Path      string // as it leads from the directory
	Line, End int    // from one line to another; without End in the one
	Words     string
}

// Cited tells in which line of a file some words are, 0 where they are in none of those that
// they were said to be in; where it says what is not so, also why. The file is that of a commit; without
// one it is read where it is, and must be one that git does not ignore or keep for itself: an agent
// can write such a file, and nobody sees it. Without words nothing is proven. What another file
// says proves nothing, but it can show that a citation is wrong.
func Cited(ctx context.Context, dir, commit string, q Quoted) (at int, wrong string, err error) {
	switch {
	case q.Path == "":
		return 0, "no file is named", nil
	case q.Line < 1:
		return 0, "there is no such line", nil
	}
	text, err := citedText(ctx, dir, commit, q.Path)
	if err != nil {
		return 0, "", err
	}
	proves := text != ""
	if !proves {
		if wrong = noFile(ctx, dir, q.Path); wrong != "" {
			return 0, wrong, nil
		}
		text = textBelow(dir, q.Path)
	}
	n := 0
	for l := range strings.Lines(text) {
		if n++; n < q.Line || n > max(q.Line, q.End) {
			continue
		}
		if q.Words != "" && strings.Contains(l, q.Words) {
			if !proves {
				return 0, "", nil
			}
			return n, "", nil
		}
	}
	switch {
	case n < max(q.Line, q.End):
		return 0, fmt.Sprintf("the file has only %d lines", n), nil
	case q.Words == "":
		return 0, "", nil
	case q.End > q.Line:
		return 0, "none of the lines has the quoted text", nil
	}
	return 0, "the line does not have the quoted text", nil
}

// Inside is a path as it leads from a directory, also where it is an absolute one. One that leads
// out of the repository is as it was.
func Inside(dir, name string) string {
	real, err := realPath(dir)
	if err != nil || !filepath.IsAbs(name) {
		return name
	}
	if is, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil { // the name itself may be a link
		name = filepath.Join(is, filepath.Base(name))
	}
	rel, err := filepath.Rel(real, name)
	if err != nil || !below(Whole(real), filepath.Clean(name)) {
		return name
	}
	return rel
}

// noFile says why there is no file to look at; "" = there is one.
func noFile(ctx context.Context, dir, name string) string {
	if goesOutside(ctx, dir, name) {
		return "it is outside of the directory"
	}
	if !existsBelow(dir, name) {
		return "there is no such file"
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	real, err := realPath(at)
	top, also := realPath(dir)
	if err != nil || also != nil {
		return "nobody can read it"
	}
	if !below(Whole(top), real) {
		return "it leads out of the directory"
	}
	switch info, err := os.Stat(at); {
	case err != nil:
		return "nobody can read it"
	case info.IsDir():
		return "it is a folder"
	case !info.Mode().IsRegular():
		return "it is no file"
	case info.Size() > 0 && textBelow(dir, name) == "":
		return "nobody can read it"
	}
	return ""
}

// goesOutside tells whether a path leads out of the repository, or out of a directory that is in none.
func goesOutside(ctx context.Context, dir, name string) bool {
	if filepath.IsAbs(name) {
		return true
	}
	below, err := Prefix(ctx, dir)
	if err != nil { // no repository
		below = ""
	}
	whole := path.Join(below, filepath.ToSlash(name))
	return whole == ".." || strings.HasPrefix(whole, "../")
}

// existsBelow tells whether there is something, or cannot be looked at.
func existsBelow(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	return !errors.Is(err, fs.ErrNotExist)
}

// citedText is what is in a file; "" = it is none that can be cited.
func citedText(ctx context.Context, dir, commit, name string) (string, error) {
	p, err := find(ctx, "", dir)
	if err != nil { // no repository: all files below the directory
		return textBelow(dir, name), nil
	}
	below, err := Prefix(ctx, dir)
	if err != nil {
		return "", err
	}
	whole := filepath.ToSlash(filepath.Join(below, name))
	if filepath.IsAbs(name) || whole == ".." || strings.HasPrefix(whole, "../") {
		return "", nil
	}
	if commit != "" {
		out, err := p.run(ctx, "cat-file", "blob", commit+":"+whole)
		if err != nil {
			return "", ctx.Err() // it is not in the commit
		}
		return out, nil
	}
	out, err := p.run(ctx, "--literal-pathspecs", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", whole)
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", shown(name), err)
	}
	if out != whole+"\x00" {
		return "", nil
	}
	return textBelow(p.top, whole), nil
}

// HasSame tells whether a file, and each link on the way to it, is as it was when the files
// were listed: what somebody wrote since proves nothing. The path leads from the directory.
func (l Listing) HasSame(ctx context.Context, dir, name string) (bool, error) {
	top, below := "", ""
	p, err := find(ctx, "", dir)
	if err == nil {
		top = p.top
		below, err = Prefix(ctx, dir)
	} else { // no repository
		top, err = realPath(dir)
	}
	if err != nil {
		return false, err
	}
	return l.same(top, path.Join(below, filepath.ToSlash(name)), maxLinks), nil
}

// maxLinks is how many links may be on the way to a file.
const maxLinks = 40

func (l Listing) same(top, name string, links int) bool {
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		info, err := os.Lstat(filepath.Join(top, at))
		if err != nil || at == ".." || strings.HasPrefix(at, "../") {
			return false
		}
		if info.Mode()&fs.ModeSymlink == 0 && at != name {
			continue
		}
		now := lister{left: maxWalked}
		was, listed := l[at]
		if !listed || !alike(was, now.digest(filepath.Join(top, at), fs.FileInfoToDirEntry(info))) {
			return false
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(filepath.Join(top, at))
			rest := strings.TrimPrefix(name, at)
			return err == nil && links > 0 && !filepath.IsAbs(to) && l.same(top, path.Join(path.Dir(at), filepath.ToSlash(to))+rest, links-1)
		}
	}
	return true
}

// textBelow is what is in a file below a directory; no link leads out of it.
func textBelow(dir, name string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // only read
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()                // only read
	b, _ := io.ReadAll(io.LimitReader(f, maxCited)) // a folder has nothing in it
	return string(b)
}
