package verdict_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/verdict"
)

var (
	same   = belay.Evidence{Before: belay.TreeState{Repo: true, Tree: "t1", Head: "c1"}, After: belay.TreeState{Repo: true, Tree: "t1", Head: "c1"}}
	edited = belay.Evidence{
		Before: belay.TreeState{Repo: true, Tree: "t1", Head: "c1"}, After: belay.TreeState{Repo: true, Tree: "t2", Head: "c1"},
		Files: 1, Added: 1, Deleted: 1, Changed: []belay.FileChange{{Path: "a.go", Change: belay.FileModified, Added: 1, Deleted: 1}},
	}
	aside = belay.Evidence{Before: same.Before, After: same.After, Commits: []string{"c2"}}
	blind = belay.Evidence{Before: belay.TreeState{Error: "git: not found"}}
)

func exit(n int) *int { return &n }

// moved is a new commit with the same files.
func moved(before, after bool) belay.Evidence {
	return belay.Evidence{
		Before: belay.TreeState{Repo: true, Tree: "t1", Head: "c1", Dirty: before}, After: belay.TreeState{Repo: true, Tree: "t1", Head: "c2", Dirty: after},
		Commits: []string{"c2"},
	}
}

// agentSaid is the verdict about an agent that ended well.
func agentSaid(expect belay.Expect, e belay.Evidence, r belay.AgentResult, check *effect.Observation) effect.Verdict {
	r.Final = true
	return verdict.Of(verdict.Case{Step: "fix", Type: belay.TypeAgent, Expect: expect, Check: check,
		Main: effect.Observation{Began: true, Agent: &effect.AgentReport{Name: "claude", Evidence: e, Result: r}}})
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
		"nothing but a denial":  {[]belay.ToolCall{no}, belay.ClassPermission},
		"a denial beside work":  {[]belay.ToolCall{read, no}, belay.ClassPermission},
		"denied, then let pass": {[]belay.ToolCall{no, {Name: "Bash", Exit: exit(0)}}, belay.ClassNone},
	} {
		v := agentSaid(belay.ExpectAnswer, same, belay.AgentResult{Excerpt: "The limit is 30 s.", Tools: row.tools, Denied: []string{"Bash"}}, nil)
		got := belay.ClassNone
		if v.Failure != nil {
			got = v.Failure.Class
		}
		if got != row.want || v.OK != (row.want == belay.ClassNone) {
			t.Errorf("%s: %q (ok %t), want %q", name, got, v.OK, row.want)
		}
	}
}

// Only what Belay saw makes a verdict: a text never does, whatever it says.
// promise: H3 H4 H5
func TestEvidenceDecidesAndTextsDoNot(t *testing.T) {
	t.Parallel()
	pass, fail := &effect.Observation{Began: true}, &effect.Observation{Began: true, Exit: 1}
	none := &effect.Observation{Began: true, Tally: &belay.Tally{None: true}}
	mute := &effect.Observation{Began: true, Exit: -1, Signal: 9}
	const hollow, bad = belay.HollowSuccess, belay.BashFailure
	for name, row := range map[string]struct {
		expect   belay.Expect
		evidence belay.Evidence
		check    *effect.Observation
		denied   []string
		want     belay.FailureKind
		basis    effect.Basis // "" = not done
	}{
		"no change":                            {belay.ExpectChange, same, nil, nil, hollow, ""},
		"no change, and the check passes":      {belay.ExpectChange, same, pass, nil, hollow, ""},
		"a change":                             {belay.ExpectChange, edited, nil, nil, "", effect.BasisChange},
		"a change, and the check passes":       {belay.ExpectChange, edited, pass, nil, "", effect.BasisChange},
		"a change, and the check fails":        {belay.ExpectChange, edited, fail, nil, bad, ""},
		"nobody could look":                    {belay.ExpectChange, blind, nil, nil, belay.Infrastructure, ""},
		"nothing expected":                     {belay.ExpectNone, same, nil, nil, "", effect.BasisExit},
		"nothing expected, and a check":        {belay.ExpectNone, same, pass, nil, "", effect.BasisVerify},
		"an answer":                            {belay.ExpectAnswer, same, nil, nil, "", effect.BasisAnswer},
		"an answer, and a check":               {belay.ExpectAnswer, same, pass, nil, "", effect.BasisVerify},
		"an answer that was denied its tools":  {belay.ExpectAnswer, same, nil, []string{"Write"}, bad, ""},
		"a denial that did not matter":         {belay.ExpectChange, edited, nil, []string{"WebFetch"}, "", effect.BasisChange},
		"tests that nobody ran":                {belay.ExpectTests, edited, nil, nil, hollow, ""},
		"tests that passed":                    {belay.ExpectTests, same, pass, nil, "", effect.BasisTests},
		"tests that failed":                    {belay.ExpectTests, edited, fail, nil, bad, ""},
		"a run of no test":                     {belay.ExpectTests, edited, none, nil, hollow, ""},
		"tests that were cut off":              {belay.ExpectTests, edited, mute, nil, bad, ""},
		"empty commits":                        {belay.ExpectChange, moved(false, false), nil, nil, hollow, ""},
		"empty commits over others' work":      {belay.ExpectChange, moved(true, true), nil, nil, hollow, ""},
		"a commit of what was there":           {belay.ExpectChange, moved(true, false), nil, nil, "", effect.BasisChange},
		"a commit on another branch":           {belay.ExpectChange, aside, nil, nil, "", effect.BasisChange},
		"a pull request that nobody looked up": {belay.ExpectPR, edited, nil, nil, hollow, ""},
		"a pull request that was looked up":    {belay.ExpectPR, edited, pass, nil, "", effect.BasisPR},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{
				"done", "I fixed the bug in a.go; all tests pass.", "I cannot access the repository.",
				"Nothing to do: `Add` in a.go already handles this.", "I'm sorry, I can't help with that.", "Erledigt.",
			} {
				v := agentSaid(row.expect, row.evidence, belay.AgentResult{Denied: row.denied, Excerpt: text}, row.check)
				got := belay.FailureKind("")
				if v.Failure != nil {
					got = v.Failure.Kind
				}
				if got != row.want || v.OK != (row.want == "") || v.Basis != row.basis {
					t.Fatalf("%q: got %q (ok %t, basis %q), want %q: for %q, against %q", text, got, v.OK, v.Basis, row.want, v.For, v.Against)
				}
				if len(v.For)+len(v.Against) == 0 || v.Sure < 1 || v.Sure > 100 {
					t.Errorf("the verdict names no evidence, or no confidence: %+v", v)
				}
			}
		})
	}
}

// A blank answer is none, and no check is in its place.
// promise: H4
func TestABlankAnswerIsNone(t *testing.T) {
	t.Parallel()
	for _, check := range []*effect.Observation{nil, {Began: true}} {
		if v := agentSaid(belay.ExpectAnswer, edited, belay.AgentResult{Excerpt: " \n\t"}, check); v.OK || v.Failure.Kind != belay.HollowSuccess {
			t.Errorf("%+v", v)
		}
	}
}

// A lost attempt is done only when all that its step expects is there: a check
// that passes says nothing about a change or an answer.
// promise: A6 K1
func TestLost(t *testing.T) {
	t.Parallel()
	pass, fail := &effect.Observation{Began: true}, &effect.Observation{Began: true, Exit: 1}
	for name, row := range map[string]struct {
		expect belay.Expect
		seen   *belay.Evidence
		check  *effect.Observation
		done   bool
	}{
		"a change and a check":            {belay.ExpectChange, &edited, pass, true},
		"a check without a change":        {belay.ExpectChange, &same, pass, false},
		"a check, and nobody looked":      {belay.ExpectChange, nil, pass, false},
		"a look that failed":              {belay.ExpectChange, &blind, pass, false},
		"a change without a check":        {belay.ExpectChange, &edited, nil, false},
		"a change, and the check fails":   {belay.ExpectChange, &edited, fail, false},
		"an answer":                       {belay.ExpectAnswer, &edited, pass, false},
		"tests":                           {belay.ExpectTests, nil, pass, true},
		"tests that failed":               {belay.ExpectTests, nil, fail, false},
		"nothing expected, and a check":   {belay.ExpectNone, nil, pass, true},
		"nothing expected, without check": {belay.ExpectNone, nil, nil, false},
	} {
		v := verdict.Lost(verdict.Case{Step: "fix", Type: belay.TypeAgent, Expect: row.expect, Check: row.check}, row.seen)
		if v.OK != row.done || v.Unknown == row.done || v.OK != (v.Basis != "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := verdict.Lost(verdict.Case{Step: "build", Type: belay.TypeBash, Check: pass}, nil); !v.OK {
		t.Errorf("a shell step whose check passes: %+v", v)
	}
}

// What a case of an agent amounts to, before anybody looks at its work.
// promise: F2 F5 F7
func TestAgentsThatDidNotEndWell(t *testing.T) {
	t.Parallel()
	report := func(ended effect.EndedBy, r belay.AgentResult) *effect.AgentReport {
		return &effect.AgentReport{Name: "claude", Ended: ended, Result: r, Evidence: edited}
	}
	for name, row := range map[string]struct {
		o     effect.Observation
		kind  belay.FailureKind
		class belay.Class
		says  string
	}{
		"timed out": {effect.Observation{Began: true, Exit: 1, KilledBy: fault.KilledDeadline, Agent: report(effect.EndedDeadline, belay.AgentResult{})},
			belay.AgentTimeout, belay.ClassTimeout, "timed out"},
		"fell silent": {effect.Observation{Began: true, Exit: 1, Agent: report(effect.EndedSilence, belay.AgentResult{Tools: []belay.ToolCall{{Name: "Bash", Command: "make", Open: true}}})},
			belay.AgentTimeout, belay.ClassTimeout, "Bash make"},
		"login": {effect.Observation{Began: true, Exit: 1, Agent: report("", belay.AgentResult{Error: true, Final: true, Class: belay.ClassAuth, Status: 401, Cause: "bad key", Exit: 1})},
			belay.Infrastructure, belay.ClassAuth, "HTTP 401"},
		"error flag and exit 0": {effect.Observation{Began: true, Agent: report("", belay.AgentResult{Error: true, Final: true, Class: belay.ClassTransient})},
			belay.Infrastructure, belay.ClassTransient, "exit 0"},
		"refused": {effect.Observation{Began: true, Agent: report("", belay.AgentResult{Final: true, Stop: belay.StopRefused})},
			belay.BashFailure, belay.ClassRefusal, "refused"},
		"truncated": {effect.Observation{Began: true, Agent: report("", belay.AgentResult{Final: true, Stop: belay.StopTruncated})},
			belay.BashFailure, belay.ClassTokenLimit, "cut off"},
		"no final record": {effect.Observation{Began: true, Exit: 1, Agent: &effect.AgentReport{Name: "claude", Evidence: same}},
			belay.HollowSuccess, belay.ClassHollow, "without the record"},
		"no final record, and work": {effect.Observation{Began: true, Exit: 1, Agent: report("", belay.AgentResult{})},
			belay.BashFailure, belay.ClassUnknown, "there is work"},
		"no report": {effect.Observation{Began: true, Exit: -1, Signal: 9},
			belay.Infrastructure, belay.ClassInfrastructure, "no report"},
		"no report, and a reason": {effect.Observation{Began: true, Exit: 8, Tail: "write report: no space left on device\n"},
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

// The check of a step looks at what ended well.
// promise: A6
func TestAClaimIsChecked(t *testing.T) {
	t.Parallel()
	c := verdict.Case{Step: "fix", Type: belay.TypeAgent, Expect: belay.ExpectChange, Main: effect.Observation{Began: true,
		Agent: &effect.AgentReport{Name: "codex", Evidence: same, Result: belay.AgentResult{Final: true, Excerpt: "done"}}}}
	if !verdict.NeedsCheck(c) {
		t.Error("a claim without a change is not checked")
	}
}

// The closing line only lowers: it never makes a verdict better, and an honest
// "not done" is never hollow.
// promise: H3 H4
func TestTheClosingLineOnlyLowers(t *testing.T) {
	t.Parallel()
	pass, fail := &effect.Observation{Began: true}, &effect.Observation{Began: true, Exit: 1}
	const done, hollow, incomplete, work = "done", "hollow", "incomplete", "work_failure"
	for name, row := range map[string]struct {
		expect   belay.Expect
		evidence belay.Evidence
		check    *effect.Observation
		want     map[belay.ClosingWord]string
	}{
		"a change": {belay.ExpectChange, edited, nil, map[belay.ClosingWord]string{
			"": done, belay.ClosedAchieved: done, belay.ClosedUnclear: done, belay.ClosedNothing: done,
			belay.ClosedPartial: incomplete, belay.ClosedNot: incomplete, belay.ClosedInput: incomplete, belay.ClosedHollow: incomplete,
		}},
		"no change": {belay.ExpectChange, same, nil, map[belay.ClosingWord]string{
			"": hollow, belay.ClosedAchieved: hollow, belay.ClosedUnclear: hollow, belay.ClosedNothing: incomplete,
			belay.ClosedPartial: incomplete, belay.ClosedNot: incomplete, belay.ClosedInput: incomplete, belay.ClosedHollow: incomplete,
		}},
		"no change, and the check passes": {belay.ExpectChange, same, pass, map[belay.ClosingWord]string{
			"": hollow, belay.ClosedAchieved: hollow, belay.ClosedNothing: incomplete, belay.ClosedPartial: incomplete,
		}},
		"a change, and the check fails": {belay.ExpectChange, edited, fail, map[belay.ClosingWord]string{
			"": work, belay.ClosedAchieved: work, belay.ClosedNothing: work, belay.ClosedPartial: work,
		}},
		"tests": {belay.ExpectTests, same, pass, map[belay.ClosingWord]string{
			"": done, belay.ClosedAchieved: done, belay.ClosedNothing: done, belay.ClosedPartial: incomplete,
		}},
		"an answer": {belay.ExpectAnswer, same, nil, map[belay.ClosingWord]string{
			"": done, belay.ClosedAchieved: done, belay.ClosedNothing: done, belay.ClosedPartial: incomplete, belay.ClosedNot: incomplete,
		}},
		"nothing": {belay.ExpectNone, same, nil, map[belay.ClosingWord]string{
			"": done, belay.ClosedAchieved: done, belay.ClosedNothing: done, belay.ClosedPartial: incomplete, belay.ClosedNot: incomplete,
		}},
	} {
		for word, want := range row.want {
			r := belay.AgentResult{Excerpt: "text"}
			if word != "" {
				r.Closing = &belay.Closing{Word: word, Text: "the reason"}
			}
			v := agentSaid(row.expect, row.evidence, r, row.check)
			got := done
			if v.Failure != nil {
				got = string(v.Failure.Class)
			}
			if got != want || v.OK != (want == done) {
				t.Errorf("%s, %q: %s, want %s: %+v", name, word, got, want, v)
			}
			if want == incomplete && (!strings.Contains(v.Failure.Cause, "the reason") || v.Failure.Kind != belay.BashFailure) {
				t.Errorf("%s, %q: %v", name, word, v.Failure)
			}
			if row.evidence.Files > 0 && want == incomplete && !verdict.Shows(&v) || row.evidence.Files == 0 && row.check == nil && verdict.Shows(&v) {
				t.Errorf("%s, %q: basis %q", name, word, v.Basis)
			}
		}
	}
}
