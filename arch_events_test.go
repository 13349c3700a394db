package belay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"
)

// folds are the files that must know every kind of event: the brain, the read
// model, the auditor, and the simulator's own memory. One that has nothing to do
// with a kind says so with a case of its own.
var folds = []string{"flow/apply.go", "flow/tree.go", "story/fold.go", "audit/audit.go", "belaytest/sim/truth.go"}

// TestFoldsKnowEveryEvent finds a fold that a new kind of event was forgotten in.
func TestFoldsKnowEveryEvent(t *testing.T) {
	t.Parallel()
	kinds := eventTypes(t)
	if len(kinds) < 20 {
		t.Fatalf("only %d kinds of events found: the test looks at too little", len(kinds))
	}
	for _, file := range folds {
		met := cases(t, file)
		for _, k := range kinds {
			if !met[k] {
				t.Errorf("%s: no case for belay.%s", file, k)
			}
		}
	}
}

// eventTypes are the types with a method Kind in event.go.
func eventTypes(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, d := range parsed(t, "event.go").Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != "Kind" {
			continue
		}
		if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
			list = append(list, id.Name)
		}
	}
	return list
}

// cases are the types of belay that a file tells apart.
func cases(t *testing.T, file string) map[string]bool {
	t.Helper()
	met := map[string]bool{}
	ast.Inspect(parsed(t, file), func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSwitchStmt)
		if !ok {
			return true
		}
		for _, c := range s.Body.List {
			for _, x := range c.(*ast.CaseClause).List {
				if sel, ok := x.(*ast.SelectorExpr); ok {
					met[sel.Sel.Name] = true
				}
			}
		}
		return true
	})
	return met
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
