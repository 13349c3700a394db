package output

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Rows 36 to 39 of the older runner's behaviour, and where ours looks further.
func TestExtract(t *testing.T) {
	const fence = "```"
	for _, c := range []struct{ name, text, want string }{
		{"row 36: the whole text", ` {"a": 1, "b": [1, 2]} `, `{"a":1,"b":[1,2]}`},
		{"row 36: a json fence", "Here:\n" + fence + "json\n{\"a\": 1}\n" + fence + "\ndone", `{"a":1}`},
		{"row 36: an unlabelled fence", fence + "\n[1, 2]\n" + fence, `[1,2]`},
		{"row 36: an object in prose", `The answer is {"k": {"n": [1]}} as asked.`, `{"k":{"n":[1]}}`},
		{"row 36: a list in prose", `see [1, 2, 3] for it`, `[1,2,3]`},
		{"row 36: escaped quotes and brackets in strings", `x {"a": "q\" } ] {"} y`, `{"a":"q\" } ] {"}`},
		{"row 36: the object wins over the list", `list [1,2] and {"k":3}`, `{"k":3}`},
		{"row 36: the first of two objects", `{"k":4} {"k":5}`, `{"k":4}`},
		{"row 39: scalars count", "42", "42"},
		{"row 39: a text in quotes", `"q"`, `"q"`},
		{"row 39: null", " null\n", "null"},
		{"row 39: the second object", `see {oops} then {"k":2}`, `{"k":2}`},
		{"row 39: one inside what is none", `{oops {"k":2} }`, `{"k":2}`},
		{"row 39: the second fence", fence + "\nnot json\n" + fence + "\nthen\n" + fence + "json\n{\"a\":2}\n" + fence, `{"a":2}`},
		{"row 39: a scalar in the second fence", fence + "\nnot json\n" + fence + "\nthen\n" + fence + "json\n42\n" + fence, "42"},
		{"row 39: a fence on one line", fence + `json {"a":3}` + fence, `{"a":3}`},
		{"a fence inside a string", `{"code": "` + fence + `"} and text`, "{\"code\":\"```\"}"},
		{"an open quote in front", `he said "go: {"k": 1}`, `{"k":1}`},
		{"all digits stay", `{"n": 12345678901234567890}`, `{"n":12345678901234567890}`},
		{"row 37: no JSON", "just words", ""},
		{"row 39: nothing", "", ""},
		{"blanks", " \n ", ""},
		{"not closed", `{"a": 1`, ""},
		{"a number out of range", `{"a": 1e999}`, ""},
		{"not UTF-8", "{\"a\": \"\xff\"}", ""},
		{"another language", fence + "yaml\na: 1\n" + fence, ""},
	} {
		got, ok := Extract(c.text)
		if ok != (c.want != "") || string(got) != c.want {
			t.Errorf("%s: got %q %v, want %q", c.name, got, ok, c.want)
		}
	}
}

// Of an answer in a form the first is not taken where another one differs.
func TestFormed(t *testing.T) {
	const fence = "```"
	for _, c := range []struct {
		text, want string
		fit        Fit
	}{
		{`{"s": "yes"}`, `{"s":"yes"}`, Fits},
		{`so: {"s": "yes", "n": 1}, and again {"n":1,"s":"yes"}`, `{"s":"yes","n":1}`, Fits},
		{`{"s": "yes"} correction: {"s": "no"}`, "", Differs},
		{fence + "json\n{\"s\": \"yes\"}\n" + fence + "\nbut\n" + fence + "\n{\"missing\": [1]}\n" + fence, "", Differs},
		{fence + "\n[]\n" + fence + "\nsorry: " + `{"s": [{"a": 1}]}`, `{"s":[{"a":1}]}`, Fits},
		{`{"s": []} and [{"a": 1}]`, "", Differs},
		{`as in [1], main() {} and [x]: {"s": "yes"}`, `{"s":"yes"}`, Fits},
		{`{"other": "yes"}`, `{"other":"yes"}`, Lacks},
		{`[{"a": 1}]`, `[{"a":1}]`, Lacks},
		{`words`, "", Lacks},
		{`{"s": "yes", "s": "no"}`, "", Differs},
		{`{"s": "yes", "S": "no"}`, "", Differs},
		{`{"s": [{"a": "s", "A": {}, "b": ["a"]}, {"a": 1}], "n": 1, "N": 2}`, `{"s":[{"a":"s","A":{},"b":["a"]},{"a":1}],"n":1,"N":2}`, Fits},
		{`{"s": [{"a": {}, "b": 1, "a": {}}]}`, "", Differs},
	} {
		if got, fit := Formed(c.text, "s"); fit != c.fit || string(got) != c.want {
			t.Errorf("%q: got %q, which %s; want %q, which %s", c.text, got, fit, c.want, c.fit)
		}
	}
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		`{"s": " \u200b\n"}`: true, `{"s": null}`: true, `{"s": "x", "n": ""}`: false, `{"s": []}`: false, `{"s": 0}`: false, `{}`: false, `[]`: false,
	} {
		if got := Blank(json.RawMessage(text), "s"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Row 40: what looks like JSON is stored typed, without being asked for.
func TestTyped(t *testing.T) {
	for text, want := range map[string]string{
		"42": "42", " 42\n": "42", "true": "true", "null": "null", `"q"`: `"q"`, `{"b": 1, "a": 2}`: `{"b":1,"a":2}`, "[]": "[]", "-1.50": "-1.50",
		"007": `"007"`, "": `""`, "hello": `"hello"`, " x ": `" x "`, "True": `"True"`, "1e999": `"1e999"`, "<a> & b": `"<a> & b"`,
		"{oops}": `"{oops}"`, "1 2": `"1 2"`, "a\x00b": `"a\u0000b"`, "\xff": `"` + string(utf8.RuneError) + `"`,
	} {
		got := string(Typed(text))
		if got == `"\ufffd"` {
			got = `"` + string(utf8.RuneError) + `"` // the same text, written out
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// A text that is made to be searched again and again is given up on.
func TestExtractBounded(t *testing.T) {
	for name, text := range map[string]string{
		"open objects":     strings.Repeat(`{"a":`, 100_000),
		"open lists":       strings.Repeat(`[`, 500_000),
		"open brackets":    strings.Repeat(`{`, 1_000_000),
		"fences":           strings.Repeat("```", 300_000),
		"an open string":   `{"` + strings.Repeat(`{"a`, 300_000),
		"closed and wrong": strings.Repeat(`{"a":[1,2,3],}`, 100_000),
	} {
		if name == "open lists" && os.Getenv("BELAY_SWEEPS") != "all" {
			continue // as open objects, and the slowest
		}
		start := time.Now()
		if raw, ok := Extract(text); ok {
			t.Errorf("%s: found %.40q", name, raw)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: %v", name, took)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		"", "42", `{"a":1}`, "x {\"a\": [1, {}]} y", "```json\n{}\n```", "```\n[\n```\n{\"k\":\"\\\"}\"}", "{oops} [1] {", `"q`, "1e999", "\xff{}", "007", "\"\"\f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, ok := Extract(text)
		if ok != (raw != nil) {
			t.Fatalf("%q: %v and %q", text, ok, raw)
		}
		var v any
		if ok && json.Unmarshal(raw, &v) != nil {
			t.Fatalf("%q gives %q, which is no JSON", text, raw)
		}
		typed := Typed(text)
		if json.Unmarshal(typed, &v) != nil || !utf8.Valid(typed) {
			t.Fatalf("%q is typed %q, which is no JSON", text, typed)
		}
		if s, isText := v.(string); isText && utf8.ValidString(text) && s != text && !json.Valid([]byte(text)) {
			t.Fatalf("%q became %q", text, s)
		}
	})
}
