package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/worktree"
)

// maxConflicts is how many files in conflict a record names.
const maxConflicts = 50

// mergeOrder is what the process of a merge is told, in a file.
type mergeOrder struct {
	worktree.MergeOrder
	Report  string   // the file for what became of it
	Secrets []string // names of variables
}

// MergeOrder is the order for the work of a step to be brought back.
func (h Host) MergeOrder(j effect.Job) worktree.MergeOrder {
	return worktree.MergeOrder{
		Key: string(j.Merge.Key), Dir: h.Merges, Tree: j.Merge.Tree, Run: j.Run, Step: j.Path, Skip: h.Skip,
	}
}

func mergePath(files interface{ LogPath(belay.Key) string }, k belay.Key, what string) string {
	return strings.TrimSuffix(files.LogPath(k), ".log") + ".merge." + what
}

// PrepareMerge makes the process that brings isolated work back: this program,
// with an order. It is a process of its own so that it outlives the driver.
func PrepareMerge(j effect.Job, files Files, lim Limits, mask []string, h Host) (proc.Spawn, error) {
	order := mergeOrder{MergeOrder: h.MergeOrder(j), Report: mergePath(files, j.Key, "report"), Secrets: h.Secrets}
	if err := os.Remove(order.Report); err != nil && !errors.Is(err, os.ErrNotExist) { // of an attempt that was never born
		return proc.Spawn{}, &Fault{fault.Disk, err}
	}
	path := mergePath(files, j.Key, "order")
	b, err := json.Marshal(order)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		return proc.Spawn{}, &Fault{fault.Disk, fmt.Errorf("keep the order of the merge: %w", err)}
	}
	env, _, err := environment(j, files)
	if err != nil {
		return proc.Spawn{}, err
	}
	return proc.Spawn{
		Key: j.Key, Argv: slices.Concat(h.Self, []string{"mergeback", path}), Env: env, Dir: j.Dir,
		Log: files.LogPath(j.Key), Deadline: j.Timeout, Grace: max(lim.Grace, maxKill), Sync: true, Mask: mask, MaxLog: lim.MaxLog, MaxOut: lim.MaxOut,
	}, nil
}

// MergeBack does what an order for a merge says, and reports what became of it.
func MergeBack(ctx context.Context, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var order mergeOrder
	if err := json.Unmarshal(b, &order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	order.Secret = redact.Values(redact.FromEnv(os.Environ(), order.Secrets)).Finder()
	failpoint.Hit("mergeback.begun")
	r, err := worktree.Merge(ctx, order.MergeOrder)
	if err != nil {
		return err
	}
	failpoint.Hit("mergeback.before_report")
	m := effect.Merged{Outcome: effect.MergeOutcome(r.Outcome), Files: r.Count, Commits: r.Commits, Left: r.Left, Replaced: r.Replaced, Before: r.Before}
	for n, c := range r.Conflicts {
		if n == maxConflicts {
			m.More = len(r.Conflicts) - n
			break
		}
		m.Conflicts = append(m.Conflicts, effect.Conflict{Path: c.Path, Why: c.Why, Unkept: c.Unkept})
	}
	if b, err = json.Marshal(m); err != nil {
		return err
	}
	tmp := filepath.Clean(order.Report) + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, order.Report)
}

// merged is what the process of a merge reported, nil when it did not.
func merged(files interface{ LogPath(belay.Key) string }, k belay.Key) *effect.Merged {
	b, err := os.ReadFile(mergePath(files, k, "report"))
	if err != nil {
		return nil
	}
	var m effect.Merged
	if json.Unmarshal(b, &m) != nil {
		return nil
	}
	return &m
}
