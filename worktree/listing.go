package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Listing is every file of a directory's working tree by its path from the top,
// with a digest of its content; of a directory in no repository, every file below
// it. What git ignores is left out, and what is in repositories inside is not.
//
// A print tells in a repository that something changed there; a listing tells what,
// with no repository and in submodules, too, and writes no object anywhere.
type Listing map[string]string

// maxListed is how many files are listed.
const maxListed = 1_000_000

var errListed = errors.New("there are more than a million files")

// ListFiles lists the files of the tree that a directory is in. skip are folders that
// are nobody's work.
func ListFiles(ctx context.Context, dir string, skip ...string) (Listing, error) {
	l := lister{list: Listing{}, skip: skip, left: maxWalked}
	top, paths, err := listed(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	l.top = top
	for _, path := range paths {
		if err := l.walk(ctx, path); err != nil {
			return nil, fmt.Errorf("list files: %w", err)
		}
	}
	return l.list, nil
}

// listed is the top of a tree and what is to be looked at there.
func listed(ctx context.Context, dir string) (string, []string, error) {
	at, err := find(ctx, "", dir)
	if err != nil { // no repository, or one that git does not read
		top, err := realPath(dir)
		return top, []string{""}, err
	}
	out, err := at.run(ctx, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	return at.top, records(out), err
}

type lister struct {
	top  string
	list Listing
	skip []string
	left int64 // bytes to read
}

// walk takes in a file, or all files of a folder that git does not look into.
func (l *lister) walk(ctx context.Context, path string) error {
	return filepath.WalkDir(filepath.Join(l.top, path), func(at string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist): // of the index alone, or gone meanwhile
			return nil
		case err != nil && d == nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || slices.Contains(l.skip, at)):
			return filepath.SkipDir
		case d.IsDir() || d.Name() == ".git":
			return nil
		}
		rel, err := filepath.Rel(l.top, at)
		if err != nil {
			return err
		}
		if len(l.list) == maxListed {
			return errListed
		}
		l.list[filepath.ToSlash(rel)] = l.digest(at, d)
		return nil
	})
}

// digest tells the content of a file; of a link where it leads to, of what cannot
// be read its size and time.
func (l *lister) digest(path string, d fs.DirEntry) string {
	info, err := d.Info()
	if err != nil {
		return "gone"
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, _ := os.Readlink(path) // one that is gone leads nowhere
		return "link " + hex.EncodeToString([]byte(to))
	}
	when := fmt.Sprintf("%s %d %d ", fileMode(info), info.Size(), info.ModTime().UnixNano())
	if info.Mode().IsRegular() && info.Size() <= l.left {
		if f, err := os.Open(path); err == nil {
			sum := sha256.New()
			n, err := io.Copy(sum, f)
			_ = f.Close() // only read
			if l.left -= n; err == nil {
				return when + fileMode(info) + hex.EncodeToString(sum.Sum(nil)[:16])
			}
		}
	}
	return when
}

// alike tells whether two digests are of the same content: where one of them has
// none, size and time decide.
func alike(a, b string) bool {
	i, j := strings.LastIndexByte(a, ' ')+1, strings.LastIndexByte(b, ' ')+1
	if a[i:] != "" && b[j:] != "" {
		return a[i:] == b[j:]
	}
	return a[:i] == b[:j]
}

// Bytes is the listing as a file holds it.
func (l Listing) Bytes() []byte {
	var b bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(l)) {
		b.WriteString(l[path] + "\t" + path + "\x00")
	}
	return b.Bytes()
}

// ReadListing reads what Bytes wrote.
func ReadListing(b []byte) Listing {
	l := Listing{}
	for _, rec := range records(string(b)) {
		if digest, path, ok := strings.Cut(rec, "\t"); ok {
			l[path] = digest
		}
	}
	return l
}

// Since are the paths that are not as in an earlier listing, in their order.
func (l Listing) Since(before Listing) []string {
	var list []string
	for path, digest := range l {
		if was, there := before[path]; !there || !alike(was, digest) {
			list = append(list, path)
		}
	}
	list = append(list, l.Gone(before)...)
	slices.Sort(list)
	return list
}

// Gone are the paths of an earlier listing that are not there any more, in their order.
func (l Listing) Gone(before Listing) []string {
	var list []string
	for path := range before {
		if _, there := l[path]; !there {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}
