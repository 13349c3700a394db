package verdict_test

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// An answer that says that the code was changed, by an agent that only looked,
// with nothing changed, is no answer. Who tells what others changed, or what he
// would change, gives one.
//
// promise: H2 H3 H4
func TestAnswersAfterALook(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{ // true = it is an answer
		"I fixed the bug in parser.go.":                                                                      false,
		"I've implemented the feature and all tests pass.":                                                   false,
		"I have now updated `Parse` so that it handles empty input.":                                         false,
		"Done! I fixed it.":                                                                                  false,
		"I looked at the code, then I rewrote the handler in api/handler.go.":                                false,
		"Fixed the bug in parser.go.":                                                                        false,
		"Fixed: `Add` in calc.go now returns a + b. All 12 tests pass.":                                      false,
		"The bug in parser.go has been fixed.":                                                               false,
		"The issue is now resolved: the parser handles empty input.":                                         false,
		"We've refactored the module and removed the old files.":                                             false,
		"I corrected the typo in README.md":                                                                  false,
		"The bug is in parser.go:12: the slice is read past its end.":                                        true,
		"I found the bug in parser.go: it never checks the length.":                                          true,
		"I reviewed the code and found no problem.":                                                          true,
		"I've completed the review of the code in parser.go.":                                                true,
		"I created a summary of the changes in parser.go: it is shorter now.":                                true,
		"I have written a short report on the tests.":                                                        true,
		"I changed nothing: calc.go is correct.":                                                             true,
		"I did not fix the bug: parser.go is generated.":                                                     true,
		"If I changed the function, its callers would break.":                                                true,
		"The bug was fixed in 3f2a1bc.":                                                                      true,
		"The bug has been fixed in commit 3f2a1bc, see parser.go.":                                           true,
		"The feature has been implemented upstream already.":                                                 true,
		"- Added a parser\n- Fixed the crash on empty input\n- Removed the old cache":                        true,
		"Fixed a crash in parser.go on empty input":                                                          true,
		"You should fix the bug in parser.go first.":                                                         true,
		"To fix it, I would change `Parse` in parser.go.":                                                    true,
		"```go\nfunc Parse() {}\n```\nI fixed the function.":                                                 true,
		`{"summary": "I fixed the bug in parser.go"}`:                                                        true,
		"Is the bug in parser.go fixed? No.":                                                                 true,
		"done":                                                                                               true,
		"- **Fixed** the off-by-one in `calc.go`":                                                            false,
		"**Fixed** the off-by-one in `calc.go`.":                                                             false,
		"I **fixed** the bug in calc.go.":                                                                    false,
		"*Fixed the bug in calc.go.*":                                                                        false,
		"Here's what I did:\n\n1. Modified `calc.go` to handle overflow\n2. Added a test\n\nAll tests pass.": false,
		"Here is what I changed:\n- **Added** a check to calc.go\n- **Removed** the cache":                   false,
		"I made the following changes:\n\n* Renamed `Sum` to `Add`":                                          false,
		"I opened PR #7 with the fix.":                                                                       false,
		"I've created a pull request for this.":                                                              false,
		"I have opened a draft PR.":                                                                          false,
		"Here's what I did:\n\n1. Read `calc.go`\n2. Compared it with the tests\n\nThe sign is wrong.":       true,
		"Here's what I found:\n\n1. Added code in calc.go is not tested.":                                    true,
		"I opened PR #7 and read it: it changes calc.go only.":                                               true,
		"If I opened a PR with this, CI would fail.":                                                         true,
		"I have opened no PR.":                                                                               true,
		"- **Added:** a parser\n- **Fixed:** the crash in calc.go":                                           true,
		"- **Added** a parser\n- **Fixed** the crash in calc.go":                                             true,
		"**Fixed:** crash on empty input in calc.go":                                                         true,
		"The **default** is 30 s, see `__init__.py` and *config.go*.":                                        true,
		"Use **/*.go and *.md for the globs, and snake_case_names for files.":                                true,
		"Alice opened PR #7 with the fix.":                                                                   true,
	} {
		e := same
		e.Own = belay.Doing{Told: true}
		look := belay.AgentResult{Tools: []belay.ToolCall{{Name: "Bash", Command: "ls"}}}
		v := verdict.Hollow(verdict.Claim{Expect: belay.ExpectAnswer, Evidence: e, Text: text, Result: look})
		if v.OK != want || !v.OK && v.Failure.Kind != belay.HollowSuccess {
			t.Errorf("%q: %+v", text, v)
		}
		elsewhere := e
		elsewhere.Own.Writes, elsewhere.Own.Afar = true, true
		if v := verdict.Hollow(verdict.Claim{Expect: belay.ExpectAnswer, Evidence: elsewhere, Text: text, Result: look}); !v.OK {
			t.Errorf("%q, and it did something elsewhere: %+v", text, v)
		}
		changed := edited
		changed.Own = belay.Doing{Told: true, Writes: true}
		if v := verdict.Hollow(verdict.Claim{Expect: belay.ExpectAnswer, Evidence: changed, Text: text, Result: look}); !v.OK {
			t.Errorf("%q, and there is a change: %+v", text, v)
		}
	}
}
