package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/worktree"
)

// eyes see the working tree of an agent.
type eyes struct {
	tree    worktree.Tree
	ref     string // where uncommitted work is kept
	message string
	shut    bool
}

func newEyes(o Order) eyes {
	return eyes{
		shut:    o.Blind,
		tree:    worktree.Tree{Dir: o.Dir, Skip: o.Skip, Guard: o.Guard, Secret: secretIn(o)},
		ref:     worktree.SnapshotRef(o.Run, o.Step, o.Attempt),
		message: fmt.Sprintf("belay: work of %s, attempt %d of %s in run %s", o.Name, o.Attempt, o.Step, o.Run),
	}
}

// secretIn finds the values of secret variables, nil when there are none. The
// shapes of tokens are not asked: a test's made-up key is no secret.
func secretIn(o Order) func(io.Reader) bool {
	return redact.Values(redact.FromEnv(os.Environ(), o.Secrets)).Finder()
}

// Before is the state of the tree.
func (e eyes) Before(ctx context.Context) (belay.TreeState, error) {
	if e.shut {
		return belay.TreeState{}, nil
	}
	p := e.tree.State(ctx)
	if p.Error != "" {
		return p, errors.New(p.Error)
	}
	if p.Repo && p.Dirty { // nothing that the agent does can lose it
		_, _ = e.tree.Snapshot(ctx, p, e.ref+baseSuffix, e.message+": what was there before") // tried again, and told, after the agent
	}
	return p, nil
}

// After is what happened since. Work that no commit holds is kept, so that
// nothing that comes later can lose it.
func (e eyes) After(ctx context.Context, base belay.TreeState, tools []belay.ToolCall) belay.Evidence {
	if e.shut {
		return belay.Evidence{}
	}
	now := e.tree.State(ctx)
	found := e.tree.Since(ctx, base, now, tools)
	e.keepEarlier(ctx, base, &found)
	if !now.Repo || now.Tree == "" || !now.Dirty || now.Tree == base.Tree {
		return found
	}
	if _, err := e.tree.Snapshot(ctx, now, e.ref, e.message); err != nil {
		if found.Error == "" {
			found.Error = err.Error()
		}
		return found
	}
	found.Snapshot = e.ref
	return found
}

// baseSuffix ends the ref of the uncommitted work that an attempt found.
const baseSuffix = "-base"

// keepEarlier keeps the work of before that the agent took back. Where it is
// still there, or in what the agent made of it, the snapshot of it goes.
func (e eyes) keepEarlier(ctx context.Context, base belay.TreeState, found *belay.Evidence) {
	if !base.Repo || !base.Dirty || base.Tree == "" {
		return
	}
	var err error
	if found.Error == "" && !found.TakenBack && len(found.Gone) == 0 {
		err = e.tree.DropSnapshot(ctx, e.ref+baseSuffix, "")
	} else if _, err = e.tree.Snapshot(ctx, base, e.ref+baseSuffix, e.message+": what was there before"); err == nil && (found.TakenBack || len(found.Gone) > 0) {
		found.Earlier = e.ref + baseSuffix
	}
	if err != nil && found.Error == "" {
		found.Error = err.Error()
	}
}
