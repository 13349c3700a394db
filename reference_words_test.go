package belay_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wordRooms are the rooms whose types the records are made of.
var wordRooms = []string{".", "fault", "effect", "event"}

// words is what the sources of those rooms say about their types.
type words struct {
	docs    map[string]string          // type to its comment
	structs map[string]*ast.StructType // type to its fields
	consts  map[string][]constant      // type to its closed list, in order
	answers []string                   // kinds of Answer
}

type constant struct{ value, note string }

func readWords(t *testing.T) *words {
	t.Helper()
	w := &words{docs: map[string]string{}, structs: map[string]*ast.StructType{}, consts: map[string][]constant{}}
	var files []string
	for _, room := range wordRooms {
		list, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %d files, %v", room, len(list), err)
		}
		files = append(files, list...)
	}
	fset := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				w.decl(d)
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "answers" {
					w.answers = append(w.answers, fmt.Sprint(d.Recv.List[0].Type))
				}
			}
		}
	}
	return w
}

func (w *words) decl(g *ast.GenDecl) {
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			doc := g.Doc
			if s.Doc != nil {
				doc = s.Doc
			}
			w.docs[s.Name.Name] = strings.TrimSpace(doc.Text())
			if st, ok := s.Type.(*ast.StructType); ok {
				w.structs[s.Name.Name] = st
			}
		case *ast.ValueSpec:
			w.value(s)
		}
	}
}

func (w *words) value(s *ast.ValueSpec) {
	typ, ok := s.Type.(*ast.Ident)
	if !ok || len(s.Values) != 1 {
		return
	}
	lit, ok := s.Values[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(lit.Value)
	if err != nil {
		return // the parser lets no such literal through
	}
	w.consts[typ.Name] = append(w.consts[typ.Name], constant{value, note(s.Comment)})
}

// about is a type's comment in which the type goes by another name.
func (w *words) about(typ, as string) string {
	return strings.Join(strings.Fields(strings.Replace(w.docs[typ], typ, as, 1)), " ")
}

// partList collects the structs and closed lists that tables mention, in the
// order of their first mention.
type partList struct {
	w              *words
	structs, lists []string
}

// table is the table of a struct's JSON fields.
func (p *partList) table(typ string) string {
	rows := p.rows(typ)
	if rows == "" {
		return ""
	}
	return "\n| field | type | note |\n|---|---|---|\n" + rows
}

func (p *partList) rows(typ string) string {
	var b strings.Builder
	for _, f := range p.w.structs[typ].Fields.List {
		if len(f.Names) == 0 { // embedded: its fields are ours
			b.WriteString(p.rows(last(f.Type)))
			continue
		}
		key, ok := jsonKey(f)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, p.typeOf(f.Type), note(f.Comment, f.Doc))
	}
	return b.String()
}

// typeOf says a Go type in the words of JSON.
func (p *partList) typeOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.typeOf(e.X)
	case *ast.ArrayType:
		return "list of " + p.typeOf(e.Elt)
	case *ast.MapType:
		return "map to " + p.typeOf(e.Value)
	case *ast.SelectorExpr:
		switch from := fmt.Sprint(e.X); {
		case from == "time" && e.Sel.Name == "Time":
			return "time"
		case from == "time", from == "json":
			return "any JSON"
		}
		return p.named(e.Sel.Name)
	case *ast.Ident:
		return p.named(e.Name)
	}
	return fmt.Sprintf("%T", e)
}

// last is the name of a type, without that of its room.
func last(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return fmt.Sprint(e)
}

func (p *partList) named(name string) string {
	switch {
	case name == "Answer":
		var kinds []string
		for _, kind := range p.w.answers {
			kinds = append(kinds, p.named(kind))
		}
		return "by the topic that ends the key: " + strings.Join(kinds, ", ")
	case p.w.structs[name] != nil:
		p.structs = once(p.structs, name)
		return link(name)
	case len(p.w.consts[name]) > 0:
		p.lists = once(p.lists, name)
		return link(name)
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "number"
	case name == "bool":
		return "true or false"
	}
	return "text"
}

func link(name string) string { return "[" + name + "](#" + strings.ToLower(name) + ")" }

func once(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

func jsonKey(f *ast.Field) (string, bool) {
	if f.Tag == nil {
		return "", false
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", false // the parser lets no such literal through
	}
	key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return key, key != "" && key != "-"
}

func typeName(v any) string { return reflect.TypeOf(v).Name() }

// note is the first comment that says something, on one line, fit for a table.
func note(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return strings.ReplaceAll(text, "|", "\\|")
		}
	}
	return ""
}
