package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/story"
)

// The live view is a tree: the steps of a sub-recipe below its step, then what has not
// begun, and how far the run is.
func TestLiveTree(t *testing.T) {
	t.Parallel()
	s := begin(t, `
name: outer
steps:
  - {id: prepare, command: "true", verify: "true"}
  - {id: deploy-everything, recipe: inner}
  - {id: report, command: "true"}
`, map[string]string{"inner": "name: inner\nsteps:\n  - {id: push, command: ./push}\n  - {id: wait, command: ./wait}\n"})
	s.end("k3f9q", "prepare.1", 0, time.Millisecond, "")
	s.end("k3f9q", "prepare@verify.1", 0, 4*time.Second, "")
	s.board.look()
	got := strings.Join(s.board.Live(s.now.Add(time.Second), 79, 24, func(k belay.Key) string { return "last of " + string(k) }), "\n")
	want := `  running   deploy-everything     1s
  running     push                1s · last of k3f9q/deploy-everything.1:push.1
  pending     wait
  pending   report
  [1/5] 5s  1 running`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, l := range s.board.Live(s.now, 30, 24, none) {
		if len([]rune(l)) > 30 {
			t.Errorf("%q is too wide", l)
		}
	}
	if text := s.text(); !strings.Contains(text, "done      prepare") || !strings.Contains(text, "checked (4s)") {
		t.Errorf("no word of the check:\n%s", text)
	}
}

// A table that is too wide is laid out so that the terminal breaks no line.
func TestFit(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"STEP", "PHASE", "RESULT"}, {"  a", "done", "exit 0"}, {"b", "failed", "the server does not answer"}}
	if got := strings.Join(Fit(rows, 0, 2), "\n"); got != strings.Join(Table(rows), "\n") {
		t.Errorf("no bound: %s", got)
	}
	for width, want := range map[int]string{
		38: "STEP  PHASE   RESULT\n  a   done    exit 0\nb     failed  the server does not\n              answer",
		30: "STEP  PHASE\n  a   done\n    exit 0\nb     failed\n    the server does not answer",
	} {
		if got := strings.Join(Fit(rows, width, 2), "\n"); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// The items of a list are named by their values, and on a terminal the lines about them
// come as a tree below that of their step, one line each.
func TestItemsAreATree(t *testing.T) {
	t.Parallel()
	s := begin(t, `
name: outer
context: {names: [alpha, beta, https://example.org/a/very/long/way/to/the/end, beta]}
steps:
  - {id: prepare, command: "true"}
  - {id: each, foreach: names, command: "true", verify: "true"}
  - {id: report, command: "true"}
`, nil, func(e *event.RunStarted) {
		e.Vars = map[string]belay.Value{"names": {JSON: []byte(`["alpha","beta","https://example.org/a/very/long/way/to/the/end","gamma"]`)}}
	})
	var tty, piped bytes.Buffer
	term := NewScreen(&tty, NewBoard(story.Live(s.tree)), Style{Live: true, Size: sized(80, 24)}, none)
	plain := NewScreen(&piped, NewBoard(story.Live(s.tree)), Style{}, none)
	shown := 0
	show := func() {
		term.Seen(s.recs[shown:])
		plain.Seen(s.recs[shown:])
		shown = len(s.recs)
	}
	show()
	s.end("k3f9q", "prepare.1", 0, time.Second, "")
	show()
	s.end("k3f9q/each.1", "item-3.1", 0, time.Second, "")
	show()
	s.end("k3f9q/each.1", "item-3@verify.1", 0, 2*time.Second, "")
	show()
	live := strings.Join(term.board.Live(s.now, 79, 24, none), "\n")
	if want := `  running   each                               3s
  running     alpha                            3s
  running     beta                             3s
✓ done        https://exampl…ay/to/the/end     1s · checked (2s)
  running     gamma                            3s
  pending   report
  [2/7] 4s  3 running`; live != want {
		t.Errorf("live:\n%s\nwant\n%s", live, want)
	}
	for _, n := range []string{"1", "2", "4"} {
		s.end("k3f9q/each.1", "item-"+n+".1", 0, time.Second, "")
		exit := 0
		if n == "4" {
			exit = 3
		}
		s.end("k3f9q/each.1", "item-"+n+"@verify.1", exit, time.Second, "no good\n")
		show()
	}
	if got, want := tty.String(), `✓ done      prepare                            1s
✗ failed    each                               9s · step gamma failed
✓ done        alpha                            1s · checked (1s)
✓ done        beta                             1s · checked (1s)
✓ done        https://exampl…ay/to/the/end     1s · checked (2s)
✗ failed      gamma                            1s · verify: exit 3: no good
`; got != want {
		t.Errorf("terminal:\n%s\nwant\n%s", got, want)
	}
	if got := piped.String(); !strings.Contains(got, "✓ done      each/beta ") || strings.Count(got, "no good") != 1 {
		t.Errorf("piped:\n%s", got)
	}
}

// A view that is higher than its terminal leaves out what is to come, then what ended
// long ago, then sub-recipes without their steps: what runs stays, with the last end.
func TestLiveFitsTheHeight(t *testing.T) {
	t.Parallel()
	s := begin(t, `
name: outer
context: {names: []}
steps:
  - {id: each, foreach: names, max_parallel: 40, command: ./work}
  - {id: report, command: "true"}
`, nil, func(e *event.RunStarted) {
		e.Vars = map[string]belay.Value{"names": {JSON: []byte(`["a","b","c","d","e","f","g","h","i"]`)}}
	})
	for _, n := range []string{"1", "5", "2"} {
		s.end("k3f9q/each.1", "item-"+n+".1", 0, time.Second, "")
	}
	screen := NewScreen(&bytes.Buffer{}, NewBoard(story.Live(s.tree)), Style{Live: true, Size: sized(80, 24)}, none)
	screen.Seen(s.recs)
	for height := range 20 {
		lines := screen.board.Live(s.now, 79, height, none)
		text := strings.Join(lines, "\n")
		if len(lines) > max(height, 1) {
			t.Errorf("%d lines at %d:\n%s", len(lines), height, text)
		}
		if height == 6 && text != `  running   each             3s
✓ done        b              1s
  running     c              3s
  running     d              3s
            … 7 more steps
  [3/11] 3s  6 running` {
			t.Errorf("at %d:\n%s", height, text)
		}
	}
}
