package journal

import (
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
)

// unbegun makes what a driver leaves that is killed at some point before its
// first record.
func unbegun(t *testing.T, s *State, id belay.RunID, shape string) Folder {
	t.Helper()
	r, err := s.Create(id)
	must(t, err)
	must(t, r.Close())
	f := r.Folder
	gone := map[string][]string{
		"folder":  {inName, logsName, blobsName, lockName, beatName, journalName},
		"dirs":    {lockName, beatName, journalName},
		"lock":    {beatName, journalName},
		"journal": {beatName},
		"blank":   {beatName, journalName},
		"keeper":  {},
		"whole":   {},
	}[shape]
	for _, name := range gone {
		must(t, os.RemoveAll(f.in(name)))
	}
	switch shape {
	case "journal":
		must(t, os.Truncate(f.Journal(), 0))
	case "blank":
		c, err := disk{}.write(f.Journal())
		must(t, err)
		must(t, durable(c, f.Journal()))
		must(t, c.Close())
	case "keeper":
		must(t, os.WriteFile(f.KeeperLog(), nil, fileMode))
		must(t, os.WriteFile(f.KeeperLock(), nil, fileMode))
		must(t, s.NoteRun(Summary{ID: id, Name: "x", Status: belay.Running}))
	}
	return f
}

var shapes = []string{"folder", "dirs", "lock", "journal", "blank", "keeper", "whole"}

// A run that was killed before its first record keeps neither its id nor its
// folder, and is not called damaged, wherever it was killed.
func TestUnbegun(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes {
		t.Run(shape, func(t *testing.T) {
			s := newState(t)
			f := unbegun(t, s, "gone", shape)
			unbegun(t, s, "again", shape)
			if s.Begun("gone") {
				t.Error("it counts as begun")
			}
			if _, err := viewLoad(f); err != nil && exit.Code(err) == exit.Damaged && exists(f.Journal()) {
				t.Errorf("to read it: %v", err)
			}
			if v, err := s.View("gone"); err != nil {
				var never *Unbegun
				if !errors.As(err, &never) {
					t.Errorf("to open it: %v", err)
				}
			} else {
				must(t, v.Close())
			}
			if ids, err := s.Empties(); err != nil || !slices.Equal(ids, []belay.RunID{"again", "gone"}) {
				t.Errorf("listed: %v, %v", ids, err)
			}
			must(t, s.Clear("gone"))
			if exists(string(f)) {
				t.Error("it is still there")
			}
			if sums, err := s.Runs(); err != nil || slices.ContainsFunc(sums, func(x Summary) bool { return x.ID == "gone" }) {
				t.Errorf("the index still has it: %v, %v", sums, err)
			}
			r, err := s.Create("again")
			must(t, err)
			fillRun(t, r, 2)
			must(t, r.Close())
			if recs, err := viewLoad(r.Folder); err != nil || len(recs) != 2 {
				t.Errorf("a run in its place: %v, %v", recs, err)
			}
		})
	}
}

// What has a record, had one, or is driven is neither removed nor taken over.
func TestBegunStays(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*State, *Run){
		"a record":             func(_ *State, r *Run) { fillRun(t, r, 1); must(t, r.Close()) },
		"its journal was lost": func(_ *State, r *Run) { fillRun(t, r, 1); must(t, r.Close()); must(t, os.Remove(r.Journal())) },
		"its journal was emptied": func(_ *State, r *Run) {
			fillRun(t, r, 1)
			must(t, r.Close())
			must(t, os.Truncate(r.Journal(), 0))
		},
		"only a log is left": func(_ *State, r *Run) {
			must(t, r.Close())
			must(t, os.WriteFile(r.LogPath("r:a.1"), nil, fileMode))
		},
		"its keeper knows of attempts": func(_ *State, r *Run) {
			must(t, r.Close())
			must(t, os.WriteFile(r.KeeperLog(), []byte("{}\n"), fileMode))
		},
		"its keeper lives": func(_ *State, r *Run) {
			must(t, r.Close())
			f, err := os.Create(r.KeeperLock())
			must(t, err)
			t.Cleanup(func() { _ = f.Close() })
			must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
		},
		"it is driven": func(_ *State, r *Run) { t.Cleanup(func() { _ = r.Close() }) },
		"the index saw its end": func(s *State, r *Run) {
			must(t, r.Close())
			must(t, s.NoteRun(Summary{ID: r.ID, Status: belay.Achieved}))
		},
	} {
		s := newState(t)
		r, err := s.Create("r")
		must(t, err)
		make(s, r)
		if err := s.Clear("r"); err == nil {
			t.Errorf("%s: it was removed", name)
		}
		if _, err := s.Create("r"); !errors.Is(err, ErrExists) {
			t.Errorf("%s: its id: %v", name, err)
		}
		if !exists(string(r.Folder)) {
			t.Errorf("%s: its folder is gone", name)
		}
		ids, err := s.Empties()
		must(t, err)
		if len(ids) > 0 {
			t.Errorf("%s: listed as empty", name)
		}
	}
}
