package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

// someone is a process that the test declares alive or dead.
func someone(pid int) proc.Identity { return proc.Identity{Pid: pid, Start: uint64(pid), Boot: "test"} }

// tree is a state in which exactly the given pids are dead.
func treeState(t *testing.T) (*ledger.Ledger, map[int]bool) {
	t.Helper()
	led := open(t)
	dead := map[int]bool{0: true}
	led.Dead = func(id proc.Identity) bool { return dead[id.Pid] }
	return led, dead
}

func enterAs(t *testing.T, led *ledger.Ledger, c ledger.Claim) (belay.Session, *ledger.Limit) {
	t.Helper()
	place, err := led.Enter(c)
	var limit *ledger.Limit
	if err != nil && !errors.As(err, &limit) {
		t.Fatal(err)
	}
	return place, limit
}

// admitted enters a session that must find a place.
func admitted(t *testing.T, led *ledger.Ledger, c ledger.Claim) {
	t.Helper()
	if _, limit := enterAs(t, led, c); limit != nil {
		t.Fatal(limit)
	}
}

// promise: G5
func TestDepthLimit(t *testing.T) {
	led, _ := treeState(t)
	var line []proc.Identity
	for depth := range 6 {
		id := belay.RunID(fmt.Sprintf("r%d", depth))
		place, limit := enterAs(t, led, ledger.Claim{Run: id, Driver: someone(10 + depth), Ancestors: line})
		if depth > ledger.DefaultMaxDepth {
			if limit == nil || *limit != (ledger.Limit{Kind: ledger.LimitDepth, Have: depth, Max: 3}) {
				t.Fatalf("depth %d: %+v, %v", depth, place, limit)
			}
			break
		}
		if limit != nil || place.Depth != depth || place.Tree != "r0" || place.MaxDepth != 3 || place.MaxSessions != 10 {
			t.Fatalf("depth %d: %+v, %v", depth, place, limit)
		}
		if depth > 0 && place.Parent != belay.RunID(fmt.Sprintf("r%d", depth-1)) {
			t.Errorf("depth %d: parent %q", depth, place.Parent)
		}
		line = append([]proc.Identity{someone(900), someone(10 + depth)}, line...)
	}
	tree, err := led.Tree("r2")
	must(t, err)
	if len(tree) != 4 {
		t.Errorf("a refused session is in the tree: %+v", tree)
	}
}

// promise: G3 G6
func TestAncestryBeatsEnvironment(t *testing.T) {
	led, _ := treeState(t)
	admitted(t, led, ledger.Claim{Run: "root", Driver: someone(1), MaxDepth: 2, MaxSessions: 4})
	admitted(t, led, ledger.Claim{Run: "stranger", Driver: someone(2)})
	must(t, led.SetKeeper("root", someone(3)))
	for name, env := range map[string]ledger.Env{
		"none":         {},
		"another tree": {Tree: "stranger"},
		"no such tree": {Tree: "invented"},
		"lower depth":  {Tree: "root", Depth: -7},
		"higher caps":  {MaxDepth: ptr(50), MaxSessions: ptr(50)},
	} {
		for _, parent := range []int{1, 3} { // the driver, or what the keeper started
			place, limit := enterAs(t, led, ledger.Claim{
				Run: "kid", Driver: someone(20), Ancestors: []proc.Identity{someone(77), someone(parent)},
				MaxDepth: 9, MaxSessions: 9, Env: env,
			})
			want := belay.Session{Tree: "root", Parent: "root", Depth: 1, MaxDepth: 2, MaxSessions: 4}
			if limit != nil || place != want {
				t.Errorf("%s: %+v, %v; want %+v", name, place, limit, want)
			}
		}
	}
}

// Who makes a run and leaves it to a driver is above that driver, and no level of its own.
//
// promise: G3 G5
func TestDetachedIsNoLevel(t *testing.T) {
	led, _ := treeState(t)
	admitted(t, led, ledger.Claim{Run: "root", Driver: someone(1), MaxDepth: 1})
	must(t, led.SetKeeper("root", someone(2)))
	above := []proc.Identity{someone(2), someone(1)}
	want := belay.Session{Tree: "root", Parent: "root", Depth: 1, MaxDepth: 1, MaxSessions: ledger.DefaultMaxSessions}
	for driver, chain := range map[int][]proc.Identity{10: above, 11: append([]proc.Identity{someone(10)}, above...)} {
		admitted(t, led, ledger.Claim{Run: "kid", Driver: someone(10), Ancestors: above})
		place, limit := enterAs(t, led, ledger.Claim{Run: "kid", Driver: someone(driver), Ancestors: chain})
		if limit != nil || place != want {
			t.Errorf("driver %d: %+v, %v; want %+v", driver, place, limit, want)
		}
	}
}

// promise: G5 G6
func TestEnvironmentTightens(t *testing.T) {
	led, _ := treeState(t)
	admitted(t, led, ledger.Claim{Run: "root", Driver: someone(1)})
	for name, c := range map[string]struct {
		claim ledger.Claim
		want  belay.Session
		limit *ledger.Limit
	}{
		"known tree":       {ledger.Claim{Env: ledger.Env{Tree: "root"}}, belay.Session{Tree: "root", Parent: "root", Depth: 1, MaxDepth: 3, MaxSessions: 10}, nil},
		"deeper":           {ledger.Claim{Env: ledger.Env{Tree: "root", Depth: 3}}, belay.Session{Tree: "root", Parent: "root", Depth: 3, MaxDepth: 3, MaxSessions: 10}, nil},
		"too deep":         {ledger.Claim{Env: ledger.Env{Tree: "root", Depth: 4}}, belay.Session{}, &ledger.Limit{Kind: ledger.LimitDepth, Have: 4, Max: 3}},
		"alone, too deep":  {ledger.Claim{Env: ledger.Env{Depth: 4}}, belay.Session{}, &ledger.Limit{Kind: ledger.LimitDepth, Have: 4, Max: 3}},
		"tighter":          {ledger.Claim{Env: ledger.Env{MaxDepth: ptr(1), MaxSessions: ptr(2)}}, belay.Session{Tree: "new", MaxDepth: 1, MaxSessions: 2}, nil},
		"no children":      {ledger.Claim{Env: ledger.Env{Tree: "root", MaxDepth: ptr(0)}}, belay.Session{}, &ledger.Limit{Kind: ledger.LimitDepth, Have: 1, Max: 0}},
		"no sessions":      {ledger.Claim{Env: ledger.Env{MaxSessions: ptr(0)}}, belay.Session{}, &ledger.Limit{Kind: ledger.LimitSessions, Max: 0}},
		"malformed":        {ledger.Claim{Env: ledger.Env{Malformed: "BELAY_SESSION_DEPTH"}}, belay.Session{}, &ledger.Limit{Kind: ledger.LimitDepth, Have: 3, Max: 3, Malformed: "BELAY_SESSION_DEPTH"}},
		"own limits alone": {ledger.Claim{MaxDepth: 7, MaxSessions: 70}, belay.Session{Tree: "new", MaxDepth: 7, MaxSessions: 70}, nil},
	} {
		c.claim.Run, c.claim.Driver = "new", someone(5)
		place, limit := enterAs(t, led, c.claim)
		if place != c.want || (limit == nil) != (c.limit == nil) || limit != nil && *limit != *c.limit {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, place, limit, c.want, c.limit)
		}
		must(t, led.Store.Change("forget", func(c ledger.Tx) error { return c.Run("DELETE FROM sessions WHERE run = 'new'") }))
	}
}

// promise: G3 G5
func TestSlotsAreFreedByProof(t *testing.T) {
	led, dead := treeState(t)
	admitted(t, led, ledger.Claim{Run: "root", Driver: someone(1), MaxSessions: 3})
	kid := func(n int) (belay.Session, *ledger.Limit) {
		return enterAs(t, led, ledger.Claim{Run: belay.RunID(fmt.Sprintf("kid%d", n)), Driver: someone(10 + n), Ancestors: []proc.Identity{someone(1)}})
	}
	for n := range 2 {
		if _, limit := kid(n); limit != nil {
			t.Fatal(limit)
		}
	}
	must(t, led.SetKeeper("kid0", someone(50)))
	full := ledger.Limit{Kind: ledger.LimitSessions, Have: 3, Max: 3}
	if _, limit := kid(2); limit == nil || *limit != full {
		t.Fatalf("a fourth one: %v", limit)
	}
	dead[10] = true // the driver; its keeper lives and holds processes
	if _, limit := kid(2); limit == nil || *limit != full {
		t.Fatalf("with a living keeper: %v", limit)
	}
	dead[50] = true
	if _, limit := kid(2); limit != nil {
		t.Fatalf("after a proven death: %v", limit)
	}
	if _, limit := kid(3); limit == nil {
		t.Fatal("one death freed two slots")
	}
	must(t, led.Leave("kid1", true))
	if _, limit := kid(3); limit != nil {
		t.Fatalf("after one left: %v", limit)
	}
	// Another tree has slots of its own.
	if _, limit := enterAs(t, led, ledger.Claim{Run: "other", Driver: someone(99)}); limit != nil {
		t.Fatal(limit)
	}
}

// What is written down in a run that is over does not make it longer.
func TestASessionEndsOnce(t *testing.T) {
	led, _ := treeState(t)
	admitted(t, led, ledger.Claim{Run: "r", Driver: someone(1)})
	ended := func() time.Time {
		members, err := led.Tree("r")
		must(t, err)
		return members[0].Ended
	}
	must(t, led.Leave("r", false))
	first := ended()
	if first.IsZero() {
		t.Fatal("a session that was left goes on")
	}
	must(t, led.Leave("r", false))
	if again := ended(); !again.Equal(first) {
		t.Errorf("it ended at %v, and then at %v", first, again)
	}
	must(t, led.Leave("r", true))
	if later := ended(); !later.After(first) {
		t.Errorf("driven again, it ended at %v as before", later)
	}
}

// promise: G8
func TestTree(t *testing.T) {
	led, dead := treeState(t)
	admitted(t, led, ledger.Claim{Run: "root", Driver: someone(1)})
	admitted(t, led, ledger.Claim{Run: "kid", Driver: someone(2), Ancestors: []proc.Identity{someone(1)}})
	admitted(t, led, ledger.Claim{Run: "gone", Driver: someone(3), Ancestors: []proc.Identity{someone(1)}})
	admitted(t, led, ledger.Claim{Run: "other", Driver: someone(4)})
	dead[2] = true
	must(t, led.Leave("gone", true))
	show := func(id belay.RunID) string {
		members, err := led.Tree(id)
		must(t, err)
		var b strings.Builder
		for _, m := range members {
			fmt.Fprintf(&b, "%s<%s %d %v %v; ", m.Run, m.Session.Parent, m.Session.Depth, m.Alive, !m.Ended.IsZero())
		}
		return b.String()
	}
	const root = "root< 0 true false; kid<root 1 false false; gone<root 1 false true; "
	if got := show("kid"); got != root {
		t.Errorf("tree of kid: %s", got)
	}
	if got := show(""); got != "other< 0 true false; "+root {
		t.Errorf("all trees: %s", got)
	}
	if all, err := led.Tree("nobody"); err != nil || len(all) > 0 {
		t.Errorf("tree of nobody: %v, %v", all, err)
	}
}

// A resumed run keeps its place, and does not get a better one by being resumed
// from deeper in another tree.
func TestResumedSession(t *testing.T) {
	led, _ := treeState(t)
	admitted(t, led, ledger.Claim{Run: "root", Driver: someone(1), MaxDepth: 2})
	admitted(t, led, ledger.Claim{Run: "kid", Driver: someone(2), Ancestors: []proc.Identity{someone(1)}})
	must(t, led.SetKeeper("kid", someone(9)))
	admitted(t, led, ledger.Claim{Run: "free", Driver: someone(3)})
	place, _ := enterAs(t, led, ledger.Claim{Run: "kid", Driver: someone(4), MaxDepth: 9})
	if place.Depth != 1 || place.Tree != "root" || place.MaxDepth != 2 {
		t.Errorf("resumed from a terminal: %+v", place)
	}
	place, _ = enterAs(t, led, ledger.Claim{Run: "free", Driver: someone(5), Ancestors: []proc.Identity{someone(4)}})
	if place.Depth != 2 || place.Tree != "root" || place.Parent != "kid" || place.MaxDepth != 2 {
		t.Errorf("resumed from a session: %+v", place)
	}
	members, err := led.Tree("kid")
	must(t, err)
	if m := members[1]; m.Driver != someone(4) || m.Keeper != someone(9) {
		t.Errorf("kid is %+v", m)
	}
}

func ptr(n int) *int { return &n }
