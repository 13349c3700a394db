package temporal_test

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	historypb "go.temporal.io/api/history/v1"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/temporal"
)

// kind is a kind of history that no case of the suite has by itself.
type kind struct {
	name string
	play func(t *testing.T, server string) (*stage, *historypb.History)
	has  func(*historypb.HistoryEvent) bool // what makes it one of its kind
}

func kinds() []kind {
	gives := func(activity string) func(*historypb.HistoryEvent) bool {
		return func(e *historypb.HistoryEvent) bool {
			return e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == activity
		}
	}
	waits := func(e *historypb.HistoryEvent) bool {
		return e.GetTimerStartedEventAttributes().GetStartToFireTimeout().AsDuration() > 20*time.Second
	}
	follows := func(e *historypb.HistoryEvent) bool {
		return e.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId() != ""
	}
	last := func(s *stage) (*stage, *historypb.History) { return s, s.history() }
	return []kind{
		{name: "in a clone", has: gives("Place"), play: func(t *testing.T, server string) (*stage, *historypb.History) {
			t.Helper()
			c := caseOf(t, "outputs and conditions")
			c.Repo = map[string]string{}
			return last(onTemporal{server: server, mate: true, shares: newShares()}.play(t, c))
		}},
		{name: "moved from a lost host", has: gives("Here"), play: func(t *testing.T, server string) (*stage, *historypb.History) {
			t.Helper()
			return last(moved(t, server))
		}},
		{name: "a breaker's wait", has: waits, play: func(t *testing.T, server string) (*stage, *historypb.History) {
			t.Helper()
			c := caseOf(t, "a service that failed often is left alone, until somebody clears that")
			c.Acts = nil // it is waited for
			return last(onTemporal{server: server}.play(t, c))
		}},
		{name: "the second of a chain", has: follows, play: func(t *testing.T, server string) (*stage, *historypb.History) {
			t.Helper()
			s := onTemporal{server: server, every: 1}.play(t, caseOf(t, "outputs and conditions"))
			hs := s.histories()
			if len(hs) < 2 {
				t.Fatalf("there are %d histories", len(hs))
			}
			return s, hs[1]
		}},
	}
}

func caseOf(t *testing.T, name string) belaytest.Case {
	t.Helper()
	all := belaytest.Cases()
	i := slices.IndexFunc(all, func(c belaytest.Case) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no case: %s", name)
	}
	return all[i]
}

// moved is a run whose host dies for ever: it is held, and a person lets it go on on the
// other one.
func moved(t *testing.T, server string) *stage {
	t.Helper()
	s := onTemporal{server: server, mate: true, shares: newShares()}.stage(t, belaytest.Case{
		Repo:   map[string]string{},
		Recipe: "name: n\nsteps:\n- {id: a, command: 'true'}\n- {id: b, command: 'touch began; while [ ! -f go ]; do sleep 0.05; done'}\n",
	})
	driver := s.engine.Elsewhere.(*temporal.Engine)
	driver.Lost = temporal.LeastLost
	done := s.begin()
	s.await("the middle of the step", func() bool { return exists(filepath.Join(s.at(), "began")) })
	was := s.at()
	if err := s.worker.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = s.worker.Wait() // it was killed
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	open, err := s.engine.Resume(s.id)
	if err != nil {
		t.Fatal(err)
	}
	driver.Moves = true
	ended := make(chan error, 1)
	go func() { // the test waits for it
		_, err := open.Drive(context.Background(), nil, nil)
		ended <- err
	}()
	s.await("the step elsewhere", func() bool {
		all := s.attaches()
		dir := all[len(all)-1].Dir
		if dir == was || !exists(filepath.Join(dir, "began")) {
			return false
		}
		write(t, filepath.Join(dir, "go"), "")
		return true
	})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	if o := s.look(nil); o.Status != belay.Achieved {
		t.Fatalf("the run is %s", o.Status)
	}
	return s
}

// TestReplayOfOtherKinds replays histories that a real server has of what no case of the
// suite does: with every policy, and strictly.
//
// promise: K1
func TestReplayOfOtherKinds(t *testing.T) {
	t.Parallel()
	server := devServer(t)
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s, h := k.play(t, server)
			if !slices.ContainsFunc(h.Events, func(e *historypb.HistoryEvent) bool { return k.has(e) }) {
				t.Error("the history does not have what it is for")
			}
			s.replays()
			if err := replay(t, h, temporal.Codec{Dir: s.place.Blobs}, temporal.Workflows{Version: "test", Strict: true}, nil); err != nil {
				t.Errorf("strict replay: %v", err)
			}
			if *update {
				keep(t, k.name, h)
			}
		})
	}
}
