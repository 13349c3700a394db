package journal

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// opened puts runs into the index, one line each: "id name work STATUS", the oldest
// first. A run that comes again is noted again.
func opened(t *testing.T, s *State, lines ...string) {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, l := range lines {
		f := strings.Fields(l)
		must(t, os.MkdirAll(string(s.Folder(belay.RunID(f[0]))), 0o700))
		sum := Summary{ID: belay.RunID(f[0]), Name: f[1], Dir: "/x", Work: strings.Trim(f[2], "-"), Status: belay.Status(f[3]), Started: at, Updated: at.Add(time.Duration(i) * time.Hour)}
		if sum.Started = sum.Updated; sum.Status.Terminal() {
			sum.Ended = sum.Updated
		}
		must(t, s.NoteRun(sum))
	}
}

// A run that did not reach its goal is open until the same work is achieved or a
// person has seen it; of several that failed at the same work the newest stands for all.
//
// promise: X
func TestOpenRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		seen  string
		want  string
	}{
		"achieved and cancelled are closed": {[]string{"a r w ACHIEVED", "b r w ABORTED"}, "", ""},
		"all others are open":               {[]string{"a r 1 FAILED", "b r 2 PARTIAL", "c r 3 HOLLOW", "d r 4 HELD", "e r 5 PAUSED", "f r 6 STOPPED", "g r 7 STALEMATE", "h r 8 NOT_ACHIEVED", "i r 9 PARKED", "j r 10 RUNNING"}, "", "j i h1 g1 f1 e d c1 b1 a1"},
		"another task is other work":        {[]string{"a do t1 FAILED", "b do t2 ACHIEVED"}, "", "a1"},
		"the same task, achieved later":     {[]string{"a do t1 PARTIAL", "b do t1 ACHIEVED"}, "", ""},
		"achieved before it failed":         {[]string{"a do t1 ACHIEVED", "b do t1 FAILED"}, "", "b1"},
		"one stands for all":                {[]string{"a r w FAILED", "b r w PARTIAL", "c r w FAILED"}, "", "c3"},
		"one that runs hides nothing":       {[]string{"a r w FAILED", "b r w RUNNING"}, "", "b a1"},
		"one that was cancelled neither":    {[]string{"a r w FAILED", "b r w ABORTED"}, "", "a1"},
		"what waits is not done by another": {[]string{"a r w HELD", "b r w PAUSED", "c r w ACHIEVED"}, "", "b a"},
		"of an older belay":                 {[]string{"a r - FAILED", "b r w ACHIEVED"}, "", ""},
		"a person has seen it":              {[]string{"a r w FAILED", "b r v FAILED"}, "a", "b1"},
		"seen, and noted once more":         {[]string{"a r w FAILED", "seen", "a r w FAILED"}, "a", ""},
		"seen, and failed again":            {[]string{"a r w FAILED", "seen", "a r w RUNNING", "a r w FAILED"}, "a", "a1"},
		"what waits cannot be seen away":    {[]string{"a r w HELD"}, "a", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newState(t)
			lines := c.lines
			for i, l := range lines {
				if l == "seen" {
					opened(t, s, lines[:i]...)
					must(t, s.Seen(belay.RunID(c.seen)))
					lines, c.seen = lines[i+1:], ""
				}
			}
			opened(t, s, lines...)
			if c.seen != "" {
				must(t, s.Seen(belay.RunID(c.seen)))
			}
			sums, err := s.OpenRuns()
			must(t, err)
			var got []string
			for _, sum := range sums {
				text := string(sum.ID)
				if sum.Times > 0 {
					text += fmt.Sprint(sum.Times)
				}
				got = append(got, text)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

// An index of an older Belay tells what is open by recipe and directory.
func TestOlderIndexTellsWhatIsOpen(t *testing.T) {
	t.Parallel()
	s := newState(t)
	opened(t, s, "a r - FAILED", "b r - ACHIEVED", "c r - FAILED", "d q - HELD")
	must(t, s.Close())
	c, err := disk{}.write(s.indexPath())
	must(t, err)
	must(t, c.Exec("DROP TABLE limits; DROP INDEX runs_open; DROP INDEX runs_status; DROP INDEX runs_work; ALTER TABLE runs DROP COLUMN work; ALTER TABLE runs DROP COLUMN open; PRAGMA user_version = 6"))
	must(t, c.Close())
	sums, err := s.OpenRuns()
	must(t, err)
	defer s.Close()
	if len(sums) != 2 || sums[0].ID != "d" || sums[1].ID != "c" || sums[1].Times != 1 {
		t.Errorf("%+v", sums)
	}
}
