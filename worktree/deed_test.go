package worktree

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// What a shell command may change, and what it names as written.
//
// promise: H3
func TestDeedsOfCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{ // "" looks; w writes here; a has an effect elsewhere; then the names
		// lookers and no-ops
		"true":           "",
		":":              "",
		"ls -la":         "",
		"cat a.go":       "",
		"pwd && ls":      "",
		"cd sub; ls":     "",
		"go version":     "",
		"go env GOPATH":  "",
		"go list ./...":  "",
		"node --version": "",
		"grep -rn TODO . | sort | uniq -c | head":  "",
		"rg --files | wc -l":                       "",
		"sed -n '1,20p' a.go":                      "",
		"awk '{print $1}' a.txt":                   "",
		"awk '$1 > 3' a.txt":                       "",
		"find . -name '*.go'":                      "",
		"find . -type f -exec grep -l x {} +":      "",
		"find . -type f | xargs grep x":            "",
		"echo hello":                               "",
		"echo hello >&2":                           "",
		"printf x > /dev/null 2>&1":                "",
		"[ -f a.go ] && echo yes || echo no":       "",
		"if test -f x; then cat x; fi":             "",
		"for f in *.go; do wc -l \"$f\"; done":     "",
		"git status --short":                       "",
		"git -C sub --no-pager diff HEAD~1":        "",
		"git log --oneline -5 && git show HEAD":    "",
		"git branch -a":                            "",
		"git stash list":                           "",
		"bash -lc 'ls && git diff'":                "",
		"cat <<'EOF'\nrm -rf x > y\nEOF":           "",
		"x=$(git rev-parse HEAD); echo $x":         "",
		"timeout 5 tail -n 3 log.txt":              "",
		"sort a.txt":                               "",
		"diff a b":                                 "",
		"jq .x a.json":                             "",
		"mkdir -p out":                             "",
		"gofmt -l .":                               "w", // it works here, and could write; nothing is named
		"awk '$1 > 3 { print ($2 > 1) }' a.txt":    "",
		"awk '{ print \"a > b\" }' a.txt":          "",
		"awk -v n=3 '$1 > n {print}' a.txt":        "",
		"awk -F: '$1 == 1 || $2 == 2' a.txt":       "",
		"uniq -f 1 a.txt":                          "",
		"sed -e 's/we/x/' -e 's|w|e|g' a.txt":      "",
		"patch --dry-run -p1 < x.diff":             "",
		"trap - EXIT; trap '' INT; trap 'ls' EXIT": "",
		"git fetch origin main":                    "",
		"git fetch git@x.test:a/b.git":             "",
		"git bundle verify x.bundle":               "",
		"rg --pretty x":                            "",
		"hash -r":                                  "",
		// elsewhere, and no file
		"curl -fsSL https://x.test/o":                          "a",
		"curl -sHAccept:application/json https://x.test/o":     "a",
		"curl -sSo /dev/null -w '%{http_code}' https://x.test": "a",
		"gh issue comment 3 --body done":                       "a",
		"git push origin main":                                 "a",
		"curl -X POST https://x.test":                          "a",
		// checks: here, and nothing is named
		"go test ./...":                      "w",
		"go build ./...":                     "w",
		"cargo check":                        "w",
		"pytest -q":                          "w",
		"golangci-lint run":                  "w",
		"gofmt -w .":                         "w",
		"git checkout main":                  "w",
		"git commit -qm x":                   "w",
		"grep -rl a . | xargs sed -i s/a/b/": "w",
		"find . -name '*.o' -delete":         "w",
		"find . -name '*.go' -exec sed -i s/a/b/ {} ;": "w",
		// files that are named
		"echo x > a.txt":                                         "w a.txt",
		"echo x >> sub/a.txt":                                    "w sub/a.txt",
		"cd sub && echo x > a.txt":                               "w sub/a.txt",
		"(cd sub && ls); echo x > a.txt":                         "w a.txt",
		"cd /tmp/o && echo x > a.txt":                            "w /tmp/o/a.txt",
		"ls | tee -a out.txt":                                    "w out.txt",
		"make 2>&1 | tee log.txt":                                "wa log.txt",
		"cat > a.go <<'EOF'\npackage a\nEOF\ngo test ./...":      "w a.go",
		"bash -lc 'cat > b.go <<EOF\npackage b\nEOF'":            "w b.go",
		"bash -c \"sed -i 's/a/b/' c.go\"":                       "w c.go",
		"bash <<'EOF'\ntouch d.go\nEOF":                          "w d.go+",
		"sed -i 's/a - b/a + b/' calc.go":                        "w calc.go",
		"sed -i.bak -e 's/a/b/' -e 's/c/d/' x.go y.go":           "w x.go y.go",
		"sed -ie s/a/b/ x.go":                                    "w x.go",
		"perl -pi -e 's/a/b/' x.go":                              "w s/a/b/ x.go",
		"for f in a.go b.go; do sed -i s/x/y/ $f; done":          "w a.go b.go",
		"f=calc.go; sed -i s/a/b/ \"$f\"":                        "w calc.go",
		"sed -i s/a/b/ *.go":                                     "w *.go",
		"gofmt -w calc.go":                                       "w calc.go",
		"npx prettier --write src/a.ts":                          "w src/a.ts",
		"black pkg/a.py":                                         "w pkg/a.py",
		"black --check pkg/a.py":                                 "wa",
		"rm -rf build old.go":                                    "w build- old.go-",
		"mv a.go b.go":                                           "w a.go- b.go b.go/a.go",
		"cp a.go sub/":                                           "w sub/ sub/a.go",
		"git mv run.sh go.sh":                                    "w go.sh go.sh/run.sh run.sh-",
		"git rm -q x.go":                                         "w x.go-",
		"git checkout -- a.go":                                   "w a.go",
		"touch new.go":                                           "w new.go+",
		"ln -s a b":                                              "w b b/a",
		"install -m 755 a bin/a":                                 "w bin/a bin/a/755 bin/a/a",
		"chmod +x run.sh":                                        "w run.sh",
		"dd if=/dev/zero of=z.bin count=1":                       "w z.bin",
		"sort -o a.txt a.txt":                                    "w a.txt",
		"go mod tidy":                                            "wa go.mod go.sum go.work go.work.sum",
		"go build -o bin/x ./cmd/x":                              "w bin/x",
		"curl -o x.tgz https://x.test":                           "wa x.tgz",
		"python3 - <<'EOF'\nopen('calc.go','w').write('x')\nEOF": "wa :calc.go",
		"python -c \"open('a.txt','w')\"":                        "wa :a.txt",
		"node -e 'fs.writeFileSync(\"p/q.js\", 1)'":              "wa :p/q.js",
		"patch -p1 <<'EOF'\n--- a/x.go\n+++ b/x.go\nEOF":         "w a/x.go b/x.go x.go",
		"git apply <<'EOF'\n+++ b/y.go\nEOF":                     "w b/y.go y.go",
		"apply_patch <<'EOF'\n*** Update File: src/z.go\nEOF":    "w src/z.go",
		"curl -fsSLo x.tgz https://x.test":                       "wa x.tgz",
		"curl -Lo x.tgz https://x.test":                          "wa x.tgz",
		"curl -Lox.tgz https://x.test":                           "wa x.tgz",
		"curl -sSLO https://x.test/p/x.tgz":                      "wa x.tgz",
		"curl -s -D h.txt https://x.test":                        "wa h.txt",
		"awk '{print > $1}' a.txt":                               "w",
		"awk '{print>f}' f=out.txt a.txt":                        "w :out.txt",
		"awk -v f=out.txt '{printf \"%s\", $1 >> f}' a.txt":      "w :out.txt",
		"awk '{print > \"x.txt\"}' a.txt":                        "w :x.txt",
		"awk -f x.awk a.txt":                                     "wa",
		"uniq a.txt b.txt":                                       "w b.txt",
		"uniq -f 1 a.txt b.txt":                                  "w b.txt",
		"sed '1e ./gen.sh' a.txt":                                "w",
		"sed 's/a/b/e' a.txt":                                    "w",
		"sed 's#a#b#gw out.txt' a.txt":                           "w",
		"sed -f x.sed a.txt":                                     "w",
		"rg --pre ./gen.sh x":                                    "w",
		"trap ./gen.sh EXIT":                                     "wa",
		"trap 'echo x > a.txt' EXIT":                             "w a.txt",
		"git bundle create x.bundle HEAD":                        "w x.bundle",
		"git fetch origin main:main":                             "w",
		"git -C sub mv a.go b.go":                                "w sub/a.go- sub/b.go sub/b.go/a.go",
		"hash -p ./gen.sh ls; ls":                                "w",
		"cd \"$(git rev-parse --show-toplevel)\" && echo x > a":  "w a",
		// what only reads names nothing, and may do anything
		"python3 -c 'print(open(\"a.txt\").read())'":          "wa !a.txt",
		"python3 - <<'EOF'\nprint(open('a.txt').read())\nEOF": "wa !a.txt",
		"node -e 'console.log(fs.readFileSync(\"a.txt\"))'":   "wa !a.txt",
		"perl -ne 'print if /x/' a.txt":                       "wa !a.txt",
		"ruby -e 'puts File.read(\"a.txt\")'":                 "wa !a.txt",
		// what may not have been run names nothing
		"false && echo x > a.txt; true":                        "w",
		"[ -e x ] && echo x > a.txt; ls":                       "w",
		"true || echo x > a.txt":                               "w",
		"[ -f a.txt ] || echo x > a.txt":                       "w",
		"if false; then echo > a.txt; fi":                      "w",
		"if ls; then :; elif ls; then echo > a.txt; fi":        "w",
		"if ls; then echo > a.txt; else echo > a.txt; fi":      "w",
		"case x in y) echo > a.txt;; esac":                     "w",
		"for f in ; do echo > a.txt; done":                     "w",
		"for f in $X; do echo > a.txt; done":                   "w",
		"for ((i=0; i<0; i++)); do echo > a.txt; done":         "w",
		"for f in a b; do continue; echo > a.txt; done; ls":    "w",
		"while false; do echo > a.txt; done":                   "w",
		"f() { echo x > a.txt; }; true":                        "w",
		"f() { return; echo x > a.txt; }; f":                   "w",
		"f() { :; }; f; f() { echo > a.txt; }":                 "w",
		"f() { :; }; if ls; then f() { echo > a.txt; }; fi; f": "wa",
		"exit 0; echo x > a.txt":                               "w",
		"exit; echo x > a.txt":                                 "w",
		"[ -e x ] || exit 0; echo x > a.txt":                   "w",
		"(exit 1; echo x > a.txt); true":                       "w",
		"eval 'exit 0'; echo x > a.txt":                        "w",
		"exec true; echo x > a.txt":                            "w",
		"builtin exit 0; echo x > a.txt":                       "w",
		"set -n; echo x > a.txt":                               "w",
		"bash -nc 'echo x > a.txt'":                            "w",
		"bash -c 'false && echo x > a.txt'; true":              "w",
		"(set -e; false; echo x > a.txt); true":                "w",
		"trap 'echo x > a.txt' USR1":                           "w",
		"echo ${HOME:-$(echo x > a.txt)}":                      "w",
		"if ls; then f=a.txt; fi; echo x > $f":                 "w $f",
		"! { false && echo x > a.txt; }":                       "w",
		"f=b; (f=a.txt); echo x > $f":                          "w b",
		// what was surely run does
		"cd sub && sed -i s/a/b/ x.go":                            "w sub/x.go",
		"cd sub && sed -i s/a/b/ x.go; go test ./...":             "w sub/x.go",
		"ls x && sed -i s/a/b/ x.go":                              "w x.go",
		"mkdir -p a && cat > a/b <<EOF\nx\nEOF":                   "w a/b",
		"mkdir -p a && cat > a/b <<EOF\nx\nEOF\ngo test ./...":    "w a/b",
		"set -e; ls; sed -i s/a/b/ x.go; go test":                 "w x.go",
		"ls || exit 1; echo x > a.txt":                            "w a.txt",
		"(exit 0); echo x > a.txt":                                "w a.txt",
		"ls; echo x > a.txt; ls":                                  "w a.txt",
		"echo $(echo x > a.txt)":                                  "w a.txt",
		"{ echo x; echo y; } > a.txt":                             "w a.txt",
		"time sed -i s/a/b/ x.go":                                 "w x.go",
		"for i in $(seq 3); do echo x > f$i.txt; done":            "w f1.txt f2.txt f3.txt",
		"for f in a b; do [ -e $f ] && break; done; echo > a.txt": "w a.txt",
		"f() { sed -i s/a/b/ \"$1\"; }; f main.go":                "w main.go",
		"f() { local p=$1; echo x > $p; }; f a; f b":              "w a b",
		"f() { for i in \"$@\"; do touch $i; done; }; f a b":      "w a+ b+",
		"bash -c 'ls && echo x > a.txt'":                          "w a.txt",
		"find . -name x | while read f; do ls; done > a.txt":      "w a.txt",
		// what a shell hears, and hands on
		"cd sub || exit; echo x > a.txt":                               "w sub/a.txt",
		"cd sub && sed -i s/a/b/ x.go || exit 1; ls":                   "w sub/x.go",
		"ls && sed -i s/a/b/ x.go || exit 1; ls":                       "w x.go",
		"(cd sub || exit 1; echo x > a.txt)":                           "w sub/a.txt",
		"set -o pipefail; (ls && echo x > a.txt) | cat":                "w a.txt",
		"x=$(ls && echo x > a.txt)":                                    "w a.txt",
		"f() { ls || return 1; echo x > a.txt; }; f":                   "w a.txt",
		"set -e; { ls; echo x > a.txt; }; ls":                          "w a.txt",
		"set -e; (ls && echo x > a.txt); ls":                           "w a.txt",
		"cd sub & echo x > a.txt":                                      "w a.txt",
		"exit 256; echo x > a.txt":                                     "w",
		"kill $$; echo x > a.txt":                                      "wa",
		"(kill $$); echo x > a.txt":                                    "wa",
		"if ls; then f() { exit 0; }; fi; f; echo x > a.txt":           "wa",
		"if ls; then f() { ls; }; fi; f; echo x > a.txt":               "wa a.txt",
		"(f() { echo x > a.txt; }); f; true":                           "wa",
		"f() { echo x > a.txt; }; bash -c 'f; true'":                   "wa",
		"sudo() { :; }; sudo sed -i s/a/b/ a.txt":                      "",
		"bash -ec 'false; echo x > a.txt'; true":                       "w",
		"echo $(set -e && false; echo x > a.txt)":                      "w",
		"x=$(false && echo x > a.txt) y=$(ls)":                         "w",
		"for i in 1 2; do cd sub; done; echo x > a.txt":                "w ?/a.txt",
		"cat > e.sh <<E\necho > x.go\nE\n{ ./gen; } > e.sh; bash e.sh": "wa e.sh",
		// elsewhere
		"env -C sub sed -i s/a/b/ x.go":                           "w sub/x.go",
		"env --chdir=/o sed -i s/a/b/ x.go; touch y":              "w /o/x.go y+",
		"env -C /o bash -c 'touch x.go' > y":                      "w /o/x.go+ y",
		"find . -name a.txt -exec env -C /o sed -i s/a/b/ {} +":   "w",
		"CDPATH=/o; cd sub && touch x.go":                         "w ?/x.go+",
		"CDPATH=/o; cd ../sub && touch x.go":                      "w ../sub/x.go+",
		"cd ~+/.. && touch x.go":                                  "w ?/x.go+",
		"pushd -n sub; echo x > a.txt":                            "w a.txt",
		"git --work-tree=/o checkout -- b.txt":                    "w ?/b.txt",
		"git --work-tree /o checkout -- b.txt":                    "w ?/b.txt",
		"git --work-tree=. checkout -- b.txt":                     "w b.txt",
		"cd $(git rev-parse --show-toplevel)/sub && echo x > a":   "w sub/a",
		"cd sub; cd $(git rev-parse --show-toplevel)/lib; ls > a": "w lib/a",
		"pushd sub; popd; echo x > a.txt":                         "w a.txt",
		"pushd sub; echo x > a.txt":                               "w sub/a.txt",
		"popd; echo x > a.txt":                                    "w ?/a.txt",
		"echo x > $PWD/a.txt":                                     "w ./a.txt",
		"cd sub && echo x > $(pwd)/a.txt":                         "w sub/./a.txt",
		"echo x > $(git rev-parse --show-toplevel)/a.txt":         "w a.txt",
		"cd $X && python3 -c \"open('a.txt','w')\"":               "wa !a.txt",
		"cd /x && python3 -c \"open('a.txt','w')\"":               "wa :/x/a.txt",
		// flags with which nothing is written, or only what is new
		"patch --dry-run a.txt </dev/null":               "",
		"patch a.txt </dev/null":                         "w",
		"rsync -n a.txt b.txt":                           "",
		"rsync -an a.txt b.txt":                          "",
		"cp --help a.txt":                                "",
		"install --help a.txt":                           "",
		"vim --version a.txt; true":                      "",
		"cp -n b.txt a.txt":                              "w a.txt+ a.txt/b.txt+",
		"cp --update b.txt a.txt":                        "w a.txt+ a.txt/b.txt+",
		"git apply --check a.patch":                      "w",
		"git rm --cached x.go":                           "w",
		"chown me a.txt":                                 "w",
		"sort a.txt -o /x/b.txt":                         "w /x/b.txt",
		"sort -ob.txt a.txt":                             "w b.txt",
		"perl -ne print a.txt":                           "wa !a.txt",
		"perl -pe 1 a.txt":                               "wa !a.txt",
		"python3 -c 'import sys; print(sys.argv)' a.txt": "wa !a.txt",
		"node -p 'require(\"fs\").readFileSync(\"a.txt\",\"utf8\")'": "wa !a.txt",
		"node -e 0 a.txt":           "wa !a.txt",
		"python3 - <<E\n# a.txt\nE": "wa !a.txt",
		// patches, and scripts that were written before
		"cat <<'E' | git apply\n--- a/x.go\n+++ b/x.go\nE":                    "w a/x.go b/x.go x.go",
		"cat <<'E' | patch -p1\n--- a/x.go\n+++ b/x.go\nE":                    "w a/x.go b/x.go x.go",
		"cat <<'E' | git apply 2>&1\n+++ b/x.go\nE":                           "w b/x.go x.go",
		"cat <<'E' | git apply /o/p.diff < y\n+++ b/x.go\nE":                  "w",
		"cat() { :; }; cat <<'E' | git apply\n+++ b/x.go\nE":                  "w",
		"cat <<'E' | sort | git apply\n+++ b/x.go\nE":                         "w",
		"cat <<'E' | bash\ntouch x.go\nE":                                     "w x.go+",
		"git apply - <<E\n--- a/x.go\n+++ b/x.go\nE":                          "w a/x.go b/x.go x.go",
		"cat > f.patch <<E\n+++ b/x.go\nE\npatch -p1 < f.patch":               "w b/x.go f.patch x.go",
		"cat > f.patch <<E\n+++ b/x.go\nE\npatch -p1 -i f.patch":              "w b/x.go f.patch x.go",
		"cat > f.patch <<E\n+++ b/x.go\nE\ngit apply f.patch":                 "w b/x.go f.patch x.go",
		"cat > /o/e.py <<E\nopen('x.go','w')\nE\npython3 /o/e.py":             "wa /o/e.py :x.go",
		"cat > /o/e.py <<E\nopen('x.go')\nE\npython3 /o/e.py":                 "wa /o/e.py !x.go",
		"cat > e.sh <<E\necho x > x.go\nE\nbash e.sh":                         "w e.sh x.go",
		"cat > e.sh <<E\nfalse && echo x > x.go\ntrue\nE\nbash e.sh":          "w e.sh",
		"printf 'echo x > x.go\\n' > e.sh; chmod +x e.sh; ./e.sh":             "w e.sh x.go",
		"cat > e.js <<E\nfs.writeFileSync('x.go')\nE\ncd sub && node ../e.js": "wa e.js :sub/x.go",
		"cat > e.sh <<E\necho > x.go\nE\n./gen > e.sh; bash e.sh":             "wa e.sh",
		// names from elsewhere
		"find . -name main.go -exec sed -i s/a/b/ {} +":           "w main.go",
		"find . -type f -name main.go -exec sed -i s/a/b/ {} \\;": "w main.go",
		"find . -name a.txt -delete":                              "w a.txt-",
		"find . -name a.txt -exec cat {} +":                       "",
		"find /x -name a.txt -exec sed -i s/a/b/ {} +":            "w",
		"find . -name a.txt -false -exec sed -i s/a/b/ {} +":      "w",
		"echo main.go | xargs sed -i s/a/b/":                      "w main.go",
		"echo a.txt | xargs -n1 sed -i s/a/b/":                    "w",
		"echo a.txt | cat; xargs sed -i s/a/b/":                   "w",
		// braces
		"sed -i s/-/+/ {main,main_test}.go": "w main.go main_test.go",
		"touch {a,b,c}.txt":                 "w a.txt+ b.txt+ c.txt+",
		"rm lib/{a,b}.py":                   "w lib/a.py- lib/b.py-",
		"touch f{1..3}":                     "w f1+ f2+ f3+",
		"touch f{1..999}":                   "w f$+", "touch f{a..c}": "w f$+",
		"python3 -c \"open('n','w')\"": "wa :n",
		// what nobody knows may do anything
		"./gen.sh":                               "wa",
		"make":                                   "wa",
		"python fix.py":                          "wa",
		"belay run x":                            "wa",
		"echo $(./x)":                            "wa",
		"ls; `./x`":                              "wa",
		"echo ((( $(":                            "wa",
		"find . | while read f; do ./x $f; done": "wa",
	} {
		d := deedOf(belay.ToolCall{Name: "Bash", Command: command}, &texts{})
		if got := spell(d, want); got != want {
			t.Errorf("%q is %q, want %q", command, got, want)
		}
	}
}

// spell is a deed in the words of the table. Of texts only the word that is
// looked for is told, with : when it is there, and with ! when it is not.
func spell(d deed, want string) string {
	kind := ""
	if d.writes {
		kind = "w"
	}
	if d.afar {
		kind += "a"
	}
	var list []string
	for _, n := range d.names {
		p := n.path
		if n.from != "" && !strings.HasPrefix(p, "/") {
			p = n.from + "/" + p
		}
		p += map[manner]string{made: "+", gone: "-"}[n.how]
		list = append(list, p)
	}
	slices.Sort(list)
	if i := strings.LastIndexAny(want, ":!"); i > 0 {
		var all Doings
		for _, text := range d.texts {
			all.mark(text.text, text.from)
		}
		mark, word := want[i:i+1], want[i+1:]
		if all.words[word] == (mark == ":") {
			list = append(list, mark+word)
		}
	}
	return strings.TrimSpace(kind + " " + strings.Join(slices.Compact(list), " "))
}

// What the tools of CLIs may change, by their names.
//
// promise: H3
func TestDeedsOfTools(t *testing.T) {
	t.Parallel()
	one := 1
	for name, c := range map[string]struct {
		call belay.ToolCall
		want string
	}{
		"edit":                  {belay.ToolCall{Name: "Edit", Path: "a.go"}, "w a.go"},
		"edit that failed":      {belay.ToolCall{Name: "Edit", Path: "a.go", Failed: true}, ""},
		"edit that was denied":  {belay.ToolCall{Name: "Edit", Path: "a.go", Denied: true, Failed: true}, ""},
		"a notebook":            {belay.ToolCall{Name: "notebook_edit", Path: "a.ipynb"}, "w a.ipynb"},
		"patch of codex":        {belay.ToolCall{Name: "file_change", Path: "a.go"}, "w a.go"},
		"replace":               {belay.ToolCall{Name: "search_replace", Path: "a.go"}, "w a.go"},
		"delete":                {belay.ToolCall{Name: "delete", Path: "a.go"}, "w a.go-"},
		"read":                  {belay.ToolCall{Name: "read_file", Path: "a.go"}, ""},
		"grep":                  {belay.ToolCall{Name: "Grep"}, ""},
		"a list of things":      {belay.ToolCall{Name: "TodoWrite"}, ""},
		"a plan":                {belay.ToolCall{Name: "update_plan"}, ""},
		"a search":              {belay.ToolCall{Name: "web_search"}, ""},
		"a tool of a server":    {belay.ToolCall{Name: "mcp__wiki__publish"}, "wa"},
		"a file by a server":    {belay.ToolCall{Name: "mcp__files__write_file", Path: "a.go"}, "wa a.go"},
		"moved by a server":     {belay.ToolCall{Name: "mcp__files__move_file", Path: "a.go"}, "wa a.go"},
		"a look by a server":    {belay.ToolCall{Name: "mcp__wiki__read_page"}, ""},
		"a word in a word":      {belay.ToolCall{Name: "mcp__devtools__evaluate"}, "wa"},
		"a word of a server":    {belay.ToolCall{Name: "mcp__search__publish"}, "wa"},
		"tools":                 {belay.ToolCall{Name: "mcp__tools__exec"}, "wa"},
		"a spreadsheet":         {belay.ToolCall{Name: "spreadsheet_cells"}, "wa"},
		"a review":              {belay.ToolCall{Name: "start_review"}, "wa"},
		"terminals":             {belay.ToolCall{Name: "runTerminals"}, "wa"},
		"marks as read":         {belay.ToolCall{Name: "mark_as_read"}, "wa"},
		"humps":                 {belay.ToolCall{Name: "mcp__wiki__URLFetch"}, ""},
		"a list of files":       {belay.ToolCall{Name: "listDirectory", Path: "a"}, ""},
		"LS":                    {belay.ToolCall{Name: "LS", Path: "a"}, ""},
		"a page of the web":     {belay.ToolCall{Name: "webfetch"}, ""},
		"a helper":              {belay.ToolCall{Name: "Task"}, "wa"},
		"one command, failed":   {belay.ToolCall{Name: "Bash", Command: "sed -i s/a/b/ x.go", Failed: true, Exit: &one}, "w"},
		"the second may have":   {belay.ToolCall{Name: "Bash", Command: "sed -i s/a/b/ x.go && go test", Failed: true, Exit: &one}, "w x.go"},
		"a command not allowed": {belay.ToolCall{Name: "Bash", Command: "rm x", Denied: true}, ""},
	} {
		if got := spell(deedOf(c.call, nil), c.want); got != c.want {
			t.Errorf("%s is %q, want %q", name, got, c.want)
		}
	}
}

// The tools of CLIs that touch no file, as these name them; what sends something
// to others is heard there; what starts others or runs commands may do anything.
//
// promise: H3
func TestToolsThatTouchNoFile(t *testing.T) {
	t.Parallel()
	for want, list := range map[string]string{
		"": `TaskCreate TaskUpdate TaskGet TaskList TaskStop TaskOutput TodoWrite LSP ReportFindings ScheduleWakeup StructuredOutput
			AskUserQuestion ExitPlanMode EnterPlanMode ListAgents CronCreate CronDelete CronList ToolSearch WebFetch WebSearch Read Glob Grep
			ListMcpResourcesTool ReadMcpResourceTool Brief
			get_goal update_goal zoom_image report_findings ask_user_question list_agents task_stop tool_search read_mcp_resource loop_wakeup cron_create
			question lsp plan_exit plan_enter invalid todowrite todoread websearch codesearch
			get_internal_docs ask_user update_topic complete_task tracker_create_task google_web_search list_mcp_resources read_many_files
			report_intent task_complete`,
		"a":  "SendMessage send_message SendUserMessage PushNotification",
		"wa": "Task Skill Workflow Monitor EnterWorktree agent tool_call record_artifact invoke_agent batch save_memory",
	} {
		for _, name := range strings.Fields(list) {
			if got := spell(deedOf(belay.ToolCall{Name: name}, nil), want); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}
