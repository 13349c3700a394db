package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NotBack says why files cannot be brought back: nothing was touched.
type NotBack struct {
	Path string
	Why  string
}

func (e *NotBack) Error() string { return e.Path + " " + e.Why }

// maxKept is how many bytes of files are kept. Only tests set it.
var maxKept = int64(2 << 30)

// errKept is given for a directory that holds more.
var errKept = errors.New("the files are too big to be kept")

// KeepFiles copies the content of listed files into a folder, each under its digest.
// What is there already is not copied again. Links need no copy: the listing says
// where they lead.
func KeepFiles(ctx context.Context, dir string, l Listing, store string) error {
	top, _, err := listed(ctx, dir)
	if err != nil {
		return fmt.Errorf("keep files: %w", err)
	}
	if err := os.MkdirAll(store, 0o700); err != nil {
		return fmt.Errorf("keep files: %w", err)
	}
	left := maxKept
	for path, digest := range l {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name, link := contentOf(digest)
		if link || name == "" {
			continue
		}
		n, err := keepFile(filepath.Join(top, path), filepath.Join(store, name), name, left)
		if left -= n; left < 0 {
			err = errKept
		}
		if err != nil {
			return fmt.Errorf("keep files: %w", err)
		}
	}
	return nil
}

// contentOf is the part of a digest that tells the content of a file, or where a link
// leads; "" = the content is not known.
func contentOf(digest string) (name string, link bool) {
	if to, ok := strings.CutPrefix(digest, "link "); ok {
		b, _ := hex.DecodeString(to) // ListFiles wrote it
		return string(b), true
	}
	return digest[strings.LastIndexByte(digest, ' ')+1:], false
}

// keepFile copies one file. One that is another by now is not kept.
func keepFile(from, to, name string, most int64) (int64, error) {
	if info, err := os.Stat(to); err == nil {
		return info.Size(), nil
	}
	in, err := os.Open(from)
	if err != nil {
		return 0, nil //nolint:nilerr // it is gone: PutBack says so if it is needed
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil || info.Size() > most {
		return most + 1, err
	}
	out, err := os.OpenFile(to+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), in)
	if err = errors.Join(err, out.Chmod(info.Mode().Perm()|0o400), out.Close()); err != nil {
		return n, err
	}
	if !strings.HasSuffix(name, hex.EncodeToString(sum.Sum(nil)[:16])) {
		return 0, os.Remove(to + ".part")
	}
	return n, os.Rename(to+".part", to)
}

// Back is how files are brought back.
type Back struct {
	Dir   string   // in the tree that is to be as it was
	To    Listing  // how that was
	Seen  Listing  // how it was seen last: what is not so any more was changed by somebody else
	Store string   // where KeepFiles put the contents
	Aside string   // where a copy of each file goes that is replaced or removed
	Skip  []string // folders that are nobody's work
}

// PutBack brings the files of a tree back to what a listing says, and gives the paths
// that it changed. First everything is looked at: when one file was changed by
// somebody else meanwhile, was not kept, or cannot be put away, nothing is touched and a
// NotBack says which. To do it again goes on where it ended.
func PutBack(ctx context.Context, b Back) ([]string, error) {
	now, err := ListFiles(ctx, b.Dir, b.Skip...)
	if err != nil {
		return nil, err
	}
	top, _, err := listed(ctx, b.Dir)
	if err != nil {
		return nil, fmt.Errorf("bring files back: %w", err)
	}
	root, err := os.OpenRoot(top) // no link leads out of it
	if err != nil {
		return nil, fmt.Errorf("bring files back: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through it any more
	paths := now.Since(b.To)
	for _, look := range []func(Listing, string) error{b.can,
		func(now Listing, path string) error { return b.away(root, now, path) }} {
		for _, path := range paths {
			if err := look(now, path); err != nil {
				return nil, err
			}
		}
	}
	for _, do := range []func(*os.Root, string) error{b.copyAside, b.remove, b.write} {
		for _, path := range paths {
			if err := do(root, path); err != nil {
				return nil, fmt.Errorf("bring files back: %w", err)
			}
		}
	}
	if now, err = ListFiles(ctx, b.Dir, b.Skip...); err != nil {
		return nil, err
	}
	if still := now.Since(b.To); len(still) > 0 {
		return nil, fmt.Errorf("bring files back: %s is not as it was", still[0])
	}
	return paths, nil
}

// away tells whether what is at a path, or in the place of a folder above it, can be put
// away. The files of a folder are put away by their own paths; what is in no listing, as
// git ignores it or as it is of another repository, cannot be.
func (b Back) away(root *os.Root, now Listing, path string) error {
	if in := notAFolder(root, path); in != "" {
		if _, goes := now[in]; !goes {
			return &NotBack{path, "cannot be written: " + in + " is no folder now, and cannot be put away"}
		}
		return nil
	}
	info, err := root.Lstat(path)
	switch {
	case missing(err):
		return nil
	case err != nil:
		return &NotBack{path, "cannot be read"}
	case info.IsDir():
		return b.folderAway(root, now, path)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil
	case !info.Mode().IsRegular(): // a pipe has no content to keep
		return &NotBack{path, "is no file that can be put away"}
	}
	f, err := root.Open(path)
	if err != nil {
		return &NotBack{path, "cannot be read"}
	}
	return f.Close()
}

// folderAway tells whether each file of a folder that is where a file was has a path in
// the listing. Folders with nothing in them are nobody's work.
func (b Back) folderAway(root *os.Root, now Listing, path string) error {
	return fs.WalkDir(root.FS(), filepath.ToSlash(path), func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return nil
		}
		if _, goes := now[at]; err != nil || !goes {
			return &NotBack{path, "is a folder now, and " + at + " in it cannot be put away"}
		}
		return nil
	})
}

// notAFolder is the first path above one that is there and is no folder; "" = none is.
func notAFolder(root *os.Root, path string) string {
	for i, c := range path {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(path[:i])
		if err != nil {
			return "" // then nothing is below it
		}
		if !info.IsDir() {
			return path[:i]
		}
	}
	return ""
}

// can tells whether a path can be brought back.
func (b Back) can(now Listing, path string) error {
	is, there := now[path]
	seen, known := b.Seen[path]
	if there != known || there && !alike(is, seen) {
		return &NotBack{path, "was changed after the last round was judged"}
	}
	digest, wanted := b.To[path]
	if !wanted {
		return nil
	}
	name, link := contentOf(digest)
	if link {
		return nil
	}
	f, err := os.Open(filepath.Join(b.Store, name))
	if name == "" || err != nil {
		return &NotBack{path, "was not kept as it was"}
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil || !strings.HasSuffix(name, hex.EncodeToString(sum.Sum(nil)[:16])) {
		return &NotBack{path, "was not kept as it was"}
	}
	return nil
}

// copyAside keeps what is at a path. What is there from an earlier try stays. A folder
// has nothing of its own to keep, and behind a link there is nothing of this tree.
func (b Back) copyAside(root *os.Root, path string) error {
	if notAFolder(root, path) != "" {
		return nil
	}
	to := filepath.Join(b.Aside, path)
	info, err := root.Lstat(path)
	if _, have := os.Lstat(to); missing(err) || have == nil || err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		leads, err := root.Readlink(path)
		return errors.Join(err, os.Symlink(leads, to))
	}
	// beside the folder: in it, a file of this name may be somebody's
	part := b.Aside + ".part"
	if err = copyOut(root, path, part, info.Mode().Perm()|0o600); err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		_ = os.Remove(part) // half a copy is of no use
	}
	return err
}

// copyOut copies a file of a tree to a place outside of it.
func copyOut(root *os.Root, path, to string, mode fs.FileMode) error {
	if err := os.Remove(to); err != nil && !missing(err) { // of a try that was killed, with its own mode
		return err
	}
	in, err := root.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// remove takes away what is at a path, and folders that hold nothing any more.
func (b Back) remove(root *os.Root, path string) error {
	if _, wanted := b.To[path]; wanted || notAFolder(root, path) != "" { // behind a link it is another file
		return nil
	}
	if err := root.Remove(path); err != nil && !missing(err) {
		return err
	}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if root.Remove(dir) != nil { // something is in it
			break
		}
	}
	return nil
}

// write brings one file or link back.
func (b Back) write(root *os.Root, path string) error {
	digest, wanted := b.To[path]
	if !wanted {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".belay-part"
	err := b.writePart(root, part, digest)
	if err == nil {
		err = clearFolder(root, path)
	}
	if err == nil {
		err = root.Rename(part, path)
	}
	if err != nil {
		_ = root.Remove(part) // half a file is of no use
	}
	return err
}

// clearFolder removes a folder that has no file any more, with the folders in it.
func clearFolder(root *os.Root, path string) error {
	if info, err := root.Lstat(path); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // nothing is there
	}
	var dirs []string
	err := fs.WalkDir(root.FS(), filepath.ToSlash(path), func(at string, d fs.DirEntry, err error) error {
		dirs = append(dirs, at)
		return err
	})
	for _, dir := range slices.Backward(dirs) {
		if err == nil {
			err = removeFolder(root, dir)
		}
	}
	return err
}

// removeFolder removes an empty folder, and nothing else.
func removeFolder(root *os.Root, dir string) error {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s came there meanwhile", dir))
	}
	return root.Remove(dir)
}

// writePart writes a file or link under a name of its own.
func (b Back) writePart(root *os.Root, part, digest string) error {
	name, link := contentOf(digest)
	if err := root.Remove(part); err != nil && !missing(err) {
		return err
	}
	if link {
		return root.Symlink(name, part)
	}
	in, err := os.Open(filepath.Join(b.Store, name))
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode().Perm() &^ 0o111
	if strings.HasPrefix(name, "100755") {
		mode = info.Mode().Perm() | 0o100
	}
	out, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(mode), out.Close())
}
