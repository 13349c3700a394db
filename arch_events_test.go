package belay_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"testing"

	"github.com/belay-run/belay/event"
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
				t.Errorf("%s: no case for event.%s", file, k)
			}
		}
	}
}

// TestEventsAreListed finds a kind that is declared and cannot be read back, or
// that the read model has no word for.
func TestEventsAreListed(t *testing.T) {
	t.Parallel()
	listed, told := map[string]bool{}, map[string]bool{}
	for _, w := range constsOf(t, "story/news.go", "What") {
		told[w] = true
	}
	for _, e := range event.All() {
		listed[reflect.TypeOf(e).Name()] = true
		if !told[e.Kind()] {
			t.Errorf("story/news.go: no What for %s", e.Kind())
		}
		if _, err := event.Decode(e.Kind(), []byte("{}")); errors.As(err, new(*event.UnknownKind)) {
			t.Errorf("DecodeEvent: %v", err)
		}
	}
	for _, k := range eventTypes(t) {
		if !listed[k] {
			t.Errorf("Events lacks %s", k)
		}
	}
}

// TestEveryQuestionAndAnswerIsKnown finds whoever answers, or takes an answer in,
// and was forgotten when a kind was added.
func TestEveryQuestionAndAnswerIsKnown(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ declared, method, file string }{
		{"effect/question.go", "asks", "internal/hand/answer.go"},
		{"effect/question.go", "asks", "belaytest/sim/driver.go"},
		{"effect/answer.go", "answers", "flow/apply.go"},
		{"effect/answer.go", "answers", "story/fold.go"},
	} {
		met := cases(t, of.file)
		for _, k := range kindsOf(t, of.declared, of.method) {
			if !met[k] {
				t.Errorf("%s: no case for effect.%s", of.file, k)
			}
		}
	}
}

// eventTypes are the kinds of events.
func eventTypes(t *testing.T) []string {
	t.Helper()
	return kindsOf(t, "event/event.go", "Kind")
}

// kindsOf are the types in a file that have a method.
func kindsOf(t *testing.T, file, method string) []string {
	t.Helper()
	var list []string
	for _, d := range parsed(t, file).Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != method {
			continue
		}
		if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
			list = append(list, id.Name)
		}
	}
	return list
}

// cases are the types of other rooms that a file tells apart.
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
