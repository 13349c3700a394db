package verdict

import (
	"fmt"
	"slices"

	"github.com/belay-run/belay"
)

// tests wants tests that were seen to run, the last of them without a failure.
func (c Claim) tests() belay.Verdict {
	ran := slices.DeleteFunc(slices.Clone(c.Evidence.Tests), ranNone)
	if len(ran) == 0 {
		return c.empty(noneRan(c.Evidence.Tests), sureRecord)
	}
	last := ran[len(ran)-1]
	f := &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassWorkFailure, Hint: "look at what they printed with: belay logs"}
	switch {
	case passed(last):
		return c.done(sureRecord)
	case badly(last):
		f.Cause = "the tests failed: " + last.Command
	case last.Tally != nil && last.Tally.Bad:
		f.Cause = "the tests failed, as their output tells: " + last.Command
	case last.Masked:
		f.Class = belay.ClassUnknown
		f.Cause = "tests ran, and the command hides how they ended: " + last.Command
		f.Hint = "give the step a verify: that runs them, or ask for a command without a pipe"
	default:
		f.Class = belay.ClassUnknown
		f.Cause = "tests ran, and the agent does not tell how they ended: " + last.Command
		f.Hint = "give the step a verify: that runs them"
	}
	return belay.Verdict{Failure: f, For: changes(c.Evidence), Against: []string{f.Cause}, Sure: sureRecord}
}

// badly tells whether a command is known to have failed, or not to have ended.
func badly(t belay.ToolCall) bool {
	return t.Failed || t.Open || t.Exit != nil && *t.Exit != 0
}

// ranNone tells whether a command that runs tests ran none, or may have ended
// before it came to them: it says nothing about the work.
func ranNone(t belay.ToolCall) bool {
	return !badly(t) && (t.Unsure || t.Tally != nil && t.Tally.None)
}

// passed tells whether tests are known to have run and to have passed.
func passed(t belay.ToolCall) bool {
	return !badly(t) && !ranNone(t) && !t.Masked && t.Exit != nil && (t.Tally == nil || !t.Tally.Bad)
}

// noneRan says why commands that run tests are no tests that ran.
func noneRan(list []belay.ToolCall) string {
	if len(list) == 0 {
		return "no test was seen to run"
	}
	last := list[len(list)-1]
	if last.Unsure {
		return "no test was seen to run: the command can exit with 0 without one, and its output shows none: " + last.Command
	}
	return "a command that runs tests exited with 0 and no test ran: " + last.Command
}

// testsPassed are the commands whose tests passed, in words.
func testsPassed(list []belay.ToolCall) []string {
	var words []string
	for _, t := range list {
		if !passed(t) {
			continue
		}
		count := ""
		if t.Tally != nil && t.Tally.Passed > 0 {
			count = fmt.Sprintf(" (%d)", t.Tally.Passed)
		}
		words = append(words, "tests passed: "+t.Command+count)
	}
	return words
}
