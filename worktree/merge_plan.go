package worktree

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/ondisk"
)

// plan is all that a merge is going to do. It is on disk before anything is
// done, and until everything is.
type plan struct {
	Key     string      `json:"key"`
	Ours    string      `json:"ours"`               // the files of the run's tree before
	Result  string      `json:"result"`             // and after
	Head    string      `json:"head"`               // its HEAD before
	Branch  string      `json:"branch,omitempty"`   // "" = detached
	NewHead string      `json:"new_head,omitempty"` // "" = it stays
	Commits []string    `json:"commits,omitempty"`
	Next    Base        `json:"next"` // what the worktree's later work is measured from
	Undo    bool        `json:"undo,omitempty"`
	Done    bool        `json:"done,omitempty"`
	Answer  MergeResult `json:"answer"`
	Puzzle  *puzzle     `json:"puzzle,omitempty"` // of a conflict that is put into the worktree
}

// planName is the file name of a key.
func planName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "merge-" + hex.EncodeToString(sum[:8])
}

// readPlan reads a plan, if there is one.
func readPlan(file, key string) (p plan, there bool, err error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("read the plan: %w", err)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, false, fmt.Errorf("read the plan %s: %w", file, err)
	}
	if p.Key != key {
		return p, false, fmt.Errorf("the plan %s is one of another merge", file)
	}
	return p, true, nil
}

// write puts the plan on disk.
func (p plan) write(file string) error {
	b, err := json.Marshal(p)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = writeSynced(file, b)
	}
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

// removePlan takes a plan away.
func removePlan(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the plan: %w", err)
	}
	return ondisk.Names(filepath.Dir(file))
}

// writeSynced puts a file on disk, whole or not at all.
func writeSynced(file string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use
		return err
	}
	return ondisk.Names(filepath.Dir(file))
}
