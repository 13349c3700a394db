package temporal_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/temporal/shown"
)

// TestBig runs what a server ends when it is put into a history as it is: many big
// values, many steps in one turn, much context, much output. BELAY_BIG=0 runs a tenth
// of it.
//
// promise: X
func TestBig(t *testing.T) {
	t.Parallel()
	d := onTemporal{server: devServer(t), limit: 64 << 20}
	size := 1000
	if os.Getenv("BELAY_BIG") == "0" {
		size = 100
	}
	items := make([]string, size)
	for i := range items {
		items[i] = strconv.Itoa(i)
	}
	untaken := "name: n\nallow_empty: true\ncontext: {x: '1'}\nsteps:\n"
	for i := range 6 * size {
		untaken += fmt.Sprintf("- {id: s%d, needs: [], command: exit 0, condition: \"x == '2'\"}\n", i)
	}
	long := "name: n\ncontext: {big: '" + strings.Repeat("k", 60<<10) + "'}\nsteps:\n"
	for i := range size {
		long += fmt.Sprintf("- {id: s%d, command: 'test \"${#BIG}\" -gt 60000'}\n", i)
	}
	for _, c := range []struct {
		name, recipe string
		steps        int
		histories    int // at least
	}{
		{"a foreach with 8 KB each", "name: n\ncontext: {list: [" + strings.Join(items, ",") + "]}\nsteps:\n- {id: f, foreach: list, command: 'head -c 6000 /dev/urandom | base64 -w 0', output: all}\n", size, 1 + size/1000},
		{"steps that are not taken", untaken, 6 * size, 1},
		{"60 KB of context", long, size, 1},
		{"20 MB of output", "name: n\nsteps:\n- {id: a, command: 'head -c 15000000 /dev/urandom | base64 -w 0', output: v}\n- {id: b, command: 'test \"$(wc -c < \"$V_FILE\")\" -eq 20000000'}\n", 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := d.stage(t, belaytest.Case{Recipe: c.recipe})
			if err := <-s.begin(); err != nil {
				t.Fatal(err)
			}
			o := s.look(nil)
			if o.Status != belay.Achieved {
				t.Fatalf("the run is %s: %v", o.Status, o.Failures)
			}
			hs := s.histories()
			events, size := 0, 0
			for _, h := range hs {
				events, size = events+len(h.Events), size+proto.Size(h)
			}
			if len(hs) < c.histories {
				t.Errorf("%d bytes are in %d histories, want %d", size, len(hs), c.histories)
			}
			shown.Figure(t, "%d steps: %d histories, %d events and %d bytes, %.1f and %.0f a step; %d KB beside them",
				c.steps, len(hs), events, size, float64(events)/float64(c.steps), float64(size)/float64(c.steps), s.beside()>>10)
		})
	}
}

// histories are those of all workflows of the run, from the first to the last.
func (s *stage) histories() []*historypb.History {
	s.t.Helper()
	c, err := s.place.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	var all []*historypb.History
	for run := ""; ; {
		h := s.historyOf(c, run)
		all = append([]*historypb.History{h}, all...)
		if run = h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			return all
		}
	}
}

// beside is how many bytes are kept beside the histories.
func (s *stage) beside() (size int64) {
	s.t.Helper()
	if s.place.Blobs == "" {
		return 0
	}
	err := filepath.WalkDir(s.place.Blobs, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return size
}
