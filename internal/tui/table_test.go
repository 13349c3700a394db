package tui

import (
	"strings"
	"testing"
)

// A table that a terminal has no room for breaks no word, keeps its columns apart and what
// cells are indented by.
func TestFitLongNames(t *testing.T) {
	t.Parallel()
	steps := [][]string{
		{"STEP", "STATUS", "RESULT"},
		{"  a", "done", "exit 0"},
		{"    adaptive-execute-development", "not taken", "nothing ran"},
		{"    last", "failed", "exit 3: the server does not answer: connection refused"},
	}
	for _, c := range []struct {
		rows         [][]string
		width, first int
		want         string
	}{
		{steps, 60, 2, `STEP                         STATUS     RESULT
  a                          done       exit 0
    adaptive-execute-development
                             not taken  nothing ran
    last                     failed
        exit 3: the server does not answer: connection
        refused`},
		{[][]string{{"dir", "/a/folder/with/a/name/that/fills/a/line"}, {"run", "work"}}, 40, 2, `dir
    /a/folder/with/a/name/that/fills/a/line
run  work`},
		{[][]string{{"RUN", "RECIPE", "TOOK", "TASK"}, {"a", "a-recipe-of-the-night", "3s", "fix it"}, {"b", "x", "4s", ""}}, 30, 3, `RUN  RECIPE               TOOK
a    a-recipe-of-the-night
                          3s
    fix it
b    x                    4s`},
	} {
		if got := strings.Join(Fit(c.rows, c.width, c.first), "\n"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}
