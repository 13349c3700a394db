package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/effect"
)

// lay makes files in a new directory; a name that ends with * is a program.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o600)
		if strings.HasSuffix(name, "*") {
			name, mode = strings.TrimSuffix(name, "*"), 0o700
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func titles(p effect.TestPlan) string {
	var list []string
	for _, c := range p.Commands {
		list = append(list, Title(c))
	}
	return strings.Join(list, ", ")
}

// promise: H3
func TestCommandsOfProjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", map[string]string{"readme": ""}, ""},
		{"go", map[string]string{"go.mod": ""}, "go test ./..."},
		{"cargo", map[string]string{"Cargo.toml": ""}, "cargo test"},
		{"npm", map[string]string{"package.json": `{"scripts": {"test": "jest"}}`}, "npm test"},
		{"pnpm", map[string]string{"package.json": `{"scripts": {"test": "jest"}}`, "pnpm-lock.yaml": ""}, "pnpm test"},
		{"yarn", map[string]string{"package.json": `{"scripts": {"test": "jest"}}`, "yarn.lock": ""}, "yarn test"},
		{"bun", map[string]string{"package.json": `{"scripts": {"test": "bun test"}}`, "bun.lock": ""}, "bun run test"},
		{"named manager", map[string]string{"package.json": `{"packageManager": "pnpm@9", "scripts": {"test": "jest"}}`, "yarn.lock": ""}, "pnpm test"},
		{"no script", map[string]string{"package.json": `{"scripts": {"build": "tsc"}}`}, ""},
		{"npm's own script", map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, ""},
		{"broken package.json", map[string]string{"package.json": `{`}, ""},
		{"pytest.ini", map[string]string{"pytest.ini": ""}, "pytest"},
		{"pyproject with pytest", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest"},
		{"pyproject without", map[string]string{"pyproject.toml": "[project]\n"}, ""},
		{"setup.cfg", map[string]string{"setup.cfg": "[tool:pytest]\n"}, "pytest"},
		{"tox.ini", map[string]string{"tox.ini": "[pytest]\n"}, "pytest"},
		{"test files", map[string]string{"pyproject.toml": "", "tests/unit/test_a.py": ""}, "pytest"},
		{"the project's own pytest", map[string]string{"pytest.ini": "", ".venv/bin/pytest*": ""}, ".venv/bin/pytest"},
		{"make", map[string]string{"Makefile": "all:\n\ttrue\ntest: all\n\tgo test\n"}, "make test"},
		{"make without", map[string]string{"Makefile": "all:\n\ttrue\n"}, ""},
		{"a variable named test", map[string]string{"Makefile": "test := 1\n"}, ""},
		{"GNUmakefile is over Makefile", map[string]string{"GNUmakefile": "all:\n", "Makefile": "test:\n"}, ""},
		{"just", map[string]string{"justfile": "test arg='1':\n  true\n"}, "just test"},
		{"mix", map[string]string{"mix.exs": ""}, "mix test"},
		{"maven", map[string]string{"pom.xml": ""}, "mvn -B test"},
		{"maven wrapper", map[string]string{"pom.xml": "", "mvnw*": ""}, "./mvnw -B test"},
		{"gradle", map[string]string{"build.gradle.kts": "", "gradlew*": ""}, "./gradlew test"},
		{"rspec", map[string]string{"Gemfile": "", "spec/a_spec.rb": ""}, "bundle exec rspec"},
		{"Gemfile alone", map[string]string{"Gemfile": ""}, ""},
		{"phpunit", map[string]string{"phpunit.xml.dist": "", "vendor/bin/phpunit*": ""}, "vendor/bin/phpunit"},
		{"deno", map[string]string{"deno.json": ""}, "deno test"},
		{"dotnet", map[string]string{"a.csproj": ""}, "dotnet test"},
		{"swift", map[string]string{"Package.swift": ""}, "swift test"},
		{"dart", map[string]string{"pubspec.yaml": "", "test/a_test.dart": ""}, "dart test"},
		{"several", map[string]string{"go.mod": "", "Makefile": "test:\n\ttrue\n", "package.json": `{"scripts": {"test": "jest"}}`}, "go test ./..., npm test, make test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := lay(t, c.files)
			if got := titles(Find(dir, dir, "")); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheNearestLevelCounts(t *testing.T) {
	t.Parallel()
	top := lay(t, map[string]string{".git/HEAD": "", "go.mod": "", "a/b/readme": "", "c/Cargo.toml": ""})
	above := lay(t, map[string]string{"go.mod": "", "in/readme": ""})
	for _, c := range []struct{ dir, run, want string }{
		{top + "/a/b", top, "go test ./..."},
		{top + "/a/b", top + "/a", "go test ./..."}, // up to the top of the work tree
		{top + "/c", top, "cargo test"},
		{above + "/in", above + "/in", ""}, // no repository: not beyond the run's directory
		{above + "/in", above, "go test ./..."},
	} {
		if got := titles(Find(c.dir, Top(c.dir, c.run), "")); got != c.want {
			t.Errorf("%s: got %q, want %q", c.dir, got, c.want)
		}
	}
}

func TestProgramsOfACommand(t *testing.T) {
	t.Parallel()
	bin := lay(t, map[string]string{"make*": "m", "runner*": "r", "npm*": "#!/usr/bin/env -S node\n", "node*": "n", "echo*": ""})
	dir := lay(t, map[string]string{"Makefile": "test:\n\t@FOO=1 runner --x; ./runner.sh; pytest | tee log\n", "package.json": `{"scripts": {"test": "tsc"}}`})
	plan := Find(dir, dir, "relative:"+bin)
	names := func(c effect.TestCommand) string {
		list := []string{filepath.Base(c.Program.Path)}
		for _, p := range c.Needs {
			list = append(list, p.Name+" "+filepath.Base(p.Path))
		}
		return strings.Join(list, ", ")
	}
	if got, want := names(plan.Commands[0]), "npm, node node"; got != want {
		t.Errorf("npm: got %q, want %q", got, want)
	}
	// A runner that is not there is remembered: it could come with the work.
	if got, want := names(plan.Commands[1]), "make, runner runner, pytest ."; got != want {
		t.Errorf("make: got %q, want %q", got, want)
	}
}

func TestScriptsThatCount(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		"jest": true, "npx vitest run": true, "node --test": true, "node --enable-source-maps --test src": true, "tsc && mocha": true,
		"./run.sh": false, "jest --json": false, "mocha --reporter dot": false, "jest > out": false, "jest | cat": false, "echo jester": false,
	} {
		if got := counts(script); got != want {
			t.Errorf("%s: %v", script, got)
		}
	}
}

// What a command is compared with, when the work is done.
// promise: H3
func TestWhatChanged(t *testing.T) {
	t.Parallel()
	bin := lay(t, map[string]string{"npm*": "n", "node*": "o", "make*": "m"})
	dir := lay(t, map[string]string{"package.json": `{"scripts": {"test": "tsc"}}`, "Makefile": "include more.mk\ntest:\n\ttrue\n", "more.mk": ""})
	plan := Find(dir, dir, bin)
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	seen := func(i int) effect.TestRun { return look(plan.Commands[i], dir, bin) }
	for i := range plan.Commands {
		if r := seen(i); len(r.Changed) > 0 || r.Swapped != "" || r.Late || r.Missing != "" {
			t.Errorf("nothing changed: %+v", r)
		}
	}
	put(filepath.Join(dir, "package.json"), `{"dependencies": {"a": "1"}, "scripts": {"test": "tsc"}}`)
	if r := seen(0); len(r.Changed) > 0 {
		t.Errorf("a dependency is no other command: %+v", r)
	}
	put(filepath.Join(dir, "package.json"), `{"scripts": {"test": "true"}}`)
	if r := seen(0); !slices.Equal(r.Changed, []string{"package.json"}) {
		t.Errorf("another script: %+v", r)
	}
	put(filepath.Join(dir, "more.mk"), "x = 1\n")
	if r := seen(1); !slices.Equal(r.Changed, []string{"more.mk"}) {
		t.Errorf("an included file: %+v", r)
	}
	put(filepath.Join(bin, "node"), "other")
	if r := seen(0); r.Swapped != filepath.Join(bin, "node") {
		t.Errorf("another interpreter: %+v", r)
	}
}

// A script that the command names is a part of what defines it, whatever stands
// around its name.
func TestScriptsThatACommandNames(t *testing.T) {
	t.Parallel()
	bin := lay(t, map[string]string{"npm*": "n", "make*": "m"})
	for name, file := range map[string][2]string{
		"npm":                {"package.json", `{"scripts": {"test": "CI=1 ./t.sh --all"}}`},
		"make":               {"Makefile", "test:\n\t@./t.sh\n"},
		"make, by its place": {"Makefile", "test: build\n\tsh $(CURDIR)/t.sh && true\n"},
	} {
		dir := lay(t, map[string]string{file[0]: file[1], "t.sh*": "exit 1", "other.sh": ""})
		plan := Find(dir, dir, bin)
		for path, want := range map[string]bool{"other.sh": false, "t.sh": true} {
			if err := os.WriteFile(filepath.Join(dir, path), []byte("exit 0"), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := look(plan.Commands[0], dir, bin); slices.Contains(r.Changed, path) != want {
				t.Errorf("%s, %s: %+v", name, path, r)
			}
		}
	}
}

// In the worktree of a step the same commands are run, with the programs that the
// project brings from there.
func TestPlansMove(t *testing.T) {
	t.Parallel()
	p := effect.TestPlan{Dir: "/w/a/b", Top: "/w", Commands: []effect.TestCommand{
		{Dir: "a", Program: effect.Program{Path: "/w/a/.venv/bin/pytest"}}, {Program: effect.Program{Path: "/usr/bin/make"}},
	}}
	q := moved(p, "/trees/x/a/b")
	if q.Top != "/trees/x" || q.Commands[0].Program.Path != "/trees/x/a/.venv/bin/pytest" || q.Commands[1].Program.Path != "/usr/bin/make" {
		t.Errorf("got %+v", q)
	}
	if p.Commands[0].Program.Path != "/w/a/.venv/bin/pytest" {
		t.Error("the plan itself was changed")
	}
	if q := moved(p, "/w/a/b"); q.Top != "/w" {
		t.Errorf("in its own place: %+v", q)
	}
}
