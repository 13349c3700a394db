package verdict_test

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/verdict"
)

// judgeText is the verdict about an agent that left nothing but a text, by the
// classic rule.
func judgeText(text string) string {
	v := verdict.Of(verdict.Case{Type: belay.TypeAgent, Expect: belay.ExpectChange, Classic: true, Main: effect.Observation{Began: true,
		Agent: &effect.AgentReport{Evidence: same, Result: belay.AgentResult{Final: true, Excerpt: text}}}})
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
// promise: H1 H2
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
		if got := judgeText(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
