package journal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// Who worked in a place is found by the times, whoever asks and whenever: runs
// that are there, that have left since, and that died without a word.
//
// promise: H3
func TestBeside(t *testing.T) {
	s, dead := treeState(t)
	enter := func(id string, pid int, parent string) {
		t.Helper()
		c := Claim{Run: belay.RunID(id), Driver: someone(pid)}
		c.Env.Tree = parent
		place, err := s.Enter(c)
		must(t, err)
		must(t, s.Stay(belay.RunID(id), place.Tree, "/src"))
	}
	before := time.Now()
	enter("gone", 10, "")
	must(t, s.Leave("gone"))
	enter("killed", 11, "")
	dead[11] = true
	from := time.Now()
	enter("me", 1, "")
	enter("there", 2, "")
	enter("left", 3, "")
	must(t, s.Leave("left"))
	enter("child", 4, "me")
	enter("grandchild", 5, "child")
	must(t, s.Stay("there", "there", "/other", "/third"))
	to := time.Now()
	enter("late", 6, "")
	for name, c := range map[string]struct {
		id, tree, place string
		from, to        time.Time
		want            string
	}{
		"while it ran":           {"me", "me", "/src", from, to, "left there"},
		"to this day":            {"me", "me", "/src", from, time.Now(), "late left there"},
		"from before":            {"me", "me", "/src", before, to, "gone killed left there"},
		"for a child":            {"grandchild", "me", "/src", from, to, "left there"},
		"for another":            {"there", "there", "/src", from, to, "child grandchild left me"},
		"somewhere else":         {"me", "me", "/other", from, to, "there"},
		"the second place":       {"me", "me", "/third", from, to, "there"},
		"one of two":             {"me", "me", "/nowhere /src /other", from, to, "left there"},
		"where nobody ever was":  {"me", "me", "/nowhere", from, to, ""},
		"before anybody was":     {"me", "me", "/src", before.Add(-2 * time.Hour), before.Add(-time.Hour), ""},
		"one that does not work": {"idle", "idle", "/other", from, to, "there"},
	} {
		got, err := s.Beside(belay.RunID(c.id), c.tree, strings.Fields(c.place), c.from, c.to)
		must(t, err)
		var names []string
		for _, r := range got {
			names = append(names, string(r))
		}
		if strings.Join(names, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, names, c.want)
		}
	}
}

// Two sessions that the same run started are others to each other.
//
// promise: H3
func TestBesideASister(t *testing.T) {
	s, _ := treeState(t)
	from := time.Now()
	for i, id := range []belay.RunID{"root", "one", "two"} {
		c := Claim{Run: id, Driver: someone(i + 1)}
		if id != "root" {
			c.Env.Tree = "root"
		}
		_, err := s.Enter(c)
		must(t, err)
		must(t, s.Stay(id, "root", "/src"))
	}
	got, err := s.Beside("one", "root", []string{"/src"}, from, time.Now())
	must(t, err)
	if !slices.Equal(got, []belay.RunID{"two"}) {
		t.Errorf("beside one: %q", got)
	}
}

// A thousand runs that worked in the same place before cost nothing: none of
// them is looked at.
//
// promise: H3
func TestBesideDoesNotScan(t *testing.T) {
	s := newState(t)
	must(t, s.change("fill", func(c *sqlite3.Conn) error {
		for i := range 1000 {
			if err := run(c, "INSERT INTO stays VALUES (?,?,?,?,?)", fmt.Sprint("old", i), "t", "/src", int64(i+1), int64(i+2)); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, s.inIndex("look", func(c *sqlite3.Conn) error {
		list, err := staysIn(c, "me", "/src", time.Now(), time.Now())
		if len(list) != 0 {
			t.Errorf("%d old stays are looked at", len(list))
		}
		if err != nil {
			return err
		}
		n := 0
		err = each(c, "EXPLAIN QUERY PLAN "+besideQuery, []any{"/src", time.Now(), time.Now(), belay.RunID("me")}, func(q *sqlite3.Stmt) {
			switch plan := q.ColumnText(3); {
			case strings.HasPrefix(plan, "SCAN"):
				t.Errorf("the question is answered by %q", plan)
			case strings.Contains(plan, "stays_place (place=? AND ended"):
				n++
			}
		})
		if n != 2 {
			t.Errorf("%d halves of the question use the index", n)
		}
		return err
	}))
	must(t, s.Stay("me", "me", "/src"))
	must(t, s.inIndex("count", func(c *sqlite3.Conn) error {
		n, err := askInt(c, "SELECT count(*) FROM stays")
		if n != 1 {
			t.Errorf("%d stays are kept, and the old ones are of no use", n)
		}
		return err
	}))
}
