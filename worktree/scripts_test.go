package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay"
)

// verdictOn is what a command that exited with 0 says about tests.
func verdictOn(dir, command string, tally *belay.Tally) string {
	zero := 0
	list := testRuns(dir, []belay.ToolCall{{Name: "Bash", Command: command, Exit: &zero, Tally: tally}})
	switch {
	case len(list) == 0:
		return "no test"
	case list[0].Unsure:
		return "unsure"
	case list[0].Exit == nil:
		return "masked"
	}
	return "tests"
}

// What runs tests by its name alone, or is only a script, ran some when its
// output tells of them and nobody else printed that.
// promise: H3
func TestScriptsCountByTheirOutput(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]struct{ quiet, telling string }{
		"make test":             {"unsure", "tests"},
		"make -s check":         {"unsure", "tests"},
		"npm test --silent":     {"unsure", "tests"},
		"yarn test && echo ok":  {"unsure", "tests"},
		"bun run test":          {"unsure", "tests"},
		"tox":                   {"unsure", "tests"},
		"python manage.py test": {"unsure", "tests"},
		"./run-tests.sh":        {"unsure", "tests"},
		"./bin/go test ./...":   {"unsure", "tests"},
		"./pytest":              {"unsure", "tests"},
		"bin/pytest -q":         {"unsure", "tests"},
		"/tmp/x/go test":        {"unsure", "tests"},
		"$PWD/go test":          {"unsure", "tests"},
		"./test.sh":             {"no test", "tests"},
		"./tests.sh":            {"no test", "tests"},
		"bash tests.sh":         {"no test", "tests"},
		"scripts/test":          {"no test", "tests"},
		". ./test.sh":           {"no test", "tests"},
		"make ci":               {"no test", "tests"},
		"make lint && make ci":  {"no test", "tests"},
		"npm run ci":            {"no test", "tests"},
		"python3 test_x.py":     {"no test", "tests"},
		"node spec.js":          {"no test", "tests"},
		"echo start; ./test.sh": {"no test", "tests"},
		"go build && ./test.sh": {"no test", "tests"},
		"git status; make test": {"unsure", "tests"},
		"set -o pipefail; make test 2>&1 | tail -20":                     {"unsure", "tests"},
		"set -o pipefail; make test | grep -v x":                         {"unsure", "tests"},
		"make test || exit 1":                                            {"unsure", "tests"},
		"time make test":                                                 {"unsure", "tests"},
		"./gradlew test":                                                 {"tests", "tests"},
		"./mvnw -q verify":                                               {"tests", "tests"},
		".venv/bin/pytest":                                               {"tests", "tests"},
		"/usr/local/go/bin/go test":                                      {"tests", "tests"},
		"/home/ann/.cargo/bin/cargo test":                                {"tests", "tests"},
		"go test ./a && make test":                                       {"tests", "tests"},
		"T=-c; go test $T":                                               {"unsure", "masked"},
		"./ci.sh | tail -3":                                              {"no test", "no test"},
		"./ci.sh || true":                                                {"no test", "no test"},
		"cat log; ./x.sh":                                                {"no test", "no test"},
		"echo '1 passed in 0.1s'; ./x.sh":                                {"no test", "no test"},
		"printf 'ok  \\tx\\t0.1s\\n'; make test":                         {"unsure", "unsure"},
		"echo -e 'ok  \\tx\\t0.1s'; make test":                           {"unsure", "unsure"},
		"echo \"$(cat log)\"; make test":                                 {"unsure", "unsure"},
		"set -o pipefail; make test | cat log":                           {"unsure", "unsure"},
		"set -o pipefail; make test | tail log":                          {"unsure", "unsure"},
		"set -o pipefail; make test | grep ok log":                       {"unsure", "unsure"},
		"if false; then ./test.sh; fi; cat log":                          {"no test", "no test"},
		"cd sub && go test ./... 2>&1 | tail -5; exit ${PIPESTATUS[0]}":  {"unsure", "tests"},
		"go vet && go test ./... | tail; test ${PIPESTATUS[0]} -eq 0":    {"unsure", "tests"},
		"(go test ./x || true) && go test | tail; exit ${PIPESTATUS[0]}": {"masked", "masked"},
		// what was sourced or evaluated may have taken the name
		". ./x.sh; pytest":                                                                             {"unsure", "tests"},
		". ./x.sh; go test ./...":                                                                      {"unsure", "tests"},
		"source venv/bin/activate && pytest -q":                                                        {"unsure", "tests"},
		"source venv/bin/activate && pip install -e . && pytest":                                       {"unsure", "tests"},
		"source ~/.nvm/nvm.sh && nvm use 20 && npx jest":                                               {"unsure", "tests"},
		"set -a; . ./.env; set +a; go test ./...":                                                      {"unsure", "tests"},
		". /etc/profile; go test ./... 2>&1":                                                           {"unsure", "tests"},
		"bash -c '. ./x.sh; go test ./...'":                                                            {"unsure", "tests"},
		"eval 'go() { true; }'; go test ./...":                                                         {"unsure", "unsure"},
		"eval \"$(pyenv init -)\" && pytest":                                                           {"unsure", "tests"},
		"eval \"$(pyenv init -)\"; pytest -q":                                                          {"unsure", "tests"},
		"eval \"$(conda shell.bash hook)\" && conda activate dev && pytest -q":                         {"unsure", "tests"},
		"eval \"$(./pyenv init -)\"; pytest -q":                                                        {"unsure", "unsure"},
		"eval \"$(pyenv init -; cat log)\"; pytest -q":                                                 {"unsure", "unsure"},
		"eval \"$(pyenv exec x)\"; pytest -q":                                                          {"unsure", "unsure"},
		"eval \"$(cat x)\"; pytest -q":                                                                 {"unsure", "unsure"},
		"python3 -m venv venv && . venv/bin/activate && pip install -q pytest && pytest -q":            {"unsure", "tests"},
		"python3 -m venv venv && . venv/bin/activate && pip -q install pytest && cat log && pytest -q": {"unsure", "unsure"},
		"sudo apt-get install -y x && . ./x.sh && uv pip install pytest && npm ci && make deps && go mod download && pytest": {"unsure", "tests"},
		"conda run -n dev cat log; . ./x.sh; pytest":      {"unsure", "unsure"},
		"pushd web >/dev/null && npm test":                {"unsure", "tests"},
		"pushd web && npm test && popd >/dev/null":        {"unsure", "tests"},
		"pushd '2 passed in 0.02s' && npm test":           {"unsure", "unsure"},
		"pushd \"$x\" && npm test":                        {"unsure", "unsure"},
		"trap 'rm -f /tmp/x.$$' EXIT; cd web && npm test": {"unsure", "tests"},
		"trap 'cat log' EXIT; cd web && npm test":         {"unsure", "unsure"},
		"eval 'go() { echo ok x 0.1s; }'; go test ./...":  {"unsure", "unsure"},
		". ./x.sh; echo '3 passed in 0.1s'; pytest":       {"unsure", "unsure"},
		"eval 'go test ./...'":                            {"tests", "tests"},
		"go test ./... && . ./x.sh":                       {"tests", "tests"},
		"cat log":                                         {"no test", "no test"},
		"echo '3 passed in 0.1s'":                         {"no test", "no test"},
		"bash -n tests.sh":                                {"no test", "no test"},
		"bash -c 'echo 3 passed in 0.1s'":                 {"no test", "no test"},
		"node -e 'console.log(1)'":                        {"no test", "no test"},
	} {
		if got := verdictOn("", command, nil); got != want.quiet {
			t.Errorf("%q, which prints nothing: %s, want %s", command, got, want.quiet)
		}
		if got := verdictOn("", command, &belay.Tally{Passed: 1}); got != want.telling {
			t.Errorf("%q, which prints a sum: %s, want %s", command, got, want.telling)
		}
	}
}

// The exit of a whole command tells how its tests went, or does not.
// promise: H3
func TestTheExitOfAWhole(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go test ./... || exit 1":                                                "tests",
		"go test ./... || exit":                                                  "tests",
		"go test ./... || exit $?":                                               "tests",
		"go test ./... || false":                                                 "tests",
		"go test ./... || { echo FAILED; exit 1; }":                              "tests",
		"go test ./... || (echo FAILED; exit 1)":                                 "tests",
		"go test ./... || exit 1; echo done":                                     "tests",
		"go test ./...; rc=$?; exit $rc":                                         "tests",
		"go test ./...; rc=$?; echo done; exit \"$rc\"":                          "tests",
		"go test ./...; exit $?":                                                 "tests",
		"go test ./...; exit":                                                    "tests",
		"go test ./... && exit 0; exit 1":                                        "tests",
		"run() { go test ./...; }; run":                                          "tests",
		"run() { go test ./... || return 1; echo ok; }; run":                     "tests",
		"run() { go test ./...; }; run || exit 1":                                "tests",
		"if go test ./...; then echo good; else exit 1; fi":                      "tests",
		"if ! go test ./...; then echo bad; exit 1; fi":                          "tests",
		"for i in 1 2; do go test ./... || exit 1; done":                         "tests",
		"out=$(go test ./...) && echo \"$out\"":                                  "tests",
		"out=$(go test ./...)":                                                   "tests",
		"set -e; out=$(go test ./...); echo done":                                "tests",
		"bash -c 'go test ./... || exit 1'":                                      "tests",
		"{ go test ./... && echo ok; } || exit 1":                                "tests",
		"eval 'go test ./... || exit 1'; echo done":                              "tests",
		"go test ./... 2>&1 | tail -5; exit ${PIPESTATUS[0]}":                    "tests",
		"go test ./... | tee log | tail -5; exit ${PIPESTATUS[0]}":               "tests",
		"go test ./... | tail -5; exit \"${PIPESTATUS[0]}\"":                     "tests",
		"go test ./... | tail; test ${PIPESTATUS[0]} -eq 0":                      "tests",
		"go test ./... | tail; [ ${PIPESTATUS[0]} -eq 0 ]":                       "tests",
		"go test ./... | tail; [ ${PIPESTATUS[0]} -eq 0 ] || exit 1; echo x":     "tests",
		"go test ./... | tail; if [ ${PIPESTATUS[0]} -ne 0 ]; then exit 1; fi":   "tests",
		"go test ./... | tail; rc=${PIPESTATUS[0]}; echo done; exit $rc":         "tests",
		"yes | go test ./... | tail; exit ${PIPESTATUS[1]}":                      "tests",
		"bash -c 'go test ./... | tail; exit ${PIPESTATUS[0]}'":                  "tests",
		"go test ./...; exit ${PIPESTATUS[0]}":                                   "tests",
		"go test ./...; test $? -eq 0":                                           "tests",
		"set -o pipefail; go test ./... | tail; exit $?":                         "tests",
		"set -o pipefail; go test ./... | tail; exit ${PIPESTATUS[0]}":           "tests",
		"set -o pipefail; go test ./... | tail; exit ${PIPESTATUS[1]}":           "masked",
		"go test ./... | tail; exit ${PIPESTATUS[1]}":                            "masked",
		"go test ./... | tail; exit":                                             "masked",
		"go test ./... | tail; (exit)":                                           "masked",
		"exit() { :; }; go test ./...; exit $?":                                  "unsure",
		"false() { :; }; go test ./... || false":                                 "masked",
		"go test ./... | tail; exit $?":                                          "masked",
		"go test ./... | tail; echo; exit ${PIPESTATUS[0]}":                      "masked",
		"go test ./... | tail; test ${PIPESTATUS[0]} -eq 1":                      "masked",
		"go test ./... | tail; test ${PIPESTATUS[0]} -ne 0":                      "masked",
		"go test ./... | tail; test ${PIPESTATUS[0]} -eq 0 || true":              "masked",
		"go test ./... | tail; test ${PIPESTATUS[0]} -eq 0; echo done":           "masked",
		"go test ./... | tail; [ ${PIPESTATUS[0]} -eq 0 ] && echo good; true":    "masked",
		"go test ./... | tail; if [ ${PIPESTATUS[0]} -ne 0 ]; then echo bad; fi": "masked",
		"go test ./... | tail; rc=${PIPESTATUS[1]}; exit $rc":                    "masked",
		"(go test ./... | tail); exit ${PIPESTATUS[0]}":                          "masked",
		"{ go test ./... | tail; }; exit ${PIPESTATUS[0]}":                       "masked",
		"go test ./... | tail || exit ${PIPESTATUS[0]}":                          "masked",
		"go test ./... | go test ./x | tail; exit ${PIPESTATUS[0]}":              "masked",
		"(go test ./... || true) | tail; exit ${PIPESTATUS[0]}":                  "masked",
		"! go test ./... | tail; exit ${PIPESTATUS[0]}":                          "masked",
		"go test ./... || exit 0":                                                "masked",
		"go test ./... || exit 256":                                              "masked",
		"go test ./... || exit $x":                                               "masked",
		"go test ./... || false; echo done":                                      "masked",
		"go test ./... || { exit 1 & }":                                          "masked",
		"go test ./... || { echo FAILED; exit; }":                                "masked",
		"go test ./... || { echo FAILED; exit $?; }":                             "masked",
		"go test ./... || echo FAILED":                                           "masked",
		"go test ./... || (exit 1); echo done":                                   "masked",
		"go test ./... || return 1; true":                                        "masked",
		"go test ./... || bash -c 'exit 1'":                                      "masked",
		"go test ./...; rc=$?; exit 0":                                           "masked",
		"go test ./...; rc=$?; rc=0; exit $rc":                                   "masked",
		"go test ./...; rc=$?; read rc; exit $rc":                                "masked",
		"go test ./...; rc=$?; [ -f x ] && exit 0; exit $rc":                     "masked",
		"go test ./...; echo; rc=$?; exit $rc":                                   "masked",
		"go test ./...; rc=$?; exit $rd":                                         "masked",
		"go test ./...; rc=$?; true":                                             "masked",
		"run() { go test ./...; }; run; true":                                    "masked",
		"run() { go test ./...; true; }; run":                                    "masked",
		"run() { go test ./... || return 1; }; run; true":                        "masked",
		"run() { go test ./... || return; }; run || true":                        "masked",
		"if go test ./...; then echo good; else echo bad; fi":                    "masked",
		"if ! go test ./...; then echo bad; fi":                                  "masked",
		"for i in 1 2; do go test ./...; done":                                   "masked",
		"out=$(go test ./...); echo done":                                        "masked",
		"out=$(go test ./...; true)":                                             "masked",
		"out=$(go test ./...) || true":                                           "masked",
		"set -e; go test ./... && echo ok; echo done":                            "masked",
		"set -e; f() { go test; echo x; }; f && echo y":                          "masked",
		"go test ./... && echo ok || echo bad":                                   "masked",
		"echo $(go test ./...)":                                                  "no test",
		"export X=$(go test ./...)":                                              "no test",
		"command -v go test":                                                     "no test",
		"command -V go test":                                                     "no test",
		"command go test":                                                        "tests",
		"type go test":                                                           "no test",
		"type -a go test":                                                        "no test",
		"which go test":                                                          "no test",
		"hash go test":                                                           "no test",
		"alias t='go test'":                                                      "no test",
		"man go test":                                                            "no test",
		"help go test":                                                           "no test",
		"whereis go test":                                                        "no test",
		"true go test ./...":                                                     "no test",
		"timeout --help 5 go test":                                               "no test",
		"env --version go test":                                                  "no test",
		"sudo -l go test":                                                        "no test",
		"python3 -V -m pytest":                                                   "no test",
	} {
		if got := verdictOn("", command, nil); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}

// Tests of another project say nothing about the work in this one.
// promise: H3
func TestTestsOfAnotherPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sub, other := filepath.Join(r.dir, "sub"), t.TempDir()
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(r.dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, command, quiet, telling string }{
		{r.dir, "cd " + r.dir + " && go test", "tests", "tests"},
		{r.dir, "cd " + sub + " && go test", "tests", "tests"},
		{r.dir, "cd " + link + " && go test", "tests", "tests"},
		{link, "cd " + r.dir + "/sub && go test", "tests", "tests"},
		{sub, "cd .. && go test", "tests", "tests"},
		{sub, "cd " + r.dir + " && go test", "tests", "tests"},
		{sub, "cd \"$(git rev-parse --show-toplevel)\" && go test", "tests", "tests"},
		{r.dir, "cd \"$PWD/sub\" && go test", "tests", "tests"},
		{r.dir, "go -C " + sub + " test", "tests", "tests"},
		{r.dir, "(cd " + other + " && ls); go test", "tests", "tests"},
		{r.dir, "bash -c 'cd " + other + "'; go test", "tests", "tests"},
		{r.dir, "cd " + other + " && go test", "no test", "no test"},
		{r.dir, "cd " + other + "; make test", "no test", "no test"},
		{r.dir, "cd " + other + " && ./test.sh", "no test", "no test"},
		{r.dir, "cd .. && go test", "no test", "no test"},
		{r.dir, "pushd " + other + " && go test", "no test", "no test"},
		{r.dir, "cd " + other + " || exit 1\ngo test", "no test", "no test"},
		{r.dir, "(cd " + other + " && go test)", "no test", "no test"},
		{r.dir, "bash -c 'cd " + other + " && go test'", "no test", "no test"},
		{r.dir, "f() { cd " + other + "; }; f; go test", "no test", "no test"},
		{r.dir, "go -C " + other + " test ./...", "no test", "no test"},
		{r.dir, "make -C " + other + " test", "no test", "no test"},
		{r.dir, "npm --prefix=" + other + " test", "no test", "no test"},
		{r.dir, "cargo test --manifest-path " + other + "/Cargo.toml", "no test", "no test"},
		{r.dir, "env -C " + other + " go test ./...", "no test", "no test"},
		{r.dir, "env -C" + other + " go test ./...", "no test", "no test"},
		{r.dir, "env -iC" + other + " go test ./...", "no test", "no test"},
		{r.dir, "env --chdir=" + other + " go test ./...", "no test", "no test"},
		{r.dir, "env --chdir " + other + " go test ./...", "no test", "no test"},
		{r.dir, "env --chd=" + other + " go test ./...", "no test", "no test"},
		{r.dir, "nice env -u X -C " + other + " go test", "no test", "no test"},
		{r.dir, "env -C " + other + " A=b timeout 5 bash -c 'go test'", "no test", "no test"},
		{r.dir, "sudo -D " + other + " go test", "no test", "no test"},
		{r.dir, "uv run --directory=" + other + " pytest", "no test", "no test"},
		{r.dir, "conda run --cwd " + other + " pytest", "no test", "no test"},
		{r.dir, "env -S'-C " + other + "' go test", "unsure", "tests"},
		{r.dir, "env -C " + other + " ls; go test", "tests", "tests"},
		{r.dir, "env -C sub go test", "tests", "tests"},
		{r.dir, "env -C " + sub + " go test", "tests", "tests"},
		{r.dir, "CDPATH=" + other + "; cd sub && go test", "unsure", "tests"},
		{r.dir, "export CDPATH=" + other + "; cd sub && go test", "unsure", "tests"},
		{r.dir, "CDPATH=" + other + " cd sub && go test", "unsure", "tests"},
		{r.dir, "env CDPATH=" + other + " bash -c 'cd sub && go test'", "unsure", "tests"},
		{r.dir, "for CDPATH in " + other + "; do :; done; cd sub && go test", "unsure", "unsure"},
		{r.dir, "read CDPATH; cd sub && go test", "unsure", "unsure"},
		{r.dir, "CDPATH=" + other + "; cd ./sub && go test", "tests", "tests"},
		{r.dir, "CDPATH=; cd sub && go test", "tests", "tests"},
		{r.dir, "OLDPWD=" + other + "; cd - && go test", "unsure", "tests"},
		{r.dir, "cd ~+/.. && go test", "unsure", "tests"},
		{r.dir, "pushd -n " + other + "; go test", "tests", "tests"},
		{r.dir, "pushd -n " + other + "; popd; go test", "no test", "no test"},
		{r.dir, "pushd sub; pushd +1; go test", "unsure", "tests"},
		{r.dir, "cd $X && go test", "unsure", "tests"},
		{r.dir, "cd ~/x && go test", "unsure", "tests"},
		{r.dir, "[ -d x ] && cd " + other + " || true; go test", "unsure", "tests"},
		{"", "cd " + other + " && go test", "unsure", "tests"},
		{r.dir, "go test && cd " + other + " && go test", "tests", "tests"},
	} {
		if got := verdictOn(c.dir, c.command, nil); got != c.quiet {
			t.Errorf("in %s: %q: %s, want %s", c.dir, c.command, got, c.quiet)
		}
		if got := verdictOn(c.dir, c.command, &belay.Tally{Passed: 1}); got != c.telling {
			t.Errorf("in %s: %q, which prints a sum: %s, want %s", c.dir, c.command, got, c.telling)
		}
	}
}

// What makes a pull request, and what only looks like it.
// promise: H3
func TestWhatMakesAPullRequest(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"gh pr create --fill":                                            true,
		"gh pr new --fill":                                               true,
		"gh pr -R o/r create --fill":                                     true,
		"gh --repo o/r pr create --fill":                                 true,
		"gh pr create -R o/r --fill && gh pr view":                       true,
		"gh pr create --title x --body 'no --dry-run here'":              true,
		"gh pr create --dry-run=false --fill":                            true,
		"gh pr create -t wow -b w":                                       true,
		"gh pr create --fill || exit 1":                                  true,
		"url=$(gh pr create --fill) && echo \"$url\"":                    true,
		"PR_URL=$(gh pr create --fill)":                                  true,
		"set -e\nPR_URL=$(gh pr create --fill)\necho $PR_URL":            true,
		"glab mr create --fill --yes":                                    true,
		"glab mr new --fill":                                             true,
		"gh api repos/o/r/pulls -f title=x -f head=a -f base=main":       true,
		"gh api -X POST /repos/{owner}/{repo}/pulls -f head=a -f base=b": true,
		"gh api repos/o/r/pulls --input body.json":                       true,
		"source .env && gh pr create --fill":                             true,
		"eval 'gh() { :; }'; gh pr create --fill":                        false,
		"eval \"alias gh=true\"; gh pr create --fill":                    false,
		"bash -c \"eval 'gh() { :; }'; gh pr create --fill\"":            false,
		"gh pr create --fill --dry-run":                                  false,
		"gh pr create --fill --dry-run=true":                             false,
		"gh pr create -h":                                                false,
		"gh pr create --help":                                            false,
		"gh pr create --web":                                             false,
		"gh pr create -w":                                                false,
		"gh pr create -fw":                                               false,
		"gh pr new --web=true":                                           false,
		"glab mr create --web":                                           false,
		"command -v gh pr create":                                        false,
		"type gh pr create":                                              false,
		"echo gh pr create":                                              false,
		"gh help pr create":                                              false,
		"gh pr edit create":                                              false,
		"gh api repos/o/r/pulls":                                         false,
		"gh api repos/o/r/pulls -f state=open -X GET":                    false,
		"gh api repos/o/r/pulls -X GET -f head=a":                        false,
		"gh api --method=GET repos/o/r/pulls -f head=a":                  false,
		"gh api repos/o/r/pulls/1/comments -f head=a":                    false,
		"PR_URL=$(gh pr create --fill)\necho $PR_URL":                    false, // the exit is that of echo
		"echo \"$(gh pr create --fill)\"":                                false,
		"url=$(gh pr create --fill || true)":                             false,
		"url=$(false && gh pr create --fill; true)":                      false,
		"gh pr create --fill || gh pr view":                              false,
		"f() { gh pr create --fill; }":                                   false,
	} {
		if got := lookAt(command).PR; got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
}
