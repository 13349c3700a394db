package tui

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

var update = flag.Bool("update", false, "write the golden files")

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tale is a run that is told by facts instead of processes.
type tale struct {
	t     *testing.T
	tree  *flow.Tree
	board *Board
	now   time.Time
	lines []Line
	recs  []event.Record
}

func begin(t *testing.T, source string, subs map[string]string, change ...func(*event.RunStarted)) *tale {
	t.Helper()
	lib := flow.Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	parse := func(name, src string) *recipe.Recipe {
		r, problems := recipe.Parse(name, []byte(src))
		if r == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		lib.Recipes[r.Digest] = r
		return r
	}
	root := parse("r.yaml", source)
	for name, src := range subs {
		lib.Names[name] = parse(name, src).Digest
	}
	tree := flow.NewTree("k3f9q", lib)
	s := &tale{t: t, tree: tree, board: NewBoard(story.Live(tree)), now: start}
	first := event.RunStarted{
		Schema: event.Schema, Name: root.Name, Recipe: root.Digest, Dir: "/d", Limits: belay.DefaultLimits(),
		Vars: map[string]belay.Value{"n": {JSON: []byte("1")}},
	}
	for _, f := range change {
		f(&first)
	}
	s.turn(flow.Fact{Run: "k3f9q", Event: first}, flow.Fact{Run: "k3f9q", Event: event.RunAttached{Epoch: 1}})
	return s
}

func (s *tale) turn(facts ...flow.Fact) {
	s.t.Helper()
	turn, err := s.tree.Turn(s.now, facts...)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range turn.Records {
		r.Seq = int64(len(s.recs) + 1)
		s.recs = append(s.recs, r)
		s.lines = append(s.lines, s.board.take(r)...)
	}
	for _, c := range turn.Effects { // a look at the machine shows nothing
		ask, ok := c.(effect.Ask)
		if !ok {
			continue
		}
		var a effect.Answer
		switch q := ask.Question.(type) {
		case effect.AskProbe:
			a = effect.AnswerProbe{OK: true, Probe: &effect.Probe{}}
		case effect.AskTree:
			a = effect.AnswerTree{OK: true, Dir: q.Dir, Tree: q.Dir, Taken: 1}
		default:
			continue
		}
		run, _ := ask.Key.Step()
		s.turn(flow.Fact{Run: run, Event: event.AnswerGiven{Key: ask.Key, Answer: a}})
	}
}

// account is that of the whole tale.
func (s *tale) account() *story.Account {
	return story.Tell(s.tree, s.recs).Account("k3f9q", story.Facts{Now: s.now})
}

// later is a board as a later process has it.
func (s *tale) later() *Board {
	b := NewBoard(story.Live(s.tree))
	b.story.Add(s.recs...)
	return b
}

// take tells one record, and gives its lines.
func (b *Board) take(r event.Record) []Line {
	news := b.story.Add(r)
	return b.Lines(&news[0])
}

// end ends the attempt with the given exit after d.
func (s *tale) end(run belay.RunID, key string, exit int, d time.Duration, tail string) {
	s.t.Helper()
	began := s.now
	s.now = s.now.Add(d)
	s.turn(flow.Fact{Run: run, Event: event.AttemptEnded{Key: belay.Key(string(run) + ":" + key), Observation: effect.Observation{
		Began: true, Exit: exit, Started: began, Ended: s.now, Tail: tail,
	}}})
}

func (s *tale) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.Format(false) + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", name, got, want)
	}
}

func summary(s *tale) string {
	res := belay.RunResult{Status: s.tree.Status()}
	if r := s.tree.Run("k3f9q").Result(); r != nil {
		res = *r
	}
	return strings.Join(Summary(s.account(), s.tree, res, "belay", nil), "\n") + "\n"
}

func TestStoryOfAGoodRun(t *testing.T) {
	t.Parallel()
	s := begin(t, `
name: good
steps:
  - {id: build, command: make}
  - {id: test, command: make test, retry: {max_attempts: 3, backoff: 500ms}}
  - {id: docs, command: make docs, condition: "n > 2"}
  - {id: lint, command: make lint, optional: true}
`, nil)
	s.end("k3f9q", "build.1", 0, 12*time.Second, "ok")
	s.end("k3f9q", "test.1", 1, 64*time.Second, "FAIL TestLogin\n")
	live := strings.Join(s.board.Live(s.now, 79, 24, none), "\n") + "\n"
	s.now = s.now.Add(time.Minute)
	s.turn()
	s.end("k3f9q", "test.2", 0, time.Second, "")
	s.end("k3f9q", "lint.1", 2, 20*time.Millisecond, "bad style")
	golden(t, "good", s.text()+"--\n"+live+"--\n"+summary(s))
}

func none(belay.Key) string { return "" }

// sized is a terminal of that size.
func sized(width, height int) func() (int, int) { return func() (int, int) { return width, height } }

func TestStoryOfAFailedRunWithAChild(t *testing.T) {
	t.Parallel()
	s := begin(t, `
name: outer
steps:
  - {id: prepare, command: "true"}
  - {id: deploy, recipe: inner}
  - {id: report, command: "true"}
`, map[string]string{"inner": "name: inner\nsteps:\n  - {id: push, command: ./push}\n"})
	s.end("k3f9q", "prepare.1", 0, time.Millisecond, "")
	s.end("k3f9q/deploy.1", "push.1", 7, 3*time.Second, "\x1b[31mno route\x1b[0m to host\n")
	golden(t, "failed", s.text()+"--\n"+summary(s))
}

func TestStoryOfAHeldRun(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: held\nsteps:\n  - {id: publish, command: ./publish, once: true}\n", nil)
	s.now = s.now.Add(time.Second)
	s.turn(flow.Fact{Run: "k3f9q", Event: event.RunAttached{Epoch: 2}},
		flow.Fact{Run: "k3f9q", Event: event.AttemptFound{Key: "k3f9q:publish.1", How: fault.Lost, Count: 1}})
	golden(t, "held", s.text()+"--\n"+summary(s))
}

func TestFoundAttemptsAreNews(t *testing.T) {
	t.Parallel()
	s := begin(t, `
name: found
steps:
  - {id: a, command: "true", needs: []}
  - {id: b, command: "true", needs: []}
  - {id: c, command: "true", needs: []}
`, nil)
	s.board = s.later()
	fact := func(e event.Event) flow.Fact { return flow.Fact{Run: "k3f9q", Event: e} }
	s.turn(fact(event.RunAttached{Epoch: 2}),
		fact(event.AttemptFound{Key: "k3f9q:a.1", How: fault.Adopted}),
		fact(event.AttemptFound{Key: "k3f9q:b.1", How: fault.Harvested}),
		fact(event.AttemptEnded{Key: "k3f9q:b.1", Observation: effect.Observation{Began: true, Started: start, Ended: start.Add(time.Second)}}),
		fact(event.AttemptFound{Key: "k3f9q:c.1", How: fault.Unborn}))
	live := strings.Join(s.board.Live(start.Add(90*time.Second), 60, 24, func(k belay.Key) string {
		return fmt.Sprintf("last line of %s 日本語 and a long rest that does not fit", k)
	}), "\n")
	golden(t, "found", s.text()+"--\n"+live+"\n")
}

func TestManyLanesAreCounted(t *testing.T) {
	t.Parallel()
	src := "name: wide\nsteps:\n"
	for i := range 20 {
		src += fmt.Sprintf("  - {id: s%02d, command: \"true\", needs: []}\n", i)
	}
	s := begin(t, src, nil)
	s.tree = nil
	for i := range 20 {
		s.board.take(event.Record{At: start, Run: "k3f9q", Event: event.AttemptStarted{
			Key: belay.Key(fmt.Sprintf("k3f9q:s%02d.1", i)), Path: belay.Path(fmt.Sprintf("s%02d", i)), Role: belay.RoleMain, Attempt: 1,
		}})
	}
	lines := s.board.Live(start, 79, 24, none)
	if len(lines) != maxLanes+2 || lines[maxLanes] != "            … and 8 more" || lines[maxLanes+1] != "  0 done, 20 running" {
		t.Errorf("lines: %q", lines)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                                "plain",
		"\x1b[31mred\x1b[0m":                   "red",
		"\x1b]0;title\x07text":                 "text",
		"\x1b]8;;http://x\x1b\\link":           "link",
		"a\tb\x00c\x7fd\u009be":                "a bcde",
		"\u202Eevil":                           "evil",
		"bad \xff byte":                        "bad \uFFFD byte",
		"two\nlines":                           "two lines",
		"\x1b":                                 "",
		"\x1b[":                                "",
		"\x1bcreset":                           "reset",
		"日本語 👍":                                "日本語 👍",
		"\x1b[12\nrest of an unfinished one":   "rest of an unfinished one",
		"\x1b]unfinished\nstill shown in full": "still shown in full",
	} {
		if got := readable.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCutCountsPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly 10", 10, "exactly 10"},
		{"one more 11", 10, "one more …"},
		{"日本語テキスト", 7, "日本語…"},
		{"日本語テキスト", 6, "日本…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
		{"x", 0, ""},
	} {
		if got := readable.Cut(c.in, c.width); got != c.want || readable.Width(got) > c.width {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestLastLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\nb\n":                "b",
		"10%\r20%\r30%":         "30%",
		"text\n\x1b[2K\r\n \n":  "text",
		"":                      "",
		"\x1b[1mbold\x1b[0m\n":  "bold",
		"over\rwritten\nlast\r": "last",
	} {
		if got := readable.LastLine(in); got != want {
			t.Errorf("LastLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 420 * time.Millisecond: "420ms", 12500 * time.Millisecond: "13s",
		64 * time.Second: "1m04s", 2*time.Hour + 3*time.Minute: "2h03m",
	} {
		if got := readable.Took(d); got != want {
			t.Errorf("Took(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestScreenErasesBeforeItPrints(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: s\nsteps:\n  - {id: a, command: \"true\"}\n  - {id: b, command: \"true\"}\n", nil)
	var out bytes.Buffer
	screen := NewScreen(&out, s.later(), Style{Live: true, Size: sized(40, 24)}, none)
	screen.Tick(start.Add(time.Second))
	screen.Tick(start.Add(2 * time.Second))
	from := len(s.recs)
	s.end("k3f9q", "a.1", 0, time.Second, "")
	screen.Seen(s.recs[from:])
	screen.Close()
	want := "  running   a                1s\n  0 done, 1 running\n" +
		"\r\x1b[2A\x1b[K\x1b[B\x1b[J\x1b[A  running   a                2s\n  0 done, 1 running\n" +
		"\r\x1b[2A\x1b[K\x1b[B\x1b[J\x1b[A✓ done      a                1s\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

func TestScreenErasesLinesThatANarrowTerminalBroke(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: s\nsteps:\n  - {id: a, command: \"true\"}\n", nil)
	var out bytes.Buffer
	width := 60
	long := func(belay.Key) string { return strings.Repeat("x", 100) }
	screen := NewScreen(&out, s.later(), Style{Live: true, Size: func() (int, int) { return width, 24 }}, long)
	screen.Tick(start)
	out.Reset()
	width = 20
	screen.Close()
	if got := out.String(); got != "\r\x1b[4A\x1b[K\x1b[B\x1b[J\x1b[A" { // 59 places are 3 rows, the counts are one
		t.Errorf("got %q", got)
	}
}

func TestEndedByCancelIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	for why, want := range map[fault.KilledBy]string{
		fault.KilledCancel: "ended by cancel",
		fault.KilledStop:   "given back: it is started again at resume",
	} {
		s := begin(t, "name: s\nsteps:\n  - {id: a, command: \"true\"}\n  - {id: b, command: \"true\"}\n", nil)
		ask := event.RequestCancel
		if why == fault.KilledStop {
			ask = event.RequestStop
		}
		s.turn(flow.Fact{Run: "k3f9q", Event: event.RequestReceived{Request: event.Request{ID: "x", Run: "k3f9q", Ask: ask}}})
		s.now = s.now.Add(time.Second)
		s.turn(flow.Fact{Run: "k3f9q", Event: event.AttemptEnded{Key: "k3f9q:a.1", Observation: effect.Observation{
			Began: true, Signal: 15, KilledBy: why, Started: start, Ended: s.now,
		}}})
		if got := s.text(); !strings.Contains(got, "stopped   a                1s · "+want) {
			t.Errorf("%s:\n%s", why, got)
		}
		if got := summary(s); !strings.Contains(got, "1 not finished, 1 not reached") {
			t.Errorf("%s: %s", why, got)
		}
	}
}

func TestScreenWithoutATerminalIsPlain(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: s\nsteps:\n  - {id: a, command: \"true\"}\n", nil)
	var plain, verbose, quiet bytes.Buffer
	screens := []*Screen{
		NewScreen(&plain, NewBoard(story.Live(s.tree)), Style{}, none),
		NewScreen(&verbose, NewBoard(story.Live(s.tree)), Style{Verbose: true}, none),
		NewScreen(&quiet, NewBoard(story.Live(s.tree)), Style{Quiet: true, Live: true}, none),
	}
	from := len(s.recs)
	s.end("k3f9q", "a.1", 0, time.Second, "x")
	for _, sc := range screens {
		sc.Tick(start)
		sc.Seen(s.recs[from:])
		sc.Close()
	}
	if plain.String() != "✓ done      a                1s\n" || strings.Contains(plain.String(), "\x1b") {
		t.Errorf("plain: %q", plain.String())
	}
	if got := verbose.String(); strings.Count(got, "\n") != len(s.recs)-from+1 || !strings.Contains(got, "attempt.ended") {
		t.Errorf("verbose: %q", got)
	}
	if quiet.Len() != 0 {
		t.Errorf("quiet: %q", quiet.String())
	}
}

func TestColourMarksOnlyTheWord(t *testing.T) {
	t.Parallel()
	got := Line{Word: "failed", Step: "a", Text: "x\x1b[5mblink"}.Format(true)
	if got != "\x1b[31m✗ failed   \x1b[0m a                     xblink" {
		t.Errorf("got %q", got)
	}
}

func TestTableIsAligned(t *testing.T) {
	t.Parallel()
	got := strings.Join(Table([][]string{{"id", "name"}, {"日本", "x"}, {"abcdef", ""}}), "\n")
	if want := "id      name\n日本    x\nabcdef"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Every kind of record must be shown or passed over without harm, also when the
// board has never heard of what it names.
func TestEveryKindCanBeTaken(t *testing.T) {
	t.Parallel()
	for _, e := range event.All() {
		s := begin(t, "name: s\nsteps:\n  - {id: a, command: \"true\"}\n", nil)
		for _, l := range s.board.take(event.Record{At: start, Run: "k3f9q", Event: e}) {
			if strings.TrimSpace(l.Format(false)) == "" {
				t.Errorf("%s: an empty line", e.Kind())
			}
		}
		if body, err := json.Marshal(e); err != nil || len(body) == 0 {
			t.Errorf("%s: %v", e.Kind(), err)
		}
	}
}

// In a terminal of one row each drawing would push the one before over the edge.
func TestScreenDrawsNothingInOneRow(t *testing.T) {
	t.Parallel()
	s := begin(t, "name: s\nsteps:\n  - {id: a, command: \"true\"}\n", nil)
	var out bytes.Buffer
	height := 1
	screen := NewScreen(&out, s.later(), Style{Live: true, Size: func() (int, int) { return 40, height }}, none)
	screen.Tick(start)
	if out.Len() > 0 {
		t.Errorf("drew %q", out.String())
	}
	height = 2
	screen.Tick(start)
	if got := strings.Count(out.String(), "\n"); got != 1 {
		t.Errorf("drew %d rows: %q", got, out.String())
	}
}
