package verdict_test

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// judgeText is the verdict about an agent that left nothing but a text.
func judgeText(expect belay.Expect, classic bool, text string) string {
	v := verdict.Hollow(verdict.Claim{Expect: expect, Classic: classic, Evidence: same, Text: text})
	switch {
	case v.OK:
		return "done"
	case v.Failure.Kind == belay.HollowSuccess:
		return "hollow"
	}
	return "failed"
}

// The classic rule: all three must hold, no access, nothing described and
// nothing referred to.
// promise: H1
func TestClassicWantsAllThree(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"I don't have access to the repository, so I cannot do this.":                                     "hollow",
		"I don’t have access to your codebase.":                                                           "hollow",
		"I'm unable to directly access the file system.":                                                  "hollow",
		"I was not able to open any of the files.":                                                        "hollow",
		"I cannot see the code. Please paste the function you want fixed.":                                "hollow",
		"I can't access your files. If you share the contents of src/auth.go I can fix it.":               "hollow",
		"I have no access to the files/repository.":                                                       "hollow",
		"I can't reach your Node.js project.":                                                             "hollow",
		"No files were provided. It is ok to send them later.":                                            "hollow",
		"The working directory appears to be empty.":                                                      "hollow",
		"I do not have access to the codebase. This is because no repository was provided.":               "hollow",
		"I could not use the `Read` tool, so I was unable to read the source code.":                       "hollow",
		"I can't open the project; see https://docs.example.com/help/access for the reason.":              "hollow",
		"I have no access to the codebase defaced by the last deploy.":                                    "hollow", // a word of letters is no commit
		"I cannot access the codebase, but the crash in main.go:3 is a nil map.":                          "done",   // a reference
		"I cannot access the codebase. The root cause is the clock of the build machine.":                 "done",   // a finding
		"I could not read one file. 14 passed, the rest was not run.":                                     "done",   // a result of tests
		"I could not open the repository at 3f2a1bc.":                                                     "done",   // a commit
		"I could not find any files that use the old interface.":                                          "done",   // the result of a search
		"There is no bug in this project.":                                                                "done",
		"No, the project uses tabs.":                                                                      "done",
		"The value cannot be null, so the code needs no check.":                                           "done",
		"Done without touching other files.":                                                              "done",
		"I can't recommend this library for your project.":                                                "done",
		"I do not have an opinion; both directories hold the same sources.":                               "done",
		"Everything is fixed.":                                                                            "done", // nobody admits anything: that is why this rule is not the default
		"Ich habe alles erledigt.":                                                                        "done",
		"Partially done: I added the handler, the tests are missing.":                                     "done",
		"I can't access the network, so the download was skipped; the parser returns early in that case.": "done",
	} {
		if got := judgeText(belay.ExpectChange, true, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Real findings and honest reports are never hollow.
// promise: H2 H3
func TestHonestReportsAreNotHollow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Nothing to do: `Add` in calc.go already returns the sum.":                             "failed",
		"No changes were needed: the bug was already fixed in 3f2a1bc.":                        "failed",
		"I did not change anything, because the generator needs a network.":                    "failed",
		"Partial: the cause is in gen/main.go, the fix remains to be written.":                 "failed",
		"I could not fix it: the lock in store.go is held by another process.":                 "failed",
		"I looked at calc.go and changed nothing; the test still fails.":                       "failed",
		"I'm sorry, but I can't help with that.":                                               "failed", // a refusal claims nothing
		"The feature is implemented in parse.go; no changes are needed.":                       "failed",
		"I ran the tests: 3 failed in calc_test.go, and I could not find out why.":             "failed",
		"I made no changes: calc.go could not be parsed.":                                      "failed",
		"I could not test it in calc.go, but I fixed the sign.":                                "hollow",
		"I fixed calc.go. It did not handle negative numbers before, so it cannot crash now.":  "hollow",
		"Fixed the bug in calc.go; the old code could not handle zero.":                        "hollow",
		"I've added partial updates to store.go and removed the last TODO.":                    "hollow",
		"The issue is now resolved. Requests are no longer blocked, see api/handler.go.":       "hollow",
		"I fixed the parser in parse.go, but could not finish the lexer because it is closed.": "hollow", // nothing of it is there
		"I could not do it.": "hollow", // no finding
		"done":               "hollow",
		"I couldn't complete this since I don't have access to the codebase.": "hollow",
	} {
		if got := judgeText(belay.ExpectChange, false, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Where only an answer is due and no tool was used, the text is all there is: an
// excuse, a refusal and a boast are no answers, and everything else is one.
// promise: H2 H4
func TestAnswersWithoutAnyTool(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"I have fixed the bug in calc.go and all tests pass.":  "hollow",
		"I've gone ahead and updated the configuration.":       "hollow",
		"I ran the test suite and it is green.":                "hollow",
		"The bug has been fixed and all tests now pass.":       "hollow",
		"Everything has been implemented successfully.":        "hollow",
		"I don't have access to the codebase.":                 "hollow",
		"I can't help with that.":                              "failed",
		"Sorry, I won't do that.":                              "failed",
		" \n\t":                                                "hollow",
		"42":                                                   "done",
		"done":                                                 "done", // may be the word that was asked for
		"ready":                                                "done",
		"The default is 30 s, see config.go:12.":               "done",
		"The commit added a retry loop and removed the cache.": "done", // tells of others' work
		"Fixed: crash on empty input":                          "done", // a line for a changelog
		"Is the bug fixed? Yes: it is fixed since 3f2a1bc.":    "done",
		"I've fixed the function:\n```go\nfunc Add(a, b int) int\n```":      "done", // the change is the answer
		"I have written a poem about spring.":                               "done",
		"I found two problems: the lock is never released, and it leaks.":   "done",
		`{"status": "fixed", "summary": "I fixed the bug"}`:                 "done",
		"I can't say for sure, but the cause is probably in the scheduler.": "done",
		"I changed nothing.":              "done",
		"Das Zeitlimit ist 30 s.":         "done",
		"I **fixed** the bug in calc.go.": "hollow",
		"Here's what I did:\n\n1. Modified `calc.go` to handle overflow\n2. Added a test\n\nAll tests pass.": "hollow",
		"Here is what I changed:\n- **Added** a check to calc.go\n- **Removed** the cache":                   "hollow",
		"I made the following changes:\n\n* Renamed `Sum` to `Add`":                                          "hollow",
		"I opened PR #7 with the fix.":          "hollow",
		"I've created a pull request for this.": "hollow",
		"I have opened a draft PR.":             "hollow",
		"Here's what I did:\n\n1. Read `calc.go`\n2. Compared it with the tests\n\nThe sign is wrong.": "done",
		"Here's what I found:\n\n1. Added code in calc.go is not tested.":                              "done",
		"I opened PR #7 and read it: it changes calc.go only.":                                         "done",
		"If I opened a PR with this, CI would fail.":                                                   "done",
		"I have opened no PR.": "done",
		"- **Added:** a parser\n- **Fixed:** the crash in calc.go":            "done",
		"- **Added** a parser\n- **Fixed** the crash in calc.go":              "done",
		"**Fixed:** crash on empty input in calc.go":                          "done",
		"The **default** is 30 s, see `__init__.py` and *config.go*.":         "done",
		"Use **/*.go and *.md for the globs, and snake_case_names for files.": "done",
		"Alice opened PR #7 with the fix.":                                    "done",
	} {
		if got := judgeText(belay.ExpectAnswer, false, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
