package verdict_test

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/verdict"
)

// An exit code of 0 is a good end, unless the step's own check says otherwise.
func ExampleOf() {
	c := verdict.Case{Step: "build", Type: belay.TypeBash, Main: effect.Observation{Began: true}}
	v := verdict.Of(c)
	fmt.Println(v.OK, v.Basis)

	c.Check = &effect.Observation{Began: true, Exit: 1, Tail: "dist/app.tar.gz: No such file or directory"}
	v = verdict.Of(c)
	fmt.Println(v.OK, v.Failure.Kind, v.Failure.Cause)
	// Output:
	// true exit
	// false bash_failure verify: exit 1: dist/app.tar.gz: No such file or directory
}

// An agent that says that it is done, in a tree in which nothing changed, has done
// nothing.
func ExampleOf_agent() {
	same := belay.TreeState{Head: "3f2a", Tree: "77c1"}
	v := verdict.Of(verdict.Case{
		Step: "fix", Type: belay.TypeAgent, Expect: belay.ExpectChange,
		Main: effect.Observation{Began: true, Agent: &effect.AgentReport{
			Result:   belay.AgentResult{Final: true, Stop: belay.StopDone, Excerpt: "I fixed the bug, and all tests pass."},
			Evidence: belay.Evidence{Before: same, After: same},
		}},
	})
	fmt.Println(v.OK, v.Failure.Kind)
	for _, e := range v.Against {
		fmt.Println(e)
	}
	// Output:
	// false hollow_success
	// nothing changed in the working tree
}

// Classify says what kind of trouble a text tells of, and so whether it can help
// to wait, to try again, or to ask a person.
func ExampleClassify() {
	for _, text := range []string{
		"Error: 529 overloaded_error",
		"fatal: Unable to create '.git/index.lock': File exists.",
		"bash: line 1: terraform: command not found",
	} {
		f := verdict.Classify(verdict.Facts{Exit: 1, Text: text})
		fmt.Println(f.Class)
	}
	// Output:
	// transient
	// conflict
	// infrastructure
}
