package worktree

import (
	"path"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// maxShells is how many shells inside shells are looked into.
const maxShells = 3

// runsTests says when a program runs tests: always, when its first word is one
// of verbs, or when any of its words is.
type runsTests struct {
	always bool
	first  []string
	any    []string
}

// testPrograms are the programs by which tests are run. In a verb, * stands
// for anything.
var testPrograms = map[string]runsTests{
	"go": {first: []string{"test"}}, "gotestsum": {always: true}, "ginkgo": {always: true},
	"pytest": {always: true}, "py.test": {always: true}, "unittest": {always: true}, "nose2": {always: true},
	"tox": {always: true}, "nox": {always: true}, "manage.py": {first: []string{"test"}},
	"npm":  {first: []string{"test", "t", "tst"}},
	"yarn": {first: []string{"test", "test:*"}}, "pnpm": {first: []string{"test", "t", "test:*"}},
	"bun": {first: []string{"test"}}, "deno": {first: []string{"test"}}, "node": {any: []string{"--test"}},
	"jest": {always: true}, "vitest": {always: true}, "mocha": {always: true}, "ava": {always: true},
	"karma": {first: []string{"start"}}, "playwright": {first: []string{"test"}}, "cypress": {first: []string{"run"}},
	"cargo": {first: []string{"test", "t", "nextest"}},
	"make":  {any: []string{"test", "tests", "check", "test-*", "*-test", "*-tests", "check-*", "test_*", "*_test"}},
	"just":  {any: []string{"test", "tests", "check", "test-*"}}, "task": {any: []string{"test", "tests", "check", "test:*"}},
	"mvn": {any: []string{"test", "verify", "install", "package", "surefire:test"}}, "mvnw": {any: []string{"test", "verify", "install", "package"}},
	"gradle":  {any: []string{"test", "check", "build", "*:test", "*:check", "connectedCheck"}},
	"gradlew": {any: []string{"test", "check", "build", "*:test", "*:check", "connectedCheck"}},
	"sbt":     {any: []string{"test", "testOnly*", "testQuick"}}, "lein": {any: []string{"test"}},
	"rspec": {always: true}, "rake": {any: []string{"test", "spec", "test:*", "spec:*"}}, "rails": {first: []string{"test", "test:*"}}, "cucumber": {always: true},
	"phpunit": {always: true}, "pest": {always: true}, "composer": {first: []string{"test"}}, "artisan": {first: []string{"test"}},
	"dotnet": {first: []string{"test"}}, "ctest": {always: true}, "ninja": {any: []string{"test", "check"}}, "meson": {first: []string{"test"}},
	"bazel": {first: []string{"test"}}, "bazelisk": {first: []string{"test"}}, "buck2": {first: []string{"test"}},
	"swift": {first: []string{"test"}}, "xcodebuild": {any: []string{"test"}}, "mix": {first: []string{"test"}},
	"flutter": {first: []string{"test"}}, "dart": {first: []string{"test"}}, "zig": {any: []string{"test"}},
	"cabal": {first: []string{"test"}}, "stack": {first: []string{"test"}}, "bats": {always: true}, "busted": {always: true},
	"prove": {always: true}, "runtests": {always: true}, "run-tests": {always: true}, "run_tests": {always: true},
}

// noTests are words that make a test program do something else than run tests.
var noTests = []string{
	"-h", "--help", "--version", "-list", "-list=*", "--list", "--list=*", "--collect-only", "--collectonly", "--co", "--no-run", "--listTests", "--list-tests", "--dry-run",
	"-DskipTests", "-DskipTests=true", "-Dmaven.test.skip", "-Dmaven.test.skip=true", "--just-print", "--recon", "--question", "--touch",
	"-run=^$", "-run=XXX", "-run=NONE", "--setup-only", "--setup-plan", "--fixtures", "--show-only", "--show-only=*", "--showConfig", "--show-config",
}

// alone are those of noTests that mean it only for one program.
var alone = map[string][]string{
	"go": {"-c", "-n", "-count=0", "--count=0"}, "ctest": {"-N", "-H"}, "pytest": {"-V"}, "jest": {"-v"}, "vitest": {"-v"}, "mocha": {"-V"}, "node": {"-v"}, "rspec": {"-v"}, "mvn": {"-v"},
	"bats":   {"-c", "--count"},
	"gradle": {"-m", "-v"}, "gradlew": {"-m", "-v"}, "just": {"-n"}, "rake": {"-n", "-P", "-T"}, "ninja": {"-n"}, "prove": {"-D", "--dry"},
}

// Seen is what a look at a shell command sees.
type Seen struct {
	Tests  bool // it runs tests
	Script bool // it runs something by its name alone: tests, when its output tells of them
	Masked bool // its exit does not tell how they went
	Unsure bool // it can exit with 0 without having come to them
	Lent   bool // a file that it sourced, or a text that it evaluated, may have taken the name of what runs them
	Plain  bool // nothing else in it prints: what is printed is theirs
	PR     bool // it makes a pull request, and its exit tells whether it did
}

// LookIn looks at a whole command of an agent that works in a folder: tests
// outside of the working tree say nothing about the work. One that was cut must
// not be looked at: what follows may take its exit away.
func LookIn(dir, command string) Seen {
	s := Seen{PR: look(command, makesPR, 0).made()}
	tests := look(command, runsSuite, 0)
	if s.Tests = tests.found; !s.Tests {
		tests = look(command, runsScript, 0)
	}
	if !tests.found {
		return s
	}
	s.Script = !s.Tests || !look(command, runsKnown, 0).found
	s.Masked, s.Unsure, s.Plain, s.Lent = tests.masked, tests.unsure, tests.plain, tests.lent
	here := len(tests.places) == 0
	for _, at := range tests.places {
		known, away := whereabouts(dir, at)
		here = here || !away
		s.Unsure = s.Unsure || !known
	}
	if !here {
		return Seen{PR: s.PR}
	}
	return s
}

// Ran tells whether a call ran tests, as far as it is known. What is no test by
// its name is one when its output tells of tests, and nobody else printed that.
func (s Seen) Ran(call belay.ToolCall) bool {
	return s.Tests || s.Script && s.Plain && !s.Masked && !call.Masked && call.Tally != nil
}

// Run is a call that runs tests, with what its command says about its exit. A
// command that may not have come to its tests, or for which their program may be
// another one, ran them when its output tells of them, and nothing else in it
// could have printed that.
func (s Seen) Run(call belay.ToolCall) belay.ToolCall {
	if s.Masked || call.Masked {
		call.Exit, call.Masked = nil, true
	}
	told := s.Plain && call.Tally != nil && !call.Tally.None
	call.Unsure = (s.Unsure || s.Lent || s.Script && !call.Masked) && !told
	return call
}

// PRMade is what is known of a pull request whose address was not seen.
const PRMade = "made"

// testRuns lists the commands that ran tests, the last ones if there are many.
// The exit of a command that does not tell how its tests went ("go test | tail")
// is left out.
func testRuns(dir string, tools []belay.ToolCall) []belay.ToolCall {
	var list []belay.ToolCall
	for _, tool := range tools {
		if tool.Command == "" || tool.Denied {
			continue
		}
		if s := LookIn(dir, tool.Command); s.Ran(tool) {
			list = append(list, s.Run(tool))
		}
	}
	return list[max(0, len(list)-maxTests):]
}

// pullRequest tells whether a command that makes a pull request ended well.
func pullRequest(tools []belay.ToolCall) string {
	for _, tool := range tools {
		if tool.Failed || tool.Denied || tool.Open || tool.Masked || tool.Exit != nil && *tool.Exit != 0 {
			continue
		}
		if look(tool.Command, makesPR, 0).made() {
			return PRMade
		}
	}
	return ""
}

// sight is what a look at a command saw.
type sight struct {
	found  bool
	masked bool // the exit of the whole is not that of what was found
	unsure bool // the whole can exit with 0 without having come to it
	plain  bool // nothing else prints
	lent   bool // something was sourced or evaluated before it
	seems  bool // masked, for one who cannot read the whole
	places []string
}

// made tells whether an exit with 0 says that what was found was done.
func (s sight) made() bool { return s.found && !s.masked && !s.unsure }

// look searches a shell command for a simple command.
func look(command string, is func(words []string) bool, depth int) sight {
	seen := lookThrough(command, is, depth)
	if depth > 0 || !seen.found {
		return seen
	}
	s, end := seek(command, is)
	seen.unsure = seen.unsure || !s.come
	seen.places = s.places
	seen.masked = seen.masked || !s.unread && (end == lost || end == absent) || s.unread && seen.seems
	return seen
}

// lookThrough does it, simple command by simple command, as they are written. It
// stands beside the course of the command because it also sees what no parser
// reads, and what is in no way: who else prints, and names that are taken. What a
// shell surely ran, and what became of a failure, the course alone tells.
func lookThrough(command string, is func(words []string) bool, depth int) sight {
	list := split(command)
	seen := sight{plain: true}
	mode := shellMode{shadows: shadows(command), text: command}
	gone := false // a command before it may have ended the shell
	lent := false
	end := tailOf(list)
	for i, c := range list {
		gone = gone || i > 0 && leaves(list, i-1, depth)
		mode.take(c.words)
		words, hidden := program(c.words)
		hit := sight{plain: true}
		switch script, ok := innerScript(c.words, words); {
		case ok && depth < maxShells:
			hit = lookThrough(script, is, depth+1)
			seen.plain = seen.plain && hit.plain
		case len(words) > 0:
			hit.found = is(words)
		}
		if !hit.found {
			seen.plain = seen.plain && (len(words) == 0 || !speaks(words, i > 0 && list[i-1].after == "|"))
			lent = lent || lends(words)
			continue
		}
		skipped := i > 0 && list[i-1].after == "||"
		seen.found = true
		seen.unsure = seen.unsure || hit.unsure || skipped || gone || oneOf("--if-present", words)
		seen.masked = seen.masked || hit.masked || mode.tricked || len(words) > 0 && lenient(words) || mode.shadowed(c.words)
		seen.lent = seen.lent || hit.lent || lent
		seen.seems = seen.seems || hit.seems || hidden || end.masks(i, mode.strict, mode.pipefail)
	}
	return seen
}

// innerScript is the script inside of a simple command: what a shell is given to
// run, or a variable is set to the output of.
func innerScript(words, program []string) (string, bool) {
	if len(program) > 0 {
		return shellScript(program)
	}
	for _, w := range words {
		if _, value, ok := strings.Cut(w, "=$("); ok && assignment(w) {
			return strings.TrimSuffix(value, ")"), true
		}
	}
	return "", false
}

// tail is where the last commands of a list stand behind which the exit of one
// before them may be lost, each for a reason of its own.
type tail struct {
	pipe  int // a pipe
	next  int // another command, which runs all the same
	other int // || or &
}

// tailOf finds them; -1 = there is none.
func tailOf(list []simple) tail {
	t := tail{-1, -1, -1}
	open := len(list) // from here on only ends of groups and branches are left
	for open > 0 && (list[open-1].words[0] == "}" || list[open-1].words[0] == "fi") && len(list[open-1].words) == 1 {
		open--
	}
	for i, c := range list {
		switch c.after {
		case "|":
			t.pipe = i
		case ";", ")":
			if i+1 < open {
				t.next = i
			}
		case "||", "&":
			t.other = i
		}
	}
	return t
}

// masks tells whether an exit of 0 of the whole list could hide that one of its
// commands failed.
func (t tail) masks(i int, strict, pipefail bool) bool {
	return t.pipe >= i && !pipefail || t.next >= i && !strict || t.other >= i
}

// runsSuite tells whether a simple command runs tests.
func runsSuite(words []string) bool {
	name := path.Base(words[0])
	for _, ext := range []string{".sh", ".exe", ".cmd"} {
		name = strings.TrimSuffix(name, ext)
	}
	rule, ok := testPrograms[name]
	rest := words[1:]
	if name == "npm" || name == "yarn" || name == "pnpm" || name == "bun" {
		if v := operands(name, rest); len(v) > 1 && (v[0] == "run" || v[0] == "run-script") {
			return matches(v[1], []string{"test", "tests", "test:*", "test-*", "*:test"})
		}
	}
	if !ok || slices.ContainsFunc(rest, func(w string) bool {
		return matches(w, noTests) || oneOf(w, alone[name]) || name == "make" && dryMake(w)
	}) {
		return false
	}
	if i := slices.Index(rest, "-count"); name == "go" && i >= 0 && i+1 < len(rest) && rest[i+1] == "0" {
		return false
	}
	if i := slices.Index(rest, "-run"); name == "go" && i >= 0 && i+1 < len(rest) && oneOf(rest[i+1], []string{"^$", "XXX", "NONE"}) {
		return false
	}
	v := operands(name, rest)
	switch {
	case name == "vitest" && len(v) > 0 && v[0] == "list":
		return false
	case rule.always:
		return true
	case len(rule.first) > 0:
		return len(v) > 0 && matches(v[0], rule.first)
	}
	for i, w := range rest {
		if w == "-x" && i+1 < len(rest) && matches(rest[i+1], rule.any) { // gradle: all but that
			return false
		}
		if strings.HasPrefix(w, "-") {
			v = append(v, w)
		}
	}
	return slices.ContainsFunc(v, func(w string) bool { return matches(w, rule.any) })
}

// dryMake tells whether short flags of make have it run nothing.
func dryMake(w string) bool {
	return len(w) > 1 && w[0] == '-' && strings.Trim(w[1:], makeFlags) == "" && strings.ContainsAny(w, "nqt")
}

func matches(word string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, word) // the patterns are sound: a test matches them all
		return ok
	})
}
