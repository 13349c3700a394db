package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	s := newState(t)
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	me := self(t)
	r := newRun(t, s, 2)
	first := Summary{ID: r.ID, Name: "a", Dir: "/x", Status: belay.Running, Started: old, Updated: old, Driver: me}
	must(t, s.NoteRun(first))
	must(t, s.NoteRun(Summary{ID: "gone", Name: "b", Started: old.Add(time.Hour)}))
	first.Status, first.Code, first.Reason, first.Ended = belay.Failed, 1, "step build: it's broken", old.Add(time.Minute)
	must(t, s.NoteRun(first))
	got, err := s.Runs()
	must(t, err)
	if len(got) != 2 || got[0].ID != "gone" || !got[0].Gone || got[0].Beat != (Beat{}) {
		t.Fatalf("%+v", got)
	}
	if b := got[1].Beat; b.Seq != 2 || b.Driver() != me {
		t.Errorf("beat %+v", b)
	}
	got[1].Beat = Beat{}
	if got[1] != first {
		t.Errorf("%+v, want %+v", got[1], first)
	}
}

func TestCapsOnlyRise(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for _, c := range []struct{ give, want int64 }{{3, 3}, {2, 3}, {0, 3}, {7, 7}, {7, 7}} {
		if got, err := s.Ledger().RaiseCap("r", "restarts", c.give); got != c.want || err != nil {
			t.Errorf("raise to %d: %d, %v; want %d", c.give, got, err, c.want)
		}
	}
	must(t, s.Close())
	other, err := OpenState(s.Dir())
	must(t, err)
	defer other.Close()
	for key, want := range map[[2]string]int64{{"r", "restarts"}: 7, {"r", "steps"}: 0, {"q", "restarts"}: 0} {
		if got, err := other.Ledger().Cap(belay.RunID(key[0]), key[1]); got != want || err != nil {
			t.Errorf("cap %v: %d, %v; want %d", key, got, err, want)
		}
	}
}

// An index that is gone is told again from the journals; a damaged journal does
// not hide the others.
func TestMissingIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	s := newState(t)
	f := goldenFolder(t, 1)
	must(t, os.Rename(string(f), string(s.Folder("k3f9q"))))
	must(t, os.Chmod(string(s.Folder("k3f9q")), 0o700))
	live, err := s.Create("live")
	must(t, err)
	defer live.Close()
	_, err = live.Append([]event.Record{
		{Run: "live", Event: event.RunStarted{Name: "l", Session: &belay.Session{Tree: "k3f9q", Parent: "k3f9q", Depth: 1, MaxDepth: 3, MaxSessions: 10}}},
		{Run: "live", Event: event.RunAttached{Epoch: 1, Pid: s.self.Pid, Start: s.self.Start, Boot: s.self.Boot}},
		{Run: "live/a.1", Event: event.RunEnded{RunResult: belay.RunResult{Status: belay.Failed}}},
	})
	must(t, err)
	bad, badFolder := closed(t, s, 3)
	tamper(t, badFolder, "DELETE FROM records WHERE seq = 2")

	for _, how := range []string{"missing", "asked for"} {
		if how == "asked for" {
			must(t, s.NoteRun(Summary{ID: "k3f9q", Status: belay.Failed}))
			must(t, s.rebuild())
		}
		runs, err := s.Runs()
		must(t, err)
		got := map[belay.RunID]Summary{}
		for _, r := range runs {
			got[r.ID] = r
		}
		if g := got["k3f9q"]; g.Status != belay.Achieved || g.Reason != "all done" || g.Name != "golden" || g.Dir != "/src" || g.Driver.Pid != 42 || !g.Ended.Equal(golden()[5].At) {
			t.Errorf("%s: %+v", how, g)
		}
		if g := got["live"]; g.Status != belay.Running || g.Driver != s.self || !g.Ended.IsZero() {
			t.Errorf("%s: %+v", how, g)
		}
		if g := got[bad]; g.Code != exit.Damaged || g.Reason == "" || len(got) != 3 {
			t.Errorf("%s: %+v of %d", how, g, len(got))
		}
		tree, err := s.Ledger().Tree("k3f9q")
		must(t, err)
		if len(tree) != 2 || tree[0].Alive || !tree[1].Alive || tree[1].Session.Parent != "k3f9q" {
			t.Errorf("%s: %+v", how, tree)
		}
	}
}

// promise: X8
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"no database": func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("junk", 3000)), 0o600) },
		"cut":         func(p string) error { return os.Truncate(p, 5000) },
	} {
		dir := usedState(t)
		path := filepath.Join(dir, indexName)
		c, err := disk{}.write(path) // a log beside it would mend what is spoiled
		must(t, err)
		_, err = askInt(c, "PRAGMA user_version")
		must(t, err)
		must(t, closeSound(c))
		must(t, spoil(path))
		s, err := OpenState(dir)
		must(t, err)
		_, err = s.Runs()
		var refusal *Refused
		var coded *exit.Error
		if !errors.As(err, &refusal) || refusal.Path != path || exit.Code(err) != exit.Infra {
			t.Fatalf("%s: %v", name, err)
		}
		if errors.As(err, &coded); !strings.Contains(coded.Hint, "mv "+path) {
			t.Errorf("%s: the hint is %q", name, coded.Hint)
		}
		// The cure works.
		must(t, os.Rename(path, path+".bad"))
		if runs, err := s.Runs(); err != nil || len(runs) != 0 {
			t.Errorf("%s: after the cure: %v, %v", name, runs, err)
		}
		must(t, s.Close())
	}
}

func TestNewerIndex(t *testing.T) {
	t.Parallel()
	dir := usedState(t)
	s, err := OpenState(dir)
	must(t, err)
	defer s.Close()
	c, err := disk{}.write(s.indexPath())
	must(t, err)
	must(t, c.Exec("PRAGMA user_version = 99"))
	must(t, c.Close())
	var newer *TooNew
	if _, err := s.Ledger().Enter(ledger.Claim{Run: "a", Driver: proc.Identity{Pid: 1}}); !errors.As(err, &newer) {
		t.Errorf("an index of schema 99: %v", err)
	}
}

// Who asks for some statuses is given those runs alone.
func TestRunsByStatus(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for id, status := range map[belay.RunID]belay.Status{"a": belay.Achieved, "b": belay.Held, "c": belay.Hollow, "d": belay.Running} {
		must(t, s.NoteRun(Summary{ID: id, Status: status}))
	}
	for want, of := range map[string][]belay.Status{
		"abcd": nil, "b": {belay.Held}, "bcd": {belay.Running, belay.Hollow, belay.Held}, "": {belay.Failed},
	} {
		sums, err := s.Runs(of...)
		must(t, err)
		got := ""
		for _, sum := range sums {
			got += string(sum.ID)
		}
		if got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
}

// rebuild fills the index as if it had been lost.
func (s *State) rebuild() error { return s.change("rebuild index", s.fill) }

// The log of an index that was moved away is not taken for one of the next index.
func TestLogOfALostIndex(t *testing.T) {
	t.Parallel()
	dir := usedState(t)
	path := filepath.Join(dir, indexName)
	if fileSize(path+"-wal") == 0 {
		t.Fatal("a closed index has no log: nothing is shown here")
	}
	must(t, os.Rename(path, path+".bad"))
	s, err := OpenState(dir)
	must(t, err)
	if runs, err := s.Runs(); err != nil || len(runs) != 0 {
		t.Errorf("%v, %v", runs, err)
	}
	must(t, s.NoteRun(Summary{ID: "k3f9q", Status: belay.Failed}))
	must(t, s.Close())
	s, err = OpenState(dir)
	must(t, err)
	if runs, err := s.Runs(); err != nil || len(runs) != 1 {
		t.Errorf("%v, %v", runs, err)
	}
	must(t, s.Close())
}
