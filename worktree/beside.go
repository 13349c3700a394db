package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// maxBeside is how many bytes are kept of what is not committed in a checkout that nobody
// is to work in. Only tests set it.
var maxBeside = int64(256 << 20)

// errTooMuch is given where more than that is not committed.
var errTooMuch = errors.New("too much is not committed")

// besideRef is the name for what was not committed in the checkout of the user when the
// agents of a run began to work in worktrees. No attempt has it: those end in a number.
func besideRef(run belay.RunID) string { return refRoot + refPart(string(run)) + "/uncommitted" }

const besideMessage = "belay: what was not committed when the run began"

// KeepBeside looks at what is not committed in a checkout, and keeps it under besideRef,
// before agents work in worktrees of its repository. That there is no copy is no error: then
// Why says it.
func KeepBeside(ctx context.Context, t Tree, run belay.RunID) Before {
	b := Before{dir: t.Dir}
	t.most = maxBeside
	s, err := t.look(ctx, 0)
	switch {
	case errors.Is(err, errTooMuch):
		b.Why = fmt.Sprintf("more than %d MiB were not committed", maxBeside>>20)
	case err != nil:
		b.Why = err.Error()
	case s.Repo && s.Dirty:
		b.State, b.Ref = s, besideRef(run)
		if err := b.Keep(ctx, besideMessage); err != nil {
			b.Ref, b.Why = "", err.Error()
		}
	}
	return b
}

// TakenBeside is what is not there any more of what was not committed.
type TakenBeside struct {
	Gone     []string // files that are not there
	Replaced []string // files that are there, as other ones
	NoCopy   []string // of either, those that were not kept
}

// BesideSince looks what is gone since KeepBeside. Where nothing is, nothing is kept any more.
func (b *Before) BesideSince(ctx context.Context, t Tree) (TakenBeside, error) {
	var all TakenBeside
	if b.Ref == "" {
		return all, nil
	}
	b.dir = t.Dir
	p, err := find(ctx, t.Git, t.Dir)
	if err != nil {
		return all, err
	}
	// an agent may have taken away the name, and the files are still there
	if err := b.Keep(ctx, besideMessage); err != nil {
		return all, err
	}
	now, err := t.look(ctx, 0)
	if err != nil {
		return all, err
	}
	gone, replaced, err := b.takenFrom(ctx, p, now.Tree)
	if err != nil {
		return all, err
	}
	all.Replaced = replaced
	for _, path := range gone {
		same, err := b.onDisk(ctx, p, path)
		switch {
		case err != nil:
			return all, err
		case same == nil:
			all.Gone = append(all.Gone, path)
		case !*same:
			all.Replaced = append(all.Replaced, path)
		}
	}
	slices.Sort(all.Replaced)
	if all.NoCopy, err = p.unkeptSince(ctx, b.State.Tree, now.Tree); err != nil {
		return all, err
	}
	if len(all.Gone)+len(all.Replaced) == 0 {
		err = t.DropSnapshot(ctx, b.Ref, "")
	}
	return all, err
}

// onDisk tells whether a file that a look at the tree did not find has its uncommitted work:
// it may be ignored by now. One that is not kept counts as the same, because nobody reads
// it. nil = there is none.
func (b *Before) onDisk(ctx context.Context, p place, path string) (*bool, error) {
	full := filepath.Join(p.top, path)
	fi, err := os.Lstat(full)
	if err != nil || behindLink(p.top, path) || fi.IsDir() {
		return nil, nil //nolint:nilerr,nilnil // there is no such file
	}
	same := !fi.Mode().IsRegular() || fi.Size() > maxContent || !readable(full)
	if !same {
		was, err := p.line(ctx, "rev-parse", "--verify", "--end-of-options", b.Ref+":"+path)
		if err != nil {
			return nil, err
		}
		now, err := p.line(ctx, "-C", p.top, "hash-object", "--", path)
		if err != nil {
			return nil, err
		}
		same = was == now
	}
	return &same, nil
}

// unkeptSince are the files that were not kept, and that are gone or other ones now.
func (p place) unkeptSince(ctx context.Context, was, now string) ([]string, error) {
	edits, err := p.edits(ctx, was, now)
	var list []string
	for _, d := range edits {
		path, stub := strings.CutPrefix(d.path, unkeptRoot+"/")
		// without a line about it now, a file that is there was committed, or is ignored
		if stub && d.was != "" && (d.now != "" || !exists(filepath.Join(p.top, path))) {
			list = append(list, path)
		}
	}
	return list, err
}

// bytesOf is the size of all files whose content is to be kept.
func (s shot) bytesOf(entries []entry) (sum int64) {
	for _, e := range entries {
		fi, err := os.Lstat(filepath.Join(s.top, e.path))
		if err == nil && !e.staged && fi.Mode().IsRegular() && fi.Size() <= maxContent {
			sum += fi.Size()
		}
	}
	return sum
}
