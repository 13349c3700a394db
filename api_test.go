package belay_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReferenceIsCurrentForGo holds the exported names of every public package
// against testdata/api, so that a program which uses one breaks only on purpose:
// make gen takes a change over, and the change is seen in review. It looks at the
// declarations as they stand in the sources.
// promise: C3
func TestReferenceIsCurrentForGo(t *testing.T) {
	t.Parallel()
	kept, err := filepath.Glob("testdata/api/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range publicRooms() {
		a := apiOf(t, room)
		file := filepath.Join("testdata", "api", strings.ReplaceAll(a.name(), "/", "-")+".txt")
		same(t, file, a.text())
		kept = slices.DeleteFunc(kept, func(k string) bool { return k == file })
	}
	for _, file := range kept {
		t.Errorf("%s is about a package that is not there: remove it", file)
	}
}

// insideOut are the rooms with an internal type in an exported name. They are for
// drivers of this module; a program uses client. The list may only become shorter.
var insideOut = set("engine", "journal")

// TestNoInternalTypeIsPublic looks for types that a program could not name.
// promise: C3
func TestNoInternalTypeIsPublic(t *testing.T) {
	t.Parallel()
	for _, room := range publicRooms() {
		found := apiOf(t, room).internal()
		if len(found) > 0 != insideOut[room] {
			t.Errorf("%s: internal types in exported names: %v", room, found)
		}
	}
}

// publicRooms are the packages that another module can import.
func publicRooms() []string {
	var rooms []string
	for room := range ranks {
		if !strings.HasPrefix(room, "internal/") && !strings.Contains(room, "cmd/") && !testSupport(room) {
			rooms = append(rooms, room)
		}
	}
	slices.Sort(rooms)
	return rooms
}

// api is the exported part of a package.
type api struct {
	room  string
	files []*ast.File
}

func apiOf(t *testing.T, room string) api {
	t.Helper()
	sys := build.Default
	sys.GOOS, sys.CgoEnabled = "linux", false
	pkg, err := sys.ImportDir(room, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := api{room: room}
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(room, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(f)
		a.files = append(a.files, f)
	}
	return a
}

func (a api) name() string {
	if a.room == "." {
		return "belay"
	}
	return a.room
}

// text is every exported declaration, in order of its text.
func (a api) text() string {
	var decls []string
	for _, f := range a.files {
		for _, d := range f.Decls {
			decls = append(decls, signatures(d)...)
		}
	}
	slices.Sort(decls)
	return fmt.Sprintf("package %s/%s\n\n%s\n", module, strings.TrimPrefix(a.room, "."), strings.Join(decls, "\n"))
}

// signatures is a declaration, one text for each name of a group.
func signatures(d ast.Decl) (texts []string) {
	group, ok := d.(*ast.GenDecl)
	if !ok {
		fn := *d.(*ast.FuncDecl) //nolint:forcetypeassert // there is no third kind that parses
		if fn.Body = nil; fn.Recv != nil && !ast.IsExported(receiver(fn.Recv.List[0].Type)) {
			return nil
		}
		return []string{printed(&fn)}
	}
	if group.Tok == token.IMPORT {
		return nil
	}
	for _, spec := range group.Specs {
		texts = append(texts, printed(&ast.GenDecl{Tok: group.Tok, Specs: []ast.Spec{spec}}))
	}
	return texts
}

// receiver is the name of the type that a method belongs to.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// printed is a node in the usual form. It has no positions here, so that moving a
// line changes nothing.
func printed(n ast.Node) string {
	var b bytes.Buffer
	if err := format.Node(&b, token.NewFileSet(), n); err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(b.String(), "struct {\n\n}// contains filtered or unexported fields\n", "struct { /* unexported */ }")
}

// internal are the internal types that the exported declarations name.
func (a api) internal() (found []string) {
	for _, f := range a.files {
		names := imported(f)
		look := func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && strings.Contains(names[x.Name], "/internal/") {
					found = append(found, x.Name+"."+sel.Sel.Name)
				}
			}
			return true
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				ast.Inspect(d.Type, look)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						ast.Inspect(t.Type, look)
					} else if v, ok := spec.(*ast.ValueSpec); ok && v.Type != nil {
						ast.Inspect(v.Type, look)
					}
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
