package worktree

import (
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// keepCommit makes a commit of a tree by Belay, and puts a ref of refs/belay/ at it. Each
// attempt of an agent does so: where git's files are plain they are written here, as
// gitrepository-layout tells, and else by git.
func (p place) keepCommit(ctx context.Context, ref, tree, parent, message string) (string, error) {
	who := fmt.Sprintf("Belay <belay@localhost> %d +0000", time.Now().Unix())
	id, err := p.writeObject("commit", commitText(tree, parent, who, message))
	if err == nil {
		err = p.writeRef(ref, id)
	}
	if err == nil {
		return id, nil
	}
	id, err = commitTree(ctx, p.with(author("")...), tree, parent, message)
	if err == nil {
		_, err = p.run(ctx, "update-ref", "--end-of-options", ref, id)
	}
	return id, err
}

// errAskGit is given for what only git may write here.
var errAskGit = errors.New("git is to be asked")

// plainFiles tells whether objects and refs may be written as files: the repository is
// not shared by users, which is for git to see to, and refs are files.
func (p place) plainFiles() bool {
	set := strings.ToLower(p.settings())
	return set != "" && p.plainRefs() && !strings.Contains(set, "sharedrepository") && !strings.Contains(set, "[include")
}

// writeObject writes an object as a file of its own, under the name that its bytes have.
func (p place) writeObject(kind, body string) (string, error) {
	if !p.plainFiles() || strings.ContainsRune(body, 0) || !utf8.ValidString(body) {
		return "", errAskGit
	}
	b := fmt.Appendf(nil, "%s %d\x00%s", kind, len(body), body)
	id := p.digest(b)
	root := filepath.Join(p.all, "objects")
	to := filepath.Join(root, id[:2], id[2:])
	if exists(to) {
		return id, nil
	}
	f, err := os.CreateTemp(root, "tmp_obj_belay_") // git's housekeeping takes away what begins with tmp_obj_
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone when all went well
	z := zlib.NewWriter(f)
	_, err = z.Write(b)
	if err = errors.Join(err, z.Close(), f.Chmod(0o444), f.Close()); err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Dir(to), 0o777); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // as git makes it: the umask decides
		return "", err
	}
	return id, os.Rename(f.Name(), to)
}

// writeRef puts a ref of refs/belay/ at a commit, in the way of git: the new value
// becomes the lock of the ref, and that becomes the ref.
func (p place) writeRef(ref, id string) error {
	if !p.plainFiles() || !strings.HasPrefix(ref, refRoot) || !refName(ref) {
		return errAskGit
	}
	to := filepath.Join(p.all, ref)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil { //nolint:gosec // as above
		return err
	}
	f, err := os.CreateTemp(p.all, "belay-ref-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // the lock is another name of it
	_, err = f.WriteString(id + "\n")
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), to+".lock"); err != nil {
		return err
	}
	if err := os.Rename(to+".lock", to); err != nil {
		return errors.Join(err, os.Remove(to+".lock"))
	}
	return nil
}

// dropRef takes away a ref of refs/belay/ that stands at a commit, or at any for "". It
// is sure or says no: then git is to be asked.
func (p place) dropRef(ref, was string) (sure bool) {
	if !p.plainFiles() || !refName(ref) {
		return false
	}
	packed, err := os.ReadFile(filepath.Join(p.all, "packed-refs"))
	if err != nil && !os.IsNotExist(err) || strings.Contains(string(packed), " "+ref+"\n") {
		return false
	}
	file := filepath.Join(p.all, ref)
	lock, err := os.OpenFile(file+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return missing(err) // not even its folder is there
	}
	defer func() { _ = os.Remove(filepath.Dir(file)) }() // it stays while another ref is in it
	defer func() { _ = os.Remove(lock.Name()) }()
	_ = lock.Close() // nothing was written
	b, err := os.ReadFile(file)
	if missing(err) {
		return true
	}
	if id := strings.TrimSpace(string(b)); err != nil || !isID(id) || was != "" && id != was {
		return false
	}
	return os.Remove(file) == nil
}
