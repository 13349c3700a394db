package worktree

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// However long and odd a command is, what is followed of it has a limit, and is
// counted: commands, looks ahead, parts that are searched for a word, and bytes
// of words.
func TestFollowingACommandIsBounded(t *testing.T) {
	t.Parallel()
	const size = 56 << 10
	rep := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	half := func(unit string) string { return strings.Repeat(unit, size/2/len(unit)) }
	nest := func(open, in, end string) string {
		n := size / (len(open) + len(end))
		return strings.Repeat(open, n) + in + strings.Repeat(end, n)
	}
	for name, command := range map[string]string{
		"lines": rep("go test ./...\n"), "subshells": rep("(go test)\n"), "blocks": rep("{ go test; }\n"), "negated": rep("! go test\n"), "in the background": rep("go test & "),
		"ands": rep("go test && ") + "ls", "ors": rep("go test || ") + "ls", "or exit": rep("go test || exit 1\n"), "or a block": rep("go test || { echo a; exit 1; }\n"), "and or": rep("go test && a || b\n"),
		"pipes": rep("go test | ") + "ls", "pipes and their status": rep("go test | tail; exit ${PIPESTATUS[0]}\n"), "a status": rep("go test; rc=$?; "), "a late exit": "go test; rc=$?; " + rep("echo a; ") + "exit $rc",
		"functions": rep("f() { go test; }; f; "), "a long function": "f() { " + half("echo a b c; ") + "}\n" + half("go test; f; "), "functions in circles": half("f() { g; }; g() { f; }; ") + half("go test; f; "),
		"ifs": rep("if go test; then exit 1; fi\n"), "whiles": rep("while go test; do exit 1; done\n"), "loops": rep("for i in 1 2 3; do go test; done\n"), "cases": rep("case x in a) go test;; esac\n"),
		"set -e": "set -e\n" + rep("go test\n"), "evals": rep("eval 'go test'\n"), "shells": rep("bash -c 'go test'\n"), "a long shell": "bash -c '" + rep("go test; ") + "'", "substitutions": rep("x=$(go test)\n"),
		"variables": rep("a=$a$a; go test $a\n"), "sources": rep(". ./x; go test\n"), "traps": rep("trap 'go test' EXIT\n"), "documents": rep("go test <<E\nx\nE\n"), "braces": rep("go test {a,b}{c,d}\n"), "places": rep("cd a; go test\n"),
		"deep blocks": nest("{ ", "go test", "; }"), "deep shells": nest("(", "go test", ")"), "deep ands": nest("{ go test && ", "exit 1", "; }"), "deep ors": nest("{ go test || ", "exit 1", "; }"), "deep ifs": nest("if a; then go test; ", "exit 1", "; fi"),
		"deep loops": strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "go test" + strings.Repeat("; done", 12), "not a script": rep("{ go test && "),
	} {
		s, _ := seek(command, runsSuite)
		if s.steps > maxCourse+size || s.ahead > maxCourse+size || s.asked > maxAsking+size || s.spent > 2*maxSpent { // behind the limit each command counts once more
			t.Errorf("%s: %d steps, %d ahead, %d parts asked and %d bytes", name, s.steps, s.ahead, s.asked, s.spent)
		}
	}
}

// The cost of a look does not grow with the square of a command. What is made on
// the way is counted, because time is another one on each machine.
func TestLooksAreCheap(t *testing.T) { //nolint:paralleltest // it counts what is made
	for _, unit := range []string{"go test ./...\n", "(go test)\n", "{ go test && ", "git commit -m x\n"} {
		command := strings.Repeat(unit, 4000)
		made := testing.AllocsPerRun(1, func() {
			LookIn("", command)
			(&Doings{}).Take(belay.ToolCall{Name: "Bash", Command: command})
		})
		if made > 500*4000 {
			t.Errorf("%q, 4000 times: %.0f pieces of memory", unit, made)
		}
		t.Logf("%q: %.0f", unit, made)
	}
}

// The exit of a command is lost behind a pipe, another command, || or &.
func TestTailOf(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][3]bool{ // of its first command: as it is, with set -e, with pipefail
		"a":                {false, false, false},
		"a && b":           {false, false, false},
		"a; b":             {true, false, true},
		"a | b":            {true, true, false},
		"a || b":           {true, true, true},
		"a & b":            {true, true, true},
		"{ a; }":           {false, false, false},
		"if a; then b; fi": {true, false, true},
		"{ a; }; b":        {true, false, true},
	} {
		end := tailOf(split(command))
		if got := [3]bool{end.masks(0, false, false), end.masks(0, true, false), end.masks(0, false, true)}; got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
}
