package recipe

import (
	"strings"
	"testing"
)

// What a hint tells to type for a colon inside { } or [ ] works when it is typed.
func TestCureOfAColonInFlow(t *testing.T) {
	t.Parallel()
	const hint = "a value with a colon and a blank in it needs quotes"
	for _, c := range []struct{ line, wrong, cure string }{
		{"context: {a: b: c}", "{a: b: c}", "{a: 'b: c'}"},
		{"context: {l: [a: b: c]}", "[a: b: c]", "[a: 'b: c']"},
		{"context: { x: 1, a: b's: c, y: 2 }", "{ x: 1, a: b's: c, y: 2 }", "{ x: 1, a: 'b''s: c', y: 2 }"},
		{"context: {a: {q: r: s, t: 1}, b: 2}", "{q: r: s, t: 1}", "{q: 'r: s', t: 1}"},
		{"context: {a: http://x: y} # a comment", "{a: http://x: y}", "{a: 'http://x: y'}"},
		{"context: {a: b: }", "{a: b: }", "{a: 'b:'}"},
		{`hooks: {on_error: echo "note: x, y"}`, `{on_error: echo "note: x, y"}`, `{on_error: 'echo "note: x, y"'}`},
		{"context: {long: " + strings.Repeat("x", 60) + ", a: b: c}", "a: b: c", "a: 'b: c'"},
		{"context: {a: " + strings.Repeat("x", 60) + ": c}", "", ""},
		{`context: {a: "x" b: c}`, "", ""},
		{"context: {a: {b: c}: d}", "", ""},
		{"context: {a: b: c # a comment", "", ""},
	} {
		want := hint
		if c.cure != "" {
			want += ": " + c.cure
		}
		if _, problems := Parse("f.yaml", []byte("name: x\n"+c.line+"\n"+oneStep)); len(problems) != 1 || problems[0].Hint != want {
			t.Errorf("%s: got %+v, want the hint %q", c.line, problems, want)
		}
		cured := strings.Replace(c.line, c.wrong, c.cure, 1)
		if r, problems := Parse("f.yaml", []byte("name: x\n"+cured+"\n"+oneStep)); c.cure != "" && r == nil {
			t.Errorf("%s, as it was told, has %v", cured, problems)
		}
	}
}

// A file of values has no steps, so no hint speaks of them.
func TestCuresOfValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\n   b: 2\n":    "indent this line as far as a above it: keys that belong together stand below each other",
		"a: 1\n---\nb: 2\n":  "a file of values is one document",
		"  a: 1\nb: 2\n":     "the file of values is over before this line; check the indentation",
		"a: {b: c: d, e: 1}": "a value with a colon and a blank in it needs quotes: {b: 'c: d', e: 1}",
	} {
		if _, problems := Values("v.yaml", []byte(text)); len(problems) != 1 || problems[0].Hint != want {
			t.Errorf("%q: got %+v, want the hint %q", text, problems, want)
		}
	}
}
