package temporal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/temporal/shown"
)

// TestTemporalConformsInClones holds the driver against cases of the suite where both
// workers are hosts, each with its own state directory: a run is placed on either of
// them, which clones the repository that the client names and makes the attempts in its
// own checkout. The directory of the client is not touched.
//
// promise: F3, F4, F6, F9, K1, K4, X
func TestTemporalConformsInClones(t *testing.T) {
	t.Parallel()
	d := onTemporal{server: devServer(t), mate: true, shares: newShares()}
	t.Run("cases", func(t *testing.T) { belaytest.ConformTo(t, d, inClones()) })
	if t.Failed() {
		return
	}
	a, b := d.shares.made["first"], d.shares.made["second"]
	shown.Figure(t, "of %d cases in clones %d were on the first worker, with %d attempts, and %d on the second, with %d",
		d.shares.runs["first"]+d.shares.runs["second"], d.shares.runs["first"], a, d.shares.runs["second"], b)
	if (a == 0 || b == 0) && d.shares.runs["first"]+d.shares.runs["second"] > few {
		t.Errorf("one worker made no attempts: %v", d.shares.made)
	}
}

// few cases may all be on one worker: who picks some has that.
const few = 6

// inClones are the cases that have a repository, and of the others every third: these
// work in an empty one. A run inside a step is left out: it is one of a directory.
func inClones() (cases []belaytest.Case) {
	others := 0
	for _, c := range belaytest.Cases() {
		if strings.Contains(c.Recipe, "nest ") {
			continue
		}
		if c.Repo == nil {
			if others++; others%3 != 1 {
				continue
			}
			c.Repo = map[string]string{}
		}
		cases = append(cases, c)
	}
	return cases
}

// shares is what each of the two workers of every case did, over all cases.
type shares struct {
	mu         sync.Mutex
	made, runs map[string]int
}

func newShares() *shares { return &shares{made: map[string]int{}, runs: map[string]int{}} }

// houses makes it so that a run is cloned: from a remote that has the first commit, by
// one of two workers that both wait for it.
func (s *stage) houses() (remote string) {
	s.t.Helper()
	s.await("two workers", func() bool {
		return exists(s.place.State+".ready") && exists(s.place.State+mateSuffix+".ready")
	})
	remote = s.t.TempDir()
	s.git(remote, "init", "-q", "--bare", "-b", "main")
	s.git(s.dir, "push", "-q", remote, "main")
	return remote
}

func (s *stage) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// at is where the run works: in its directory, or in the checkout of its host. From the
// moment at which that is known, the host is the worker of the stage.
func (s *stage) at() string {
	if s.shares == nil {
		return s.dir
	}
	if s.checkout != "" {
		return s.checkout
	}
	for _, e := range s.attaches() {
		if e.Dir == "" {
			continue
		}
		if s.checkout = e.Dir; e.Host != s.place.Host {
			s.worker, s.mate = s.mate, s.worker
			s.env, s.place.State = s.mateEnv, s.place.State+mateSuffix
		}
		return s.checkout
	}
	return filepath.Join(s.dir, "not", "yet")
}

// attaches are those on record, as far as the client knows.
func (s *stage) attaches() (all []event.RunAttached) {
	_, recs, err := s.read()
	if err != nil {
		return nil // who waits for them asks again
	}
	for _, r := range recs {
		if e, ok := r.Event.(event.RunAttached); ok {
			all = append(all, e)
		}
	}
	return all
}

// count takes in what the host of the run did, and that the client's directory is as it
// was.
func (s *stage) count(recs []event.Record) {
	s.t.Helper()
	if s.shares == nil {
		return
	}
	s.at()
	host, made := "", 0
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.RunAttached:
			if host == "" {
				host = e.Host
			}
			if e.Host != host || !strings.HasPrefix(e.Dir, s.place.State+"/") {
				s.t.Errorf("the run is on %s, in %s", e.Host, e.Dir)
			}
		case event.AttemptStarted:
			if e.Child == "" {
				made++
			}
		}
	}
	if out := s.git(s.dir, "status", "--porcelain"); out != "" {
		s.t.Errorf("the client's directory has\n%s", out)
	}
	name := "first"
	if host != s.place.Host {
		name = "second"
	}
	s.shares.mu.Lock()
	defer s.shares.mu.Unlock()
	s.shares.made[name] += made
	s.shares.runs[name]++
}
