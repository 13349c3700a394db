package task

import (
	"fmt"
	"strings"
	"testing"
)

// What is blocking in a review, however it is spelled.
func TestBlockingFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ review, want string }{
		{`{"findings": []}`, "0 "},
		{`{"findings": [{"severity": "minor", "title": "not blocking"}]}`, "0 "},
		{`{"findings": [{"severity": "BLOCKING", "title": "a", "where": "x:1"}, {"severity": "critical", "title": "b"}]}`, "2 a (x:1); b"},
		{`"[{\"title\": \"a\"}]"`, "1 a"},
		{`"one thing is blocking"`, "1 the review cannot be read: one thing is blocking"},
		{`"all is well"`, "1 the review cannot be read: all is well"},
		{`{"verdict": "reject"}`, `1 the review cannot be read: {"verdict":"reject"}`},
		{`""`, "1 the review cannot be read"},
		// beside the findings
		{`{"findings": [], "blocking": [{"severity": "minor", "title": "a", "where": "x:1"}], "blockers": ["b"]}`, "2 b; a (x:1)"},
		{`{"findings": [], "blocking_findings": ["a"], "blockingIssues": ["b"], "Critical": ["c"], "must-fix": {"title": "d"}}`, "4 c; b; a; d"},
		{`{"findings": [], "issues": [{"severity": "minor", "title": "a"}, {"severity": "blocking", "title": "b"}], "problems": {"x": {"title": "c"}, "y": {"severity": "nit", "title": "d"}}}`, "2 b; c"},
		{`{"findings": [{"id": "f1", "severity": "minor", "title": "a"}, {"id": "f2", "severity": "blocking", "title": "b"}], "blocking": ["f1", {"id": "f2"}, "B"]}`, "2 a; b"},
		{`{"findings": [{"id": "1", "severity": "minor", "title": "a"}], "blocking": [{"id": "1", "title": "b"}]}`, "1 b"},
		{`{"findings": [], "blocking": true}`, "1 blocking: true"},
		{`{"findings": [{"title": "a"}], "blocking": 1, "issues": 1}`, "1 a"},
		{`{"findings": [{"severity": "minor", "title": "a"}], "blocking": "it deletes data"}`, "1 it deletes data"},
		{`{"findings": [], "blocking": [], "critical": 0, "must_fix": "none", "issues": null, "problems": false, "notes": ["a"]}`, "0 "},
		{`{"findings": [], "blocking": [7]}`, `1 the review cannot be read: {"blocking":[7],"findings":[]}`},
	} {
		got := call(t, "blocking-findings", `{"review": `+c.review+`}`)
		if text := fmt.Sprintf("%v %v", got["count"], got["text"]); text != c.want {
			t.Errorf("%s: %s, want %s", c.review, text, c.want)
		}
	}
}

// A round is no more than PARTIAL where who did the work says so, or where what was
// done is in a repository of its own.
//
// promise: S1
func TestWorkLimits(t *testing.T) {
	t.Parallel()
	const met = `"criteria": [{"id": "c1", "text": "t", "check": "x"}], "checks": [{"id": "c1", "passed": true}], "reflection": {"goal_status": "ACHIEVED", "summary": "s"}, "expect_change": true`
	const open = `{"work_ends": "PARTIAL -- a finding was not fixed"}`
	for _, c := range []struct{ with, want string }{
		{`"changed": ["a"], "work": {"work_ends": "ACHIEVED"}`, "ACHIEVED"},
		{`"changed": ["a"], "work": ` + open, "PARTIAL -- a finding was not fixed"},
		{`"changed": ["a"], "instead": ` + open, "PARTIAL -- a finding was not fixed"},
		{`"changed": ["a"], "streams": [{}, ` + open + `, ` + open + `]`, "PARTIAL -- a finding was not fixed"},
		{`"changed": ["a"], "notes": "warning: sub is a repository"`, "ACHIEVED [sub is a repository]"},
		{`"changed": [], "notes": "warning: sub is a repository"`, "NOT_ACHIEVED -- nothing that counts was changed: sub is a repository [sub is a repository]"},
	} {
		got := call(t, "criteria-status", `{`+met+`, `+c.with+`}`)
		text := fmt.Sprint(got["line"])
		if got["warnings"] != nil {
			text += fmt.Sprint(" ", got["warnings"])
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", c.with, text, c.want)
		}
	}
	next := call(t, "next-task", `{"task": "t", "goal": "g", "round": 2, "criteria": [{"id": "c1", "text": "t"}], "status": {"status": "PARTIAL", "limits": ["a finding was not fixed"], "criteria": []}}`)
	if !strings.Contains(fmt.Sprint(next["task"]), "What else keeps it from being done:\n- a finding was not fixed") {
		t.Error(next["task"])
	}
}
