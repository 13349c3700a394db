package check

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// kind is one row of the table of test commands: what shows in a directory that
// there is one, and what it is.
type kind struct {
	name string
	find func(level) (found, bool)
}

// found is a test command that a directory shows.
type found struct {
	from   string     // the file that shows it
	tries  [][]string // the command; of several the first whose program is there
	counts bool       // its runner always says how many tests ran
	text   string     // shell text that defines it: its words may be programs
	files  []string   // what else defines it
	needs  []string   // programs that it needs beside its own
}

// parts cut out of files what defines a command or says which tests run; what is not here
// counts as a whole.
var parts = map[string]func([]byte) []byte{"package.json": scripts, "pyproject.toml": options, "setup.cfg": options}

// kinds is the table. Every row that fits at the nearest level is run.
var kinds = []kind{
	{"go", marked("go.mod", "go", "test", "./...")},
	{"cargo", marked("Cargo.toml", "cargo", "test")},
	{"npm", script},
	{"pytest", pytest},
	{"make", makefile},
	{"just", justfile},
	{"mix", marked("mix.exs", "mix", "test")},
	{"maven", maven},
	{"gradle", gradle},
	{"rspec", rspec},
	{"phpunit", phpunit},
	{"deno", deno},
	{"dotnet", dotnet},
	{"swift", marked("Package.swift", "swift", "test")},
	{"dart", dart},
}

// inShell are the rows whose file has the command itself as shell text: who changes the
// file can make the tests anything.
var inShell = []string{"npm", "make", "just"}

// leading are the files that the tool of a row reads before others or beside its own, in the
// directory of the command and above it: one that comes with the work leads the tests. Those
// that are for tests alone are known to worktree, wherever they are.
var leading = map[string][]string{
	"go":     {"go.work"},
	"cargo":  {".cargo/config.toml", ".cargo/config"},
	"npm":    {".npmrc"},
	"pytest": {"pyproject.toml", "setup.cfg"},
	"make":   {"GNUmakefile", "makefile", "Makefile"},
	"just":   {"justfile", "Justfile", ".justfile"},
	"maven":  {".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml"},
	"gradle": {"settings.gradle", "settings.gradle.kts", "gradle.properties", "build.gradle"},
	"deno":   {"deno.json"},
	"dotnet": {"Directory.Build.props", "Directory.Build.targets"},
}

// marked is a row whose file alone shows the command, and whose runner counts.
func marked(file string, command ...string) func(level) (found, bool) {
	return func(l level) (found, bool) {
		return found{from: file, tries: [][]string{command}, counts: true}, l.has(file)
	}
}

// script is the test script of a package.json. What counts in the file is its
// scripts: a new dependency is no other test command.
func script(l level) (found, bool) {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
		Manager string            `json:"packageManager"` //nolint:tagliatelle // as package.json has it
	}
	if json.Unmarshal(l.read("package.json"), &pkg) != nil {
		return found{}, false
	}
	text := strings.TrimSpace(pkg.Scripts["test"])
	if text == "" || strings.Contains(text, "no test specified") {
		return found{}, false
	}
	manager, _, _ := strings.Cut(pkg.Manager, "@")
	for _, lock := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if manager == "" && l.has(lock[0]) {
			manager = lock[1]
		}
	}
	command := []string{"npm", "test"}
	switch manager {
	case "pnpm", "yarn":
		command = []string{manager, "test"}
	case "bun":
		command = []string{"bun", "run", "test"}
	}
	return found{
		from: "package.json", tries: [][]string{command}, counts: counts(text), needs: []string{"node"},
		text:  strings.Join([]string{pkg.Scripts["pretest"], text, pkg.Scripts["posttest"]}, "\n"),
		files: []string{".npmrc"},
	}, true
}

// scripts is the part of a package.json that says what its commands do, and which tests its
// test runner runs.
func scripts(text []byte) []byte {
	var pkg map[string]json.RawMessage
	if json.Unmarshal(text, &pkg) != nil {
		return text
	}
	var b bytes.Buffer
	for _, key := range []string{"scripts", "jest", "mocha", "ava"} {
		if pkg[key] != nil {
			b.WriteString(key)
			_ = json.Compact(&b, pkg[key]) // what was read is sound
		}
	}
	return b.Bytes()
}

var section = pattern.Lazy(`^\[+\s*([\w.:-]+)\s*\]`)

// options are the parts of a pyproject.toml or setup.cfg that may have settings of pytest:
// all but the sections that are known to have others.
func options(text []byte) []byte {
	if bytes.Contains(text, []byte(`"""`)) || bytes.Contains(text, []byte("'''")) { // a line of a text may look like a section
		return text
	}
	var b bytes.Buffer
	other := false
	for line := range bytes.Lines(text) {
		if name := section().FindSubmatch(line); name != nil {
			other = !bytes.Contains(name[1], []byte("pytest")) && slices.ContainsFunc([]string{"tool.", "tool:", "project", "build-system", "dependency-groups", "metadata", "options"},
				func(first string) bool { return bytes.HasPrefix(name[1], []byte(first)) })
		}
		if line = bytes.TrimSpace(line); !other && len(line) > 0 && line[0] != '#' {
			b.Write(append(line, '\n'))
		}
	}
	return b.Bytes()
}

var (
	counters = pattern.Lazy(`(?:^|[\s;&|(/"'])(?:jest|vitest|mocha|ava|tape|pytest|rspec|phpunit|playwright test|bun test|deno test|go test|cargo test|node (?:--\S+ )*--test)(?:[\s;&|)"']|$)`)
	muters   = pattern.Lazy(`>|--?(?:reporter|json|silent|quiet|test-reporter|passWithNoTests|list)|\|`)
)

// counts tells whether a script is a runner that sums up on its output.
func counts(script string) bool {
	return counters().MatchString(script) && !muters().MatchString(script)
}

// pytest is what runs the tests of a Python project. A program in the project's
// own environment comes first: others lack what the project needs.
func pytest(l level) (found, bool) {
	from := ""
	for _, c := range [][2]string{
		{"pytest.ini", ""}, {"pyproject.toml", "[tool.pytest"}, {"setup.cfg", "[tool:pytest]"}, {"tox.ini", "[pytest]"}, {"conftest.py", ""},
	} {
		if from == "" && l.has(c[0]) && bytes.Contains(l.read(c[0]), []byte(c[1])) {
			from = c[0]
		}
	}
	for _, form := range []string{"tests/test_*.py", "tests/*_test.py", "tests/*/test_*.py", "test/test_*.py", "test_*.py"} {
		if from == "" {
			from = l.glob(form)
		}
	}
	return found{from: from, counts: true, tries: [][]string{
		{".venv/bin/pytest"}, {"venv/bin/pytest"}, {"pytest"}, {"python3", "-m", "pytest"}, {"python", "-m", "pytest"},
	}, files: []string{"pyproject.toml", "setup.cfg"}}, from != ""
}

var (
	makeTarget = pattern.Lazy(`(?m)^test[ \t]*:(?:[^=]|$)[^\n]*(?:\n(?:\t[^\n]*|[ \t]*))*`)
	makeMore   = pattern.Lazy(`(?m)^-?s?include[ \t]+([^\s$]+)[ \t]*$`)
)

// makefile is the target test of a makefile. Which of the three names is there
// belongs to what defines it: make takes the first.
func makefile(l level) (found, bool) {
	names := []string{"GNUmakefile", "makefile", "Makefile"}
	for _, name := range names {
		if !l.has(name) {
			continue
		}
		text := l.read(name)
		target := makeTarget().Find(text)
		if target == nil {
			return found{}, false
		}
		files := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
		for _, m := range makeMore().FindAllSubmatch(text, maxIncludes) {
			files = append(files, string(m[1]))
		}
		return found{from: name, tries: [][]string{{"make", "test"}}, text: string(target), files: files}, true
	}
	return found{}, false
}

// maxIncludes is how many files that a makefile includes are looked at.
const maxIncludes = 8

var justTarget = pattern.Lazy(`(?m)^@?test(?:[ \t][^\n:]*)?:(?:[^=]|$)[^\n]*(?:\n(?:[ \t]+[^\n]*|))*`)

func justfile(l level) (found, bool) {
	for _, name := range []string{"justfile", "Justfile", ".justfile"} {
		if target := justTarget().Find(l.read(name)); target != nil {
			return found{from: name, tries: [][]string{{"just", "test"}}, text: string(target)}, true
		}
	}
	return found{}, false
}

func maven(l level) (found, bool) {
	return found{from: "pom.xml", counts: true, tries: wrapped(l, "./mvnw", "mvn", "-B", "test")}, l.has("pom.xml")
}

// gradle does not say how many tests ran, unless a build asks for it.
func gradle(l level) (found, bool) {
	for _, name := range []string{"build.gradle", "build.gradle.kts"} {
		if l.has(name) {
			return found{from: name, tries: wrapped(l, "./gradlew", "gradle", "test")}, true
		}
	}
	return found{}, false
}

// wrapped is a command with the wrapper that the project brings, where it does.
func wrapped(l level, wrapper, program string, args ...string) [][]string {
	if l.has(wrapper) {
		program = wrapper
	}
	return [][]string{append([]string{program}, args...)}
}

func rspec(l level) (found, bool) {
	spec := l.glob("spec/*_spec.rb")
	if spec == "" {
		spec = l.glob("spec/*/*_spec.rb")
	}
	return found{from: "Gemfile", counts: true, tries: [][]string{{"bundle", "exec", "rspec"}}}, l.has("Gemfile") && spec != ""
}

func phpunit(l level) (found, bool) {
	for _, name := range []string{"phpunit.xml", "phpunit.xml.dist"} {
		if l.has(name) {
			return found{from: name, counts: true, tries: [][]string{{"vendor/bin/phpunit"}, {"phpunit"}}}, true
		}
	}
	return found{}, false
}

func deno(l level) (found, bool) {
	for _, name := range []string{"deno.json", "deno.jsonc"} {
		if l.has(name) {
			return found{from: name, counts: true, tries: [][]string{{"deno", "test"}}}, true
		}
	}
	return found{}, false
}

func dotnet(l level) (found, bool) {
	from := l.glob("*.sln")
	for _, form := range []string{"*.csproj", "*.fsproj"} {
		if from == "" {
			from = l.glob(form)
		}
	}
	return found{from: from, counts: true, tries: [][]string{{"dotnet", "test"}}}, from != ""
}

func dart(l level) (found, bool) {
	return found{from: "pubspec.yaml", counts: true, tries: [][]string{{"dart", "test"}}}, l.has("pubspec.yaml") && l.glob("test/*_test.dart") != ""
}

// wordForm is what can be the name of a program in shell text.
var wordForm = pattern.Lazy(`[A-Za-z0-9_][A-Za-z0-9_.+-]*`)

// words are the words of shell text that may name programs, each once.
func words(text string) []string {
	var list []string
	for _, at := range wordForm().FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		inPath := at[0] > 0 && text[at[0]-1] == '/' || at[1] < len(text) && text[at[1]] == '/'
		if !inPath && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// title is a command as people read it.
func title(args []string) string { return strings.Join(args, " ") }

// inTree tells whether the name of a program is a place in the project.
func inTree(name string) bool { return strings.ContainsRune(name, filepath.Separator) }
