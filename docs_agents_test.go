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

	"github.com/belay-run/belay/agent"
)

// The pages that have tables of closed lists.
const (
	agentsPage  = "docs/reference/agents.md"
	classesPage = "docs/reference/classes.md"
)

// TestTablesAreWhole holds tables that are written by hand against the closed
// lists of the sources: no row is missing, and none is made up.
func TestTablesAreWhole(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, k := range agent.Kinds() {
		kinds = append(kinds, string(k))
	}
	if declared := constsOf(t, "agent/*.go", "Kind"); len(declared) != len(kinds) {
		t.Errorf("agent has the kinds %v, and the list in agent/known.go %v", declared, kinds)
	}
	classes := constsOf(t, "class.go", "Class")
	for _, table := range []struct {
		page, head string
		want       []string
	}{
		{agentsPage, "| act | takes | does |", constsOf(t, "internal/scripted/script.go", "Kind")},
		{agentsPage, "| class | meaning | kind", slices.Clone(classes)},
		{agentsPage, "| agent | program |", kinds},
		{classesPage, "| class | what it is |", classes},
	} {
		got := firstCells(t, table.page, table.head)
		slices.Sort(got)
		want := slices.DeleteFunc(table.want, func(s string) bool { return s == "" })
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the table %q has\n%v\nand the sources\n%v", table.page, table.head, got, want)
		}
	}
}

// TestEveryCLIIsNamed finds a place that was forgotten when an agent CLI was
// added: pages that list them.
func TestEveryCLIIsNamed(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"README.md", "docs/reference/settings.md", agentsPage} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list := regexp.MustCompile(`.*claude.*codex.*opencode.*`).FindString(string(text))
		for _, name := range strings.Split(agent.Installable(), ", ") {
			if !strings.Contains(list, name) {
				t.Errorf("%s: no %s in its list of agent CLIs: %q", file, name, list)
			}
		}
	}
}

// TestAgentsPageTellsTheTraits holds what the page says about sessions and
// prompts against the adapters.
func TestAgentsPageTellsTheTraits(t *testing.T) {
	t.Parallel()
	for _, row := range tableRows(t, agentsPage, "| agent | program |") {
		kind := agent.Kind(strings.Trim(row[0], "` "))
		adapter, ok := agent.New(kind)
		if !ok { // the protocol has none
			continue
		}
		traits := adapter.Traits()
		if says := strings.TrimSpace(row[3]) == "resumes"; says != traits.Resumes {
			t.Errorf("%s: the page says resumes: %v", kind, says)
		}
		if says := strings.TrimSpace(row[4]) == "yes"; says != traits.Presets {
			t.Errorf("%s: the page says that it takes an id: %v", kind, says)
		}
		launch, err := adapter.Launch(agent.Task{
			Agent: agent.Agent{Program: []string{"p"}, Access: agent.AccessEdit, Script: "/s"}, Dir: "/d", Home: "/h", Prompt: "do it",
		})
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(row[2], "stdin"); says != launch.Stdin {
			t.Errorf("%s: the page says that the prompt goes to stdin: %v", kind, says)
		}
	}
}

// constsOf are the values of a closed list, in a file or in several.
func constsOf(t *testing.T, pattern, typ string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	w := &words{docs: map[string]string{}, structs: map[string]*ast.StructType{}, consts: map[string][]constant{}}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				w.decl(g)
			}
		}
	}
	var list []string
	for _, c := range w.consts[typ] {
		list = append(list, c.value)
	}
	if len(list) < 5 {
		t.Fatalf("%s: only %d of %s found: the test looks at too little", pattern, len(list), typ)
	}
	return list
}

func firstCells(t *testing.T, page, head string) []string {
	t.Helper()
	var list []string
	for _, row := range tableRows(t, page, head) {
		list = append(list, strings.Trim(row[0], "` "))
	}
	return list
}

var cellEnd = regexp.MustCompile(`([^\\])\|`)

// tableRows are the cells of a table of a page, known by how its head begins.
func tableRows(t *testing.T, file, head string) [][]string {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n"+head)
	if !ok {
		t.Fatalf("there is no table %q", head)
	}
	var rows [][]string
	for _, line := range strings.Split(rest, "\n")[2:] { // the rest of the head, and the line below it
		if !strings.HasPrefix(line, "|") {
			break
		}
		line = cellEnd.ReplaceAllString(strings.TrimPrefix(line, "|"), "$1\x00")
		rows = append(rows, strings.Split(line, "\x00"))
	}
	return rows
}
