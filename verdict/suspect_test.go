package verdict

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

// What the last words name is looked for, and nothing else.
// promise: F7
func TestWhatWordsName(t *testing.T) {
	t.Parallel()
	c := NewClassifier()
	for text, want := range map[string]effect.AskProbe{
		"bash: line 1: gh: command not found":                                  {Program: "gh"},
		"/bin/sh: 1: protoc: not found\nmake: *** [Makefile:2: gen] Error 127": {Program: "protoc"},
		"/usr/bin/env: ‘node’: No such file or directory":                      {Program: "node"},
		"bash: line 1: exit 7: command not found":                              {},
		"404: not found":               {},
		"bash: tsc: command not found": {Program: "tsc"},
		"zsh: command not found: jq":   {Program: "jq"},
		"run: exec: \"gofumpt\": executable file not found in $PATH":                 {Program: "gofumpt"},
		"./build.sh: line 2: ./tools/gen: No such file or directory":                 {},
		"curl: (6) Could not resolve host: example.invalid":                          {Host: "example.invalid"},
		"dial tcp: lookup example.invalid on 127.0.0.53:53: no such host":            {Host: "example.invalid"},
		"Error: getaddrinfo ENOTFOUND registry.example.org":                          {Host: "registry.example.org"},
		"ssh: Could not resolve hostname git.example.org: Name or service not known": {Host: "git.example.org"},
	} {
		it := Case{Type: belay.TypeBash, Main: effect.Observation{Began: true, Exit: 127, Tail: text}}
		f := belay.Failure{Kind: belay.BashFailure}
		c.Explain(it, &f, Look{})
		q, ok := it.Suspect(f)
		if f.Kind != belay.BashFailure {
			t.Errorf("%q: words alone made it %s", text, f.Kind)
		}
		if q.Program != want.Program || q.Host != want.Host || !ok && (want.Program != "" || want.Host != "") {
			t.Errorf("%q: program %q, host %q, %t", text, q.Program, q.Host, ok)
		}
	}
}

// What an agent had begun is its failure, also in the words of who called it; what nobody
// could start is not. A disk that took no more is known by what could not be written.
func TestWhoseFailureItIs(t *testing.T) {
	t.Parallel()
	report := &effect.AgentReport{Result: belay.AgentResult{Final: true}}
	for name, c := range map[string]struct {
		kind belay.StepType
		o    effect.Observation
		rule string
		want bool
	}{
		"too long an answer":         {belay.TypeAgent, effect.Observation{Began: true, Fault: fault.Output, Agent: report}, "fault.output", true},
		"the log of an agent":        {belay.TypeAgent, effect.Observation{Began: true, Fault: fault.Disk, Agent: report}, fault.RuleDisk, true},
		"an agent that is not there": {belay.TypeAgent, effect.Observation{Fault: fault.Agent}, "fault.agent", false},
		"a script":                   {belay.TypeBash, effect.Observation{Began: true, Fault: fault.Output}, "fault.output", false},
	} {
		it := Case{Type: c.kind, Expect: belay.ExpectAnswer, Main: c.o}
		v := Of(it)
		NewClassifier().Explain(it, v.Failure, Look{Probe: &effect.Probe{}})
		if v.Failure.Agent != c.want || v.Failure.Rule != c.rule {
			t.Errorf("%s: an agent's: %t, rule %s", name, v.Failure.Agent, v.Failure.Rule)
		}
		above := Case{Type: belay.TypeRecipe, Main: effect.Observation{Began: true, Child: &belay.RunResult{Failure: v.Failure}}}
		f := belay.Failure{Kind: belay.RecipeFailure}
		NewClassifier().Explain(above, &f, Look{})
		if f.Agent != c.want {
			t.Errorf("%s: above it is an agent's: %t", name, f.Agent)
		}
	}
}
