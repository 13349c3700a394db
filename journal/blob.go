package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
)

// TooBig says that a blob is over the size that its reader allows.
type TooBig struct {
	Sha       string
	Size, Max int64
}

func (e *TooBig) Error() string {
	return fmt.Sprintf("value %.12s has %d bytes, at most %d can be read", e.Sha, e.Size, e.Max)
}

// BlobPath is the file of the blob with the given digest.
func (f Folder) BlobPath(sha string) string { return filepath.Join(f.in(blobsName), sha) }

// PutBlob keeps b under its digest; it is on disk when PutBlob returns.
func (f Folder) PutBlob(b []byte) (belay.Value, error) {
	sum := sha256.Sum256(b)
	v := belay.Value{Sha: hex.EncodeToString(sum[:]), Size: int64(len(b))}
	path := f.BlobPath(v.Sha)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == v.Size {
		// Its name may be younger than the last sync of the directory.
		return v, syncDir(filepath.Dir(path))
	}
	return v, putFile(path, b)
}

// ReadBlob reads a blob of at most limit bytes and proves that it is the one.
func (f Folder) ReadBlob(sha string, limit int64) ([]byte, error) {
	if raw, err := hex.DecodeString(sha); err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("read value: %q is not a digest", sha)
	}
	path := f.BlobPath(sha)
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged(path, 0, "a value is missing", err)
	}
	if err != nil {
		return nil, exit.New(exit.Infra, "read value", err, "check the permissions of "+path)
	}
	defer file.Close() // opened for reading: nothing can be lost
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, exit.New(exit.Infra, "read value", err, "check the disk")
	}
	if int64(len(b)) > limit {
		return nil, &TooBig{Sha: sha, Size: sizeOf(file), Max: limit}
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != sha {
		return nil, damaged(path, 0, "a value is not what was written", nil)
	}
	return b, nil
}

func sizeOf(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0 // only a number in a message
	}
	return info.Size()
}

// putFile makes a private file that is whole and durable, or not there at all.
func putFile(path string, b []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return unwritten("write file", path, err)
	}
	_, err = tmp.Write(b)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // a leftover with a name of its own harms nobody
		return unwritten("write file", path, err)
	}
	return syncDir(dir)
}
