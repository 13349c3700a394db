package worktree

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// What the table says of commands is what is seen in them.
// promise: H3
func TestTestCommands(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/testcommands.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(table)) {
		want, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || want == "#" {
			continue
		}
		command = strings.TrimLeft(command, " ")
		if strings.HasPrefix(command, `"`) {
			if command, err = strconv.Unquote(command); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		rows++
		if got := saidOf(command); got != want {
			t.Errorf("%q: %s, want %s; words %q", command, got, want, split(command))
		}
	}
	if rows < 230 {
		t.Errorf("the table has %d rows", rows)
	}
}

// saidOf is what a command that exited with 0 says about tests, in the words of
// the table.
func saidOf(command string) string {
	zero := 0
	list := testRuns("/t/w", []belay.ToolCall{{Name: "Bash", Command: command, Exit: &zero}})
	if len(list) == 0 {
		return "none"
	}
	switch c, s := list[0], lookAt(command); {
	case c.Exit == nil && !s.Unsure:
		return "masked"
	case c.Unsure && !s.Unsure:
		return "script"
	case c.Unsure:
		return "unsure"
	}
	return "own"
}

// What may not have come to its tests did when its output tells of them, unless
// another command could have printed that.
// promise: H3
func TestOutputShowsThatTestsRan(t *testing.T) {
	t.Parallel()
	passed, none := &belay.Tally{Passed: 3}, &belay.Tally{None: true}
	for _, c := range []struct {
		command string
		tally   *belay.Tally
		unsure  bool
	}{
		{"if [ -f go.mod ]; then go test ./...; fi", passed, false},
		{"[ -d x ] || exit 0; cd x; go test ./...", passed, false},
		{"if [ -f go.mod ]; then go test ./...; fi", nil, true},
		{"if [ -f go.mod ]; then go test ./...; fi", none, true},
		{"true || (cd x && go test ./...)", passed, false},
		{"echo '3 passed'; true || go test ./...", passed, true},
		{"cat log; if false; then go test; fi", passed, true},
		{"bash -c 'cat log; if false; then go test; fi'", passed, true},
		{"bash -c 'echo ok'; if false; then go test; fi", passed, true},
	} {
		if got := lookAt(c.command).Run(belay.ToolCall{Command: c.command, Tally: c.tally}); got.Unsure != c.unsure {
			t.Errorf("%q with %+v: unsure %t", c.command, c.tally, got.Unsure)
		}
	}
}

// A command of brackets and loops is looked at in a bounded time.
func TestReachedIsBounded(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"brackets":  strings.Repeat("(", 60000) + "go test",
		"chain":     strings.Repeat("true && ", 8000) + "go test",
		"or":        strings.Repeat("true || ", 8000) + "go test",
		"ifs":       strings.Repeat("if a; then ", 2000) + "go test" + strings.Repeat("; fi", 2000),
		"functions": strings.Repeat("a() { b; b; }; b() { a; a; go test; }; a; ", 1000),
		"tests":     strings.Repeat("go test; ", 20000),
		"ors":       "f() { " + strings.Repeat("g; ", 5000) + "}; " + strings.Repeat("go test || { f; f; }; ", 5000),
		"shells":    strings.Repeat("bash -c \"go test; ", 3000),
	} {
		began := time.Now()
		if s := lookAt(command); s.PR {
			t.Errorf("%s: %+v", name, s)
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func TestTestRunsKeepsTheLast(t *testing.T) {
	t.Parallel()
	var tools []belay.ToolCall
	for i := range maxTests + 7 {
		tools = append(tools, belay.ToolCall{Command: "go test", Exit: &i})
	}
	tools = append(tools, belay.ToolCall{Command: "go test", Denied: true})
	if list := testRuns("", tools); len(list) != maxTests || *list[maxTests-1].Exit != maxTests+6 {
		t.Errorf("%d commands", len(list))
	}
}

func TestPullRequest(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	for _, c := range []struct {
		tool belay.ToolCall
		want string
	}{
		{belay.ToolCall{Command: "git push && gh pr create --fill", Exit: &zero}, PRMade},
		{belay.ToolCall{Command: "bash -lc 'gh pr create --fill'"}, PRMade},
		{belay.ToolCall{Command: "gh pr create --fill", Exit: &one}, ""},
		{belay.ToolCall{Command: "gh pr create --fill", Failed: true}, ""},
		{belay.ToolCall{Command: "gh pr create --fill", Denied: true}, ""},
		{belay.ToolCall{Command: "gh pr create --fill", Open: true}, ""},
		{belay.ToolCall{Command: "gh pr create --fill || true", Exit: &zero}, ""},
		{belay.ToolCall{Command: "exit 0; gh pr create --fill", Exit: &zero}, ""},
		{belay.ToolCall{Command: "exec true\ngh pr create --fill"}, ""},
		{belay.ToolCall{Command: "set -n; gh pr create --fill", Exit: &zero}, ""},
		{belay.ToolCall{Command: "git push || exit 1; gh pr create --fill", Exit: &zero}, PRMade},
		{belay.ToolCall{Command: "gh pr create --dry-run", Exit: &zero}, ""},
		{belay.ToolCall{Command: "gh pr list", Exit: &zero}, ""},
		{belay.ToolCall{Command: "echo gh pr create", Exit: &zero}, ""},
	} {
		if got := pullRequest([]belay.ToolCall{c.tool}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.tool, got, c.want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a 'b", "a <<X\nb\nX", "a $(b (c", "a \\", "&>x", "2>&-", "`", "|&;;()"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		for _, c := range split(s) {
			if len(c.words) == 0 {
				t.Error("a command without words")
			}
			for _, w := range c.words {
				n += len(w)
			}
		}
		if n > len(s) {
			t.Errorf("%d bytes of words out of %d", n, len(s))
		}
		look(s, runsSuite, 0)
	})
}

// lookAt looks at a command whose folder does not matter.
func lookAt(command string) Seen { return LookIn("", command) }
