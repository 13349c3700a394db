package journal

import (
	"errors"
	"os"

	"github.com/belay-run/belay"
)

// Discard takes back a run that was created and has no record. One with
// records is closed and kept.
func (r *Run) Discard() error {
	if r.Seq() > 0 {
		return r.Close()
	}
	r.write.Lock()
	defer r.write.Unlock()
	// The lock goes last: whoever has it next must not lose a folder of its own.
	return errors.Join(r.closeFiles(), r.remove(), r.lock.release())
}

// Retract takes back a run that was written down and that nobody has ever driven: the
// caller, who has its lock, has seen that. One whose keeper stays is closed and kept.
func (s *State) Retract(r *Run) error {
	unlock, err := s.lockRuns()
	if err != nil {
		return errors.Join(err, r.Close())
	}
	defer unlock()
	if !keeperLeft(r.Folder) {
		return errors.Join(taken(r.ID), r.Close())
	}
	r.write.Lock()
	defer r.write.Unlock()
	if err := errors.Join(r.closeFiles(), r.remove(), r.lock.release()); err != nil {
		return err
	}
	return s.unlist(r.ID)
}

// AdoptBlob makes a file that the keeper wrote and synced a blob.
func (f Folder) AdoptBlob(path, sha string, size int64) (belay.Value, error) {
	to := f.BlobPath(sha)
	if err := os.Rename(path, to); err != nil {
		if _, statErr := os.Stat(to); statErr != nil { // not there from before a crash either
			return belay.Value{}, unwritten("keep output", to, err)
		}
	}
	if err := syncDir(f.in(blobsName)); err != nil {
		return belay.Value{}, err
	}
	return belay.Value{Sha: sha, Size: size}, nil
}
