package verdict

import (
	"regexp"
	"testing"

	"github.com/belay-run/belay/internal/pattern"
)

// Every rule and mark compiles, whole and in parts, and what is not tried for
// want of a word would not have matched: over texts that a person labelled.
func TestRulesWholeAndInParts(t *testing.T) {
	t.Parallel()
	exprs := map[string]string{}
	for _, r := range Rules() {
		exprs[r.ID] = `(?im)` + r.Pattern
	}
	for _, m := range marks() {
		exprs["mark "+m.tool] = m.pattern
	}
	var texts []string
	for _, file := range []string{"common.tsv", "errors-more.tsv", "errors.tsv", "fresh.tsv", "others.tsv"} {
		for i, r := range readLabelled(t, file) {
			if i%4 == 0 { // all of them take seconds
				texts = append(texts, r.text)
			}
		}
	}
	for id, expr := range exprs {
		whole, parts := regexp.MustCompile(expr), pattern.NewAny(expr)
		for _, text := range texts {
			want := whole.MatchString(text)
			if got := parts.In(pattern.NewText(text)); got != want {
				t.Errorf("%s in %q: %v, want %v", id, text, got, want)
			}
		}
	}
}
