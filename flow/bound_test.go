package flow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// A turn has a bounded size, however much is to be said; what it says in all is
// the same.
func TestATurnIsBounded(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("name: n\nallow_empty: true\ncontext: {x: '1'}\nsteps:\n")
	const steps = 6000
	for i := range steps {
		fmt.Fprintf(&src, "- {id: s%d, needs: [], command: 'true', condition: \"x == '2'\"}\n", i)
	}
	w := begin(t, src.String())
	turns := 1
	for ; w.out.More; turns++ {
		if n := sizeOf(t, w.out); n > maxTurn+4096 {
			t.Fatalf("a turn of %d bytes", n)
		}
		w.turn()
	}
	w.wantStatus(belay.Achieved, exit.OK)
	if turns < 4 || len(w.recs) != steps+3 {
		t.Errorf("%d turns, %d records", turns, len(w.recs))
	}
}

// The same for the end of all that is open.
func TestAStopIsBounded(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("name: n\nsteps:\n")
	const steps = 3000
	for i := range steps {
		fmt.Fprintf(&src, "- {id: s%d, needs: [], command: 'true'}\n", i)
	}
	w := begun(t, src.String(), func(e *event.RunStarted) { e.Limits.MaxParallel = steps })
	for w.out.More {
		w.turn()
	}
	stopped := 0
	for w.turn(request("s", event.RequestStop, "")); ; w.turn() {
		if n := sizeOf(t, w.out); n > maxTurn+4096 {
			t.Fatalf("a turn of %d bytes", n)
		}
		if stopped += kills(w.out); !w.out.More {
			break
		}
	}
	if stopped != steps {
		t.Errorf("%d of %d are ended", stopped, steps)
	}
}

func sizeOf(t *testing.T, out Turn) int {
	t.Helper()
	n := 0
	for _, r := range out.Records {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		n += len(b)
	}
	return n
}
