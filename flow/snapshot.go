package flow

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/statebytes"
)

// snapshotVersion is raised when a field of the state means something else than
// before. Which fields there are need not be said here: the shape of the types is
// a part of every snapshot.
const snapshotVersion = 1

// snapshotHead begins every snapshot: the version, and a fingerprint of the types.
var snapshotHead = pattern.Table(func() head {
	shape, err := statebytes.Shape[Tree]()
	return head{fmt.Sprintf("belay tree %d %s\n", snapshotVersion, shape), err}
})

// head is the beginning of a snapshot, or why there can be none.
type head struct {
	text string
	err  error
}

// UnusableWhy is why a snapshot cannot be used.
type UnusableWhy string

const (
	SnapshotOther   UnusableWhy = "other_version" // another Belay wrote it
	SnapshotDamaged UnusableWhy = "damaged"       // it is not what was written
	SnapshotForeign UnusableWhy = "foreign"       // it is of another run, or of recipes that are not there
)

// UnusableSnapshot says that a tree has to be built from its records.
type UnusableSnapshot struct {
	Why UnusableWhy
	Err error
}

func (e *UnusableSnapshot) Error() string { return fmt.Sprintf("snapshot: %s: %v", e.Why, e.Err) }

func (e *UnusableSnapshot) Unwrap() error { return e.Err }

// Folded is how many records the tree was folded from: a tree that was restored
// follows those after them.
func (t *Tree) Folded() int64 { return t.folded }

// Snapshot is the state of the tree as bytes: the same state is the same bytes.
// It is no record and replaces none. It saves the fold of the records so far, for
// the Belay that made it. It must be taken between turns.
func (t *Tree) Snapshot() ([]byte, error) {
	h := snapshotHead()
	if h.err != nil {
		return nil, h.err
	}
	b := statebytes.Append([]byte(h.text), t)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// Restore makes a tree of a snapshot. It is then as if it had been folded from the
// first Folded records; the later ones follow. Whatever keeps the snapshot from
// being used is an UnusableSnapshot, and the records are still there.
func Restore(root belay.RunID, lib Library, snapshot []byte) (*Tree, error) {
	h := snapshotHead()
	if h.err != nil {
		return nil, h.err
	}
	end := len(snapshot) - sha256.Size
	switch {
	case end < 0 || sha256.Sum256(snapshot[:end]) != [sha256.Size]byte(snapshot[end:]):
		return nil, &UnusableSnapshot{SnapshotDamaged, errors.New("its bytes are not those that were written")}
	case !bytes.HasPrefix(snapshot[:end], []byte(h.text)):
		return nil, &UnusableSnapshot{SnapshotOther, errors.New("another version of belay wrote it")}
	}
	t := NewTree(root, lib)
	if err := statebytes.Read(snapshot[len(h.text):end], t); err != nil {
		return nil, &UnusableSnapshot{SnapshotDamaged, err}
	}
	if t.root != root {
		return nil, &UnusableSnapshot{SnapshotForeign, fmt.Errorf("it is of run %s", t.root)}
	}
	for _, s := range t.born {
		if err := s.restored(t); err != nil {
			return nil, &UnusableSnapshot{SnapshotForeign, err}
		}
	}
	return t, nil
}

// restored adds to a run of a snapshot what follows from the rest of it.
func (s *State) restored(t *Tree) error {
	s.tree, s.lib = t, t.lib
	t.suspect(s)
	t.rope(s)
	if s.vars == nil {
		return nil // not begun
	}
	prog := s.lib.Recipes[s.started.Recipe]
	if prog == nil {
		return fmt.Errorf("run %s: recipe %.12s is not among the frozen ones", s.id, s.started.Recipe)
	}
	s.vars.known = map[string]any{}
	prog, err := s.shape(prog, s.started, s.vars.vars)
	if err != nil {
		return err
	}
	if len(s.steps) != len(prog.Steps) {
		return fmt.Errorf("run %s: it has %d steps, its recipe %d", s.id, len(s.steps), len(prog.Steps))
	}
	s.prog = prog
	s.places = s.placings(s.started)
	s.wire()
	return nil
}
