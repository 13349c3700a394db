package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// A tour goes where a walk goes, and passes over what it is told to.
func TestTour(t *testing.T) {
	bash := newBash()
	for _, src := range []string{
		"", "echo a \"b $(c \"d\") e\" f # g\n", "cat <<'E' \"x\" | wc\na\nE\necho \"$y\" b",
		"if [ \"a\" ]; then b=(\"c\" d); fi # e\nfor x in \"1\" 2; do :; done", "case \"$a\" in b) c ;; esac; f() { local x=\"$1\"; }",
	} {
		for _, skipped := range []string{"", "*syntax.DblQuoted", "*syntax.Redirect", "*syntax.CallExpr", "*syntax.Word", "*syntax.File"} {
			var walked, toured []string
			see := func(seen *[]string) func(syntax.Node) bool {
				return func(n syntax.Node) bool {
					name := fmt.Sprintf("%T", n)
					if n != nil {
						*seen = append(*seen, fmt.Sprint(name, n.Pos()))
						return name != skipped
					}
					*seen = append(*seen, "end")
					return true
				}
			}
			file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(src), "")
			if err != nil {
				t.Fatal(err)
			}
			syntax.Walk(file, see(&walked))
			nodes, err := bash.read(src)
			if err != nil {
				t.Fatal(err)
			}
			nodes.visit(see(&toured))
			if !slices.Equal(walked, toured) {
				t.Errorf("%q without %q: walked %v, toured %v", src, skipped, walked, toured)
			}
		}
	}
}
