package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
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
	got := strings.Join(s.board.Live(s.now.Add(time.Second), 79, func(k belay.Key) string { return "last of " + string(k) }), "\n")
	want := `  running   deploy-everything          1s
  running     push                     1s  last of k3f9q/deploy-everything.1:p…
  pending   deploy-everything/wait
  pending   report
  [1/5] 5s  1 running`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, l := range s.board.Live(s.now, 30, none) {
		if len([]rune(l)) > 30 {
			t.Errorf("%q is too wide", l)
		}
	}
	if text := s.text(); !strings.Contains(text, "done      prepare") || !strings.Contains(text, "checked 4s") {
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
