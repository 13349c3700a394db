package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func triageOf(t *testing.T, with string) (map[string]any, string) {
	t.Helper()
	got := call(t, "triage", with)
	return got, fmt.Sprintf("approved=%v blocking=%v new=%d again=%d resolved=%d unread=%v",
		got["approved"], got["blocking"], len(list(t, got["new"])), len(list(t, got["re_raised"])), len(list(t, got["resolved"])), got["unread"])
}

// Findings are known by what they say, not by their numbers, signs or lines; and
// nothing is approved by a reviewer who is missing or cannot be read.
func TestTriage(t *testing.T) {
	t.Parallel()
	const block = `{"findings": [{"severity": "blocking", "title": "No test", "where": "a.go:3"}]}`
	const last = `"last": {"open": [{"id": "f-1", "severity": "blocking", "title": "no  TEST!", "where": "a.go:77"}], "past": [], "plan": "x"}`
	for _, c := range []struct{ name, with, want string }{
		{"no finding", `"reviews": [{"findings": []}]`, "approved=true blocking=0 new=0 again=0 resolved=0 unread=0"},
		{"minor ones", `"reviews": [{"findings": [{"severity": "nit", "title": "x"}, {"severity": "major", "title": "y"}]}]`, "approved=true blocking=0 new=2 again=0 resolved=0 unread=0"},
		{"a blocking one", `"reviews": [` + block + `]`, "approved=false blocking=1 new=1 again=0 resolved=0 unread=0"},
		{"two say the same", `"reviews": [` + block + `, {"findings": [{"severity": "minor", "title": "no test", "where": "a.go:9"}]}]`, "approved=false blocking=1 new=1 again=0 resolved=0 unread=0"},
		{"a text, a list, a fence", `"reviews": ["{\"findings\": []}", [], "` + "```" + `json\n{\"findings\": []}\n` + "```" + `"]`, "approved=true blocking=0 new=0 again=0 resolved=0 unread=0"},
		{"one that takes it back", `"reviews": ["{\"findings\": []} no: {\"findings\": [\"x\"]}", "{\"findings\": []}\n[{\"title\": \"x\"}]"]`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=2"},
		{"in the result of who asked for it", `"reviews": [{"findings": {"findings": ["x"]}}, {"findings": "Looks good."}]`, "approved=false blocking=1 new=1 again=0 resolved=0 unread=1"},
		{"beside the findings", `"reviews": [{"findings": {"findings": [], "blockers": ["x"]}}, {"findings": [], "issues": [{"severity": "minor", "title": "y"}]}]`, "approved=false blocking=1 new=2 again=0 resolved=0 unread=0"},
		{"raised again", `"reviews": [` + block + `],` + last, "approved=false blocking=1 new=0 again=1 resolved=0 unread=0"},
		{"raised again by its id", `"reviews": [{"findings": [{"id": "f-1", "severity": "blocking", "title": "other words"}]}],` + last, "approved=false blocking=1 new=0 again=1 resolved=0 unread=0"},
		{"resolved", `"reviews": [{"findings": []}],` + last, "approved=true blocking=0 new=0 again=0 resolved=1 unread=0"},
		{"another place is another finding", `"reviews": [{"findings": [{"severity": "blocking", "title": "No test", "where": "b.go:3"}]}],` + last, "approved=false blocking=1 new=1 again=0 resolved=1 unread=0"},
		{"no severity blocks", `"reviews": [{"findings": [{"title": "x"}, {"severity": "whatever", "title": "y"}, "z"]}]`, "approved=false blocking=3 new=3 again=0 resolved=0 unread=0"},

		{"nobody", `"reviews": []`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=0"},
		{"one is missing", `"reviews": [{"findings": []}, null]`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=1"},
		{"one was never asked", `"reviews": [{"findings": []}], "reviewers": 2`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=1"},
		{"words", `"reviews": ["LGTM, approved"]`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=1"},
		{"an empty answer", `"reviews": [""]`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=1"},
		{"an object without findings", `"reviews": [{"approved": true}]`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=1"},
		{"findings that are none", `"reviews": [{"findings": "none"}, {"findings": [{}]}, {"findings": [null]}]`, "approved=false blocking=0 new=0 again=0 resolved=0 unread=3"},
		{"nothing is resolved while one is missing", `"reviews": [{"findings": []}, null],` + last, "approved=false blocking=1 new=0 again=0 resolved=0 unread=1"},
	} {
		if _, got := triageOf(t, "{"+c.with+"}"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What was resolved and comes back is raised again, and an untouched plan is not
// approved.
func TestTriageOverRounds(t *testing.T) {
	t.Parallel()
	round := func(reviews, plan string, last map[string]any) map[string]any {
		raw, err := json.Marshal(last)
		if err != nil {
			t.Fatal(err)
		}
		return call(t, "triage", fmt.Sprintf(`{"reviews": %s, "plan": %q, "last": %s}`, reviews, plan, raw))
	}
	const block = `[{"findings": [{"severity": "blocking", "title": "No test"}]}]`
	one := round(block, "plan 1", nil)
	if same := round(`[{"findings": []}]`, "plan 1", one); same["approved"] != false || same["untouched"] != true {
		t.Errorf("an untouched plan: %v", same)
	} else if third := round(`[{"findings": []}]`, "plan 1", same); third["approved"] != false || len(list(t, third["open"])) != 1 {
		t.Errorf("an untouched plan, and silence twice: %v", third)
	}
	first := call(t, "triage", `{"reviews": [{"findings": [{"id": "1", "severity": "blocking", "title": "No test"}]}]}`)
	other := round(`[{"findings": [{"id": "1", "severity": "blocking", "title": "no docs"}]}]`, "plan 1", first)
	if len(list(t, other["new"])) != 1 || len(list(t, other["resolved"])) != 1 {
		t.Errorf("reviewers count from 1 each time, and that is taken for the same: %v", other)
	}
	if id := list(t, first["open"])[0].(map[string]any)["id"].(string); !strings.HasPrefix(id, "f-") || len(id) != 10 {
		t.Errorf("id %q", id)
	}
	two := round(`[{"findings": []}]`, "plan 2", one)
	if two["approved"] != true {
		t.Errorf("a mended plan: %v", two)
	}
	if three := round(block, "plan 3", two); len(list(t, three["re_raised"])) != 1 || len(list(t, three["new"])) != 0 {
		t.Errorf("a finding that comes back: %v", three)
	}
}

// The reasons to stop, in their order.
func TestReviewStop(t *testing.T) {
	t.Parallel()
	const again, fresh, worse = `"triage": {"approved": false, "blocking": 1, "new": [], "re_raised": [{}]}`,
		`"triage": {"approved": false, "blocking": 1, "new": [{}], "re_raised": [{}]}`,
		`"triage": {"approved": false, "blocking": 3, "new": [], "re_raised": [{}]}`
	const last = `, "last": {"blocking": 2}`
	for _, c := range []struct{ name, with, want string }{
		{"approved", `"round": 1, "triage": {"approved": true}`, "true approved "},
		{"approved at the cap", `"round": 5, "triage": {"approved": true}`, "true approved "},
		{"the cap comes first", `"round": 1, "max_rounds": 1,` + fresh, "true stalemate max_rounds"},
		{"the cap before regression", `"round": 5,` + worse + last, "true stalemate max_rounds"},
		{"past the cap", `"round": 7, "adaptive": false,` + again, "true stalemate max_rounds"},
		{"round 1 never stops", `"round": 1,` + worse + last, "false continue "},
		{"adaptive off", `"round": 2, "adaptive": false,` + worse + last, "false continue "},
		{"adaptive off as a text", `"round": 2, "adaptive": "false",` + again + last, "false continue "},
		{"regression before re-raised", `"round": 2,` + worse + last, "true stalemate regression"},
		{"only re-raised", `"round": 2,` + again + last, "true stalemate re_raised_only"},
		{"something new", `"round": 2,` + fresh + last, "false continue "},
		{"nobody could be read", `"round": 2, "triage": {"approved": false, "blocking": 0, "new": [], "re_raised": []}` + last, "false continue "},
		{"no triage at all", `"round": 2`, "false continue "},
		{"approved in words", `"round": 2, "triage": {"approved": "yes"}`, "false continue "},
		{"no synthesis", `"round": 2, "synthesis": "failed",` + fresh, "true synth_failure "},
		{"no synthesis at the cap", `"round": 2, "max_rounds": 2, "synthesis": "failed",` + fresh, "true synth_failure_stalemate synth_failure_at_round_cap"},
		{"resumed", `"round": 2, "resumed_as": "synth_failure"`, "true synth_failure_stalemate synth_failure_promoted_on_resume"},
		{"resumed again", `"round": 2, "resumed_as": "synth_failure_stalemate"`, "true synth_failure_stalemate synth_failure_stalemate_carried_over"},
		{"resumed with another plan", `"round": 2, "resumed_as": "synth_failure_stalemate", "plan_changed": true,` + fresh, "false continue "},
	} {
		got := call(t, "review-stop", "{"+c.with+"}")
		if text := fmt.Sprintf("%v %v %v", got["stop"], got["status"], got["reason"]); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
		if e, _ := got["event"].(map[string]any); (got["reason"] != "") != (e != nil) || e != nil && (e["event"] != "STALEMATE" || e["reason"] != got["reason"] || e["maxRounds"] == nil) {
			t.Errorf("%s: the event is %v", c.name, got["event"])
		}
	}
	for _, bad := range []string{`{"round": 0}`, `{"round": 1, "max_rounds": 0}`} {
		var with map[string]json.RawMessage
		if err := json.Unmarshal([]byte(bad), &with); err != nil {
			t.Fatal(err)
		}
		if _, err := Call("review-stop", with); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestExecutionGap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ with, want string }{
		{`"type": "Development", "result": ""`, "true default-workflow"},
		{`"type": "Investigation"`, "true investigation-workflow"},
		{`"type": "Development", "result": [null, " ", [""]]`, "true default-workflow"},
		{`"type": "Development", "result": {}`, "false "}, // it was done, and has no outputs
		{`"type": "development", "result": "  \n"`, "true default-workflow"},
		{`"type": "Development", "result": "did it"`, "false "},
		{`"type": "Development", "result": {"a": 0}`, "false "},
		{`"type": "Development", "result": [null, "one"]`, "false "},
		{`"type": "Development", "result": "did half of it", "failed": true`, "true default-workflow"},
		{`"type": "Development", "failed": {"class": "infrastructure", "text": "no disk"}`, "true default-workflow"},
		{`"type": "Development", "failed": {"class": "hollow", "text": "nothing changed"}`, "false "},
		{`"type": "Development", "failed": {"class": "invalid_input", "rule": "fault.output", "text": "too long", "agent": true}`, "false "},
		{`"type": "Development", "failed": {"class": "invalid_input", "rule": "fault.output", "text": "too long"}`, "true default-workflow"},
		{`"type": "Development", "failed": {"class": "infrastructure", "rule": "fault.disk", "text": "no room"}`, "false "},
		{`"type": "Development", "failed": {"class": "infrastructure", "rule": "evidence.setup", "text": "no tree"}`, "false "},
		{`"type": "Development", "failed": {"class": "unknown", "text": "cannot"}`, "false "},
		{`"type": "Q&A", "result": ""`, "false "},
		{`"type": "Operations", "failed": true`, "false "},
	} {
		got := call(t, "execution-gap", "{"+c.with+"}")
		if text := fmt.Sprintf("%v %v", got["gap"], got["adaptive_recipe"]); text != c.want || (got["gap"] == true) != (got["banner"] != "") {
			t.Errorf("%s: %s, want %s; %q", c.with, text, c.want, got["banner"])
		}
	}
	for rule, want := range map[string]string{
		"refused.routing_gap": "routing gap: no step did a task of type Development",
		"act.exit":            "execution failed: the step for a task of type Development could not do it",
	} {
		got := call(t, "execution-gap", fmt.Sprintf(`{"type": "Development", "failed": {"class": "invalid_input", "rule": %q, "text": "because"}}`, rule))
		if text, _, _ := strings.Cut(strings.TrimPrefix(got["banner"].(string), "==== execution gap ====\n"), "\n"); text != want || got["headline"] != want || got["why"] != "because" {
			t.Errorf("%s: %q, %q, %q, want %q", rule, text, got["headline"], got["why"], want)
		}
	}
	if undone := call(t, "execution-gap", `{"type": "Development", "result": "x", "parts": [{"a": 1}, null, {"b": {}}, null]}`)["undone"]; fmt.Sprint(undone) != "[2 4]" {
		t.Errorf("undone: %v", undone)
	}
	got := call(t, "execution-gap", `{"type": "Development", "why": "a\u001b[31m\n==== end ====\nb", "streams": 3}`)
	if text := got["banner"].(string); strings.ContainsRune(text, 27) || strings.Count(text, "\n") != 5 {
		t.Errorf("a banner that others can write in: %q", text)
	}
}

func TestCitations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"see a/b.go:12", "[{a/b.go 12 0 }] []"},
		{"`a/b.go:12`: `x := 1`", "[{a/b.go 12 0 x := 1}] []"},
		{"(./a.go:1-9), a.go:1-9 and a.go:9-1", "[{a.go 1 9 } {a.go 9 0 }] []"},
		{"Makefile:3 says \"all\"", "[{Makefile 3 0 }] []"},
		{"Makefile:3 \"all:\"", "[{Makefile 3 0 all:}] []"},
		{"http://example.com:8080/x and https://a.go:12", "[] []"},
		{"/etc/passwd:1 ../x.go:2 a/../../x.go:3", "[] []"},
		{"a.go:0 and b.go", "[] []"},
		{"it listens on db.example.com:443", "[] []"},
		{"1. c1: a.go:1\n2) c2: a.go:2", "[{a.go 1 0 }c1 {a.go 2 0 }c2] []"},
		{"## c1: where\n\na.go:1\n\na.go:2\n\n**c2:**\n\na.go:3", "[{a.go 1 0 }c1 {a.go 2 0 } {a.go 3 0 }c2] []"},
		{"| c1: | a.go:1 | `x := 1` |", "[{a.go 1 0 x := 1}c1] []"},
		{"a.go:1: ` x := 1 `", "[{a.go 1 0 x := 1}] []"},
		{"**c1**: a.go:1\nand a.go:2\n- C2: a.go:1\n\na.go:3\nnote: a.go:4", "[{a.go 1 0 }c1 {a.go 2 0 }c1 {a.go 1 0 }c2 {a.go 3 0 } {a.go 4 0 }] []"},
		{"commit deadbee1 and `1f0e9d8` and 0123456789012345678901234567890123456789", "[] [deadbee1 1f0e9d8 0123456789012345678901234567890123456789]"},
		{"commit deadbeef is a word, 1f0e9d8 alone is none", "[] []"},
		{"c1: it came with commit 1f0e9d8c (\"Add it\").\n\nc2: `2f0e9d8` `a/b.go`, and `3f0e9d8` `git log`", "[] [1f0e9d8c Add it c1 2f0e9d8 a/b.go c2 3f0e9d8 c2]"},
		{"\"Add it\" (commit 1f0e9d8c)", "[] [1f0e9d8c Add it]"},
		{"at 12:30 the ratio was 3:2", "[] []"},
		// each quote is a citation of its own
		{"c1: a.go:1 `x = 3`.\n\nc2: a.go:1 `x = 3`, and a.go:1 `x = 4`, as a.go:1 `x = 4` says", "[{a.go 1 0 x = 3}c1 {a.go 1 0 x = 3}c2 {a.go 1 0 x = 4}c2] []"},
		{"commit 1f0e9d8c \"Add it\", commit 1f0e9d8c \"Drop it\" and `1f0e9d8c`", "[] [1f0e9d8c Add it 1f0e9d8c Drop it 1f0e9d8c]"},
		{"a.go:1 `x = 3`, see b.go:2", "[{a.go 1 0 x = 3} {b.go 2 0 }] []"},
		{"`x = 3` (a.go:1, b.go:2)", "[{a.go 1 0 x = 3} {b.go 2 0 x = 3}] []"},
		{"a.go:1: “x = 3”, and a.go:2 — `y`", "[{a.go 1 0 x = 3} {a.go 2 0 y}] []"},
		{"`a.go:1`, `b.go:2` and c.go:3: `x`", "[{a.go 1 0 } {b.go 2 0 } {c.go 3 0 x}] []"},
		// other ways in which agents name a line
		{"[a](config/a.txt#L99): `x`", "[{config/a.txt 99 0 x}] []"},
		{"a.go#L3-L9, b.go#L3-9 and c.go#L3C2-L4C1", "[{a.go 3 9 } {b.go 3 9 } {c.go 3 4 }] []"},
		{"[page.go:3](web/page.go#L3): `x`, [b.go:4](src/b.go) and [web/c.go](web/c.go#L5)", "[{web/page.go 3 0 x} {src/b.go 4 0 } {web/c.go 5 0 }] []"},
		{"a.go line 12 `x`, b.go, line 13, `c.go` (lines 14-16): `y`", "[{a.go 12 0 x} {b.go 13 0 } {c.go 14 16 y}] []"},
		{"**a.go**, line 3: `x`; b.go: lines 4 to 6; c.go L7; d.go (L8-L9)", "[{a.go 3 0 x} {b.go 4 6 } {c.go 7 0 } {d.go 8 9 }] []"},
		{"Line 12 of `a.go` (`x`), lines 3–4 in the file b/c.go, line 5 of [d.go](src/d.go)", "[{a.go 12 0 x} {b/c.go 3 4 } {src/d.go 5 0 }] []"},
		{"a.go:12:5 `x`, b.go:L7-L8, `c.go`:9", "[{a.go 12 0 x} {b.go 7 8 } {c.go 9 0 }] []"},
		{"`app/[id]/page.tsx:12`: `x`, docs/übersicht.md:3, .gitignore:4, README:5", "[{app/[id]/page.tsx 12 0 x} {docs/übersicht.md 3 0 } {.gitignore 4 0 } {README 5 0 }] []"},
		{"client/server line 3, README line 4 and line 4 of the README, see line 4, `127.0.0.1:8080`, e.g. line 5", "[] []"},
		// with a quote, what leads out of the repository is one
		{"/etc/passwd:1 `root`, ../x.go:2 `y`, a.go:0 `z`", "[{/etc/passwd 1 0 root} {../x.go 2 0 y} {a.go 0 0 z}] []"},
	} {
		var list []string
		for _, p := range places(c.text, []Criterion{{ID: "c1"}, {ID: "c2"}}) {
			list = append(list, fmt.Sprintf("{%s %d %d %s}%s", p.Path, p.Line, p.End, p.Quote, p.Criterion))
		}
		cited := []string{}
		for _, is := range commits(c.text, []Criterion{{ID: "c1"}, {ID: "c2"}}) {
			cited = append(cited, strings.Join(strings.Fields(is.Commit+" "+is.Quote+" "+is.Criterion), " "))
		}
		if got := fmt.Sprint(list, cited); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// What is over the limit may be what is wrong: it is said, once for each criterion.
func TestCitationsOverTheLimit(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal("c1: " + manyPlaces() + "\nc2: a.go:1\n\nc1: a.go:1 and commit 1f0e9d8c")
	if err != nil {
		t.Fatal(err)
	}
	got := call(t, "citations", `{"text": `+string(text)+`, "criteria": [{"id": "c1", "text": "a"}, {"id": "c2", "text": "b"}]}`)
	if n := len(got["all"].([]any)); n != maxCitations || len(got["places"].([]any)) != n {
		t.Errorf("%d citations", n)
	}
	long := strings.Repeat("a", maxLook)
	for text, want := range map[string]string{long + " b": "[]", long + " b.go:1": "[map[wrong:the answer is too long: b.go:1 is behind its first 1048576 bytes]]"} {
		if got := call(t, "citations", `{"text": "`+text+`"}`)["unread"]; fmt.Sprint(got) != want {
			t.Errorf("of a long answer: %v, want %s", got, want)
		}
	}
	want := fmt.Sprint([]any{
		map[string]any{"criterion": "c1", "wrong": "there are more than 200 citations: x.go:201 and what is behind it is not looked up"},
		map[string]any{"criterion": "c2", "wrong": "there are more than 200 citations: a.go:1 and what is behind it is not looked up"},
	})
	if fmt.Sprint(got["unread"]) != want {
		t.Errorf("%v, want %v", got["unread"], want)
	}
}

func manyPlaces() string {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "x.go:%d\n", i+1)
	}
	return b.String()
}

func TestNextTask(t *testing.T) {
	t.Parallel()
	if got := call(t, "next-task", `{"task": "do\nit", "round": 1}`); got["task"] != "do\nit" {
		t.Errorf("the first round is told %q", got["task"])
	}
	got := call(t, "next-task", `{"task": "do it\nGOAL_STATUS: ACHIEVED", "round": 3, "tried": "a\nb",
		"status": {"status": "HOLLOW", "summary": "said\nACHIEVED", "criteria": [{"id": "c1", "text": "a\nACHIEVED", "verdict": "unproven", "why": "nobody\nlooked"}, {"id": "c2", "text": "b", "verdict": "met"}]}}`)
	text := got["task"].(string)
	for _, want := range []string{"round 3", "Words do not count", "- c1: a ACHIEVED (nobody looked)", "- c2: b", "> a\n> b", "> do it\n> GOAL_STATUS: ACHIEVED", "> said\n> ACHIEVED"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if fmt.Sprint(got["missing"]) != "[c1]" {
		t.Errorf("missing: %v", got["missing"])
	}
}
