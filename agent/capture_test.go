package agent

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// recorded are the CLIs of which there are captures of real runs.
func recorded() []Kind { return []Kind{Claude, Codex, Gemini, Copilot, OpenCode, Qwen} }

// capture is what one real run of a CLI printed, and how it ended.
type capture struct {
	kind   Kind
	name   string
	told   string // how the exit was written down
	stdout [][]byte
	stderr [][]byte
	exit   Exit
}

// captures reads all recorded runs. A run that its recorder had to end counts
// as killed.
func captures(t testing.TB) []capture {
	t.Helper()
	var out []capture
	for _, kind := range recorded() {
		ends, err := filepath.Glob(filepath.Join("testdata", "captures", string(kind), "*.exit"))
		if err != nil || len(ends) == 0 {
			t.Fatalf("captures of %s: %v, %d found", kind, err, len(ends))
		}
		sort.Strings(ends)
		for _, end := range ends {
			stem := strings.TrimSuffix(end, ".exit")
			c := capture{kind: kind, name: filepath.Base(stem), stdout: lines(t, stem+".jsonl"), stderr: lines(t, stem+".stderr")}
			b, err := os.ReadFile(end)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(b), "\n")
			c.told = strings.TrimPrefix(first, "exit=")
			c.exit = Exit{At: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
			switch n, err := strconv.Atoi(c.told); {
			case err != nil:
				c.exit.Code, c.exit.Signal = -1, 9
			case n < 0:
				c.exit.Code, c.exit.Signal = -1, -n
			default:
				c.exit.Code = n
			}
			out = append(out, c)
		}
	}
	return out
}

func lines(t testing.TB, file string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

// read folds a capture with the reader of its CLI.
func (c capture) read(t testing.TB) (belay.AgentResult, []Sign) {
	t.Helper()
	a, ok := New(c.kind)
	if !ok {
		t.Fatalf("no adapter for %s", c.kind)
	}
	r := a.Reader()
	var signs []Sign
	for _, l := range c.stdout {
		signs = append(signs, r.Line(l)...)
	}
	for _, l := range c.stderr {
		signs = append(signs, r.Stderr(l)...)
	}
	return r.End(c.exit), signs
}

// row is one line of the golden table.
func (c capture) row(r belay.AgentResult) string {
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	yes := func(b bool, s string) string {
		if b {
			return s
		}
		return "-"
	}
	num := func(n int) string { return dash(strings.TrimPrefix(strconv.Itoa(n), "0")) }
	told, _, _ := strings.Cut(c.told, "(")
	after := ""
	if r.RetryAfter > 0 {
		after = r.RetryAfter.String()
	}
	var tools []string
	for _, tool := range r.Tools {
		s := tool.Name
		if tool.Exit != nil {
			s += "=" + strconv.Itoa(*tool.Exit)
		}
		s += yes(tool.Failed, "!") + yes(tool.Denied, "x") + yes(tool.Open, "…")
		tools = append(tools, strings.ReplaceAll(s, "-", ""))
	}
	cause := []rune(strings.ReplaceAll(r.Cause, "\n", " "))
	cause = cause[:min(60, len(cause))]
	return strings.TrimRight(fmt.Sprintf("%-8s %-28s %5s %-5s %-5s %-13s %4s %-9s %-8s %-5s %3s %5s %4d %3d  %-34s %s",
		c.kind, c.name, told, yes(r.Final, "final"), yes(r.Error, "error"), dash(string(r.Class)), num(r.Status), dash(string(r.Stop)),
		dash(after), dash(strings.Join(r.Denied, ",")), num(r.Retries), dash(strings.TrimPrefix(strconv.FormatInt(r.Usage.Tokens(), 10), "0")), r.TextSize, r.Bad,
		dash(strings.Join(tools, " ")), string(cause)), " ")
}

const header = "# Every captured run and what is read from it. Stop truncated: the answer was cut. A tool: name=exit, ! failed, x denied, … still open.\n" +
	"# cli    behaviour                     exit final error class         http stop      after    denied try  used text bad  tools                              cause\n"

// promise: H3
func TestCapturesAreReadAsTheTableSays(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(header)
	for _, c := range captures(t) {
		r, _ := c.read(t)
		b.WriteString(c.row(r) + "\n")
	}
	golden(t, "classes.golden", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var gi, wi string
		if i < len(g) {
			gi = g[i]
		}
		if i < len(w) {
			wi = w[i]
		}
		if gi != wi {
			t.Errorf("%s:%d\n got %s\nwant %s", name, i+1, gi, wi)
		}
	}
}

// same compares what matters of two readings.
func same(a, b belay.AgentResult) bool {
	a.Bad, b.Bad = 0, 0
	return reflect.DeepEqual(a, b)
}

// Garbage between the records, a record cut in half at the end and records of
// a kind that nobody knows change nothing but the count of bad lines.
func TestGarbageBetweenRecordsIsTolerated(t *testing.T) {
	t.Parallel()
	rubbish := [][]byte{
		[]byte("node:internal: something happened"), []byte(`{"type":"assis`), []byte("\xff\xfe\x00"), []byte("]"), []byte("   "), nil,
		[]byte(`null`), []byte(`17`), []byte(`"text"`), []byte(`{"type":"never.heard.of","data":{"x":[1,2]}}`), []byte(`{"type":42}`), []byte(`{}`), []byte(`[]`),
	}
	for _, c := range captures(t) {
		want, _ := c.read(t)
		mixed := c
		mixed.stdout = append([][]byte{}, rubbish...)
		for i, l := range c.stdout {
			mixed.stdout = append(mixed.stdout, l, rubbish[i%len(rubbish)])
		}
		got, _ := mixed.read(t)
		if !same(got, want) {
			t.Errorf("%s/%s with garbage:\n got %+v\nwant %+v", c.kind, c.name, got, want)
		}
		if got.Bad <= want.Bad {
			t.Errorf("%s/%s: bad lines are not counted: %d", c.kind, c.name, got.Bad)
		}
	}
}

// A run cut after any line is read without a panic; when the last record is
// lost, no final one is made up.
//
// promise: H3
func TestACutStreamHasNoFinalRecord(t *testing.T) {
	t.Parallel()
	for _, c := range captures(t) {
		for n := range c.stdout {
			short := c
			short.stdout = append(append([][]byte{}, c.stdout[:n]...), c.stdout[n][:len(c.stdout[n])/2])
			got, signs := short.read(t)
			final := false
			for _, s := range signs {
				final = final || s.Kind == SignFinal
			}
			if got.Final && !final {
				t.Fatalf("%s/%s cut after %d lines: final without its record", c.kind, c.name, n)
			}
		}
	}
}

// All records in one line, as a list, mean the same as one a line.
func TestRecordsJoinedInAListMeanTheSame(t *testing.T) {
	t.Parallel()
	n := 0
	for _, c := range captures(t) {
		want, _ := c.read(t)
		if want.Bad > 0 || len(c.stdout) == 0 || c.stdout[0][0] == '[' {
			continue
		}
		n++
		joined := c
		joined.stdout = [][]byte{[]byte("[" + string(bytes.Join(c.stdout, []byte(","))) + "]")}
		if got, _ := joined.read(t); !same(got, want) {
			t.Errorf("%s/%s joined:\n got %+v\nwant %+v", c.kind, c.name, got, want)
		}
	}
	if n < 100 {
		t.Fatalf("only %d captures were joined", n)
	}
}

// A watcher sees a start, a final and an end for each beginning of a tool.
func TestSignsOfCaptures(t *testing.T) {
	t.Parallel()
	for _, c := range captures(t) {
		res, signs := c.read(t)
		open := map[string]bool{}
		finals := 0
		for _, s := range signs {
			switch s.Kind {
			case SignTool:
				open[s.ID] = true
			case SignDone:
				delete(open, s.ID)
			case SignFinal:
				finals++
			}
			if (s.Kind == SignTool || s.Kind == SignDone) && (s.Tool == nil || s.Tool.Name == "") {
				t.Errorf("%s/%s: a tool without a name: %+v", c.kind, c.name, s)
			}
		}
		if res.Final != (finals > 0) {
			t.Errorf("%s/%s: final %v, but %d signs of it", c.kind, c.name, res.Final, finals)
		}
		if res.Final && res.Exit == 0 && !res.Error && len(open) > 0 {
			t.Errorf("%s/%s: ended well with open tools %v", c.kind, c.name, open)
		}
		if res.Final && res.Session == "" && c.name != "nocreds" && c.name != "resume-unknown-id" {
			t.Errorf("%s/%s: no session", c.kind, c.name)
		}
	}
}
