package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// LockName is the file of a git directory that Belays lock each other out with.
const LockName = "belay.lock"

const (
	lockWait   = time.Minute // for another Belay to finish with the repository
	lockPause  = 20 * time.Millisecond
	tries      = 5 // of a call that may find one of git's own locks taken
	firstPause = 20 * time.Millisecond
)

// lock keeps other Belays from making or removing worktrees of a repository.
// It goes away with the process. The file stays: a lock on a removed file locks
// nobody out.
func lock(ctx context.Context, common string) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return lockSoon(ctx, common)
}

// lockSoon is lock for who waits as long as the context lets it.
func lockSoon(ctx context.Context, common string) (func(), error) {
	f, err := os.OpenFile(filepath.Join(common, LockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the repository's lock: %w", err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // nothing was written
		}
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			err = pause(ctx, lockPause)
		}
		if err != nil {
			_ = f.Close() // nothing was written
			return nil, fmt.Errorf("take the repository's lock: %w", err)
		}
	}
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// patient calls git again when it fails: another git may hold one of its locks
// for a moment, and which failure that is only its words would tell.
func (g git) patient(ctx context.Context, args ...string) error {
	return g.patientFeed(ctx, "", args...)
}

// patientFeed is patient, with something on git's stdin.
func (g git) patientFeed(ctx context.Context, stdin string, args ...string) error {
	wait := firstPause
	for n := 1; ; n++ {
		_, err := g.feed(ctx, []byte(stdin), args...)
		if err == nil || n == tries {
			return err
		}
		if pause(ctx, wait) != nil {
			return err
		}
		wait *= 2
	}
}

// Alone keeps other Belays with the same state from working in the tree of a
// directory for as long as the process lives; free is false while another does.
// The locks are files in a folder of the state.
func Alone(folder, dir string) (release func(), free bool, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, false, fmt.Errorf("take the directory: %w", err)
	}
	sum := sha256.Sum256([]byte(Whole(dir)))
	f, err := os.OpenFile(filepath.Join(folder, hex.EncodeToString(sum[:8])), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("take the directory: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return func() { _ = f.Close() }, true, nil // nothing was written
	case errors.Is(err, syscall.EWOULDBLOCK):
		_ = f.Close() // nothing was written
		return nil, false, nil
	default:
		_ = f.Close() // nothing was written
		return nil, false, fmt.Errorf("take the directory: %w", err)
	}
}
