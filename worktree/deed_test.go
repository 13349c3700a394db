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
		"patch -p1 <<'EOF'\n--- a/x.go\n+++ b/x.go\nEOF":         "w :b/x.go",
		"git apply <<'EOF'\n+++ b/y.go\nEOF":                     "w :b/y.go",
		"apply_patch <<'EOF'\n*** Update File: src/z.go\nEOF":    "w :src/z.go",
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
		d := deedOf(belay.ToolCall{Name: "Bash", Command: command})
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
			all.mark(text)
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
		"patch of codex":        {belay.ToolCall{Name: "file_change", Path: "a.go"}, "w a.go"},
		"replace":               {belay.ToolCall{Name: "search_replace", Path: "a.go"}, "w a.go"},
		"delete":                {belay.ToolCall{Name: "delete", Path: "a.go"}, "w a.go-"},
		"read":                  {belay.ToolCall{Name: "read_file", Path: "a.go"}, ""},
		"grep":                  {belay.ToolCall{Name: "Grep"}, ""},
		"a list of things":      {belay.ToolCall{Name: "TodoWrite"}, ""},
		"a plan":                {belay.ToolCall{Name: "update_plan"}, ""},
		"a search":              {belay.ToolCall{Name: "web_search"}, ""},
		"a tool of a server":    {belay.ToolCall{Name: "mcp__wiki__publish"}, "wa"},
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
		if got := spell(deedOf(c.call), c.want); got != c.want {
			t.Errorf("%s is %q, want %q", name, got, c.want)
		}
	}
}
