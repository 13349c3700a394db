package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
)

// playEnter enters a session as a real process would and says how it went. With
// a third argument it then starts a session below itself and passes on what
// that one says.
func playEnter(s *State, args []string) error {
	ancestors, err := proc.Ancestors(os.Getpid())
	if err != nil {
		return err
	}
	c := Claim{Run: belay.RunID(args[0]), Driver: s.self, Ancestors: ancestors}
	if len(args) > 1 && args[1] != "" { // a forged environment
		c.Env = Env{Tree: args[1], Depth: 0, MaxDepth: ptr(99), MaxSessions: ptr(99)}
	}
	place, err := s.Enter(c)
	var limit *Limit
	switch {
	case errors.As(err, &limit):
		fmt.Println("limit", limit.Kind, limit.Have, limit.Max)
	case err != nil:
		fmt.Println("error", err)
	default:
		fmt.Println("in", place.Tree, place.Parent, place.Depth)
	}
	if len(args) > 2 {
		if err := below(s.Dir(), args[2:]); err != nil {
			return err
		}
		fmt.Println("ended below", args[0])
	}
	waitForRelease()
	return nil
}

// below starts a child session and copies its first line.
func below(dir string, args []string) error {
	cmd := exec.Command(os.Args[0], append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), childVar+"=enter")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil { // its input is empty: it ends when it has spoken
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Println(lines.Text())
	}
	return cmd.Wait()
}

func ptr(n int) *int { return &n }

// someone is a process that the test declares alive or dead.
func someone(pid int) proc.Identity { return proc.Identity{Pid: pid, Start: uint64(pid), Boot: "test"} }

// tree is a state in which exactly the given pids are dead.
func treeState(t *testing.T) (*State, map[int]bool) {
	t.Helper()
	s := newState(t)
	dead := map[int]bool{0: true}
	s.dead = func(id proc.Identity) bool { return dead[id.Pid] }
	return s, dead
}

func enterAs(t *testing.T, s *State, c Claim) (belay.Session, *Limit) {
	t.Helper()
	place, err := s.Enter(c)
	var limit *Limit
	if err != nil && !errors.As(err, &limit) {
		t.Fatal(err)
	}
	return place, limit
}

// admitted enters a session that must find a place.
func admitted(t *testing.T, s *State, c Claim) {
	t.Helper()
	if _, limit := enterAs(t, s, c); limit != nil {
		t.Fatal(limit)
	}
}

// promise: G5
func TestDepthLimit(t *testing.T) {
	s, _ := treeState(t)
	var line []proc.Identity
	for depth := range 6 {
		id := belay.RunID(fmt.Sprintf("r%d", depth))
		place, limit := enterAs(t, s, Claim{Run: id, Driver: someone(10 + depth), Ancestors: line})
		if depth > DefaultMaxDepth {
			if limit == nil || *limit != (Limit{Kind: LimitDepth, Have: depth, Max: 3}) {
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
	tree, err := s.Tree("r2")
	must(t, err)
	if len(tree) != 4 {
		t.Errorf("a refused session is in the tree: %+v", tree)
	}
}

// promise: G3 G6
func TestAncestryBeatsEnvironment(t *testing.T) {
	s, _ := treeState(t)
	admitted(t, s, Claim{Run: "root", Driver: someone(1), MaxDepth: 2, MaxSessions: 4})
	admitted(t, s, Claim{Run: "stranger", Driver: someone(2)})
	must(t, s.SetKeeper("root", someone(3)))
	for name, env := range map[string]Env{
		"none":         {},
		"another tree": {Tree: "stranger"},
		"no such tree": {Tree: "invented"},
		"lower depth":  {Tree: "root", Depth: -7},
		"higher caps":  {MaxDepth: ptr(50), MaxSessions: ptr(50)},
	} {
		for _, parent := range []int{1, 3} { // the driver, or what the keeper started
			place, limit := enterAs(t, s, Claim{
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

// promise: G5 G6
func TestEnvironmentTightens(t *testing.T) {
	s, _ := treeState(t)
	admitted(t, s, Claim{Run: "root", Driver: someone(1)})
	for name, c := range map[string]struct {
		claim Claim
		want  belay.Session
		limit *Limit
	}{
		"known tree":       {Claim{Env: Env{Tree: "root"}}, belay.Session{Tree: "root", Parent: "root", Depth: 1, MaxDepth: 3, MaxSessions: 10}, nil},
		"deeper":           {Claim{Env: Env{Tree: "root", Depth: 3}}, belay.Session{Tree: "root", Parent: "root", Depth: 3, MaxDepth: 3, MaxSessions: 10}, nil},
		"too deep":         {Claim{Env: Env{Tree: "root", Depth: 4}}, belay.Session{}, &Limit{Kind: LimitDepth, Have: 4, Max: 3}},
		"alone, too deep":  {Claim{Env: Env{Depth: 4}}, belay.Session{}, &Limit{Kind: LimitDepth, Have: 4, Max: 3}},
		"tighter":          {Claim{Env: Env{MaxDepth: ptr(1), MaxSessions: ptr(2)}}, belay.Session{Tree: "new", MaxDepth: 1, MaxSessions: 2}, nil},
		"no children":      {Claim{Env: Env{Tree: "root", MaxDepth: ptr(0)}}, belay.Session{}, &Limit{Kind: LimitDepth, Have: 1, Max: 0}},
		"no sessions":      {Claim{Env: Env{MaxSessions: ptr(0)}}, belay.Session{}, &Limit{Kind: LimitSessions, Max: 0}},
		"malformed":        {Claim{Env: Env{Malformed: "BELAY_SESSION_DEPTH"}}, belay.Session{}, &Limit{Kind: LimitDepth, Have: 3, Max: 3, Malformed: "BELAY_SESSION_DEPTH"}},
		"own limits alone": {Claim{MaxDepth: 7, MaxSessions: 70}, belay.Session{Tree: "new", MaxDepth: 7, MaxSessions: 70}, nil},
	} {
		c.claim.Run, c.claim.Driver = "new", someone(5)
		place, limit := enterAs(t, s, c.claim)
		if place != c.want || (limit == nil) != (c.limit == nil) || limit != nil && *limit != *c.limit {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, place, limit, c.want, c.limit)
		}
		must(t, s.change("forget", func(q *sqlite3.Conn) error { return run(q, "DELETE FROM sessions WHERE run = 'new'") }))
	}
}

// promise: G3 G5
func TestSlotsAreFreedByProof(t *testing.T) {
	s, dead := treeState(t)
	admitted(t, s, Claim{Run: "root", Driver: someone(1), MaxSessions: 3})
	kid := func(n int) (belay.Session, *Limit) {
		return enterAs(t, s, Claim{Run: belay.RunID(fmt.Sprintf("kid%d", n)), Driver: someone(10 + n), Ancestors: []proc.Identity{someone(1)}})
	}
	for n := range 2 {
		if _, limit := kid(n); limit != nil {
			t.Fatal(limit)
		}
	}
	must(t, s.SetKeeper("kid0", someone(50)))
	full := Limit{Kind: LimitSessions, Have: 3, Max: 3}
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
	must(t, s.Leave("kid1"))
	if _, limit := kid(3); limit != nil {
		t.Fatalf("after one left: %v", limit)
	}
	// Another tree has slots of its own.
	if _, limit := enterAs(t, s, Claim{Run: "other", Driver: someone(99)}); limit != nil {
		t.Fatal(limit)
	}
}

// promise: G8
func TestTree(t *testing.T) {
	s, dead := treeState(t)
	admitted(t, s, Claim{Run: "root", Driver: someone(1)})
	admitted(t, s, Claim{Run: "kid", Driver: someone(2), Ancestors: []proc.Identity{someone(1)}})
	admitted(t, s, Claim{Run: "gone", Driver: someone(3), Ancestors: []proc.Identity{someone(1)}})
	admitted(t, s, Claim{Run: "other", Driver: someone(4)})
	dead[2] = true
	must(t, s.Leave("gone"))
	show := func(id belay.RunID) string {
		members, err := s.Tree(id)
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
	var none *Unknown
	if _, err := s.Tree("nobody"); !errors.As(err, &none) {
		t.Errorf("tree of nobody: %v", err)
	}
}

// A resumed run keeps its place, and does not get a better one by being resumed
// from deeper in another tree.
func TestResumedSession(t *testing.T) {
	s, _ := treeState(t)
	admitted(t, s, Claim{Run: "root", Driver: someone(1), MaxDepth: 2})
	admitted(t, s, Claim{Run: "kid", Driver: someone(2), Ancestors: []proc.Identity{someone(1)}})
	must(t, s.SetKeeper("kid", someone(9)))
	admitted(t, s, Claim{Run: "free", Driver: someone(3)})
	place, _ := enterAs(t, s, Claim{Run: "kid", Driver: someone(4), MaxDepth: 9})
	if place.Depth != 1 || place.Tree != "root" || place.MaxDepth != 2 {
		t.Errorf("resumed from a terminal: %+v", place)
	}
	place, _ = enterAs(t, s, Claim{Run: "free", Driver: someone(5), Ancestors: []proc.Identity{someone(4)}})
	if place.Depth != 2 || place.Tree != "root" || place.Parent != "kid" || place.MaxDepth != 2 {
		t.Errorf("resumed from a session: %+v", place)
	}
	members, err := s.Tree("kid")
	must(t, err)
	if m := members[1]; m.Driver != someone(4) || m.Keeper != someone(9) {
		t.Errorf("kid is %+v", m)
	}
}

// promise: G3
// Real processes: a child that forges its environment is found by ancestry.
func TestRealAncestry(t *testing.T) {
	s := newState(t)
	c := start(t, "enter", s.Dir(), "top", "", "mid", "forged", "low", "forged")
	for _, want := range []string{"in top  0", "in top top 1", "in top mid 2", "ended below mid", "ended below top"} {
		if got := c.line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c.kill()
	members, err := s.Tree("low")
	must(t, err)
	for _, m := range members {
		if m.Alive {
			t.Errorf("%s is said to live: %+v", m.Run, m)
		}
	}
}

// promise: G3, G5
// Eight processes race for the slots that are left; dead ones free theirs.
func TestRaceForSlots(t *testing.T) {
	s := newState(t)
	_, limit := enterAs(t, s, Claim{Run: "root", Driver: s.self, MaxSessions: 4}) // this process is their parent
	if limit != nil {
		t.Fatal(limit)
	}
	must(t, s.Close())
	for round := range 2 {
		var in, refused int
		var all []*child
		for n := range 8 {
			all = append(all, start(t, "enter", s.Dir(), fmt.Sprintf("kid%d-%d", round, n)))
		}
		for _, c := range all {
			switch line := c.line(); line {
			case "in root root 1":
				in++
			case "limit sessions 4 4":
				refused++
			default:
				t.Errorf("a child said %q", line)
			}
		}
		if in != 3 || refused != 5 {
			t.Errorf("round %d: %d came in and %d were refused, want 3 and 5", round, in, refused)
		}
		for _, c := range all {
			c.kill()
		}
	}
}

func TestProven(t *testing.T) {
	me := self(t)
	if proven(me) {
		t.Error("this process is said to be dead")
	}
	other := me
	other.Start++
	if !proven(other) || !proven(proc.Identity{}) {
		t.Error("a process with a pid that was used again is said to live")
	}
	other = me
	other.Boot = "another boot"
	if !proven(other) {
		t.Error("a process of another boot is said to live")
	}
}
