package hand

import (
	"context"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

// treeWithin bounds a look at a working tree.
const treeWithin = 2 * time.Minute

// since looks at a working tree: what changed since a state of it that is on
// record. It is asked when an agent was lost, and nobody saw what that left.
func (h *Hand) since(ctx context.Context, q effect.AskLook) effect.AnswerLook {
	ctx, cancel := context.WithTimeout(ctx, treeWithin)
	defer cancel()
	tree := worktree.Tree{Dir: q.Dir, Skip: h.Host.Skip, Guard: q.Guard, Secret: h.secretIn()}
	now := tree.State(ctx)
	switch {
	case q.Base == nil && q.Guard != nil && !now.Repo && now.Error == "": // the same as a base without a repository
		q.Base = &now
	case q.Base == nil && q.Guard == nil: // only the state is wanted
		if now.Error != "" {
			return effect.AnswerLook{Error: h.Clean(now.Error)}
		}
		return effect.AnswerLook{OK: true, Seen: &belay.Evidence{After: now}}
	case q.Base == nil:
		return effect.AnswerLook{Error: "there is nothing to compare with"}
	}
	e := tree.Since(ctx, *q.Base, now, nil)
	e.Error = h.Clean(e.Error)
	return effect.AnswerLook{OK: e.After.Error == "", Seen: &e}
}
