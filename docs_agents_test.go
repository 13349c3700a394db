package belay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/agent"
)

// agentsPage is the page that has tables of closed lists.
const agentsPage = "docs/reference/agents.md"

// TestAgentsPageIsWhole holds the tables of the page about agents against the
// closed lists of the sources: no row is missing, and none is made up.
func TestAgentsPageIsWhole(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, k := range agent.Kinds() {
		kinds = append(kinds, string(k))
	}
	for head, want := range map[string][]string{
		"| act | takes | does |":   constsOf(t, "internal/scripted/script.go", "Kind"),
		"| class | meaning | kind": constsOf(t, "class.go", "Class"),
		"| agent | program |":      kinds,
	} {
		got := firstCells(t, head)
		slices.Sort(got)
		want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the table %q has\n%v\nand the sources\n%v", head, got, want)
		}
	}
}

// TestAgentsPageTellsTheTraits holds what the page says about sessions and
// prompts against the adapters.
func TestAgentsPageTellsTheTraits(t *testing.T) {
	t.Parallel()
	for _, row := range tableRows(t, "| agent | program |") {
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
			Program: []string{"p"}, Dir: "/d", Home: "/h", Access: agent.AccessEdit, Prompt: "do it", Script: "/s",
		})
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(row[2], "stdin"); says != launch.Stdin {
			t.Errorf("%s: the page says that the prompt goes to stdin: %v", kind, says)
		}
	}
}

// constsOf are the values of a closed list.
func constsOf(t *testing.T, file, typ string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	w := &words{docs: map[string]string{}, structs: map[string]*ast.StructType{}, consts: map[string][]constant{}}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			w.decl(g)
		}
	}
	var list []string
	for _, c := range w.consts[typ] {
		list = append(list, c.value)
	}
	if len(list) < 5 {
		t.Fatalf("%s: only %d of %s found: the test looks at too little", file, len(list), typ)
	}
	return list
}

func firstCells(t *testing.T, head string) []string {
	t.Helper()
	var list []string
	for _, row := range tableRows(t, head) {
		list = append(list, strings.Trim(row[0], "` "))
	}
	return list
}

var cellEnd = regexp.MustCompile(`([^\\])\|`)

// tableRows are the cells of a table of the page, known by how its head begins.
func tableRows(t *testing.T, head string) [][]string {
	t.Helper()
	page, err := os.ReadFile(agentsPage)
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
