package verdict_test

import (
	"slices"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// In a tree that steps share, a change is the agent's only when its records
// show that it did something that can change files.
//
// promise: H3
func TestWhoseChange(t *testing.T) {
	const others, cut = "other steps worked in the same tree", "the work is measured since an attempt that was cut off"
	other := belay.Evidence{Before: belay.Print{Tree: "a"}, After: belay.Print{Tree: "b"}}
	none := belay.Evidence{Before: belay.Print{Tree: "a"}, After: belay.Print{Tree: "a"}}
	tool := func(t belay.ToolCall) []belay.ToolCall { return []belay.ToolCall{t} }
	for name, c := range map[string]struct {
		claim  verdict.Claim
		ok     bool
		sure   int
		doubts []string
	}{
		"alone":            {verdict.Claim{Evidence: other}, true, 95, nil},
		"no tool":          {verdict.Claim{Evidence: other, Shared: true}, false, 70, []string{others}},
		"a command":        {verdict.Claim{Evidence: other, Shared: true, Result: belay.AgentResult{Tools: tool(belay.ToolCall{Name: "Bash", Command: "x"})}}, true, 70, []string{others}},
		"a failed command": {verdict.Claim{Evidence: other, Shared: true, Result: belay.AgentResult{Tools: tool(belay.ToolCall{Name: "Bash", Command: "x", Failed: true})}}, false, 70, []string{others}},
		"a denied edit":    {verdict.Claim{Evidence: other, Shared: true, Result: belay.AgentResult{Tools: tool(belay.ToolCall{Name: "Edit", Path: "x", Denied: true})}}, false, 70, []string{others}},
		"an edit":          {verdict.Claim{Evidence: other, Shared: true, Result: belay.AgentResult{Tools: tool(belay.ToolCall{Name: "search_replace", Path: "x"})}}, true, 70, []string{others}},
		"only a look":      {verdict.Claim{Evidence: other, Shared: true, Result: belay.AgentResult{Tools: tool(belay.ToolCall{Name: "read_file", Path: "x"})}}, false, 70, []string{others}},
		"earlier work":     {verdict.Claim{Evidence: other, Shared: true, Acted: true}, true, 70, []string{others}},
		"cut off":          {verdict.Claim{Evidence: other, Severed: true}, true, 70, []string{cut}},
		"both":             {verdict.Claim{Evidence: other, Severed: true, Shared: true, Acted: true}, true, 70, []string{others, cut}},
		"no change":        {verdict.Claim{Evidence: none, Severed: true, Shared: true}, false, 95, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.claim.Expect, c.claim.Text = belay.ExpectChange, "I fixed the bug and all tests pass."
			v := verdict.Hollow(c.claim)
			if v.OK != c.ok || v.Sure != c.sure {
				t.Errorf("ok %v, %d %% sure; want %v, %d %%: %+v", v.OK, v.Sure, c.ok, c.sure, v)
			}
			if !v.OK && v.Failure.Kind != belay.HollowSuccess {
				t.Errorf("not hollow: %+v", v.Failure)
			}
			for _, d := range []string{others, cut} {
				if slices.Contains(v.Against, d) != slices.Contains(c.doubts, d) {
					t.Errorf("against: %q, want %q", v.Against, c.doubts)
				}
			}
		})
	}
}
