package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

var (
	same   = belay.Evidence{Before: belay.Print{Repo: true, Tree: "t1", Head: "c1"}, After: belay.Print{Repo: true, Tree: "t1", Head: "c1"}}
	edited = belay.Evidence{
		Before: belay.Print{Repo: true, Tree: "t1", Head: "c1"}, After: belay.Print{Repo: true, Tree: "t2", Head: "c1"},
		Files: 1, Added: 1, Deleted: 1, Changed: []belay.FileChange{{Path: "a.go", Change: belay.FileModified, Added: 1, Deleted: 1}},
	}
	aside = belay.Evidence{Before: same.Before, After: same.After, Commits: []string{"c2"}}
	blind = belay.Evidence{Before: belay.Print{Error: "git: not found"}}
)

func exit(n int) *int { return &n }

// moved is a new commit with the same files.
func moved(before, after bool) belay.Evidence {
	return belay.Evidence{
		Before: belay.Print{Repo: true, Tree: "t1", Head: "c1", Dirty: before}, After: belay.Print{Repo: true, Tree: "t1", Head: "c2", Dirty: after},
		Commits: []string{"c2"},
	}
}

// A denial on the way to an answer counts, unless the same tool worked later.
// promise: H3 H4
func TestDenialsOnTheWayToAnAnswer(t *testing.T) {
	t.Parallel()
	read, no := belay.ToolCall{Name: "Read"}, belay.ToolCall{Name: "Bash", Failed: true, Denied: true}
	for name, row := range map[string]struct {
		tools []belay.ToolCall
		want  belay.Class
	}{
		"nothing but a denial":  {[]belay.ToolCall{no}, belay.ClassHollow},
		"a denial beside work":  {[]belay.ToolCall{read, no}, belay.ClassPermission},
		"denied, then let pass": {[]belay.ToolCall{no, {Name: "Bash", Exit: exit(0)}}, belay.ClassNone},
	} {
		v := verdict.Hollow(verdict.Claim{Expect: belay.ExpectAnswer, Evidence: same, Text: "The limit is 30 s.",
			Result: belay.AgentResult{Tools: row.tools, Denied: []string{"Bash"}}})
		got := belay.ClassNone
		if v.Failure != nil {
			got = v.Failure.Class
		}
		if got != row.want || v.OK != (row.want == belay.ClassNone) {
			t.Errorf("%s: %q (ok %t), want %q", name, got, v.OK, row.want)
		}
	}
}

// A verdict by what was seen, with a text that says something else.
// promise: H1 H2 H3 H4 H5
func TestEvidenceDecidesAndTextsDoNot(t *testing.T) {
	t.Parallel()
	ran := func(code int) belay.Evidence {
		e := edited
		e.Tests = []belay.ToolCall{{Name: "Bash", Command: "go test ./...", Exit: exit(code), Failed: code != 0}}
		return e
	}
	told := edited
	told.Tests = []belay.ToolCall{{Name: "run_shell_command", Command: "go test ./..."}}
	seen := func(calls ...belay.ToolCall) belay.Evidence {
		e := edited
		for _, call := range calls {
			call.Command = "make test"
			e.Tests = append(e.Tests, call)
		}
		return e
	}
	fine, none, bad := belay.ToolCall{Exit: exit(0)}, belay.ToolCall{Exit: exit(0), Tally: &belay.Tally{None: true}}, belay.ToolCall{Exit: exit(0), Tally: &belay.Tally{Bad: true}}
	unsure, counted := belay.ToolCall{Exit: exit(0), Unsure: true}, belay.ToolCall{Exit: exit(0), Tally: &belay.Tally{Passed: 3}}
	failed := belay.ToolCall{Exit: exit(1), Failed: true}
	failedNone := belay.ToolCall{Exit: exit(5), Failed: true, Tally: &belay.Tally{None: true}}
	maskedBad := belay.ToolCall{Masked: true, Tally: &belay.Tally{Bad: true, Failed: 2}}
	maskedGood := belay.ToolCall{Masked: true, Tally: &belay.Tally{Passed: 2}}
	toldNone := belay.ToolCall{Tally: &belay.Tally{None: true}}
	for name, row := range map[string]struct {
		expect   belay.Expect
		evidence belay.Evidence
		text     string
		denied   []string
		want     belay.FailureKind // "" = done
	}{
		"a claim without a change":             {belay.ExpectChange, same, "I fixed the bug in a.go; all tests pass.", nil, belay.HollowSuccess},
		"one line and one word":                {belay.ExpectChange, edited, "done", nil, ""},
		"a change, and a text that says no":    {belay.ExpectChange, edited, "I cannot access the repository.", nil, ""},
		"nothing to do, and a change expected": {belay.ExpectChange, same, "Nothing to do: `Add` in a.go already handles this.", nil, belay.BashFailure},
		"nothing to do, and nothing expected":  {belay.ExpectNone, same, "Nothing to do: `Add` in a.go already handles this.", nil, ""},
		"an empty claim without words":         {belay.ExpectChange, same, "", nil, belay.HollowSuccess},
		"nobody could look":                    {belay.ExpectChange, blind, "done", nil, belay.Infrastructure},
		"an answer":                            {belay.ExpectAnswer, same, "The default is 30 s, see config.go:12.", nil, ""},
		"no answer":                            {belay.ExpectAnswer, same, "", nil, belay.HollowSuccess},
		"an answer that was denied its tools":  {belay.ExpectAnswer, same, "All done.", []string{"Write"}, belay.HollowSuccess},
		"a denial that did not matter":         {belay.ExpectChange, edited, "done", []string{"WebFetch"}, ""},
		"no access, no finding":                {belay.ExpectAnswer, same, "I'm sorry, I don't have access to the codebase, so I can't help with that.", nil, belay.HollowSuccess},
		"no access to one file, and a finding": {belay.ExpectAnswer, same, "I could not open the file secret.env, but the bug is in auth.go:40: the token is compared too late.", nil, ""},
		"tests that passed":                    {belay.ExpectTests, ran(0), "ok", nil, ""},
		"tests that failed":                    {belay.ExpectTests, ran(1), "all tests pass", nil, belay.BashFailure},
		"tests that nobody ran":                {belay.ExpectTests, edited, "all tests pass", nil, belay.HollowSuccess},
		"tests whose end nobody tells":         {belay.ExpectTests, told, "all tests pass", nil, belay.BashFailure},
		"tests that are counted":               {belay.ExpectTests, seen(counted), "ok", nil, ""},
		"a run of no test":                     {belay.ExpectTests, seen(none), "all tests pass", nil, belay.HollowSuccess},
		"a run of no test, without an exit":    {belay.ExpectTests, seen(toldNone), "all tests pass", nil, belay.HollowSuccess},
		"a run of no test, and an honest word": {belay.ExpectTests, seen(none), "I could not run the tests: a_test.go does not exist.", nil, belay.BashFailure},
		"a run of no test that failed":         {belay.ExpectTests, seen(failedNone), "all tests pass", nil, belay.BashFailure},
		"tests, then a run of none":            {belay.ExpectTests, seen(fine, none, unsure), "ok", nil, ""},
		"failed tests, then a run of none":     {belay.ExpectTests, seen(failed, none), "ok", nil, belay.BashFailure},
		"tests that may not have been reached": {belay.ExpectTests, seen(unsure), "all tests pass", nil, belay.HollowSuccess},
		"failures that the exit does not tell": {belay.ExpectTests, seen(bad), "all tests pass", nil, belay.BashFailure},
		"failures behind a pipe":               {belay.ExpectTests, seen(maskedBad), "all tests pass", nil, belay.BashFailure},
		"passes behind a pipe":                 {belay.ExpectTests, seen(maskedGood), "all tests pass", nil, belay.BashFailure},
		"empty commits":                        {belay.ExpectChange, moved(false, false), "committed", nil, belay.HollowSuccess},
		"empty commits over others' work":      {belay.ExpectChange, moved(true, true), "committed", nil, belay.HollowSuccess},
		"a commit of what was there":           {belay.ExpectChange, moved(true, false), "committed", nil, ""},
		"a commit on another branch":           {belay.ExpectChange, aside, "committed", nil, ""},
		"a pull request that nobody made":      {belay.ExpectPR, edited, "I opened the pull request.", nil, belay.HollowSuccess},
		"an honest failure with a finding":     {belay.ExpectChange, same, "I could not fix it: the generator in gen/main.go needs a network.", nil, belay.BashFailure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verdict.Hollow(verdict.Claim{Expect: row.expect, Evidence: row.evidence, Text: row.text, Result: belay.AgentResult{Denied: row.denied}})
			got := belay.FailureKind("")
			if v.Failure != nil {
				got = v.Failure.Kind
			}
			if got != row.want || v.OK != (row.want == "") {
				t.Fatalf("got %q (ok %t), want %q: for %q, against %q", got, v.OK, row.want, v.For, v.Against)
			}
			if len(v.For)+len(v.Against) == 0 || v.Sure < 1 || v.Sure > 100 {
				t.Errorf("the verdict names no evidence, or no confidence: %+v", v)
			}
		})
	}
}

// The classic rule looks at the text alone, with all its faults.
// promise: H1 H2 H3
func TestClassicRule(t *testing.T) {
	t.Parallel()
	for text, hollow := range map[string]bool{
		"I don't have access to the repository, so I cannot do this.":                      true,
		"Unfortunately I was unable to find any files in the working directory.":           true,
		"I cannot access the codebase, but the error in main.go:3 is caused by a nil map.": false,
		"Everything is fixed.": false, // nobody admits anything: that is why this rule is not the default
		"Partially done: I added the handler, the tests are missing.": false,
	} {
		v := verdict.Hollow(verdict.Claim{Classic: true, Expect: belay.ExpectChange, Evidence: same, Text: text})
		if v.OK == hollow {
			t.Errorf("%q: ok %t", text, v.OK)
		}
	}
}

// What a case of an agent amounts to, before anybody looks at its work.
// promise: F2 F5 F7
func TestAgentsThatDidNotEndWell(t *testing.T) {
	t.Parallel()
	report := func(ended belay.EndedBy, r belay.AgentResult) *belay.AgentReport {
		return &belay.AgentReport{Name: "claude", Ended: ended, Result: r, Evidence: edited}
	}
	for name, row := range map[string]struct {
		o     belay.Observation
		kind  belay.FailureKind
		class belay.Class
		says  string
	}{
		"timed out": {belay.Observation{Began: true, Exit: 1, KilledBy: belay.KilledDeadline, Agent: report(belay.EndedDeadline, belay.AgentResult{})},
			belay.AgentTimeout, belay.ClassTimeout, "timed out"},
		"fell silent": {belay.Observation{Began: true, Exit: 1, Agent: report(belay.EndedSilence, belay.AgentResult{Tools: []belay.ToolCall{{Name: "Bash", Command: "make", Open: true}}})},
			belay.AgentTimeout, belay.ClassTimeout, "Bash make"},
		"login": {belay.Observation{Began: true, Exit: 1, Agent: report("", belay.AgentResult{Error: true, Final: true, Class: belay.ClassAuth, Status: 401, Cause: "bad key", Exit: 1})},
			belay.Infrastructure, belay.ClassAuth, "HTTP 401"},
		"error flag and exit 0": {belay.Observation{Began: true, Agent: report("", belay.AgentResult{Error: true, Final: true, Class: belay.ClassTransient})},
			belay.Infrastructure, belay.ClassTransient, "exit 0"},
		"refused": {belay.Observation{Began: true, Agent: report("", belay.AgentResult{Final: true, Stop: belay.StopRefused})},
			belay.BashFailure, belay.ClassRefusal, "refused"},
		"truncated": {belay.Observation{Began: true, Agent: report("", belay.AgentResult{Final: true, Stop: belay.StopTruncated})},
			belay.BashFailure, belay.ClassTokenLimit, "cut off"},
		"no final record": {belay.Observation{Began: true, Exit: 1, Agent: &belay.AgentReport{Name: "claude", Evidence: same}},
			belay.HollowSuccess, belay.ClassHollow, "without the record"},
		"no final record, and work": {belay.Observation{Began: true, Exit: 1, Agent: report("", belay.AgentResult{})},
			belay.BashFailure, belay.ClassUnknown, "there is work"},
		"no report": {belay.Observation{Began: true, Exit: -1, Signal: 9},
			belay.Infrastructure, belay.ClassInfrastructure, "no report"},
		"no report, and a reason": {belay.Observation{Began: true, Exit: 8, Tail: "write report: no space left on device\n"},
			belay.Infrastructure, belay.ClassInfrastructure, "no report (exit 8): write report: no space left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := verdict.Of(verdict.Case{Step: "fix", Type: belay.TypeAgent, Expect: belay.ExpectChange, Main: row.o})
			if v.OK || v.Failure == nil {
				t.Fatalf("not a failure: %+v", v)
			}
			if v.Failure.Kind != row.kind || v.Failure.Class != row.class || !strings.Contains(v.Failure.Cause, row.says) {
				t.Errorf("got %v, want %s (%s) with %q", v.Failure, row.kind, row.class, row.says)
			}
		})
	}
}

// A check that passes is evidence; one that fails is no success whatever else was seen.
// promise: A6
func TestTheCheckOfAnAgentStep(t *testing.T) {
	t.Parallel()
	claim := belay.Observation{Began: true, Agent: &belay.AgentReport{Name: "codex", Evidence: same, Result: belay.AgentResult{Final: true, Excerpt: "done"}}}
	c := verdict.Case{Step: "fix", Type: belay.TypeAgent, Expect: belay.ExpectChange, Main: claim}
	if !verdict.NeedsCheck(c) {
		t.Error("a claim without a change is not checked")
	}
	c.Check = &belay.Observation{Began: true}
	for expect, done := range map[belay.Expect]bool{
		belay.ExpectChange: false, belay.ExpectPR: false, // it is demanded, and not there
		belay.ExpectTests: true, belay.ExpectAnswer: true, belay.ExpectNone: true,
	} {
		c.Expect = expect
		if v := verdict.Of(c); v.OK != done || !slices.Contains(v.For, "verify: exit 0") {
			t.Errorf("%s: the check passed: %+v", expect, v)
		}
	}
	c.Expect, c.Check = belay.ExpectTests, &belay.Observation{Began: true, Tally: &belay.Tally{None: true}}
	if v := verdict.Of(c); !v.OK || !slices.Contains(v.Against, "verify: the end of its output tells that no test ran") {
		t.Errorf("the check ran no test: %+v", v)
	}
	c.Expect = belay.ExpectChange
	c.Main.Agent = &belay.AgentReport{Name: "codex", Evidence: edited, Result: belay.AgentResult{Final: true, Excerpt: "done"}}
	c.Check = &belay.Observation{Began: true, Exit: 1}
	if v := verdict.Of(c); v.OK || v.Failure.Class != belay.ClassWorkFailure {
		t.Errorf("the check failed: %+v", v)
	}
}
