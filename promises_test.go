package belay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const promisesPage = "docs/reference/promises.md"

// A promise is cited in a test's comment, or in a comment of an end-to-end
// script: "promise: K2" or "promise: K2, K4".
var (
	citation  = regexp.MustCompile(`promise: *((?:[A-Z][0-9]*\b[ ,]*)+)`)
	promiseID = regexp.MustCompile(`^[A-Z][0-9]*$`)
)

// promise is one row of the page: | id | state | what | shown by |.
type promise struct {
	id, state, what string
}

// TestPromisesAreShown holds the page of promises against the tests: a row that
// is called kept must be cited by a test, a citation must have a row, and the
// last column is made from the citations.
func TestPromisesAreShown(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(promisesPage)
	if err != nil {
		t.Fatal(err)
	}
	shown := citations(t)
	page, problems := fill(string(text), shown)
	for _, p := range problems {
		t.Error(p)
	}
	same(t, promisesPage, page)
}

func TestPromisesHaveTeeth(t *testing.T) {
	t.Parallel()
	shown := map[string][]string{"K1": {"proc TestAdopt"}, "Z9": {"x TestY"}}
	page, problems := fill("| K1 | kept | a | old |\n| K2 | kept | b | |\n| K3 | open | c | |\n", shown)
	want := "| K1 | kept | a | proc TestAdopt |\n| K2 | kept | b | |\n| K3 | open | c | |\n"
	if page != want {
		t.Errorf("page:\n%s\nwant:\n%s", page, want)
	}
	if len(problems) != 2 || !strings.Contains(problems[0], "K2 is called kept") || !strings.Contains(problems[1], "Z9") {
		t.Errorf("problems: %q", problems)
	}
}

// fill writes who shows each promise into the page and says what is wrong.
func fill(page string, shown map[string][]string) (string, []string) {
	var problems []string
	rows := map[string]bool{}
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		p, ok := row(line)
		if !ok {
			continue
		}
		rows[p.id] = true
		if p.state == "kept" && len(shown[p.id]) == 0 {
			problems = append(problems, promisesPage+": "+p.id+" is called kept, but no test cites it")
		}
		by := strings.Join(shown[p.id], "<br>")
		lines[i] = strings.TrimRight("| "+p.id+" | "+p.state+" | "+p.what+" | "+by, " ") + " |"
	}
	for _, id := range sorted(shown) {
		if !rows[id] {
			problems = append(problems, promisesPage+": no row for "+id+", cited by "+strings.Join(shown[id], ", "))
		}
	}
	return strings.Join(lines, "\n"), problems
}

func row(line string) (promise, bool) {
	cells := strings.Split(line, "|")
	if len(cells) != 6 {
		return promise{}, false
	}
	id := strings.TrimSpace(cells[1])
	return promise{
		id: id, state: strings.TrimSpace(cells[2]), what: strings.TrimSpace(cells[3]),
	}, promiseID.MatchString(id)
}

// citations maps ids to the tests and scripts that cite them, sorted.
func citations(t *testing.T) map[string][]string {
	t.Helper()
	shown := map[string][]string{}
	for _, s := range read(t, ".") {
		if !s.test() || strings.HasPrefix(s.path, "promises_test") {
			continue
		}
		cite(t, s, shown)
	}
	scripts, err := filepath.Glob("cmd/belay/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "#") {
				credit(shown, line, "script "+strings.TrimSuffix(filepath.Base(name), ".txtar"))
			}
		}
	}
	for id := range shown {
		slices.Sort(shown[id])
		shown[id] = slices.Compact(shown[id])
	}
	return shown
}

// cite notes the comments of one file under the function they stand in or over.
func cite(t *testing.T, s source, shown map[string][]string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, s.path, s.text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if name := around(f, c.Pos()); name != "" {
				credit(shown, c.Text, s.room()+" "+name)
			}
		}
	}
}

func around(f *ast.File, at token.Pos) string {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || at >= fn.End() {
			continue
		}
		if doc := fn.Doc; at >= fn.Pos() || doc != nil && at >= doc.Pos() {
			return fn.Name.Name
		}
	}
	return ""
}

func credit(shown map[string][]string, comment, by string) {
	m := citation.FindStringSubmatch(comment)
	if m == nil {
		return
	}
	for _, id := range strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == ',' }) {
		if id[0] == 'X' { // X9 speaks of code 9; the codes are one promise
			id = "X"
		}
		shown[id] = append(shown[id], by)
	}
}

func sorted(m map[string][]string) []string {
	ids := make([]string, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
