package worktree

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

func TestTestCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		// the exit is the tests' own
		"go test ./...":                               "own",
		"go -C sub test ./...":                        "own",
		"cd x && go test ./...":                       "own",
		"cd x; CGO_ENABLED=0 GOFLAGS=-v go test .":    "own",
		"timeout 60 go test ./... 2>&1":               "own",
		"timeout -k 5 -s KILL 60 pytest -q":           "own",
		"env -u X A=b nice -n 5 python3 -m pytest -x": "own",
		"python -m unittest discover":                 "own",
		"./venv/bin/pytest tests/":                    "own",
		"npm test":                                    "script",
		"npm run test:unit -- --ci":                   "script",
		"npm --prefix web test":                       "script",
		"npx jest --ci":                               "own",
		"npx vitest run":                              "own",
		"yarn test && echo ok":                        "script",
		"node --test":                                 "own",
		"cargo +nightly test --all":                   "own",
		"make -j4 check":                              "script",
		"make -C lib unit-test":                       "script",
		"mvn -q -B verify":                            "own",
		"./gradlew :app:test":                         "own",
		"bundle exec rspec":                           "own",
		"vendor/bin/phpunit":                          "own",
		"dotnet test":                                 "own",
		"ctest --output-on-failure":                   "own",
		"bash -lc 'cd x && go test ./...'":            "own",
		"(cd x && go test ./...)":                     "own",
		"set -o pipefail; go test ./... | tee log":    "own",
		"bash -o pipefail -c \"go test | tail\"":      "own",
		"set -e\ngo test ./...\necho done":            "own",
		"go test ./... # all":                         "own",
		"./run-tests.sh":                              "script",
		// it ran, but the exit is not the tests' own
		"go test ./... | tail -20":         "masked",
		"go test ./... || true":            "masked",
		"go test ./...; echo done":         "masked",
		"go test ./... & wait":             "masked",
		"! go test ./...":                  "masked",
		"if go test; then echo ok; fi":     "masked",
		"test -d x || go test":             "unsure",
		"sh -c 'go test; true'":            "masked",
		"(go test) | cat":                  "masked",
		"{ go test; } | cat":               "masked",
		"for p in a b; do go test; done":   "masked",
		"go test ./... 2>&1 |& tee x":      "masked",
		"go test ./a; go test ./b":         "masked",
		"bash -c 'go test ./...' ; exit 0": "masked",
		// no tests
		"":                                       "",
		"go build ./...":                         "",
		"go vet ./...":                           "",
		"echo go test":                           "",
		"echo 'x && go test ./...'":              "",
		"git commit -m 'go test passes'":         "",
		"cat > t.sh <<'EOF'\ngo test ./...\nEOF": "",
		"cat <<-X\n\tgo test\n\tX\nls":           "",
		"go test -c ./x":                         "",
		"go test -run '^$' ./...":                "",
		"pytest --collect-only":                  "",
		"cargo test --no-run":                    "",
		"mvn -DskipTests package":                "",
		"gradle build -x test":                   "",
		"make -C test build":                     "",
		"make -n test":                           "",
		"test -f go.mod":                         "",
		"npm install jest":                       "",
		"pip install pytest":                     "",
		"ls tests":                               "",
		"grep -r 'go test' .":                    "",
		"# go test":                              "",
		"python -c 'import pytest'":              "",
		"'go test":                               "",
		// promise: H3
		"make test -i":                                    "masked",
		"make -k test":                                    "masked",
		"make -ij4 test":                                  "masked",
		"make -sk test":                                   "masked",
		"make --ignore-errors check":                      "masked",
		"make -C lib -j8 test":                            "script",
		"MAKEFLAGS=-i make test":                          "masked",
		"MAKEFLAGS=-j8 make test":                         "script",
		"mvn -fn test":                                    "masked",
		"mvn test -Dmaven.test.failure.ignore=true":       "masked",
		"trap 'exit 0' EXIT; pytest":                      "masked",
		"{ trap 'exit 0' 0; pytest; }":                    "masked",
		"hash -p /bin/true go; go test":                   "masked",
		"builtin hash -p /bin/true pytest && pytest":      "masked",
		"hash -r; go test":                                "own",
		"pytest() { true; }; pytest":                      "unsure",
		"pytest ( ) { true; }\npytest":                    "unsure",
		"function pytest { true; }; pytest":               "unsure",
		"alias pytest=true; pytest":                       "masked",
		"alias a=b pytest=true\npytest":                   "masked",
		"timeout() { :; }; timeout 5 go test":             "masked",
		"helper() { cd sub; }; helper && go test ./...":   "own",
		"PATH=/tmp/fake:$PATH pytest":                     "masked",
		"PATH=$PWD/fake:$PATH pytest":                     "masked",
		"export PATH=./bin:$PATH && pytest":               "masked",
		"env PATH=fake:$PATH pytest":                      "masked",
		"PATH=/usr/../tmp/x:$PATH pytest":                 "masked",
		"PATH=/tmp/fake:$PATH bash -c 'pytest'":           "masked",
		"export PATH=$PATH:/usr/local/go/bin && go test":  "own",
		"export PATH=/usr/local/go/bin:$PATH && go test":  "own",
		"PATH=$HOME/.cargo/bin:$PATH cargo test":          "own",
		"pytest || :":                                     "masked",
		"set -e; set +e; pytest; echo done":               "masked",
		"set -e\npytest\necho done":                       "own",
		"set -o pipefail; set +o pipefail; pytest | tail": "masked",
		"set -euo pipefail; pytest | tail":                "own",
		// what never comes to the tests
		"exit 0; go test ./...":                                      "unsure",
		"exit\ngo test ./...":                                        "unsure",
		"exit && go test ./...":                                      "unsure",
		"{ exit; }; go test ./...":                                   "unsure",
		"if true; then exit; fi; go test ./...":                      "unsure",
		"true || if true; then exit; fi\ngo test":                    "unsure",
		"exit $x; go test":                                           "unsure",
		"exit 256; go test":                                          "unsure",
		"e=exit; $e; go test":                                        "unsure",
		"eval 'exit 0'; go test":                                     "unsure",
		"\\exit 0; go test":                                          "unsure",
		"builtin exit 0; go test":                                    "unsure",
		"return; go test ./...":                                      "unsure",
		"exec true; go test ./...":                                   "unsure",
		"kill $$; go test":                                           "unsure",
		"set -n\ngo test ./...":                                      "masked",
		"set -o noexec; go test":                                     "masked",
		"set -en; go test":                                           "masked",
		"bash -nc 'go test'":                                         "masked",
		"bash -n -c 'go test'":                                       "masked",
		"bash -c 'exit 0; go test'":                                  "unsure",
		"exit 0; bash -c 'go test'":                                  "unsure",
		"cd x || { echo no; exit; }; go test":                        "unsure",
		"set -- -e; go test; true":                                   "masked",
		"exec go test ./...":                                         "own",
		"exec 2>&1; go test ./...":                                   "own",
		"cd x || exit; go test ./...":                                "own",
		"cd x || { exit; }; go test ./...":                           "own",
		"cd x || exit 1\ngo test ./...":                              "own",
		"[ -d x ] || { echo no; exit 2; }; go test":                  "own",
		"kill $server; go test ./...":                                "own",
		"go test ./... && exit 0":                                    "own",
		"bash -c 'exit 0'; go test ./...":                            "own",
		"$HOME/bin/setup && go test ./...":                           "own",
		"true || (cd x && go test ./...)":                            "unsure",
		"true || { cd x && go test ./...; }":                         "unsure",
		"if false; then go test; fi":                                 "unsure",
		"if [ -f go.mod ]; then go test ./...; fi":                   "unsure",
		"if x; then go test; elif y; then pytest; fi":                "unsure",
		"if x; then true; else go test; fi":                          "unsure",
		"case $x in a) go test ;; esac":                              "unsure",
		"while false; do go test; done":                              "unsure",
		"for d in $dirs; do go test; done":                           "unsure",
		"for d in; do go test; done":                                 "unsure",
		"[ -f nothere ] && make test; true":                          "unsure",
		"false && go test; true":                                     "unsure",
		"t() { go test ./...; }":                                     "unsure",
		"function t { go test ./...; }; u":                           "",
		"t() { t; go test; }":                                        "unsure",
		"t() { u; }; u() { t; go test; }; true":                      "unsure",
		"t() { false && go test; true; }; t":                         "unsure",
		"bash -c 'true || (cd x && go test)'":                        "unsure",
		"bash -c \"bash -c 'if false; then go test; fi'\"":           "unsure",
		"eval 'if false; then go test; fi'":                          "unsure",
		"true || bash -c 'go test'":                                  "unsure",
		"(false && go test) || true":                                 "unsure",
		"{ false && go test; } ; echo ok":                            "unsure",
		"true | if false; then go test; fi":                          "unsure",
		"coproc { if false; then go test; fi; }":                     "unsure",
		"go test ( (":                                                "unsure",
		"((((":                                                       "",
		"if true; then go test; else go test; fi":                    "own",
		"set -e; if x; then go test ./a; else go test ./b; fi":       "own",
		"set -e; for d in a b; do go test ./$d; done":                "own",
		"{ cd x && go test ./...; }":                                 "own",
		"(cd x; go test ./...)":                                      "own",
		"cd x || mkdir x && go test ./...":                           "own",
		"[ -d x ] && cd x && go test ./...":                          "own",
		"go build ./... && go vet ./... && go test ./... && echo ok": "own",
		"bash -c '[ -d x ] && go test ./...'":                        "own",
		"export A=b && time go test ./...":                           "own",
		"go test ./... &":                                            "masked",
		"t() { go test ./...; }; t":                                  "own",
		"go test -list . ./...":                                      "",
		"go test -list=. ./...":                                      "",
		"pytest --collectonly":                                       "",
		"pytest --setup-plan":                                        "",
		"make -sn test":                                              "",
		"make -q test":                                               "",
		"make --question test":                                       "",
		"gradle -m test":                                             "",
		"./gradlew test --dry-run":                                   "",
		"mvn -Dmaven.test.skip verify":                               "",
		"ctest --show-only=json-v1":                                  "",
		"cargo test -h":                                              "",
		"npx jest -v":                                                "",
		"jest -v --ci":                                               "",
		"ctest -V":                                                   "own",
		"go test -v ./...":                                           "own",
		"pytest -v":                                                  "own",
		"vitest run list":                                            "own",
		"vitest list":                                                "",
		"bats -c t":                                                  "",
		"npx jest --showConfig":                                      "",
		"deno test --no-run":                                         "",
		"dotnet test --list-tests":                                   "",
		"npm test --if-present":                                      "unsure",
		"npm run --if-present test":                                  "unsure",
		"go test -exec true ./...":                                   "masked",
		"go test -exec=true ./...":                                   "masked",
		"go test -toolexec=x ./...":                                  "masked",
		"GOFLAGS=-exec=true go test ./...":                           "masked",
		"GOFLAGS='-v -exec=true' go test ./...":                      "masked",
		"GOFLAGS=-v go test ./...":                                   "own",
		"docker exec x go test ./...":                                "",
		"go test -count=0 ./...":                                     "",
		"go test -count 0 ./...":                                     "",
		"go test -count=1 ./...":                                     "own",
	} {
		zero := 0
		got := ""
		if list := testRuns("/t/w", []belay.ToolCall{{Name: "Bash", Command: command, Exit: &zero}}); len(list) > 0 {
			switch c, s := list[0], LookAt(command); {
			case c.Exit == nil && !s.Unsure:
				got = "masked"
			case c.Unsure && !s.Unsure:
				got = "script" // its output must show that there were tests
			case c.Unsure:
				got = "unsure"
			default:
				got = "own"
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q; words %q", command, got, want, split(command))
		}
	}
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
		if got := LookAt(c.command).Run(belay.ToolCall{Command: c.command, Tally: c.tally}); got.Unsure != c.unsure {
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
		"shells":    strings.Repeat("bash -c \"go test; ", 3000),
	} {
		began := time.Now()
		if s := LookAt(command); s.PR {
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
