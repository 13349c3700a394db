package recipe

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
)

// FinallyID is the step of a run that all steps of finally are a part of.
const FinallyID belay.Path = "finally"

// RunVar is the variable by which a step of finally reads how the run ends.
const RunVar = "run"

// FinallyTimeout is the time of a step of finally that does not say it.
const FinallyTimeout = 5 * time.Minute

// notFinally are the keys that have no meaning in finally: there one step follows
// the other, nobody is asked, and nothing is done instead.
var notFinally = []string{"needs", "parallel_group", "fallback", "on_failure", "isolate", "merge", "approve"}

// readFinally reads the steps that run when all others are over. They are behind all
// others in the list of steps.
func readFinally(p *parser, r *Recipe, k, v *yaml.Node) {
	r.Steps = append(r.Steps, p.steps(k, v, func(d *draft, n *yaml.Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; slices.Contains(notFinally, key.Value) {
				p.fail(posOf(key), "leave it out, or move the step to steps:", "%q does not apply to a step of finally", key.Value)
			}
		}
		d.Finally, d.Optional = true, true
		d.Group, d.Fallback, d.Escalate, d.Cure, d.Isolate, d.Merge = "", nil, false, false, IsolateUnsaid, MergeUnsaid // by defaults
		if d.Timeout == 0 {
			d.Timeout = FinallyTimeout
		}
	})...)
}

// Body is how many steps come before those of finally.
func (r *Recipe) Body() int {
	if n := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Finally }); n >= 0 {
		return n
	}
	return len(r.Steps)
}

// ofFinally tells whether what a step reads is how the run ends.
func (s *Step) ofFinally(u use) bool { return s.Finally && u.name == RunVar }

// leaves are the steps of the body that no other one waits for.
func (l *linker) leaves(body int) []int {
	awaited := make([]bool, body)
	for i := range body {
		for _, n := range l.steps[i].Needs {
			awaited[n] = true
		}
	}
	list := []int{}
	for i := range body {
		if !awaited[i] && !l.steps[i].IsFallback {
			list = append(list, i)
		}
	}
	return list
}
