package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A claim is read as what it plainly says, or said to be none.
func TestClaims(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ claims, want string }{
		{`[{"criterion": "c1", "path": "a.go", "line": 1, "quote": "x = 1"}]`, "c1 a.go:1 x = 1"},
		{`[{"criterion": "C2", "path": "./a.go", "line": "2", "quote": " x "}, {"path": "a.go", "line": 1, "quote": "x"}]`, "c2 a.go:2 x| a.go:1 x"},
		{`[{"criterion": "c1", "path": "a.go", "quote": "x"}]`, `c1 no: a claim names no line: {"criterion":"c1","path":"a.go","quote":"x"}`},
		{`[{"criterion": "c1", "path": "a.go:3", "quote": "x"}, {"criterion": "c1", "path": "a.go#L3-L5", "quote": "x"}]`, "c1 a.go:3 x|c1 a.go:3-5 x"},
		{`[{"criterion": "c1", "path": "a.go:3", "line": 4, "quote": "x"}]`, "c1 a.go:3:4 x"},
		{`[{"criterion": "c1", "file": "a.go", "line": 3, "quote": "x"}, {"criterion": "c1", "location": "a.go:5", "quote": "x"}]`, `c1 a.go:3 x|c1 no: a claim names no file and line: {"criterion":"c1","location":"a.go:5","quote":"x"}`},
		{`[{"criterion": "c1", "path": "a.go", "line": "3-5", "quote": "x"}, {"criterion": "c2", "path": "a.go", "lines": [3, 5], "quote": "x"}]`, `c1 a.go:3-5 x|c2 no: a claim names no line: {"criterion":"c2","lines":[3,5],"path":"a.go","quote":"x"}`},
		{`[{"criterion": "c1", "path": "a.go", "line": -1, "quote": "x"}]`, `c1 no: a claim names no line: {"criterion":"c1","line":-1,"path":"a.go","quote":"x"}`},
		{`[{"criterion": "c2", "path": "a.go", "line": 1.5, "quote": "x"}, {"path": "a.go", "line": 0, "quote": "x"}]`, `c2 no: a claim names no line: {"criterion":"c2","line":1.5,"path":"a.go","quote":"x"}| no: a claim names no line: {"line":0,"path":"a.go","quote":"x"}`},
		{`[{"criterion": "c1", "path": "a.go", "line": 1}]`, `c1 no: a claim quotes nothing: {"criterion":"c1","line":1,"path":"a.go"}`},
		{`[{"criterion": ["c1", "c2"], "path": "a.go", "line": 1}]`, ` no: a claim quotes nothing: {"criterion":["c1","c2"],"line":1,"path":"a.go"}`},
		{`[{"criterion": "c9", "path": "a.go", "line": 1, "quote": "x"}, {"criterion": "the port", "path": "a.go", "line": 1, "quote": "x"}, {"id": "c2", "path": "a.go", "line": 1, "quote": "x"}, {"id": "7", "path": "a.go", "line": 1, "quote": "x"}]`, "c9 a.go:1 x|c1 a.go:1 x|c2 a.go:1 x| a.go:1 x"},
		{`["the port is 8080"]`, " no: a claim names no file and line: the port is 8080"},
		{"[\"c2: a.go:3 `x = 1`\", \"c2: a.go:3\", \"c1: nothing\"]", "c2 a.go:3 x = 1|c2 no: a claim quotes nothing: c2: a.go:3|c1 no: a claim names no file and line: c1: nothing"},
		{`[{"criterion": "c1", "commit": "1f0e9d8", "quote": "add"}, {"criterion": "c1", "commit": "main"}, {"criterion": "c2", "commit": "1f0e9d8", "path": "a.go", "quote": "add"}]`, "c1 @1f0e9d8 add|c1 @main |c2 @1f0e9d8 add|c2 @1f0e9d8 a.go"},
		{`[{"criterion": "c1", "path": "a.go", "line": 1, "quote": "a\u0000b"}]`, `c1 no: a claim has a text that is too long, or no text: {"criterion":"c1","line":1,"path":"a.go","quote":"a\u0000b"}`},
		{`{"criterion": "c1", "path": "a.go", "line": 1, "quote": "x"}`, "c1 a.go:1 x"},
		{`{"c1": [{"path": "a.go", "line": 1, "quote": "x"}]}`, ` no: a claim names no file and line: {"c1":[{"line":1,"path":"a.go","quote":"x"}]}`},
		{`"it is so"`, " no: a claim names no file and line: it is so"},
		{`"[{\"criterion\": \"c1\", \"path\": \"a.go\", \"line\": 1, \"quote\": \"x\"}]"`, "c1 a.go:1 x"},
		{`[3, [1], true]`, " no: a claim is no object: 3| no: a claim is no object: [1]| no: a claim is no object: true"},
		{`[{}]`, " no: a claim names no file and line: {}"},
		{`[]`, ""}, {`null`, ""}, {`""`, ""}, {`[null]`, ""},
	} {
		got := call(t, "claims", `{"claims": `+c.claims+`, "criteria": [{"id": "c1", "text": "the port"}, {"id": "c2", "text": "the host"}]}`)
		var list []string
		raw, err := json.Marshal(got["all"])
		var all []struct {
			Citation
			Commit string
		}
		if err == nil {
			err = json.Unmarshal(raw, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			at := fmt.Sprintf("%s:%d", x.Path, x.Line)
			if x.End > 0 {
				at += fmt.Sprintf("-%d", x.End)
			}
			if x.Commit != "" {
				at = "@" + x.Commit
			}
			list = append(list, x.Criterion+" "+at+" "+x.Quote)
		}
		for _, x := range got["unread"].([]any) {
			o := x.(map[string]any)
			is, _ := o["criterion"].(string)
			list = append(list, is+" no: "+o["wrong"].(string))
		}
		if text := strings.Join(list, "|"); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.claims, text, c.want)
		}
	}
	many := strings.Repeat(`{"criterion": "c1", "path": "a.go", "line": 1, "quote": "x"}, `, 200)
	got := call(t, "claims", `{"claims": [`+many+`{"criterion": "c2", "path": "b.go", "line": 9, "quote": "y"}], "criteria": [{"id": "c1", "text": "a"}, {"id": "c2", "text": "b"}]}`)
	if want := "[map[criterion:c2 wrong:there are more than 200 citations: b.go:9 and what is behind it is not looked up]]"; fmt.Sprint(got["unread"]) != want || len(got["all"].([]any)) != 200 {
		t.Errorf("%v of %d, want %s", got["unread"], len(got["all"].([]any)), want)
	}
}
