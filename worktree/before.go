package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// Before is how a directory of the user stood when a run began to work in it.
type Before struct {
	State belay.TreeState `json:"state"` // with what was not committed
	Parts Standing        `json:"parts,omitempty"`
	Ref   string          `json:"ref,omitempty"` // that keeps what was not committed
	Why   string          `json:"why,omitempty"` // there is no copy of what was not committed

	dir string
}

// FoundIn looks at a directory before a run works in it. In no repository there is nothing
// to see. The ref is the name for what is not committed; "" = nobody keeps that.
func FoundIn(ctx context.Context, t Tree, ref string) (Before, error) {
	b := Before{dir: t.Dir}
	if _, err := find(ctx, t.Git, t.Dir); err != nil {
		return b, nil //nolint:nilerr // no repository, or one that git cannot read: there is nothing to say
	}
	if ref != "" {
		if b.State = t.State(ctx); b.State.Error != "" {
			return b, fmt.Errorf("look at what is not committed: %s", b.State.Error)
		}
	}
	if b.State.Dirty {
		b.Ref = ref
	}
	parts, err := Stands(ctx, t.Dir, t.Skip...)
	b.Parts = parts
	return b, err
}

// ReadBefore reads what Bytes wrote.
func ReadBefore(text []byte, dir string) (b Before, err error) {
	b.dir = dir
	return b, json.Unmarshal(text, &b)
}

// Bytes is the look as a file holds it.
func (b *Before) Bytes() ([]byte, error) { return json.Marshal(b) }

// Keep keeps what was not committed under the ref, so that nobody can lose it.
func (b *Before) Keep(ctx context.Context, message string) error {
	if b.Ref == "" {
		return nil
	}
	_, err := Tree{Dir: b.dir}.Snapshot(ctx, b.State, b.Ref, message)
	return err
}

// Taken are the files of which uncommitted work is not in a commit that was made of the
// directory since, and those of them that are there, as another file. The work of a file
// is what it had more than the commit, by lines. Where all of it is there, nothing is kept
// any more.
func (b *Before) Taken(ctx context.Context, commit string) (gone, replaced []string, err error) {
	if b.Ref == "" || commit == "" {
		return nil, nil, nil
	}
	p, err := find(ctx, "", b.dir)
	if err != nil {
		return nil, nil, err
	}
	now, err := p.treeOf(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	gone, replaced, err = b.takenFrom(ctx, p, now)
	if err == nil && len(gone)+len(replaced) == 0 {
		err = Tree{Dir: b.dir}.DropSnapshot(ctx, b.Ref, "")
	}
	return gone, replaced, err
}

// takenFrom is Taken for the tree of all files as they are now.
func (b *Before) takenFrom(ctx context.Context, p place, now string) (gone, replaced []string, err error) {
	kept, err := p.line(ctx, "rev-parse", "--verify", "--end-of-options", b.Ref+"^{tree}")
	if err != nil {
		return nil, nil, err
	}
	head := p.emptyTree()
	if b.State.Head != "" {
		if head, err = p.treeOf(ctx, b.State.Head); err != nil {
			return nil, nil, err
		}
	}
	work, err := p.edits(ctx, head, kept)
	if err != nil {
		return nil, nil, err
	}
	since, err := p.edits(ctx, kept, now)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range work {
		at := slices.IndexFunc(since, func(d delta) bool { return d.path == w.path })
		if at < 0 || w.now == "" || linkedTree(w.now) {
			continue
		}
		moved := slices.ContainsFunc(since, func(d delta) bool { return d.now == w.now })
		if moved || since[at].now != "" && p.wentOn(ctx, w, since[at].now) {
			continue
		}
		if since[at].now == "" {
			gone = append(gone, w.path)
		} else {
			replaced = append(replaced, w.path)
		}
	}
	return gone, replaced, nil
}

// wentOn tells whether a file still has all lines that were not committed in it. One that
// is no text has its work only as long as it is the same file.
func (p place) wentOn(ctx context.Context, work delta, now string) bool {
	if now == work.was {
		return false
	}
	texts := make([]map[string]int, 3)
	for i, entry := range []string{work.was, work.now, now} {
		_, id, _ := strings.Cut(entry, " ")
		if texts[i] = map[string]int{}; id == "" {
			continue
		}
		text, err := p.run(ctx, "cat-file", "blob", id)
		if err != nil || int64(len(text)) > maxContent || strings.ContainsRune(text, 0) {
			return false
		}
		for l := range strings.Lines(text) {
			if l = strings.TrimSpace(l); l != "" {
				texts[i][l]++
			}
		}
	}
	for l, n := range texts[1] {
		if n > texts[0][l] && texts[2][l] < n {
			return false
		}
	}
	return true
}

// Moved is what stands otherwise in the repository since: settings, hooks, branches and
// what is checked out. Commits on top of the branch that was checked out are not in it.
func (b *Before) Moved(ctx context.Context, skip ...string) ([]string, error) {
	if b.Parts == nil {
		return nil, nil
	}
	parts, err := Stands(ctx, b.dir, skip...)
	if err != nil {
		return nil, err
	}
	on := b.Parts.Branch()
	was, now := b.Parts.Kept(), parts.Kept()
	was[headName], now[headName] = b.Parts[headName], parts[headName]
	if on == parts.Branch() {
		p, err := find(ctx, "", b.dir)
		if err != nil {
			return nil, err
		}
		from, _, _ := strings.Cut(was[headName], " ")
		to, _, _ := strings.Cut(now[headName], " ")
		after := from == ""
		if !after && to != "" {
			after, err = p.descends(ctx, from, to)
		}
		if err != nil {
			return nil, err
		}
		for _, parts := range []Standing{was, now} {
			if on != "" || after {
				delete(parts, headName) // the branch says it
			}
			if after {
				delete(parts, on)
			}
		}
	}
	return now.Since(was), nil
}
