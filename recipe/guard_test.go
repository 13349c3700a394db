package recipe

import (
	"slices"
	"strings"
	"testing"
)

func TestRunsFiles(t *testing.T) {
	for src, want := range map[string]string{
		"./check.sh":                           "check.sh",
		"scripts/check.sh --fast && echo ok":   "scripts/check.sh",
		"bash -x scripts/check.sh a":           "scripts/check.sh",
		"sh check.sh | tail":                   "check.sh",
		"source ./lib.sh; . other.sh":          "lib.sh other.sh",
		"env A=1 timeout 60s ./check.sh":       "check.sh",
		"python3 tools/check.py":               "tools/check.py",
		"python3.12 tools/check.py":            "tools/check.py",
		"node -r hook.js tools/check.js":       "tools/check.js",
		"perl -e 'print 1' file":               "",
		"cd sub && ./check.sh":                 "check.sh sub/check.sh",
		"if ! ./a.sh; then ./b.sh; fi":         "a.sh b.sh",
		`"./quoted file.sh"`:                   "quoted file.sh",
		"x=$(./inner.sh)":                      "inner.sh",
		"bash -c './in-a-text.sh'":             "",
		"python -m pytest tests/":              "",
		"$DIR/check.sh; \"$X\" ./a":            "",
		"/usr/bin/true; test -f ./x; ls ./dir": "",
		"go test ./...":                        "",
		"make test":                            "",
		"../outside.sh":                        "",
		"{{tool}}/check.sh":                    "",
		"if [":                                 "",
	} {
		if got := strings.Join((&Script{Source: src}).RunsFiles(), " "); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
	if got := (&Script{Source: "cd x; make test"}).BuildFiles(); !slices.Contains(got, "Makefile") || !slices.Contains(got, "x/Makefile") {
		t.Errorf("of make: %q", got)
	}
	if (*Script)(nil).RunsFiles() != nil {
		t.Error("no script runs a file")
	}
}
