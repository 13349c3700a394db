package flow

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// One state has one next job: variables that share a name in the environment
// were once given to a script in the order of a map.
func TestOneStateOneJob(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: n\ncontext:\n")
	for i := range scopeVars + 1 {
		fmt.Fprintf(&b, "  v%d: x\n", i)
	}
	b.WriteString("  a_b: one\n  a-b: two\n  A_B: three\nsteps:\n" +
		"- {id: s, command: 'echo \"$A_B\"'}\n" +
		"- {id: t, recipe: sub}\n" +
		"- {id: u, command: 'echo \"$P_Q\"'}\n")
	sub := "name: sub\nsteps:\n- {id: c, command: x, outputs: {p_q: {json: a}, p-q: {json: b}, P_Q: {json: c}}}\n"
	var first []effect.Job
	for range 200 {
		w := begin(t, b.String(), "sub", sub)
		w.exit("r:s.1", 0)
		one := belay.Text("1")
		w.end("r/t.1:c.1", effect.Observation{Began: true, Outputs: map[string]belay.Value{"p_q": one, "p-q": one, "P_Q": one}})
		jobs := []effect.Job{w.jobs["r:s.1"], w.jobs["r:u.1"]}
		switch {
		case first == nil:
			first = jobs
			if len(jobs[0].Vars) == 0 || len(jobs[1].Vars) == 0 {
				t.Fatalf("nothing is handed over: %v", jobs)
			}
		case !reflect.DeepEqual(jobs, first):
			t.Fatalf("one state gave\n%v\nand\n%v", first, jobs)
		}
	}
}
