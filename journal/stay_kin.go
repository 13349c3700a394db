package journal

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// family is the sessions of one tree, seen from one of them.
type family struct {
	id     belay.RunID
	parent map[belay.RunID]belay.RunID
	above  map[belay.RunID]bool
}

// familyOf reads a tree of sessions, once for all questions about it.
func familyOf(c *sqlite3.Conn, id belay.RunID, tree string) (family, error) {
	members, err := membersOf(c, "tree = ?", tree)
	f := family{id: id, parent: map[belay.RunID]belay.RunID{}, above: map[belay.RunID]bool{}}
	for _, m := range members {
		f.parent[m.Run] = m.Session.Parent
	}
	for up := f.parent[id]; up != "" && !f.above[up]; up = f.parent[up] {
		f.above[up] = true
	}
	return f, err
}

// has tells whether a session belongs to this one: the one was started by the
// other, through any number of sessions between.
func (f family) has(other belay.RunID) bool {
	if f.above[other] {
		return true
	}
	for range len(f.parent) {
		if other = f.parent[other]; other == f.id || other == "" {
			break
		}
	}
	return other == f.id
}
