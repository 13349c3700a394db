// Command house prints what the house looks like: rooms, imports, names, lines, and how
// often a kind of knowledge is spread over switches. It is run by make house.
package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/belay-run/belay"

type room struct {
	name    string
	imports map[string]bool
	lines   int
	names   int // exported, at the top
	depth   int
}

type count struct {
	where string
	n     int
}

type house struct {
	fset     *token.FileSet
	rooms    map[string]*room
	funcs    []count
	folds    []count        // functions that look into events, by file
	switches map[string]int // switches over a closed list, by its prefix
	chains   map[string]int // the same written as comparisons, which the linter does not see
	inner    map[*ast.IfStmt]bool
	typed    int // comparisons with a kind of step
}

// lists are closed lists of kinds; a switch over one names at least two of them.
var lists = []string{"Class", "Act", "Move", "Type", "Role", "Expect"}

// changes is how many files each of ten changes touched. It was counted by trying
// them, not by looking at the sources, so it says when and how far each was taken.
//
//go:embed changes.txt
var changes string

func main() {
	h := &house{fset: token.NewFileSet(), rooms: map[string]*room{}, switches: map[string]int{}, chains: map[string]int{}, inner: map[*ast.IfStmt]bool{}}
	dir := ".." // the module of the tools is a folder of the house
	if len(os.Args) > 1 {
		dir, changes = os.Args[1], "" // another state of it, of which nobody tried the changes
	}
	err := os.Chdir(dir)
	if err == nil {
		err = filepath.WalkDir(".", h.visit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	h.print()
}

func (h *house) visit(file string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		skip := d.Name() != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "scripts"
		if _, err := os.Stat(filepath.Join(file, "go.mod")); skip || file != "." && err == nil {
			return filepath.SkipDir
		}
		return nil
	}
	if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(h.fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	name := path.Dir(filepath.ToSlash(file))
	r := h.rooms[name]
	if r == nil {
		r = &room{name: name, imports: map[string]bool{}}
		h.rooms[name] = r
	}
	r.lines += strings.Count(string(text), "\n")
	for _, s := range f.Imports {
		if p := strings.Trim(s.Path.Value, `"`); p == module || strings.HasPrefix(p, module+"/") {
			r.imports[strings.TrimPrefix(strings.TrimPrefix(p, module), "/")] = true
		}
	}
	h.declared(r, f, file)
	return nil
}

func (h *house) declared(r *room, f *ast.File, file string) {
	folds := 0
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				r.names++
			}
			from, to := h.fset.Position(d.Pos()).Line, h.fset.Position(d.End()).Line
			h.funcs = append(h.funcs, count{file + " " + d.Name.Name, to - from + 1})
			if h.body(d) {
				folds++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					r.names += exported(s.Name)
				case *ast.ValueSpec:
					r.names += exported(s.Names...)
				}
			}
		}
	}
	if folds > 0 {
		h.folds = append(h.folds, count{file, folds})
	}
}

func exported(names ...*ast.Ident) int {
	n := 0
	for _, id := range names {
		if id.IsExported() {
			n++
		}
	}
	return n
}

// body looks at one function, and tells whether it looks into events.
func (h *house) body(d *ast.FuncDecl) bool {
	folds := false
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr: // a switch over types, too
			if s, ok := n.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Event" {
				folds = true
			}
		case *ast.SwitchStmt:
			h.switched(n)
		case *ast.IfStmt:
			h.chained(n)
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				for _, x := range []ast.Expr{n.X, n.Y} {
					if name := last(x); name == "TypeAgent" || name == "TypeBash" || name == "TypeRecipe" || name == "TypeCall" {
						h.typed++
					}
				}
			}
		}
		return true
	})
	return folds
}

func last(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}

func (h *house) switched(s *ast.SwitchStmt) {
	met, compared := map[string]int{}, [][]ast.Expr{}
	for _, c := range s.Body.List {
		list := c.(*ast.CaseClause).List
		compared = append(compared, list)
		for _, x := range list {
			if l := listOf(x); l != "" {
				met[l]++
			}
		}
	}
	if s.Tag == nil {
		h.told(compared)
		return
	}
	for l, n := range met {
		if n > 1 {
			h.switches[l]++
		}
	}
}

// chained looks at the conditions of if, else if, and so on.
func (h *house) chained(s *ast.IfStmt) {
	var compared [][]ast.Expr
	for next := ast.Stmt(s); ; {
		n, ok := next.(*ast.IfStmt)
		if !ok || h.inner[n] {
			break
		}
		h.inner[n] = true
		compared = append(compared, []ast.Expr{n.Cond})
		next = n.Else
	}
	h.told(compared)
}

// told counts a list if two branches or more compare the same thing with kinds of it.
func (h *house) told(branches [][]ast.Expr) {
	met := map[string]int{} // branches, by list and what is compared
	for _, conditions := range branches {
		here := map[string]bool{}
		for _, x := range conditions {
			compared(x, here)
		}
		for what := range here {
			met[what]++
		}
	}
	lists := map[string]bool{}
	for what, n := range met {
		if l, _, _ := strings.Cut(what, " "); n > 1 && !lists[l] {
			lists[l] = true
			h.chains[l]++
		}
	}
}

// compared notes what a condition compares with kinds of closed lists.
func compared(x ast.Expr, here map[string]bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		compared(x.X, here)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LOR, token.LAND:
			compared(x.X, here)
			compared(x.Y, here)
		case token.EQL:
			if l := listOf(x.Y); l != "" {
				here[l+" "+types.ExprString(x.X)] = true
			}
		}
	}
}

// listOf is the closed list that a name is of; "" for none.
func listOf(x ast.Expr) string {
	name := last(x)
	for _, l := range lists {
		if len(name) > len(l) && strings.HasPrefix(name, l) && ast.IsExported(name[len(l):]) {
			return l
		}
	}
	return ""
}

// deep is the longest way down from a room.
func (h *house) deep(name string) int {
	r := h.rooms[name]
	if r == nil || r.depth > 0 {
		return max(depthOf(r), 0)
	}
	r.depth = 1
	for i := range r.imports {
		if i == "" {
			i = "."
		}
		r.depth = max(r.depth, 1+h.deep(i))
	}
	return r.depth
}

func depthOf(r *room) int {
	if r == nil {
		return 0
	}
	return r.depth
}

func (h *house) print() {
	var names []string
	edges, lines, deepest, exports := 0, 0, 0, 0
	for name, r := range h.rooms {
		names = append(names, name)
		edges += len(r.imports)
		lines += r.lines
		exports += r.names
		deepest = max(deepest, h.deep(name))
	}
	slices.Sort(names)
	fmt.Printf("%-24s %7s %8s %8s %6s\n", "room", "lines", "names", "imports", "depth")
	for _, n := range names {
		r := h.rooms[n]
		fmt.Printf("%-24s %7d %8d %8d %6d\n", n, r.lines, r.names, len(r.imports), r.depth)
	}
	fmt.Printf("%-24s %7d %8d %8d %6d\n\n", fmt.Sprint(len(names), " rooms"), lines, exports, edges, deepest)

	slices.SortFunc(h.funcs, func(a, b count) int { return b.n - a.n })
	fmt.Println("longest functions:")
	for _, c := range h.funcs[:min(10, len(h.funcs))] {
		fmt.Printf("  %4d  %s\n", c.n, c.where)
	}
	total := 0
	slices.SortFunc(h.folds, func(a, b count) int { return b.n - a.n })
	fmt.Println("\nfunctions that look into events:")
	for _, c := range h.folds {
		fmt.Printf("  %4d  %s\n", c.n, c.where)
		total += c.n
	}
	fmt.Printf("  %4d  in all\n\nswitches over closed lists, and chains of comparisons with them:\n", total)
	for _, l := range lists {
		fmt.Printf("  %4d  %4d  %s\n", h.switches[l], h.chains[l], l)
	}
	fmt.Printf("  %4d  comparisons with a kind of step\n", h.typed)
	if changes != "" {
		fmt.Printf("\nfiles touched by a change:\n%s", changes)
	}
}
