package belay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	mdCommand = regexp.MustCompile("(?m)(?:^|`|\\| )belay ([a-z]+)")
)

// The pages about issues, execution, recovery and the house lead to each other.
// promise: N1
func TestPagesLeadToEachOther(t *testing.T) {
	t.Parallel()
	all := []string{"docs/reference/issues.md", "docs/reference/execution.md", "docs/explanation/recovery.md", "docs/explanation/the-house.md"}
	pages := readPages(t)
	for _, page := range all {
		linked := map[string]bool{page: true}
		for _, m := range mdLink.FindAllStringSubmatch(pages[page], -1) {
			linked[filepath.ToSlash(filepath.Join(filepath.Dir(page), m[1]))] = true
		}
		for _, other := range all {
			if !linked[other] {
				t.Errorf("%s has no link to %s", page, other)
			}
		}
	}
}

// TestDocsLinkToFiles checks that every relative link of the manual leads to a file.
func TestDocsLinkToFiles(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	if len(pages) < 10 {
		t.Fatalf("only %d pages found: the test looks at too little", len(pages))
	}
	for page, text := range pages {
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ":") { // another site
				continue
			}
			target := filepath.Join(filepath.Dir(page), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			}
		}
	}
}

// TestDocsNameRealCommands checks that every `belay COMMAND` of the manual is a
// command of the binary, known from the sources of the command line.
func TestDocsNameRealCommands(t *testing.T) {
	t.Parallel()
	known := commands(t)
	if len(known) < 5 {
		t.Fatalf("only %d commands found: the test looks at too little", len(known))
	}
	for page, text := range readPages(t) {
		for _, m := range mdCommand.FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				t.Errorf("%s: there is no command %q", page, "belay "+m[1])
			}
		}
	}
}

// readPages loads the Markdown files of the repository.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != "." && skipped(p, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".md") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		pages[p] = string(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// commands reads the names of the commands from the calls that make them in internal/cli.
func commands(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, s := range read(t, ".") {
		if s.room() != "internal/cli" || s.test() {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), s.path, s.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if name := use(n); name != "" {
				known[name] = true
			}
			return true
		})
	}
	if len(known) > 0 { // cobra brings these
		known["help"], known["completion"] = true, true
	}
	return known
}

// use is the name in a call command("NAME ARGS", …) or x.…Command("NAME ARGS", …),
// "" for anything else.
func use(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if fun.Name != "command" {
			return ""
		}
	case *ast.SelectorExpr:
		if !strings.HasSuffix(fun.Sel.Name, "Command") {
			return ""
		}
	default:
		return ""
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "" // the parser lets no such literal through
	}
	name, _, _ := strings.Cut(text, " ")
	return name
}
