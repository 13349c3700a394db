package task

import (
	"encoding/json"
	"strings"
)

func callTestsStatus() Function {
	return Function{
		Name: "tests-status",
		Does: "What the tests of a finished work amount to, as criteria-status sees it, where nobody judges it in a round.",
		Inputs: []Field{
			{"tests", TypeAny, false, "The tests as they are now, as `belay at --json --tests` tells it. Nothing: they were not run again."},
			{"old_tests", TypeAny, true, "The tests as they were before the work and as they were written for it, as `belay at --json --tests --old-tests --written-tests` tells it."},
		},
		Outputs: []Field{
			{"ends", TypeText, true, "ACHIEVED, or PARTIAL with the reason: the work changed the test command, and it does not pass as it was or counts no test now; or the tests do not pass as they were written."},
			{"warning", TypeText, true, "What lowers nothing and has to be looked at: old test files that were changed and do not pass as they were. Empty where there is none."},
		},
		Example: Example{
			With:  json.RawMessage(`{"tests": {"passed": true, "counted": true}, "old_tests": {"passed": false, "why": "exit 1", "defines": ["Makefile"]}}`),
			Gives: json.RawMessage(`{"ends": "PARTIAL -- the work changed the test command (Makefile), and it does not pass as it was before (exit 1)", "warning": ""}`),
		},
		do: func(in *inputs) any {
			j := judgement{Status: Achieved}
			j.asWritten(in, evidence{})
			j.oldTests(in, evidence{})
			out := struct {
				Ends    string `json:"ends"`
				Warning string `json:"warning"`
			}{string(j.Status), line(strings.Join(j.Warnings, "; "), maxLine)}
			if len(j.Limits) > 0 {
				out.Ends += " -- " + line(strings.Join(j.Limits, "; "), maxLine)
			}
			return out
		},
	}
}
