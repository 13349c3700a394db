package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"syscall"
)

// contentID is a digest of the first size bytes of a regular file. It is read
// as a stream, and nothing is kept of it.
func contentID(ctx context.Context, path string, size int64) (string, error) {
	// what was a file a moment ago may be a pipe now: opening it must not wait
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(until(ctx, f), size)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// reader is a function that reads.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// until reads until the context ends.
func until(ctx context.Context, in io.Reader) io.Reader {
	return reader(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return in.Read(p)
	})
}
