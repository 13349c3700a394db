package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// Whose a change is, by what the agent's own records tell and by who else was
// at work.
//
// promise: H3
func TestWhoseChange(t *testing.T) {
	t.Parallel()
	const cut = "the work is measured since an attempt that was cut off"
	beside := []string{"step lint", "run 01ab"}
	const others = "step lint, run 01ab worked in the same tree"
	changed := func(d belay.Doing, commits ...string) belay.Evidence {
		return belay.Evidence{Before: belay.Print{Tree: "a"}, After: belay.Print{Tree: "b"}, Own: d, Commits: commits}
	}
	none := belay.Evidence{Before: belay.Print{Tree: "a"}, After: belay.Print{Tree: "a"}}
	looked, acted := belay.Doing{Told: true}, belay.Doing{Told: true, Writes: true}
	named := belay.Doing{Told: true, Writes: true, Named: []string{"x"}}
	commits := belay.Doing{Told: true, Writes: true, Commits: true}
	for name, c := range map[string]struct {
		claim  verdict.Claim
		ok     bool
		sure   int
		says   string   // of one that is not done, in its cause
		doubts []string // of the other
	}{
		"alone, and it does not tell":      {verdict.Claim{Evidence: changed(belay.Doing{})}, true, 95, "", nil},
		"alone, and it acted":              {verdict.Claim{Evidence: changed(acted)}, true, 95, "", nil},
		"alone, and it only looked":        {verdict.Claim{Evidence: changed(looked)}, false, 85, "somebody else did", nil},
		"alone, looked, and acted before":  {verdict.Claim{Evidence: changed(looked), Acted: true}, true, 95, "", nil},
		"beside, and it does not tell":     {verdict.Claim{Evidence: changed(belay.Doing{}), Beside: beside}, false, 70, others + ", and the agent does not tell", nil},
		"beside, and it acted":             {verdict.Claim{Evidence: changed(acted), Beside: beside}, false, 70, others + ", and no record", nil},
		"beside, and it named a file":      {verdict.Claim{Evidence: changed(named), Beside: beside}, true, 70, "", []string{others}},
		"beside, and it made a commit":     {verdict.Claim{Evidence: changed(commits, "c2"), Beside: beside}, true, 70, "", []string{others}},
		"beside, and somebody did":         {verdict.Claim{Evidence: changed(acted, "c2"), Beside: beside}, false, 70, others, nil},
		"beside, and it made none of them": {verdict.Claim{Evidence: changed(commits), Beside: beside}, false, 70, others, nil},
		"beside, and earlier work":         {verdict.Claim{Evidence: changed(looked), Beside: beside, Acted: true}, true, 70, "", []string{others}},
		"cut off":                          {verdict.Claim{Evidence: changed(looked), Severed: true}, true, 70, "", []string{cut}},
		"cut off beside others":            {verdict.Claim{Evidence: changed(looked), Severed: true, Beside: beside}, false, 70, others, []string{cut}},
		"both, and earlier work":           {verdict.Claim{Evidence: changed(looked), Severed: true, Beside: beside, Acted: true}, true, 70, "", []string{others, cut}},
		"no change":                        {verdict.Claim{Evidence: none, Severed: true, Beside: beside}, false, 95, "nothing changed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.claim.Expect, c.claim.Text = belay.ExpectChange, "I fixed the bug and all tests pass."
			v := verdict.Hollow(c.claim)
			if v.OK != c.ok || v.Sure != c.sure {
				t.Errorf("ok %v, %d %% sure; want %v, %d %%: %+v", v.OK, v.Sure, c.ok, c.sure, v)
			}
			if !v.OK && (v.Failure.Kind != belay.HollowSuccess || !strings.Contains(v.Failure.Cause, c.says)) {
				t.Errorf("failure %+v, want hollow with %q", v.Failure, c.says)
			}
			for _, d := range []string{others, cut} {
				if slices.Contains(v.Against, d) != slices.Contains(c.doubts, d) {
					t.Errorf("against: %q, want %q", v.Against, c.doubts)
				}
			}
		})
	}
}

// A way out is named with who was in the way.
//
// promise: H3
func TestManyBeside(t *testing.T) {
	t.Parallel()
	v := verdict.Hollow(verdict.Claim{Expect: belay.ExpectChange, Evidence: edited, Beside: []string{"step a", "step b", "step c", "step d", "run e"}})
	if v.OK || !strings.HasPrefix(v.Failure.Cause, "step a, step b, step c and 2 more worked in the same tree") || !strings.Contains(v.Failure.Hint, "isolate: worktree") {
		t.Errorf("%+v", v.Failure)
	}
}
