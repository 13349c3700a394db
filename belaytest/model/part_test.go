package model

import (
	"strings"
	"testing"
)

// TestParts shows that each prompt of several gets its own answer, counts its own
// calls, and writes below the directory that the CLI works in.
func TestParts(t *testing.T) {
	t.Parallel()
	work := Script{Steps: []Behaviour{Tool}, Text: "Written.", File: "sub/a.txt", Content: "x"}
	s := serve(t, Script{
		Steps: []Behaviour{Text}, Text: "Who knows.",
		Parts: []Part{{"plan it", Script{Steps: []Behaviour{HTTP529, Text}, Text: "The plan."}}, {"do it", work}},
	})
	a := apis()[0]
	prompt := func(text string) string {
		return strings.Replace(a.plain, `"hi"`, `"`+text+`"`, 1)
	}
	for _, c := range []struct{ prompt, says string }{
		{"hello", "Who knows."},
		{"now plan it", "overloaded_error"},
		{"now do it", `sub/a.txt`},
		{"now plan it", "The plan."},
		{`do it\n - Primary working directory: /w/tree\n - Platform`, `/w/tree/sub/a.txt`},
		{`<cwd>/w/codex</cwd>do it`, `/w/codex/sub/a.txt`},
	} {
		_, text := post(t, s, a, false, prompt(c.prompt))
		wants(t, text, c.says)
	}
	for _, bad := range []Part{{"", work}, {"x", Script{}}, {"x", Script{Steps: work.Steps, Parts: []Part{{"y", work}}}}} {
		if _, err := New(Script{Steps: []Behaviour{Text}, Parts: []Part{bad}}); err == nil {
			t.Errorf("a part %+v is taken", bad)
		}
	}
}
