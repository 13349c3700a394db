package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/task"
	"github.com/belay-run/belay/worktree"
)

// before is the file with how the directory stood when the run began to work in it.
func (r runPlace) before() string { return r.list("before") }

// lookBefore writes down how a directory that is the user's stands before the first round,
// and keeps what is not committed there until it is known that none of it was taken away. The
// files that an operation changes are its work.
func (r runPlace) lookBefore(ctx context.Context, first bool, kind string) error {
	b, err := r.readBefore()
	if errors.Is(err, os.ErrNotExist) && first {
		tree := worktree.Tree{Dir: ".", Skip: []string{r.state}, Secret: r.secretIn()}
		ref := worktree.SnapshotRef(r.run, "rounds", 1) + "-base"
		if kind == string(task.Operations) {
			ref = ""
		}
		b, err = worktree.FoundIn(ctx, tree, ref)
		if err == nil {
			err = r.writeBefore(b)
		}
	}
	if err != nil {
		if errors.Is(err, os.ErrNotExist) { // an earlier Belay began it
			return nil
		}
		return err
	}
	return b.Keep(ctx, "belay: what was not committed when run "+string(r.run)+" began")
}

func (r runPlace) writeBefore(b worktree.Before) error {
	text, err := b.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(r.before(), text, 0o600)
}

func (r runPlace) readBefore() (worktree.Before, error) {
	text, err := os.ReadFile(r.before())
	if err != nil {
		return worktree.Before{}, err
	}
	return worktree.ReadBefore(text, ".")
}

// sinceBefore says what is not as it was when the run began, and whoever works in the
// files of somebody else leaves alone: uncommitted work, branches, settings. lost are the
// files of which such work is gone.
func (r runPlace) sinceBefore(ctx context.Context, l *looked, kind string) (notes []string, err error) {
	b, err := r.readBefore()
	if errors.Is(err, os.ErrNotExist) { // an earlier Belay began it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	gone, replaced, err := b.Taken(ctx, l.Commit)
	if err != nil { // an agent may have thrown away what was kept of it
		notes = append(notes, "warning: whether uncommitted work in "+here()+" was taken away is not known: "+err.Error())
	}
	l.Lost = append(append(l.Lost, gone...), replaced...)
	for _, lost := range []struct {
		paths []string
		how   string
	}{{gone, "bring it back"}, {replaced, "bring it back, in the place of what is there now"}} {
		for some := range slices.Chunk(lost.paths, shownPaths) { // a line that is too long is cut
			back := gitThere() + " checkout " + story.Quote(b.Ref) + " --"
			for _, path := range some {
				back += " " + story.Quote(":/"+path)
			}
			notes = append(notes, fmt.Sprintf("warning: an agent took away uncommitted work of %s; %s: %s", named(some), lost.how, back))
		}
	}
	moved, err := b.Moved(ctx, r.state)
	if err != nil {
		return append(notes, "warning: whether something changed in "+here()+" itself is not known: "+err.Error()), nil
	}
	if len(moved) == 0 {
		return notes, nil
	}
	words := story.UserCheckout{UserCheckout: effect.UserCheckout{Dir: here(), Changed: moved}}
	look := strings.Join(words.Look(), "; ")
	if look != "" { // a hook shows itself
		look = "; look: " + look
	}
	if kind == string(task.QandA) || kind == string(task.Investigation) {
		if l.Against == "" {
			l.Against = fmt.Sprintf("something changed in %s, where nothing was to be changed%s; changed: %s", here(), look, named(moved)) // what is too long is cut at the end
		}
		return notes, nil
	}
	return append(notes, "warning: "+words.Words(shownBeside)+look), nil
}

// gitThere is git for the directory of the step, from anywhere.
func gitThere() string { return "git -C " + story.Quote(here()) }

// secretIn finds the secrets of the environment, nil when there are none.
func (r runPlace) secretIn() func(io.Reader) bool {
	var names []string
	if cfg, err := config.Load(r.environ); err == nil { // else those that are known by their names
		names = cfg.Secrets.Value
	}
	return redact.Values(redact.FromEnv(r.environ, names)).Finder()
}
