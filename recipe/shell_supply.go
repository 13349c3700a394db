package recipe

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// supply is where a variable may have its value from.
type supply struct {
	names []string
	spots []*spot
}

// reach finds the placeholders whose values get to variables that bash calculates
// with, by way of other variables, arguments of functions and what is read: such
// a value must be a whole number, or commands that are hidden in it run.
type reach struct {
	w         *walker
	of        map[string]*supply
	functions map[string]bool
	shifts    bool // arguments change their places
	guarded   flow
}

// anyName stands for a variable whose name is known only while the script runs.
const anyName = ""

// arguments stands for all arguments of a function.
const arguments = "@"

// reachWhole marks the placeholders that get to integer variables.
func (w *walker) reachWhole(nodes tour) {
	if len(w.names.whole) == 0 {
		return
	}
	r := &reach{w: w, of: map[string]*supply{}, functions: map[string]bool{}, guarded: flow{guarded: map[string]bool{}}}
	for _, node := range nodes {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				r.functions[n.Name.Value] = true
			}
		case *syntax.CallExpr:
			r.shifts = r.shifts || len(n.Args) > 0 && slices.Contains([]string{"shift", "getopts"}, nameOf(n.Args[0]))
		}
	}
	for _, node := range nodes {
		r.note(node)
	}
	queue, seen := []string{anyName}, map[string]bool{}
	for name := range w.names.whole {
		queue = append(queue, name)
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		s := r.of[name]
		if seen[name] || s == nil || r.guarded.guarded[name] {
			continue
		}
		seen[name] = true
		for _, sp := range s.spots {
			sp.reached = true
		}
		queue = append(queue, s.names...)
	}
}

// note looks at one node of the script.
func (r *reach) note(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.Assign:
		r.assign(n)
	case *syntax.DeclClause:
		r.refers(n)
	case *syntax.WordIter:
		r.set(n.Name.Value, n.Items...)
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			r.set(n.Param.Value, n.Exp.Word)
		}
	case *syntax.CallExpr:
		r.call(bared(n.Args))
	case *syntax.Stmt:
		for _, redir := range n.Redirs {
			if redir.Op == syntax.WordHdoc {
				r.read(n, redir.Word)
			} else if redir.Hdoc != nil {
				r.read(n, redir.Hdoc)
			}
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			for _, name := range r.reads(n.Y) {
				r.add(name, nil, r.w.spoken(n.X))
			}
		}
	case *syntax.CaseClause:
		r.w.guards(&r.guarded, n.Word)
	case *syntax.BinaryTest:
		if n.Op == syntax.TsReMatch {
			r.w.guards(&r.guarded, n.X)
		}
	}
}

func (r *reach) assign(n *syntax.Assign) {
	if n.Name == nil {
		return
	}
	r.set(n.Name.Value, n.Value)
	if n.Array != nil {
		for _, elem := range n.Array.Elems {
			r.set(n.Name.Value, elem.Value)
		}
	}
}

// refers notes that what is given to a reference gets to the variable it names.
func (r *reach) refers(d *syntax.DeclClause) {
	if !strings.Contains(options(d), "n") {
		return
	}
	for _, a := range d.Args {
		if a.Name != nil && a.Value != nil {
			r.add(nameOf(a.Value), []string{a.Name.Value}, nil)
		}
	}
}

// set notes that a variable is given the values in words.
func (r *reach) set(name string, words ...*syntax.Word) {
	for _, word := range words {
		if word == nil {
			continue
		}
		names, spots := r.w.parts(word)
		r.add(name, names, append(spots, r.w.direct(word)...))
	}
}

func (r *reach) add(name string, names []string, spots []*spot) {
	s := r.of[name]
	if s == nil {
		s = &supply{}
		r.of[name] = s
	}
	for _, from := range names {
		if r.shifts && strings.Trim(from, "0123456789") == "" || from == "*" || from == "OPTARG" {
			from = arguments
		}
		s.names = append(s.names, from)
	}
	s.spots = append(s.spots, spots...)
}

// call notes what a command does with its arguments: printf -v sets a variable,
// a function has them as $1, $2 and so on.
func (r *reach) call(args []*syntax.Word) {
	if len(args) < 2 {
		return
	}
	name, rest := nameOf(args[0]), args[1:]
	switch {
	case name == "printf" && len(rest) > 2 && nameOf(rest[0]) == "-v":
		target, _, _ := strings.Cut(nameOf(rest[1]), "[")
		r.set(target, rest[2:]...)
	case name == "printf" && strings.HasPrefix(nameOf(rest[0]), "-v"):
		r.set(strings.TrimPrefix(nameOf(rest[0]), "-v"), rest[1:]...)
	case r.functions[name] || name == "set":
		if name == "set" {
			rest = slices.DeleteFunc(slices.Clone(rest), func(a *syntax.Word) bool { return strings.HasPrefix(nameOf(a), "-") })
		}
		for i, a := range rest {
			r.set(strconv.Itoa(i+1), a)
			r.set(arguments, a)
		}
	}
}

// read notes that all that is read in a statement comes from a text.
func (r *reach) read(n *syntax.Stmt, text *syntax.Word) {
	for _, name := range r.reads(n) {
		r.set(name, text)
	}
}

// reads are the variables that are read in a statement.
func (r *reach) reads(n *syntax.Stmt) (names []string) {
	for node := range syntax.Preorder(n) {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			continue
		}
		args := bared(call.Args)
		if len(args) == 0 || !slices.Contains([]string{"read", "mapfile", "readarray"}, nameOf(args[0])) {
			continue
		}
		names = append(names, "REPLY", "MAPFILE")
		for _, a := range args[1:] {
			if name, _, _ := strings.Cut(nameOf(a), "["); !strings.HasPrefix(name, "-") {
				names = append(names, name)
			}
		}
	}
	return names
}
