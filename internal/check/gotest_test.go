package check

import (
	"strings"
	"testing"
)

// What go test -json prints is counted by test, and shown as without it.
func TestGoTests(t *testing.T) {
	const in = `# some text of the compiler
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB/sub","Output":"    b_test.go:3: no\n"}
{"Action":"fail","Package":"p","Test":"TestB/sub"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"panic: no\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"q","Output":"PASS\n"}
{"Action":"output","Package":"q","Output":"ok  \tq\t0.1s\n"}
{"Action":"pass","Package":"q"}
{not a record}`
	const want = `# some text of the compiler
    b_test.go:3: no
--- FAIL: TestB (0.00s)
FAIL	p	0.1s
panic: no
ok  	q	0.1s
{not a record}`
	for _, size := range []int{1, 7, 1 << 20} {
		var out strings.Builder
		g := &goTests{to: &out}
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			if _, err := g.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		tally := *g.count(true)
		if out.String() != want {
			t.Errorf("pieces of %d: got %q, want %q", size, out.String(), want)
		}
		if tally.Passed != 1 || tally.Failed != 1 || !tally.Bad || tally.None {
			t.Errorf("tally %+v", tally)
		}
	}
	if tally := *(&goTests{to: &strings.Builder{}}).count(false); !tally.None {
		t.Errorf("nothing: %+v", tally)
	}
}
