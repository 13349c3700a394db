package journal

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// arrive enters a run with a driver and, unless it is 0, a keeper, and lets it
// work in /src.
func arrive(t *testing.T, s *State, id belay.RunID, driver, keeper int) {
	t.Helper()
	admitted(t, s, Claim{Run: id, Driver: someone(driver)})
	if keeper != 0 {
		must(t, s.SetKeeper(id, someone(keeper)))
	}
	must(t, s.Stay(id, string(id), "/src"))
}

// kept writes what the keeper of a run wrote, the last of it at a time.
func kept(t *testing.T, s *State, id belay.RunID, at time.Time, lines ...string) {
	t.Helper()
	must(t, os.MkdirAll(string(s.Folder(id)), 0o700))
	log := s.Folder(id).KeeperLog()
	must(t, os.WriteFile(log, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	must(t, os.Chtimes(log, at, at))
}

// others is who was beside a run of its own from a moment on.
func others(t *testing.T, s *State, from time.Time) string {
	t.Helper()
	found, err := s.Beside("me", "me", []string{"/src"}, from, time.Now())
	must(t, err)
	var names []string
	for _, id := range found {
		names = append(names, string(id))
	}
	return strings.Join(names, " ")
}

const (
	birthOfA = `{"birth":"a:s.1"}`
	exitOfA  = `{"exit":{"key":"a:s.1","began":true}}`
)

// A step that outlived its driver was at work until its keeper wrote its end.
// Where the keeper died over it, until somebody found nothing of it alive.
//
// promise: H3
func TestAStepWithoutADriver(t *testing.T) {
	ago, soon := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		at        time.Time
		lines     []string
		now, then string
	}{
		"ended after its driver":       {soon, []string{birthOfA, exitOfA}, "a", "a"},
		"ended before":                 {ago, []string{birthOfA, exitOfA}, "", ""},
		"nobody saw its end":           {ago, []string{birthOfA}, "a", ""},
		"one of two ended":             {ago, []string{`{"birth":"a:t.1"}`, birthOfA, exitOfA}, "a", ""},
		"swept before a second keeper": {ago, []string{birthOfA, `{"keeper":{"pid":7,"start":7,"boot":"b"},"epoch":2}`}, "", ""},
		"a long end":                   {ago, []string{birthOfA, `{"exit":{"key":"a:s.1","tail":"` + strings.Repeat("x", 200_000) + `"}}`}, "", ""},
		"nothing":                      {ago, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, dead := treeState(t)
			arrive(t, s, "a", 1, 2)
			kept(t, s, "a", c.at, c.lines...)
			if got := others(t, s, time.Now()); got != "a" {
				t.Errorf("while it lives: %q", got)
			}
			dead[1] = true
			if got := others(t, s, time.Now()); got != "a" {
				t.Errorf("while its keeper lives: %q", got)
			}
			dead[2] = true
			if got := others(t, s, time.Now()); got != c.now {
				t.Errorf("after both died: %q, want %q", got, c.now)
			}
			if got := others(t, s, time.Now()); got != c.then {
				t.Errorf("asked again: %q, want %q", got, c.then)
			}
		})
	}
}

// A run is there while anything lives that carries its mark, whoever died.
//
// promise: H3
func TestAnOrphanIsThere(t *testing.T) {
	s, dead := treeState(t)
	arrive(t, s, "a", 1, 2)
	kept(t, s, "a", time.Now(), birthOfA)
	mark := "a-0123456789abcdef"
	must(t, os.WriteFile(string(s.Folder("a"))+"/mark", []byte(mark), 0o600))
	orphan := exec.Command("cat")
	orphan.Env = append(os.Environ(), "BELAY_MARK="+mark)
	in, err := orphan.StdinPipe()
	must(t, err)
	must(t, orphan.Start())
	dead[1], dead[2] = true, true
	for range 2 {
		if got := others(t, s, time.Now()); got != "a" {
			t.Errorf("while it lives: %q", got)
		}
	}
	must(t, in.Close())
	must(t, orphan.Wait())
	if got := others(t, s, time.Now()); got != "a" {
		t.Errorf("when it was first seen to be gone: %q", got)
	}
	if got := others(t, s, time.Now()); got != "" {
		t.Errorf("later: %q", got)
	}
}

// A driver that goes while its keeper still holds a step does not take the run
// with it.
//
// promise: H3
func TestLeavingAStepBehind(t *testing.T) {
	s, dead := treeState(t)
	arrive(t, s, "a", 1, 2)
	kept(t, s, "a", time.Now(), birthOfA)
	must(t, s.Leave("a"))
	if got := others(t, s, time.Now()); got != "a" {
		t.Errorf("while the keeper lives: %q", got)
	}
	dead[2] = true
	kept(t, s, "a", time.Now(), birthOfA, exitOfA)
	if got := others(t, s, time.Now().Add(time.Minute)); got != "" {
		t.Errorf("after it: %q", got)
	}
}

// Who begins to work where somebody died is not held up by the doubt about it.
//
// promise: H3
func TestTheDeadAreNotedBeforeOthersBegin(t *testing.T) {
	s, dead := treeState(t)
	arrive(t, s, "a", 1, 2)
	kept(t, s, "a", time.Now(), birthOfA)
	dead[1], dead[2] = true, true
	arrive(t, s, "me", 3, 4)
	if got := others(t, s, time.Now()); got != "" {
		t.Errorf("beside: %q", got)
	}
}

// A run that is resumed was not there in between, unless its keeper was.
//
// promise: H3
func TestResumedRunsWereAway(t *testing.T) {
	for name, gone := range map[string]bool{"its keeper died too": true, "its keeper went on": false} {
		t.Run(name, func(t *testing.T) {
			s, dead := treeState(t)
			arrive(t, s, "a", 1, 2)
			ago := time.Now().Add(-time.Hour)
			kept(t, s, "a", ago, birthOfA, exitOfA)
			must(t, s.change("set clock back", func(c *sqlite3.Conn) error {
				return run(c, "UPDATE stays SET began = ?", ago.Add(-time.Minute))
			}))
			dead[1], dead[2] = true, gone
			keeper := 2
			if gone {
				keeper = 6
			}
			arrive(t, s, "a", 5, keeper)
			from, to := ago.Add(time.Minute), ago.Add(30*time.Minute)
			found, err := s.Beside("me", "me", []string{"/src"}, from, to)
			must(t, err)
			if slices.Contains(found, "a") == gone {
				t.Errorf("in between: %q", found)
			}
			if got := others(t, s, time.Now()); got != "a" {
				t.Errorf("now: %q", got)
			}
			n := int64(0)
			must(t, s.inIndex("count", func(c *sqlite3.Conn) (err error) {
				n, err = askInt(c, "SELECT count(*) FROM stays WHERE ended = 0")
				return err
			}))
			if n != 1 {
				t.Errorf("%d open stays of one run in one place", n)
			}
		})
	}
}

// What nobody needs any more goes, wherever it was and whoever died there.
//
// promise: H3
func TestOldStaysGo(t *testing.T) {
	s := newState(t)
	must(t, s.change("fill", func(c *sqlite3.Conn) error {
		return first(run(c, "INSERT INTO stays VALUES ('old', 't', '/gone/1', 1, 2)"),
			run(c, "INSERT INTO stays VALUES ('dead', 't', '/gone/2', 1, 0)"))
	}))
	must(t, s.Stay("me", "me", "/src"))
	must(t, s.inIndex("count", func(c *sqlite3.Conn) error {
		n, err := askInt(c, "SELECT count(*) FROM stays")
		if n != 1 {
			t.Errorf("%d stays are kept", n)
		}
		return err
	}))
}

// A thousand sessions of the same tree are read once: the tree is looked at for
// all of them together.
//
// promise: H3
func TestManyKinAreQuick(t *testing.T) {
	s := newState(t)
	const n = 2000
	now := time.Now()
	must(t, s.change("fill", func(c *sqlite3.Conn) error {
		err := putSession(c, Member{Run: "root", Session: belay.Session{Tree: "root"}, Started: now})
		for i := 0; i < n && err == nil; i++ {
			id := belay.RunID(fmt.Sprintf("r%04d", i))
			err = first(putSession(c, Member{Run: id, Session: belay.Session{Tree: "root", Parent: "root", Depth: 1}, Started: now}),
				run(c, "INSERT INTO stays VALUES (?,?,?,?,?)", id, "root", "/src", now, now.Add(time.Hour)))
		}
		return err
	}))
	best := time.Hour // of several: a machine that stands still stands still for one of them
	for range 3 {
		began := time.Now()
		found, err := s.Beside("root", "root", []string{"/src"}, now, now.Add(time.Hour))
		must(t, err)
		if best = min(best, time.Since(began)); len(found) > 0 {
			t.Errorf("kin are others: %q", found)
		}
	}
	if best > 2*time.Second { // one by one it is more than ten
		t.Errorf("it took %s", best)
	}
}
