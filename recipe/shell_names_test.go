package recipe

import (
	"strings"
	"testing"
)

// What the work changed, and what a check would have to be run with as it was.
func TestNames(t *testing.T) {
	t.Parallel()
	files := []string{"verify.sh", "tools/v.sh", "app.py", "Makefile", "tools/Makefile", "package.json", "bin/check", "verify", "README.md", "main.go", ".hidden.sh", "scripts/verify.t", "v.awk", "rules.mk"}
	for src, want := range map[string]string{
		"./verify.sh":                                  "verify.sh",
		"bash verify.sh && echo well":                  "verify.sh",
		"env X=1 sh verify.sh":                         "verify.sh",
		"bash < verify.sh":                             "verify.sh",
		`[ "$(sh verify.sh)" = ok ]`:                   "verify.sh",
		"[ `sh verify.sh` = ok ]":                      "verify.sh",
		"out=$(./verify.sh) && test -n \"$out\"":       "verify.sh",
		"eval ./verify.sh":                             "verify.sh",
		"xargs -a /dev/null sh verify.sh":              "verify.sh",
		`sh "$PWD/verify.sh"`:                          "verify.sh",
		"V=verify.sh; sh $V":                           "verify.sh",
		"sh -c './verify.sh; exit'":                    "verify.sh",
		"cat verify.sh | sh":                           "verify.sh",
		"cat verify.sh | grep -v x | sh":               "verify.sh",
		`eval "$(cat verify.sh)"`:                      "verify.sh",
		"source <(cat verify.sh)":                      "verify.sh",
		"cp verify.sh /tmp/x; sh /tmp/x":               "verify.sh",
		"cd tools && cp v.sh .. && cd .. && sh v.sh":   "tools/v.sh",
		"sh ../repo/tools/v.sh":                        "tools/v.sh",
		"sh other/v.sh":                                "",
		"sh averify.sh":                                "",
		`python3 -c 'exec(open("app.py").read())'`:     "app.py",
		"python3 app.py --help | grep -q all":          "app.py",
		"go run main.go":                               "main.go",
		"go test ./...":                                "",
		"make check":                                   "Makefile tools/Makefile rules.mk",
		"make -C tools":                                "Makefile tools/Makefile rules.mk",
		"env CI=1 npm run -s check":                    "package.json",
		"npm test | grep -q ok":                        "package.json",
		"cd bin && ./check":                            "bin/check",
		"check it":                                     "",
		"test -f bin/check":                            "",
		"sh .hidden.sh":                                ".hidden.sh",
		"bin/check --all":                              "bin/check",
		"bash verify":                                  "verify",
		"cat verify.sh > .o; sh .o":                    "verify.sh",
		"grep -q a verify.sh > /dev/null 2>&1":         "",
		"bash -n verify.sh":                            "",
		"bash -e -n verify.sh; sh -n tools/v.sh":       "",
		"node --check app.js; python3 app.py --check":  "app.py",
		"grep -q sub verify.sh":                        "",
		"! grep -q sub < verify.sh && test -x app.py":  "",
		"[[ -f verify.sh ]] && [ -s app.py ]":          "",
		`test "$(grep -c a app.py)" -gt 1`:             "",
		"cat verify.sh app.py | grep -q x":             "",
		"n=$(grep -c a app.py); [ $n -gt 1 ]":          "",
		"shellcheck verify.sh":                         "",
		"grep -q greet README.md; ./greet < README.md": "",
		"sh verify.sh > README.md":                     "verify.sh",
		"if [":                                         "",
	} {
		if got := strings.Join((&Script{Source: src}).Names(files), " "); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
	if (*Script)(nil).Names(files) != nil {
		t.Error("no script names a file")
	}
	if got := Rivals("sub/Makefile"); len(got) != 2 {
		t.Errorf("%q", got)
	}
}
