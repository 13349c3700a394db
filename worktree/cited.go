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

// Cited tells whether a line of a file has some words; where it says what is not so, also
// why. The file is that of a commit; without one it is read where it is, and must be one that
// git does not ignore or keep for itself: an agent can write such a file, and nobody sees it.
// The path leads from the directory. Without words nothing is proven. What another file says
// proves nothing, but it can show that a citation is wrong.
func Cited(ctx context.Context, dir, commit, name string, line int, words string) (holds bool, wrong string, err error) {
	if name == "" || line < 1 {
		return false, "", nil
	}
	text, err := citedText(ctx, dir, commit, name)
	switch {
	case err != nil:
		return false, "", err
	case text == "" && goesOutside(ctx, dir, name):
		return false, "it is outside of the directory", nil
	case text == "" && !existsBelow(dir, name):
		return false, "there is no such file", nil
	}
	proves := text != ""
	if !proves {
		if text = textBelow(dir, name); text == "" { // a folder, or nobody can read it
			return false, "", nil
		}
	}
	n := 0
	for l := range strings.Lines(text) {
		if n++; n == line && words != "" && !strings.Contains(l, words) {
			return false, "the line does not have the quoted text", nil
		} else if n == line {
			return proves && words != "", "", nil
		}
	}
	return false, fmt.Sprintf("the file has only %d lines", n), nil
}

// goesOutside tells whether a path leads out of the repository, or out of a directory that is in none.
func goesOutside(ctx context.Context, dir, name string) bool {
	below, err := Prefix(ctx, dir)
	if err != nil { // no repository
		below = ""
	}
	whole := path.Join(below, filepath.ToSlash(name))
	return !filepath.IsAbs(name) && (whole == ".." || strings.HasPrefix(whole, "../"))
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
