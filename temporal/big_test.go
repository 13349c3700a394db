package temporal_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
)

// TestBig runs what a server ends when it is put into a history as it is: many big
// values, many steps in one turn, much context, much output. BELAY_BIG=1 makes it
// whole; otherwise a tenth is run.
//
// promise: X
func TestBig(t *testing.T) {
	t.Parallel()
	d := onTemporal{server: devServer(t)}
	size := 100
	if os.Getenv("BELAY_BIG") != "" {
		size = 1000
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
	for i := range size / 5 {
		long += fmt.Sprintf("- {id: s%d, command: 'test \"${#BIG}\" -gt 60000'}\n", i)
	}
	for _, c := range []struct {
		name, recipe string
		steps        int
	}{
		{"a foreach with 8 KB each", "name: n\ncontext: {list: [" + strings.Join(items, ",") + "]}\nsteps:\n- {id: f, foreach: list, command: 'head -c 8000 /dev/zero | tr \"\\0\" x', output: all}\n", size},
		{"steps that are not taken", untaken, 6 * size},
		{"60 KB of context", long, size / 5},
		{"20 MB of output", "name: n\nsteps:\n- {id: a, command: 'head -c 20000000 /dev/zero | tr \"\\0\" x'}\n", 1},
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
			h := s.history()
			t.Logf("%d steps: %d events and %d bytes in the last history, %.1f and %.0f a step", c.steps, len(h.Events), proto.Size(h), float64(len(h.Events))/float64(c.steps), float64(proto.Size(h))/float64(c.steps))
		})
	}
}
