package recipe

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every file in testdata is one rule with the exact words it is refused in.
// promise: F8
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, problems := Parse(filepath.Base(file), src)
			checkProblems(t, src, r, problems)
			if r != nil && r.Extends == "" {
				problems = append(problems, CheckCalls(r, nil)...)
			}
			var b strings.Builder
			for _, p := range problems {
				b.WriteString(p.Format(src) + "\n")
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// checkProblems holds for the problems of any source: there is a recipe if and
// only if none is an error, there are not too many, each lies in the source and
// they come in its order.
func checkProblems(t *testing.T, src []byte, r *Recipe, problems []Problem) {
	t.Helper()
	if len(problems) > MaxProblems {
		t.Errorf("%d problems", len(problems))
	}
	broken := false
	last := Pos{}
	s := newSource([]byte(strings.TrimPrefix(string(src), "\ufeff")))
	for _, p := range problems {
		broken = broken || !p.Warning
		if p.Line < 1 || p.Line > len(s.starts) || p.Col < 1 || p.Col > utf8.RuneCountInString(s.line(p.Line))+1 {
			t.Errorf("%d:%d is not in the source: %s", p.Line, p.Col, p)
		}
		if p.Line < last.Line || p.Line == last.Line && p.Col < last.Col {
			t.Errorf("%s comes after %v", p, last)
		}
		last = Pos{p.Line, p.Col}
		if p.Msg == "" || strings.ContainsAny(p.Msg, "\n\x1b") {
			t.Errorf("%d:%d: the message %q is not one line of text", p.Line, p.Col, p.Msg)
		}
	}
	if broken != (r == nil) {
		t.Errorf("error %v, but recipe nil %v", broken, r == nil)
	}
}
