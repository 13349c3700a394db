package task

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func typeOf(t *testing.T, task, decomposition string, more ...string) map[string]any {
	t.Helper()
	with := fmt.Sprintf(`{"task": %s, "decomposition": %s%s}`, quote(t, task), decomposition, strings.Join(append([]string{""}, more...), ", "))
	return call(t, "task-type", with)
}

func quote(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func list(t *testing.T, v any) []any {
	t.Helper()
	l, ok := v.([]any)
	if !ok {
		t.Fatalf("no list: %#v", v)
	}
	return l
}

// A task that changes code, or wants tests or a pull request, is Development,
// whatever the agent said; a question about such things is not.
func TestSafetyNet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ task, said, want string }{
		{"add rate limiting to the API, with tests", "Q&A", "Development"},
		{"Please fix the login bug", "Operations", "Development"},
		{"Could you please write unit tests for the parser?", "Q&A", "Development"},
		{"investigate why the build is slow and fix the regression", "Investigation", "Development"},
		{"Explain how the cache works, and then add a flag to turn it off", "Q&A", "Development"},
		{"open a draft pull request that bumps the version", "Operations", "Development"},
		{"make the failing tests pass", "Operations", "Development"},
		{"update internal/limit/limit.go so that bursts are counted", "Investigation", "Development"},
		{"rename the config package", "Operations", "Development"},
		{"1. stop the service\n2. rotate the keys\n3. start it", "Operations", "Development"},

		{"rename foo to bar everywhere", "Q&A", "Development"},
		{"add a greeting script", "Q&A", "Development"},
		{"login throws NPE; should return 401", "Q&A", "Development"},
		{"исправь ошибку входа", "Q&A", "Development"},
		{"upgrade to go 1.26", "Investigation", "Development"},
		{"add dark mode", "Investigation", "Development"},
		{"find out where the leak is", "Investigation", "Investigation"},
		{"find out why it hangs and fix it", "Investigation", "Development"},
		{"The login is slow. Fix it.", "Investigation", "Development"},
		{"Why does it hang? Please mend it", "Investigation", "Development"},
		{"look at the parser, then make it faster", "Investigation", "Development"},
		{"see what is wrong:\n- repair it\n- say why", "Investigation", "Development"},
		{"the parser must accept tabs", "Investigation", "Development"},
		{"find out what must be done, and write a report", "Investigation", "Investigation"},
		{"investigate whether we should migrate and make a list of risks", "Investigation", "Investigation"},
		{"find out which steps add, change and remove files", "Investigation", "Investigation"},
		{"finde heraus, warum es langsam ist", "Investigation", "Investigation"},
		{"为什么登录失败？", "Q&A", "Q&A"},
		{"what does the rate limiter do?", "Q&A", "Q&A"},
		{"How do I add a test to the parser?", "Q&A", "Q&A"},
		{"how would one fix the login bug", "Q&A", "Q&A"},
		{"Which tests does PR 12 add?", "Investigation", "Investigation"},
		{"find out why the nightly run is slow", "Investigation", "Investigation"},
		{"restart the database on staging", "Operations", "Operations"},
		{"delete the old logs in /var/log", "Operations", "Operations"},
		{"list the open issues", "Operations", "Operations"},
		{"summarise what changed last week", "Investigation", "Investigation"},

		{"do it", "investigation", "Investigation"},
		{"do it", "Research task", "Investigation"},
		{"do it", "qa", "Q&A"},
		{"do it", "ops", "Operations"},
		{"do it", "something else", "Development"},
		{"do it", "", "Development"},
	} {
		got := typeOf(t, c.task, fmt.Sprintf(`{"task_type": %q, "goal": "g"}`, c.said))
		if got["type"] != c.want {
			t.Errorf("%q, said %s: %v, want %s (%v)", c.task, c.said, got["type"], c.want, got["warnings"])
		}
	}
	forced := typeOf(t, "add tests to the parser", `{"task_type": "Development", "goal": "g"}`, `"type": "q&a"`)
	if forced["type"] != "Q&A" {
		t.Errorf("what the user says does not count: %v", forced["type"])
	}
	plan := typeOf(t, "do what the ticket says", `{"task_type": "Operations", "goal": "g", "publish": "pr"}`)
	if plan["type"] != "Development" {
		t.Errorf("a plan with a pull request is %v", plan["type"])
	}
}

const twoStreams = `{"task_type": "Investigation", "goal": "know why", "success_criteria": ["a", "b"],
	"workstreams": [{"name": "one", "description": "d1"}, {"name": "two", "description": "d2"}]}`

// Clean JSON as an object, as text, in a fence and among words is read alike. The
// older orchestrator took an object for nothing: an Investigation with two
// workstreams ran as Development with one.
func TestDecompositionReadAlike(t *testing.T) {
	t.Parallel()
	var want string
	for _, form := range []string{
		twoStreams, quote(t, twoStreams), quote(t, "Here it is:\n```json\n"+twoStreams+"\n```\nDone."),
		quote(t, "banner {not json} {\"a\": 1}\n"+twoStreams+" trailing"), quote(t, "\n  "+twoStreams+"\n"),
	} {
		got := typeOf(t, "find out why it is slow", form)
		text := fmt.Sprint(got)
		if want == "" {
			want = text
		}
		if got["type"] != "Investigation" || got["count"] != 1.0 || len(list(t, got["parts"])) != 2 || got["fallback"] != false || text != want {
			t.Errorf("%s\ngives %v", form, got)
		}
	}
}

// What nobody can use is Development, one workstream, the task as the goal.
func TestDecompositionFallback(t *testing.T) {
	t.Parallel()
	for _, form := range []string{`null`, `""`, `"sorry"`, `[]`, `7`, `{}`, `{"a": 1}`, `"{\"task_type\": \"Q&A\""`, `"` + strings.Repeat("{", 200) + `"`} {
		got := typeOf(t, "what is this?\nsecond line", form)
		streams := list(t, got["streams"])
		if got["type"] != "Development" || got["fallback"] != true || len(streams) != 1 || got["goal"] != "what is this? second line" {
			t.Errorf("%s gives %v", form, got)
		}
		if s := streams[0].(map[string]any); s["description"] != "what is this?\nsecond line" {
			t.Errorf("%s: %v", form, s)
		}
		if len(list(t, got["criteria"])) != 1 {
			t.Errorf("%s: criteria %v", form, got["criteria"])
		}
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	const six = `{"task_type": "Development", "goal": "g", "success_criteria": [{"id": "c1", "text": "a"}], "workstreams": [
		{"name": "Same", "description": "1", "criteria": ["c1", "c9"]}, {"name": "same", "description": "2", "needs": ["Same"]}, {"name": "", "description": ""},
		"three", {"name": "four/../x", "description": "4", "needs": ["five", "nobody"]}, {"name": "five", "description": "5", "needs": ["four/../x"]},
		{"name": "six", "description": "6", "recipe": "rm-rf"}, {"name": "seven", "description": "7", "recipe": "investigation-workflow"}]}`
	got := typeOf(t, "a big task", six)
	streams := list(t, got["streams"])
	var ids []string
	for _, s := range streams {
		m := s.(map[string]any)
		ids = append(ids, fmt.Sprintf("%v%v", m["id"], m["needs"]))
	}
	if text := strings.Join(ids, " "); text != "same[] s1[same] three[] s2[] five[s2]" {
		t.Errorf("%s", text)
	}
	last := streams[4].(map[string]any)["description"].(string)
	if !strings.Contains(last, "six: 6") || !strings.Contains(last, "seven: 7") {
		t.Errorf("what is too much is lost: %q", last)
	}
	warnings := fmt.Sprint(got["warnings"])
	for _, want := range []string{"c9", "nobody", "circle", "more than 5", "without name"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no warning with %q in %s", want, warnings)
		}
	}
	for _, c := range []struct {
		more string
		want float64
	}{{`"max_streams": 2`, 2}, {`"single": true`, 1}, {`"single": "true"`, 1}, {`"max_streams": 99`, 5}, {`"max_streams": 0`, 1}, {`"type": "Operations"`, 1}, {`"type": "Investigation"`, 1}, {`"type": "Q&A"`, 1}} {
		got := typeOf(t, "a big task", six, c.more)
		if got["count"] != c.want {
			t.Errorf("%s: %v streams", c.more, got["count"])
		}
		if got["max_agents"] != 40*c.want || c.want == 1 && len(list(t, got["parts"])) < 7 {
			t.Errorf("%s: %v agents, parts %v", c.more, got["max_agents"], got["parts"])
		}
		if c.want == 1 && list(t, got["streams"])[0].(map[string]any)["description"] != "a big task" {
			t.Errorf("%s: %v", c.more, got["streams"])
		}
	}
}

func TestCriteria(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ criteria, want string }{
		{`["a", "b"]`, `[map[id:c1 text:a] map[id:c2 text:b]]`},
		{`"- a\n* b\n\n3. c\n[x] d"`, `[map[id:c1 text:a] map[id:c2 text:b] map[id:c3 text:c] map[id:c4 text:d]]`},
		{`[{"id": "c2", "text": "a"}, "b", {"id": "c2", "text": "c"}]`, `[map[id:c2 text:a] map[id:c1 text:b] map[id:c3 text:c]]`},
		{`[{"text": "a", "check": "true", "files": "docs/**"}]`, `[map[check:true files:[docs/**] id:c1 text:a]]`},
		{`[{"text": "a", "files": ["/etc/passwd", "../x", "a/../../x", "ok/*.go"]}]`, `[map[files:[ok/*.go] id:c1 text:a]]`},
		{`[{"check": "go test ./..."}, {"id": "x y", "criterion": "b"}, {}, null, ""]`, `[map[check:go test ./... id:c1 text:passes: go test ./...] map[id:c2 text:b]]`},
		{`[{"text": "a", "check": "x\u0000y"}]`, `[map[id:c1 text:a]]`},
		{`"[\"as text\"]"`, `[map[id:c1 text:as text]]`},
	} {
		got := typeOf(t, "t", `{"goal": "g", "success_criteria": ["theirs"]}`, `"criteria": `+c.criteria)
		if text := fmt.Sprint(got["criteria"]); text != c.want {
			t.Errorf("%s\n gives %s\n want  %s", c.criteria, text, c.want)
		}
	}
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprint("no ", i)
	}
	raw, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	got := typeOf(t, "t", `{"goal": "g"}`, `"criteria": `+string(raw))
	given := list(t, got["criteria"])
	if len(given) != MostCriteria || !strings.Contains(fmt.Sprint(got["warnings"]), "c50 stands for 151 of them and has no check") {
		t.Fatalf("%d criteria, %v", len(given), got["warnings"])
	}
	if last := fmt.Sprint(given[MostCriteria-1]); !strings.HasPrefix(last, "map[id:c50 text:151 more: no 49; no 50; ") {
		t.Errorf("the last one is %s", last)
	}
	again, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if got = typeOf(t, "t", `{"goal": "g"}`, `"criteria": `+string(again)); !reflect.DeepEqual(list(t, got["criteria"]), given) {
		t.Errorf("read again they are others: %v", got["criteria"])
	}
	long := strings.Repeat("x", maxCheck+1)
	got = typeOf(t, "t", `{"goal": "g", "success_criteria": [{"text": "long", "check": "`+long+`"}]}`, `"single": true`)
	if text := fmt.Sprint(got["criteria"], got["warnings"]); strings.Contains(text, "xxx") || !strings.Contains(text, "has more than 100000 bytes and is left out") {
		t.Errorf("%.300s", text)
	}
}

// One session that does what several workstreams were planned for is told about each of
// them, also when the plan is read a second time.
func TestOneSessionForAll(t *testing.T) {
	t.Parallel()
	const plan = `{"task_type": "Development", "goal": "a door", "success_criteria": ["it opens"],
		"workstreams": [{"name": "frame", "description": "of oak\nwith a sill"}, "hang it"]}`
	d := call(t, "task-type", `{"task": "add a door", "single": true, "decomposition": `+plan+`}`)
	want := []any{"frame: of oak\nwith a sill", "hang it"}
	if !reflect.DeepEqual(d["parts"], want) || d["count"] != 1.0 || !reflect.DeepEqual(d["warnings"], []any{"one session instead of 2 workstreams"}) {
		t.Errorf("%v", d)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again := call(t, "task-type", `{"task": "add a door", "single": true, "decomposition": `+string(raw)+`}`)
	if !reflect.DeepEqual(again["parts"], want) || len(again["warnings"].([]any)) != 0 {
		t.Errorf("%v", again)
	}
	parts, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{`{}`, `{"status": "PARTIAL", "criteria": []}`} {
		next := call(t, "next-task", `{"task": "add a door", "round": 2, "parts": `+string(parts)+`, "status": `+status+`}`)
		if text := next["task"].(string); !strings.Contains(text, "Do all of them, in this order:\n- frame: of oak\n  with a sill\n- hang it\n") {
			t.Errorf("%s", text)
		}
	}
	if d := call(t, "task-type", `{"task": "add a door", "decomposition": `+plan+`}`); len(d["parts"].([]any)) != 0 || d["count"] != 2.0 {
		t.Errorf("%v", d)
	}
}

// How the only workstream of a plan is described reaches who reviews it and who does it.
// promise: V4
func TestDescribedStream(t *testing.T) {
	t.Parallel()
	const plan = `{"task": "add a door", "whole": %s, "decomposition": {"goal": "g", "criteria": ["c"], "parts": %s, "streams": [{"name": "g", "description": %q}]}}`
	for _, c := range []struct{ whole, parts, about, want string }{
		{"true", `[]`, "add a door", "[]"},
		{"true", `[]`, "add a red door", "[add a red door]"},
		{"true", `["add a red door"]`, "add a door", "[add a red door]"},
		{"true", `["add a red door"]`, "add a red door", "[add a red door]"},
		{"false", `[]`, "a part of it", "[]"}, // of who classifies: the task is what counts
	} {
		if got := fmt.Sprint(call(t, "task-type", fmt.Sprintf(plan, c.whole, c.parts, c.about))["parts"]); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
