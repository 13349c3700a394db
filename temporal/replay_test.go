package temporal_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/temporal"
)

var update = flag.Bool("update", false, "keep histories of which testdata has none yet, and what else is measured")

// kept are the cases whose histories are kept and replayed.
func kept() []string {
	return []string{
		"outputs and conditions", "side by side, each waits for the other", "a retry that helps", "a step for each item",
		"a second attempt is a second child", "held and answered: again", "cancelled", "stopped and resumed",
		"asked and approved", "the work of two agents is merged", "a service that failed often is left alone, until somebody clears that",
	}
}

// replay plays a history again, with the workflow as it is or with one around it.
func replay(t *testing.T, h *historypb.History, codec temporal.Codec, ws temporal.Workflows, change func(*engine.Parcel)) error {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: codec.Converter()})
	if err != nil {
		t.Fatal(err)
	}
	r.RegisterWorkflowWithOptions(func(ctx workflow.Context, p engine.Parcel, in temporal.Start) (temporal.Ended, error) {
		if change != nil {
			change(&p)
		}
		return ws.Tree(ctx, p, in)
	}, workflow.RegisterOptions{Name: temporal.TreeWorkflow})
	return r.ReplayWorkflowHistory(quiet{}, h)
}

// policies are other decisions than those that were made: how much goes on at the same
// time, who chooses recoveries, how many there may be.
func policies() map[string]func(*engine.Parcel) {
	return map[string]func(*engine.Parcel){
		"one after the other":   func(p *engine.Parcel) { p.Started.Limits.MaxParallel = 1 },
		"the classic policy":    func(p *engine.Parcel) { p.Started.Policy, p.Started.MaxRetries = "classic", 1 },
		"no recovery by agents": func(p *engine.Parcel) { p.Started.Recovery, p.Started.Staff = "off", nil },
	}
}

// replays replays all histories of the run, with every policy: none of them can go on
// otherwise than it was written. It gives how many there are.
func (s *stage) replays() int {
	s.t.Helper()
	codec := temporal.Codec{Dir: s.place.Blobs}
	all := s.histories()
	for i, h := range all {
		for name, change := range policies() {
			if err := replay(s.t, h, codec, temporal.Workflows{Version: "test"}, change); err != nil {
				s.t.Errorf("history %d, with %s: %v", i+1, name, err)
			}
		}
	}
	return len(all)
}

// TestReplay replays histories that a real server has: as they are, strictly, and
// with a brain that would decide otherwise today.
//
// promise: K1
func TestReplay(t *testing.T) {
	t.Parallel()
	d := onTemporal{server: devServer(t)}
	left := kept()
	for _, c := range belaytest.Cases() {
		if !slices.Contains(kept(), c.Name) {
			continue
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == c.Name })
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s := d.play(t, c)
			h := s.history()
			codec := temporal.Codec{Dir: s.place.Blobs}
			if err := replay(t, h, codec, temporal.Workflows{Version: "test"}, nil); err != nil {
				t.Errorf("replay: %v", err)
			}
			if err := replay(t, h, codec, temporal.Workflows{Version: "test", Strict: true}, nil); err != nil {
				t.Errorf("strict replay: %v", err)
			}
			if *update {
				keep(t, c.Name, h)
			}
		})
	}
	if len(left) > 0 {
		t.Errorf("no cases: %q", left)
	}
}

// TestReplayOfAnOpenHistory: with another policy, a history goes on as it was written;
// the strict mode finds that a turn would be another one now.
//
// promise: K1
func TestReplayOfAnOpenHistory(t *testing.T) {
	t.Parallel()
	d := onTemporal{server: devServer(t)}
	s := d.stage(t, belaytest.Case{Recipe: "name: n\nsteps:\n" +
		"- {id: a, needs: [], command: 'true'}\n- {id: b, needs: [], command: 'true'}\n- {id: c, needs: [], command: 'true'}\n" +
		"- {id: d, needs: [a, b, c], command: exit 5, on_failure: escalate}\n"})
	if err := <-s.begin(); err != nil {
		t.Fatal(err)
	}
	h := s.history()
	if last := h.Events[len(h.Events)-1].EventType; last == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED {
		t.Fatal("the history is closed")
	}
	other := func(p *engine.Parcel) { p.Started.Limits.MaxParallel = 1 } // one after the other
	codec := temporal.Codec{Dir: s.place.Blobs}
	if err := replay(t, h, codec, temporal.Workflows{Version: "test"}, other); err != nil {
		t.Errorf("a history is not followed by a brain that decides otherwise: %v", err)
	}
	err := replay(t, h, codec, temporal.Workflows{Version: "test", Strict: true}, other)
	if err == nil || !strings.Contains(err.Error(), "the history has") {
		t.Errorf("the strict mode did not see that the order changed: %v", err)
	}
}

// TestKeptHistories replays the histories of earlier versions: what is under way on a
// server goes on under a new worker.
//
// promise: K1
func TestKeptHistories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		var h historypb.History
		if err := protojson.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		changes := policies()
		changes["the policy it had"] = nil
		for name, change := range changes {
			if err := replay(t, &h, temporal.Codec{}, temporal.Workflows{Version: "test"}, change); err != nil {
				t.Errorf("%s, with %s: %v", filepath.Base(file), name, err)
			}
		}
	}
}

// play plays a case and leaves its stage.
func (d onTemporal) play(t *testing.T, c belaytest.Case) *stage {
	t.Helper()
	s := d.stage(t, c)
	s.playAll(c)
	return s
}

// history is that of the run's last workflow.
func (s *stage) history() *historypb.History {
	s.t.Helper()
	c, err := s.place.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	return s.historyOf(c, "")
}

func (s *stage) historyOf(c client.Client, run string) *historypb.History {
	s.t.Helper()
	h := &historypb.History{}
	iter := c.GetWorkflowHistory(context.Background(), "belay-"+string(s.id), run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iter.HasNext() {
		e, err := iter.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	return h
}

// keep keeps a history among those that every later version must be able to go on with.
// What it has lies in no other file.
func keep(t *testing.T, name string, h *historypb.History) {
	t.Helper()
	if err := replay(t, h, temporal.Codec{}, temporal.Workflows{Version: "test"}, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := protojson.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "histories", strings.NewReplacer(" ", "-", ",", "", ":", "", "'", "").Replace(name)+".json.gz")
	if exists(file) { // a history of an earlier version stays
		return
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
