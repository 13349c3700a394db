package pattern

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

// A pattern that cannot be compiled would be found by who first needs it, in the
// middle of a night. All that are written out in a product file are compiled here.
func TestEveryPatternCompiles(t *testing.T) {
	t.Parallel()
	seen := 0
	for dir, files := range sources(t) {
		consts := map[string]ast.Expr{}
		for _, f := range files {
			for _, d := range f.Decls {
				remember(consts, d)
			}
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !isLazy(call) {
					return true
				}
				text, ok := value(call.Args[0], consts)
				if !ok { // of a table that is made by a function, and compiled by its own tests
					return true
				}
				seen++
				if _, err := regexp.Compile(text); err != nil {
					t.Errorf("%s: %v", dir, err)
				}
				return true
			})
		}
	}
	if seen < 60 {
		t.Errorf("%d patterns were found: the test looks in the wrong place", seen)
	}
}

func TestLazy(t *testing.T) {
	t.Parallel()
	re := Lazy(`^a+$`)
	if !re().MatchString("aaa") || re().MatchString("b") {
		t.Error("it does not match as its expression does")
	}
}

// sources are the product files of this module by folder.
func sources(t *testing.T) map[string][]*ast.File {
	t.Helper()
	byDir, root := map[string][]*ast.File{}, filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root:
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir // another module
			}
		case strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go"):
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
			if err != nil {
				return err
			}
			byDir[filepath.Dir(p)] = append(byDir[filepath.Dir(p)], f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return byDir
}

func remember(consts map[string]ast.Expr, d ast.Decl) {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.CONST {
		return
	}
	for _, s := range g.Specs {
		v := s.(*ast.ValueSpec)
		for i, name := range v.Names {
			if i < len(v.Values) {
				consts[name.Name] = v.Values[i]
			}
		}
	}
}

func isLazy(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Lazy" || len(call.Args) != 1 {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "pattern"
}

// value is a text that is written out: a literal, a constant, or their sum.
func value(e ast.Expr, consts map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		of, ok := consts[e.Name]
		if !ok {
			return "", false
		}
		return value(of, consts)
	case *ast.ParenExpr:
		return value(e.X, consts)
	case *ast.BinaryExpr:
		x, okX := value(e.X, consts)
		y, okY := value(e.Y, consts)
		return x + y, okX && okY && e.Op == token.ADD
	}
	return "", false
}
