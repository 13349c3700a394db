package check

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// goArgs asks go for a record of each test. Its plain output names packages only,
// and a TestMain that leaves with exit 0 before any test makes a package "ok".
func goArgs(args []string) []string {
	return append([]string{args[0], args[1], "-json"}, args[2:]...)
}

// goTests reads the records of go test -json, counts the tests, and hands on
// what go test would have printed without it.
type goTests struct {
	to    io.Writer
	line  []byte
	held  map[goTest]*bytes.Buffer // what a test that has not ended printed
	tally belay.Tally
	err   error
}

// goTest names a test.
type goTest struct{ pkg, name string }

// goRecord is one record of go test -json.
type goRecord struct {
	Action  string `json:"Action"`  //nolint:tagliatelle // as go writes it
	Package string `json:"Package"` //nolint:tagliatelle // as go writes it
	Test    string `json:"Test"`    //nolint:tagliatelle // as go writes it
	Output  string `json:"Output"`  //nolint:tagliatelle // as go writes it
}

// Limits of what is kept of a line and of a test.
const (
	maxGoLine = 1 << 20
	maxGoTest = 64 << 10
)

func (g *goTests) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			g.line = append(g.line, rest...)
			if len(g.line) > maxGoLine { // no record of go is as long
				g.flush()
			}
			break
		}
		g.line = append(g.line, rest[:i+1]...)
		rest = rest[i+1:]
		g.flush()
	}
	return len(b), g.err
}

// flush takes in a line.
func (g *goTests) flush() {
	line := g.line
	g.line = g.line[:0]
	var r goRecord
	if len(line) == 0 {
		return
	}
	if line[0] != '{' || json.Unmarshal(line, &r) != nil || r.Action == "" {
		g.print(line)
		return
	}
	g.take(r)
}

func (g *goTests) take(r goRecord) {
	at := goTest{r.Package, r.Test}
	top := r.Test != "" && !strings.Contains(r.Test, "/")
	switch r.Action {
	case "output", "build-output":
		if r.Test == "" {
			if r.Output != "PASS\n" {
				g.print([]byte(r.Output))
			}
			return
		}
		g.hold(at, r.Output)
	case "pass", "skip":
		delete(g.held, at)
		if top && r.Action == "pass" {
			g.tally.Passed++
		}
	case "fail":
		if top {
			g.tally.Failed++
		}
		if r.Test != "" {
			g.release(at)
			return
		}
		for _, open := range g.open(r.Package) { // those that it left in the middle
			g.release(open)
		}
	}
}

// hold keeps what a test prints, until it is known whether it fails.
func (g *goTests) hold(at goTest, text string) {
	if strings.HasPrefix(text, "=== ") {
		return
	}
	if g.held == nil {
		g.held = map[goTest]*bytes.Buffer{}
	}
	if g.held[at] == nil {
		g.held[at] = &bytes.Buffer{}
	}
	if g.held[at].Len() < maxGoTest {
		g.held[at].WriteString(text)
	}
}

func (g *goTests) release(at goTest) {
	if b := g.held[at]; b != nil {
		g.print(b.Bytes())
		delete(g.held, at)
	}
}

// open are the tests of a package that have not ended.
func (g *goTests) open(pkg string) []goTest {
	var list []goTest
	for at := range g.held {
		if at.pkg == pkg {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, func(a, b goTest) int { return strings.Compare(a.name, b.name) })
	return list
}

func (g *goTests) print(b []byte) {
	if _, err := g.to.Write(b); err != nil && g.err == nil {
		g.err = err
	}
}

// count is what the records say; failed: go ended with an error.
func (g *goTests) count(failed bool) *belay.Tally {
	g.flush()
	t := g.tally
	t.Bad = t.Failed > 0
	t.None = !failed && t.Passed == 0 && t.Failed == 0
	return &t
}
