package recipe

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// keyed is a part of a script in which an array surely is an associative one:
// what follows its declaration in the same list of commands.
type keyed struct {
	name       string
	start, end int
	function   int // where the function begins that the declaration is in; -1 = none
}

// mayKey finds what scripts without associative arrays do not have.
func mayKey(text string) bool {
	has := func(part string) bool { return strings.Contains(text, part) }
	return has("A") && (has("declare ") || has("typeset ") || has("local "))
}

// keyedOf finds the associative arrays of a script. A subscript of any other
// array is arithmetic, where a value could run, so a declaration counts only
// where bash can neither have passed it by nor forgotten it.
func (w *walker) keyedOf(nodes tour) []keyed {
	var found []keyed
	other, first := map[string]bool{}, map[string]int{}
	for _, node := range nodes {
		for _, list := range listsOf(node) {
			found = append(found, w.keysIn(list, node == nodes[0])...)
		}
		switch n := node.(type) {
		case *syntax.FuncDecl:
			w.functions = append(w.functions, n)
		case *syntax.DeclClause:
			notKeys(n, other)
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				noteFirst(first, n.Name.Value, int(n.Pos().Offset()))
			}
		case *syntax.CallExpr:
			forgets(n, other)
		case *syntax.WordIter:
			other[n.Name.Value] = true
		}
	}
	found = slices.DeleteFunc(found, func(k keyed) bool {
		at, assigned := first[k.name]
		return other[k.name] || assigned && at < k.start
	})
	for i := range found {
		found[i].function = w.functionAt(found[i].start)
	}
	return found
}

func noteFirst(first map[string]int, name string, offset int) {
	if at, known := first[name]; !known || offset < at {
		first[name] = offset
	}
}

// listsOf are the lists of commands of a node: one runs after the other.
func listsOf(n syntax.Node) [][]*syntax.Stmt {
	switch n := n.(type) {
	case *syntax.File:
		return [][]*syntax.Stmt{n.Stmts}
	case *syntax.Block:
		return [][]*syntax.Stmt{n.Stmts}
	case *syntax.Subshell:
		return [][]*syntax.Stmt{n.Stmts}
	case *syntax.CmdSubst:
		return [][]*syntax.Stmt{n.Stmts}
	case *syntax.IfClause:
		return [][]*syntax.Stmt{n.Then}
	case *syntax.WhileClause:
		return [][]*syntax.Stmt{n.Do}
	case *syntax.ForClause:
		return [][]*syntax.Stmt{n.Do}
	case *syntax.CaseItem:
		return [][]*syntax.Stmt{n.Stmts}
	}
	return nil
}

// keysIn are the associative arrays that a list of commands declares for the
// commands behind.
func (w *walker) keysIn(list []*syntax.Stmt, last bool) (found []keyed) {
	for _, stmt := range list {
		d, ok := stmt.Cmd.(*syntax.DeclClause)
		if !ok || stmt.Background || stmt.Negated || !isKeys(d) {
			continue
		}
		end := len(w.text)
		if !last {
			end = int(list[len(list)-1].End().Offset())
		}
		for _, a := range d.Args {
			if a.Name != nil {
				found = append(found, keyed{name: a.Name.Value, start: int(a.Pos().Offset()), end: end})
			}
		}
	}
	return found
}

func isKeys(d *syntax.DeclClause) bool {
	opts := options(d)
	return strings.Contains(opts, "A") && !strings.ContainsAny(opts, "nip")
}

// functionAt is where the innermost function around a place begins; -1 = none.
func (w *walker) functionAt(offset int) int {
	at := -1
	for _, f := range w.functions {
		if start := int(f.Pos().Offset()); start <= offset && offset < int(f.End().Offset()) {
			at = max(at, start)
		}
	}
	return at
}

// notKeys notes the variables that are declared as something else.
func notKeys(d *syntax.DeclClause, other map[string]bool) {
	for _, a := range d.Args {
		if a.Name != nil && !isKeys(d) && d.Variant.Value != "export" && d.Variant.Value != "readonly" {
			other[a.Name.Value] = true
		}
	}
}

// forgets notes the variables that a command may make something else of.
func forgets(c *syntax.CallExpr, other map[string]bool) {
	for i, a := range c.Args {
		if i == 0 {
			switch a.Lit() {
			case "unset", "read", "mapfile", "readarray", "declare", "typeset", "local", "getopts", "eval", "builtin", "command":
			default:
				return
			}
		}
		other[a.Lit()] = true
	}
}

// keys tells whether an array is associative at a place.
func (w *walker) keys(name string, offset int) bool {
	return slices.ContainsFunc(w.keyed, func(k keyed) bool {
		return k.name == name && k.start <= offset && offset < k.end && (k.function < 0 || k.function == w.functionAt(offset))
	})
}

// subscript knows that the key of an associative array is a word, and any other
// subscript is arithmetic with.
func (w *walker) subscript(name *syntax.Lit, index syntax.ArithmExpr, s setting) {
	switch {
	case index == nil:
	case name != nil && !s.math && w.keys(name.Value, int(index.Pos().Offset())):
		w.role(index, asKey)
	default:
		w.role(index, arithmetic)
	}
}

func asKey(s *setting) { s.quote, s.math, s.integer, s.refused = bare, false, false, refusal{} }
