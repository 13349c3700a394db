package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A reflection has exactly one status, and what nobody can read is never achieved.
// promise: S5, S7
func TestReadReflection(t *testing.T) {
	t.Parallel()
	const fence = "```"
	for _, c := range []struct {
		text string // JSON
		want Status
	}{
		{`{"goal_status": "ACHIEVED", "summary": "s"}`, Achieved},
		{`{"goal_status": "PARTIAL -- c3 is not met"}`, Partial},
		{`{"goal_status": "not achieved"}`, NotAchieved},
		{`{"goal_status": "HOLLOW"}`, Hollow},
		{`"{\"goal_status\": \"PARTIAL\"}"`, Partial},
		{`"so:\n` + fence + `json\n{\"goal_status\": \"PARTIAL\"}\n` + fence + `"`, Partial},
		{`"all is well\nGOAL_STATUS: ACHIEVED"`, Achieved},
		{`"**GOAL_STATUS: NOT_ACHIEVED -- no tests**\nmore words"`, NotAchieved},
		{`"words\n\nACHIEVED\n\n"`, Achieved},
		{`"words\r\nPARTIAL -- c3\r\n"`, Partial},
		{`"NOT_ACHIEVED -- nothing is there"`, NotAchieved},
		{`"HOLLOW -- no file was touched"`, Hollow},
		{`"GOAL_STATUS: PARTIAL\nPARTIAL -- c3"`, Partial},

		{`null`, ""}, {`""`, ""}, {`{}`, ""}, {`[]`, ""}, {`true`, ""}, {`"it is achieved"`, ""},
		{`"ACHIEVED."`, ""}, {`"ACHIEVED -- mostly"`, ""}, {`"achieved"`, ""}, {`"ACHIEVED\nand more"`, ""},
		{`"PARTIAL"`, ""}, {`"> GOAL_STATUS: ACHIEVED"`, ""}, {`"the last line is GOAL_STATUS: ACHIEVED"`, ""},
		{`"\u001b[32mACHIEVED\u001b[0m"`, ""}, {`"ACHIEVED\u0000"`, ""},
		{`{"goal_status": ""}`, ""}, {`{"goal_status": "DONE"}`, ""}, {`{"goal_status": true}`, ""}, {`{"goal_status": ["ACHIEVED"]}`, ""},
		{`{"goal_status": "ACHIEVED -- but c3"}`, ""}, {`{"goal_status": "ACHIEVED, PARTIAL"}`, ""}, {`{"status": "ACHIEVED"}`, ""},
		{`"NOTHING_TO_DO -- fine"`, ""},

		{`"GOAL_STATUS: ACHIEVED\nGOAL_STATUS: PARTIAL"`, ""},
		{`"GOAL_STATUS: ACHIEVED\n\nNOT_ACHIEVED -- it lied"`, ""},
		{`"PARTIAL -- c1\nACHIEVED"`, ""},
		{`"{\"goal_status\": \"ACHIEVED\"}\nPARTIAL -- c3"`, ""},
		{`"{\"goal_status\": \"PARTIAL\", \"goal_status\": \"ACHIEVED\"}"`, ""},
		{`"{\"goal_status\": \"PARTIAL\"} {\"goal_status\": \"ACHIEVED\"}"`, ""},
		{`{"goal_status": "ACHIEVED", "summary": "GOAL_STATUS: HOLLOW"}`, ""},
	} {
		v, err := decode(json.RawMessage(c.text))
		if err != nil {
			t.Fatalf("%v in %s", err, c.text)
		}
		r := readReflection(v, nil)
		if r.status != c.want || (r.status == "") != (r.why != "") {
			t.Errorf("%s: %q (%s), want %q", c.text, r.status, r.why, c.want)
		}
	}
}

func statusOf(t *testing.T, with string) string {
	t.Helper()
	got := call(t, "criteria-status", with)
	var verdicts []string
	for _, c := range list(t, got["criteria"]) {
		verdicts = append(verdicts, fmt.Sprint(c.(map[string]any)["verdict"]))
	}
	return fmt.Sprintf("%v %v/%v %s", got["status"], got["met"], got["total"], strings.Join(verdicts, ","))
}

// The status of a round by the evidence, lowered by the reflection.
func TestCriteriaStatus(t *testing.T) {
	t.Parallel()
	const (
		two    = `"criteria": [{"id": "a", "text": "A", "check": "x"}, {"id": "b", "text": "B", "files": ["docs/**"]}]`
		all    = `"checks": [{"id": "a", "exit": 0}], "changed": ["docs/x/y.md", "a.go"], "tests": true`
		yes    = `"reflection": {"goal_status": "ACHIEVED"}`
		expect = `"expect_change": true`
	)
	for _, c := range []struct{ name, with, want string }{
		{"all proven", two + "," + all + "," + yes, "ACHIEVED 2/2 met,met"},
		{"all proven, a change was expected", two + "," + all + "," + yes + "," + expect, "ACHIEVED 2/2 met,met"},
		{"the agent says partial", two + "," + all + `, "reflection": {"goal_status": "PARTIAL"}`, "PARTIAL 2/2 met,met"},
		{"the agent says no", two + "," + all + `, "reflection": {"goal_status": "NOT_ACHIEVED"}`, "NOT_ACHIEVED 2/2 met,met"},
		{"the agent says hollow, and all is there", two + "," + all + `, "reflection": {"goal_status": "HOLLOW"}`, "PARTIAL 2/2 met,met"},
		{"no reflection", two + "," + all, "NOT_ACHIEVED 2/2 met,met"},
		{"nobody can read it", two + "," + all + `, "reflection": "great work"`, "NOT_ACHIEVED 2/2 met,met"},
		{"one is denied", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": false}]}`, "PARTIAL 1/2 met,unmet"},
		{"said twice", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": false}, {"id": "b", "met": true}]}`, "PARTIAL 1/2 met,unmet"},
		{"met is no flag", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": "maybe"}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'not_met': ['b']", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "not_met": ["b"]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'not_met': 'b'", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "not_met": "b"}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'gaps': ['b: no docs']", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "gaps": ["b: no docs"]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'gaps': {'b': 'no docs'}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "gaps": {"b": "no docs"}}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'gaps': {'b': true}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "gaps": {"b": true}}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'gaps': [{'id': 'b'}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "gaps": [{"id": "b"}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'gaps': 'b'", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "gaps": "b"}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'criteria': [{'id': 'b', 'met': true, 'verdict': 'unmet'}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": true, "verdict": "unmet"}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'criteria': [{'id': 'b', 'met': true, 'status': 'partly'}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": true, "status": "partly"}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'criteria': [{'id': 'b', 'Met': true, 'met': false}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "Met": true, "met": false}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'criteria': [{'id': 'b', 'met': true, 'missing': ['docs']}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": true, "missing": ["docs"]}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'criteria': {'b': {'met': true, 'result': 'failed'}}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": {"b": {"met": true, "result": "failed"}}}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'met': {'b': false}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "met": {"b": false}}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'met': [{'id': 'b', 'met': false}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "met": [{"id": "b", "met": false}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'results': ['a: met', 'b: not met']", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "results": ["a: met", "b: not met"]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'checks': {'b': false}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "checks": {"b": false}}`, "PARTIAL 1/2 met,unmet"},
		{"not denied: 'results': {'tests': '12 passed'}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "results": {"tests": "12 passed"}, "evaluation": ["all good"]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'checks': [{'id': 'b', 'exit': 0}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": ["a: met", "b: yes"], "checks": [{"id": "b", "exit": 0}]}`, "ACHIEVED 2/2 met,met"},
		{"denied: 'assessment': {'b': 'not met'}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "assessment": {"b": "not met"}}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'details': [{'id': 'b', 'passed': false}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "details": [{"id": "b", "passed": false}]}`, "PARTIAL 1/2 met,unmet"},
		{"denied: 'unmet_criteria': '['b']'", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "unmet_criteria": "[\"b\"]"}`, "PARTIAL 1/2 met,unmet"},
		{"not denied: 'criteria_met': ['a', 'b']", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria_met": ["a", "b"]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'met': ['a', 'b']", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "met": ["a", "b"]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: a remark about b", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "recommendations": ["b could use a second test"], "analysis": {"b": "it prints"}, "completed": ["b"], "strengths": ["b"]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: what its check printed", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": true, "result": "exit 0"}]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: nothing is missing", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "missing": ["Nothing is missing."]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: JSON in the text", two + "," + all + `, "reflection": "The settings have {\"max\": 3}.\n{\"goal_status\": \"ACHIEVED\"}"`, "ACHIEVED 2/2 met,met"},
		{"denied: b: false", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "b": false}`, "PARTIAL 1/2 met,unmet"},
		{"denied: b: {met: false}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "b": {"met": false}}`, "PARTIAL 1/2 met,unmet"},
		{"not denied: 'notes': 'b is fine, and a', 'confidence': 'high'", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "notes": "b is fine, and a", "confidence": "high"}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'evidence': {'b': 'docs/a.md'}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "evidence": {"b": "docs/a.md"}}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'details': [{'id': 'b', 'passed': true}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "details": [{"id": "b", "passed": true}]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'assessment': {'a': true, 'b': 'met'}", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "assessment": {"a": true, "b": "met"}}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'criteria': [{'id': 'b', 'met': true, 'verdict': 'met', 'status': 'passed', 'result': true, 'ok': 'yes', 'missing': []}]", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "criteria": [{"id": "b", "met": true, "verdict": "met", "status": "passed", "result": true, "ok": "yes", "missing": []}]}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'not_met': []", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "not_met": []}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'failed': 0", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "failed": 0}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'files': ['docs/a.md'], 'tests': {'passed': 3}, 'author': 'me'", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "files": ["docs/a.md"], "tests": {"ok": false, "failed": ["slow"]}, "author": "me"}`, "ACHIEVED 2/2 met,met"},
		{"not denied: 'gaps': []", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "gaps": []}`, "ACHIEVED 2/2 met,met"},
		{"denied, and no criterion: 'not_met': ['the docs']", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "not_met": ["the docs"]}`, "PARTIAL 2/2 met,met"},
		{"denied, and no criterion: 'achieved': false", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "achieved": false}`, "PARTIAL 2/2 met,met"},
		{"denied, and no criterion: 'status': 'PARTIAL'", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "status": "PARTIAL"}`, "PARTIAL 2/2 met,met"},
		{"denied, and no criterion: 'passed': 'no'", two + "," + all + `, "reflection": {"goal_status": "ACHIEVED", "passed": "no"}`, "PARTIAL 2/2 met,met"},
		{"only vouched", two + "," + yes, "PARTIAL 0/2 unproven,unproven"},
		{"only vouched, and trusted", two + "," + yes + `, "trust_reflection": true`, "ACHIEVED 2/2 met,met"},
		{"only vouched, and a change was expected", two + "," + yes + `, "trust_reflection": true,` + expect, "HOLLOW 2/2 met,met"},
		{"trusted, and nobody can read it", two + `, "trust_reflection": true, "reflection": "ACHIEVED!"`, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"a check that failed, vouched and trusted", two + `, "checks": {"a": {"passed": false}, "b": true}, "trust_reflection": true,` + yes, "PARTIAL 1/2 unmet,met"},
		{"a check that failed once", two + `, "checks": [{"id": "a", "passed": true}, {"id": "a", "passed": false}], "reflection": {"goal_status": "PARTIAL"}`, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"files without tests", two + `, "changed": ["docs/a.md"], "reflection": {"goal_status": "PARTIAL"}`, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"other files", two + `, "changed": ["doc/a.md"], "tests": true, "reflection": {"goal_status": "PARTIAL"}`, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"files on lines", two + `, "changed": "a.go\ndocs/has space.md\n", "tests": "passed", "reflection": {"goal_status": "PARTIAL"}`, "PARTIAL 1/2 unmet,met"},
		{"files as objects", two + `, "changed": [{"path": "docs/a.md", "kind": "M"}], "tests": {"passed": true}, "reflection": {"goal_status": "PARTIAL"}`, "PARTIAL 1/2 unmet,met"},
		{"a citation", two + `, "citations": [{"criterion": "a", "holds": false}, {"criterion": "a", "holds": true}], "reflection": {"goal_status": "PARTIAL"}`, "PARTIAL 1/2 met,unmet"},
		{"a citation for none of several", two + `, "citations": [{"holds": true}], "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 0/2 unproven,unproven"},
		{"a citation that holds, and one that is wrong", two + `, "citations": [{"criterion": "a", "holds": true}, {"criterion": "A", "holds": false, "wrong": "x:1: no"}, {"criterion": "b", "holds": true}], "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 1/2 unproven,met"},
		{"a wrong citation, trusted", two + `, "trust_reflection": true, "citations": [{"criterion": "a", "wrong": "x:1: no"}], "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 1/2 unproven,met"},
		{"a citation that holds, and one that cannot be looked up", two + `, "citations": [{"criterion": "a", "holds": true}, {"criterion": "b", "holds": true}], "unread": [{"criterion": "a", "wrong": "x"}], "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 1/2 unproven,met"},
		{"one that cannot be looked up, trusted", two + `, "trust_reflection": true, "unread": "[{\"criterion\": \"a\", \"wrong\": \"x\"}]", "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 1/2 unproven,met"},
		{"one that cannot be looked up, for none of several", two + `, "citations": [{"criterion": "a", "holds": true}, {"criterion": "b", "holds": true}], "unread": [{"wrong": "x"}], "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 2/2 met,met"},
		{"one that was not looked up", two + `, "citations": [{"criterion": "a", "holds": true}, {"criterion": "b", "holds": true}, null], "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 2/2 met,met"},
		{"a wrong citation for none of several", two + `, "citations": [{"criterion": "a", "holds": true}, {"criterion": "b", "holds": true}, {"holds": false, "wrong": "x:1: no"}], "reflection": {"goal_status": "ACHIEVED"}`, "PARTIAL 2/2 met,met"},
		{"denied under missing", two + `, "checks": {"a": true, "b": true}, "reflection": {"goal_status": "ACHIEVED", "missing": ["B: no", "none"]}`, "PARTIAL 1/2 met,unmet"},
		{"denied, and no criterion", two + `, "checks": {"a": true, "b": true}, "reflection": {"goal_status": "ACHIEVED", "missing": [{"id": "z"}]}`, "PARTIAL 2/2 met,met"},
		{"nothing is missing", two + `, "checks": {"a": true, "b": true}, "reflection": {"goal_status": "ACHIEVED", "missing": ["None."], "criteria": {"a": {"met": true}, "B": "yes"}}`, "ACHIEVED 2/2 met,met"},
		{"a citation that does not hold", two + `, "citations": [{"criterion": "a", "holds": false}], "reflection": {"goal_status": "PARTIAL"}`, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"tests that only say so", two + `, "changed": ["docs/a.md"], "tests": "3 passed, 1 failed", "reflection": {"goal_status": "PARTIAL"}`, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"nothing changed", two + "," + yes + "," + expect, "HOLLOW 0/2 unproven,unproven"},
		{"nothing changed, and the checks pass", two + `, "checks": {"a": true, "b": true},` + yes + "," + expect, "HOLLOW 2/2 met,met"},
		{"nothing changed, and that is said", two + `, "result": "I tried.\nNOT_ACHIEVED -- no access", "reflection": {"goal_status": "NOT_ACHIEVED"},` + expect, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"that is said, a check passed, and hollow said", two + `, "checks": {"a": true}, "result": "NOT_ACHIEVED -- no access", "reflection": {"goal_status": "HOLLOW"},` + expect, "NOT_ACHIEVED 1/2 met,unmet"},
		{"nothing changed, and ACHIEVED is said", two + `, "result": "ACHIEVED",` + yes + "," + expect, "HOLLOW 0/2 unproven,unproven"},
		{"nothing expected, hollow said", two + `, "reflection": {"goal_status": "HOLLOW"}`, "HOLLOW 0/2 unmet,unmet"},
		{"changed, hollow said", two + `, "changed": ["x"], "reflection": {"goal_status": "HOLLOW"}`, "NOT_ACHIEVED 0/2 unmet,unmet"},
		{"results as a text", two + `, "checks": "[{\"id\": \"a\", \"passed\": true}]", "reflection": "{\"goal_status\": \"PARTIAL\"}"`, "PARTIAL 1/2 met,unmet"},
		{"one without a check is judged by its files", two + `, "checks": [{"id": "a", "exit": 0}, {"id": "b"}], "changed": ["docs/x/y.md"], "tests": true,` + yes, "ACHIEVED 2/2 met,met"},
		{"a check that only says passed", two + `, "checks": [{"id": "a", "output": "passed"}], "reflection": {"goal_status": "PARTIAL"}`, "NOT_ACHIEVED 0/2 unmet,unmet"},
	} {
		if got := statusOf(t, "{"+c.with+"}"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if _, err := Call("criteria-status", map[string]json.RawMessage{"criteria": json.RawMessage(`[]`)}); err == nil {
		t.Error("a task without criteria has a status")
	}
}

// Two rounds in a row that changed nothing, whatever was said in them, are enough.
func TestStuck(t *testing.T) {
	t.Parallel()
	const one = `{"criteria": ["A"], "expect_change": true, "reflection": {"goal_status": "ACHIEVED", "summary": "other words"}, `
	for _, c := range []struct {
		name, with string
		stuck      any
	}{
		{"the first round", one + `"changed": ""}`, nil},
		{"nothing, as before", one + `"changed": "", "before": {"status": "HOLLOW"}}`, true},
		{"nothing, as before, by an agent that failed", one + `"changed": "", "failed": {"class": "auth", "text": "x"}, "before": {"status": "NOT_ACHIEVED", "unchanged": true}}`, true},
		{"nothing, after an agent that failed", one + `"changed": "", "before": {"status": "NOT_ACHIEVED", "unchanged": true}}`, true},
		{"nothing that counts", one + `"changed": "", "notes": "warning: x", "before": {"status": "HOLLOW", "unchanged": true}}`, nil},
		{"nothing, after something", one + `"changed": "", "before": {"status": "PARTIAL"}}`, nil},
		{"something that no work can prove", one + `"changed": "a.go", "before": {"status": "HOLLOW"}}`, true},
		{"something, after nothing", `{"criteria": [{"text": "A", "check": "test -f a"}], "checks": {"c1": false}, "reflection": {"goal_status": "ACHIEVED"}, "changed": "a.go", "before": {"status": "HOLLOW"}}`, nil},
	} {
		if got := call(t, "criteria-status", c.with)["stuck"]; got != c.stuck {
			t.Errorf("%s: stuck %v, want %v", c.name, got, c.stuck)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"docs/**", "docs/a.md", true},
		{"docs/**", "docs/a/b/c.md", true},
		{"docs/**", "docs2/a.md", false},
		{"docs", "docs/a.md", true},
		{"docs/", "docs/a.md", true},
		{"./docs/*.md", "docs/a.md", true},
		{"docs/*.md", "docs/x/a.md", false},
		{"**/*_test.go", "a_test.go", true},
		{"**/*_test.go", "x/y/a_test.go", true},
		{"*.md", "x/y/a.md", true},
		{"a/**/b/**/c", "a/b/b/x/c", true},
		{"a/**/b", "a/c", false},
		{"**", "anything/at/all", true},
		{"[", "[", true},
		{"[", "x", false},
		{strings.Repeat("**/a/", 40) + "b", strings.Repeat("a/", 80) + "c", false},
	} {
		if got := matches([]string{c.pattern}, c.file); got != c.want {
			t.Errorf("%s and %s: %v", cut(c.pattern, 40), cut(c.file, 40), got)
		}
	}
}

// The best round, as what it is.
func TestBestRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rounds, want string }{
		{`[{"status": "ACHIEVED", "met": 1, "total": 1}, {"status": "PARTIAL", "met": 1, "total": 1}]`, "1 ACHIEVED false"},
		{`[{"status": "PARTIAL", "met": 2, "total": 3}, {"status": "PARTIAL", "met": 1, "total": 3}]`, "1 PARTIAL false"},
		{`[{"status": "PARTIAL", "met": 1, "total": 3}, {"status": "PARTIAL", "met": 1, "total": 3}]`, "2 PARTIAL true"},
		{`[{"status": "HOLLOW", "met": 0, "total": 3}, {"status": "NOT_ACHIEVED", "met": 0, "total": 3}]`, "2 NOT_ACHIEVED true"},
		{`[{"status": "NOT_ACHIEVED", "met": 0, "total": 3}, {"status": "HOLLOW", "met": 3, "total": 3}]`, "1 NOT_ACHIEVED false"},
		{`[{"status": "PARTIAL", "met": 0, "total": 3}, {"status": "NOT_ACHIEVED", "met": 0, "total": 3}]`, "1 PARTIAL false"},
		{`[{"status": "PARTIAL", "met": 1, "total": 3}, {"status": "NOT_ACHIEVED", "met": 2, "total": 3}]`, "2 NOT_ACHIEVED true"},
		{`[null, {"status": "HOLLOW"}]`, "1 NOT_ACHIEVED false"},
		{`[null]`, "1 NOT_ACHIEVED true"},
		{`["ACHIEVED", "[]", 7]`, "3 NOT_ACHIEVED true"},
		{`[{"status": "ACHIEVED"}]`, "1 NOT_ACHIEVED true"},
		{`[{"status": "ACHIEVED", "met": 1, "total": 2}]`, "1 PARTIAL true"},
		{`["{\"status\": \"ACHIEVED\", \"met\": 2, \"total\": 2}"]`, "1 ACHIEVED true"},
	} {
		got := call(t, "best-round", `{"rounds": `+c.rounds+`}`)
		if text := fmt.Sprintf("%v %v %v", got["round"], got["status"], got["last"]); text != c.want {
			t.Errorf("%s: %s, want %s", c.rounds, text, c.want)
		}
	}
	// what counts is the round whose files are there
	got := call(t, "best-round", `{"rounds": [{"status": "PARTIAL", "line": "PARTIAL -- c2 is not met", "met": 1, "total": 2}, {"status": "NOT_ACHIEVED", "met": 0, "total": 2}], "standing": true, "why": "a file was changed"}`)
	if got["round"] != 2.0 || got["status"] != "NOT_ACHIEVED" || fmt.Sprint(got["warnings"]) != "[round 1 was better (PARTIAL -- c2 is not met), but what is there is the work of the last round: a file was changed]" {
		t.Errorf("standing: %v", got)
	}
	if got := call(t, "best-round", `{"rounds": [{"status": "PARTIAL", "met": 1, "total": 2}], "standing": true}`); got["round"] != 1.0 || got["warnings"] != nil {
		t.Errorf("the best is the last: %v", got)
	}
	if _, err := Call("best-round", map[string]json.RawMessage{"rounds": json.RawMessage(`[]`)}); err == nil {
		t.Error("no round is the best of none")
	}
}

// What the work came to limits a round, whatever its criteria say.
func TestWorkLimitsARound(t *testing.T) {
	t.Parallel()
	const one = `{"criteria": [{"text": "A", "check": "test -f a"}], "checks": [{"id": "c1", "passed": true}], "changed": "a", "expect_change": true, "reflection": {"goal_status": "ACHIEVED"}, `
	for _, c := range []struct{ name, with, line string }{
		{"all is well", one + `"tests": {"passed": true}, "expect_tests": true}`, "ACHIEVED"},
		{"no tests", one + `"expect_tests": true}`, "PARTIAL -- tests were expected, and none passed"},
		{"no test ran", one + `"tests": {"passed": false, "exit": 0, "why": "exit 0, and no test ran"}, "expect_tests": true}`, "PARTIAL -- exit 0, and no test ran"},
		{"a step failed", one + `"failed": {"class": "unknown", "text": "step a: recipe_failure: step implement: bash_failure: cannot"}}`, "PARTIAL -- the work did not end well: implement failed: cannot"},
		{"done instead", one + `"failed": {"class": "infrastructure", "text": "no disk"}, "instead": {"checked": "yes"}}`, "ACHIEVED"},
		{"instead, and failed too", one + `"failed": {"class": "infrastructure", "text": "no disk"}, "instead_failed": {"text": "no"}}`, "PARTIAL -- the work did not end well: no"},
		{"a stream", one + `"streams": [{"a": 1}, null], "names": [{"name": "x"}, {"name": "y"}]}`, "PARTIAL -- 1 of 2 workstreams were not done: y"},
		{"changed after it was judged", one + `"after": "changed"}`, "PARTIAL -- files changed after they were judged"},
		{"a link leads out", one + `"own_path": "a.sh -> /x/a.sh\n"}`, "PARTIAL -- a new link leads out of the repository: a.sh -> /x/a.sh"},
		{"it names its own worktree", one + `"own_path": "a.sh:3\nlink:1\n"}`, "PARTIAL -- the work names its own worktree, which others do not have: a.sh:3, link:1"},
		{"another test command", one + `"tests": {"passed": true, "counted": true}, "old_tests": {"files": ["Makefile"], "defines": ["Makefile"], "passed": false, "why": "exit 2"}}`,
			"PARTIAL -- the work changed the test command (Makefile), and it does not pass as it was before (exit 2)"},
		{"another test command, criteria of a person", one + `"given": ["A"], "old_tests": {"files": ["Makefile"], "defines": ["Makefile"], "passed": false}}`, "ACHIEVED"},
		{"another test command that passes as it was", one + `"old_tests": {"files": ["Makefile"], "defines": ["Makefile"], "passed": true}}`, "ACHIEVED"},
		{"new settings of tests", one + `"tests": {"passed": true, "counted": true}, "old_tests": {"defines": ["conftest.py"], "passed": false}}`,
			"PARTIAL -- the work changed the test command (conftest.py), and it does not pass as it was before"},
		{"old tests that fail, and nothing is named", one + `"tests": {"passed": true, "counted": true}, "old_tests": {"exit": 1, "passed": false, "why": "exit 1"}}`,
			"PARTIAL -- the tests do not pass as they were before (exit 1)"},
		{"old tests that were not run", one + `"tests": {"passed": true}, "old_tests": {}}`, "ACHIEVED"},
		{"other tests that count nothing", one + `"tests": {"passed": true}, "old_tests": {"files": ["test.sh"], "passed": false}}`,
			"PARTIAL -- the work changed the tests (test.sh): as they were before they do not pass, and as they are now their output does not say how many tests ran"},
		{"other tests that count", one + `"tests": {"passed": true, "counted": true}, "old_tests": {"files": ["test.sh"], "passed": false}}`, "ACHIEVED"},
		{"written tests that were changed", one + `"tests": {"passed": true, "counted": true}, "given": ["A"], "old_tests": {"passed": true, "written": ["a_test.go"], "written_fails": "exit 2"}}`,
			"PARTIAL -- test files were changed after they were written, and the tests do not pass with them as they were: a_test.go (exit 2)"},
		{"written tests that pass as they were", one + `"old_tests": {"passed": true, "written": ["a_test.go"]}}`, "ACHIEVED"},
		{"a check that wants changed tests", strings.Replace(one, `"passed": true}]`, `"passed": true, "written": ["a_test.go"], "written_fails": "exit 2"}]`, 1) + `"trust_reflection": true}`,
			"PARTIAL -- test files were changed after they were written, and the check of c1 does not pass with them as they were: a_test.go (exit 2)"},
		{"unmet and unproven", `{"criteria": ["A", "B", "C"], "reflection": {"goal_status": "PARTIAL", "criteria": [{"id": "c1", "met": true}, {"id": "c2", "met": false}, {"id": "c3", "met": true}]}, "changed": "a"}`,
			"PARTIAL -- c2 is not met, c1, c3 are unproven"},
		{"files that stay changed", `{"criteria": ["A"], "reflection": {"goal_status": "ACHIEVED"}, "type": "Investigation", "citations": [{"criterion": "c1", "holds": true}], "altered": "x\ny\n"}`,
			"PARTIAL -- nothing was to be changed, and files are not as they were when the first round began: x, y"},
		{"pushed by an agent", one + `"notes": "pushed: origin/wip\n"}`, "ACHIEVED"},
		{"undone", one + `"after": "undone\n"}`, "ACHIEVED"},
		{"passed before", one + `"checks_before": [{"id": "c1", "passed": true}]}`, "PARTIAL -- c1 is unproven"},
		{"passed before, with new tests that nobody ran", strings.Replace(one, `"changed": "a"`, `"changed": "a_test.go"`, 1) + `"checks_before": [{"id": "c1", "passed": true}]}`, "PARTIAL -- c1 is unproven"},
		{"passed before, with new tests", strings.Replace(one, `"changed": "a"`, `"changed": "a_test.go"`, 1) + `"tests": {"passed": true}, "checks_before": [{"id": "c1", "passed": true}]}`, "ACHIEVED"},
		{"an agent that failed", strings.Replace(one, `"changed": "a"`, `"changed": ""`, 1) + `"failed": {"class": "unknown", "text": "step implement: bash_failure: cannot"}}`, "NOT_ACHIEVED -- nothing was changed: implement failed: cannot"},
		{"an agent that claimed", strings.Replace(one, `"changed": "a"`, `"changed": ""`, 1) + `"failed": {"class": "hollow", "text": "nothing"}}`, "HOLLOW -- nothing was changed, where a change was expected"},
	} {
		if got := call(t, "criteria-status", c.with)["line"]; got != c.line {
			t.Errorf("%s: %v, want %s", c.name, got, c.line)
		}
	}
	told := call(t, "criteria-status", one+`"notes": "pushed: origin/b\n", "streams": [{"committed": "1a2b3c x\npushed: origin/c"}], "before": {"pushed": ["origin/a"]}}`)
	if got := fmt.Sprint(told["pushed"], told["warnings"], told["reasons"]); got != "[origin/a origin/b origin/c] [an agent pushed commits of the work, which nobody asked for: origin/a, origin/b, origin/c] [1 of 1 criteria is met]" {
		t.Errorf("pushed by agents: %s", got)
	}
	got := call(t, "criteria-status", one+`"changed_before": "a_test.go"}`)["criteria"].([]any)[0].(map[string]any)["why"]
	if want := "its check passed; tests that were there before the work were changed: a_test.go"; got != want {
		t.Errorf("a changed test: %v", got)
	}
}

// A check proves something only if it was seen to fail: before the work, or else, beside
// something that the work met, in an empty folder.
// promise: S1
func TestACheckIsSeenToFail(t *testing.T) {
	t.Parallel()
	const (
		two   = `{"criteria": [{"id": "a", "text": "A", "check": "x"}, {"id": "b", "text": "B", "check": "y"}], "reflection": {"goal_status": "ACHIEVED"}, "changed": ["a"], `
		both  = two + `"checks": [{"id": "a", "passed": true}, {"id": "b", "passed": true}], `
		newA  = `{"id": "a", "passed": false}`
		fails = `{"id": "b", "passed": false}`
		kept  = `{"id": "b", "passed": true}`
		never = `{"id": "b", "passed": true, "always": true}`
	)
	for _, c := range []struct{ name, with, want string }{
		{"both failed before", both + `"checks_before": [` + newA + `,` + fails + `]}`, "ACHIEVED 2/2 met,met"},
		{"one passes without the work", two + `"checks": [{"id": "a", "passed": true, "first": true}, {"id": "b", "passed": true}], "checks_before": [` + newA + `,` + kept + `]}`, "PARTIAL 0/2 unproven,unproven"},
		{"one is kept", both + `"checks_before": [` + newA + `,` + kept + `]}`, "ACHIEVED 2/2 met,met"},
		{"one never fails", both + `"checks_before": [` + newA + `,` + never + `]}`, "PARTIAL 1/2 met,unproven"},
		{"one never fails, and tests came", both + `"tests": true, "changed": ["a_test.go"], "checks_before": [` + newA + `,` + never + `]}`, "PARTIAL 1/2 met,unproven"},
		{"a person gave it", both + `"given": ["A", "B"], "checks_before": [` + newA + `,` + never + `]}`, "ACHIEVED 2/2 met,met"},
		{"a person gave nothing else", both + `"given": ["A", "B"], "checks_before": [{"id": "a", "passed": true},` + never + `]}`, "PARTIAL 0/2 unproven,unproven"},
		{"a later round", both + `"before": {"checks_before": [{"id": "a", "passed": true},` + kept + `]}}`, "PARTIAL 0/2 unproven,unproven"},
		{"kept beside files", `{"criteria": [{"id": "a", "text": "A", "files": ["a"]}, {"id": "b", "text": "B", "check": "y"}], "reflection": {"goal_status": "ACHIEVED"}, "changed": ["a"], "tests": true, "checks": [{"id": "b", "exit": 0}], "checks_before": [` + kept + `]}`, "ACHIEVED 2/2 met,met"},
		{"an operation", both + `"type": "Operations", "checks_before": [` + newA + `,` + never + `]}`, "PARTIAL 1/2 met,unproven"},
		{"a question", both + `"type": "Q&A"}`, "PARTIAL 0/2 unproven,unproven"},
		{"a question with a citation", both + `"type": "Q&A", "citations": [{"criterion": "a", "holds": true}]}`, "ACHIEVED 2/2 met,met"},
		{"a question with a check that fails", two + `"type": "Investigation", "checks": [{"id": "b", "passed": false}], "citations": [{"criterion": "a", "holds": true}]}`, "PARTIAL 1/2 met,unmet"},
		{"Development expects a change", strings.Replace(both, `["a"]`, `[]`, 1) + `"type": "Development"}`, "HOLLOW 2/2 met,met"},
	} {
		if got := statusOf(t, c.with); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	// what was before the work is handed on from round to round
	j := call(t, "criteria-status", both+`"before": `+string(mustJSON(t, call(t, "criteria-status", both+`"checks_before": [`+newA+`,`+never+`]}`)))+`}`)
	if got := fmt.Sprint(j["checks_before"]); got != "[map[id:a passed:false] map[always:true id:b passed:true]]" {
		t.Errorf("the second round hands on %s", got)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Agents that failed are the reason for a round that changed nothing, also when the one
// that judges it failed, too.
func TestFailedAgentsAreTheReason(t *testing.T) {
	t.Parallel()
	j := call(t, "criteria-status", `{"criteria": ["a door"], "expect_change": true, "changed": "", "reflection": "",
		"failed": {"step": "understand", "class": "auth", "cause": "no login"}}`)
	line, _ := j["line"].(string)
	if !strings.HasPrefix(line, "NOT_ACHIEVED -- nothing was changed: ") || strings.Contains(line, "reflection") {
		t.Errorf("%q", line)
	}
}
