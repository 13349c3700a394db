package recipe

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-run/belay/internal/pattern"
)

// names are the variables of a script that are more than text: bash calculates
// with what is assigned to some, and reads what is declared for others.
type names struct {
	whole map[string]bool // integers
	lists map[string]bool // arrays
}

// bashIntegers are bash's own variables that it calculates with.
var bashIntegers = []string{
	"BASHPID", "BASH_SUBSHELL", "EPOCHSECONDS", "EUID", "HISTCMD", "LINENO", "OPTIND", "PPID", "RANDOM", "SECONDS", "SRANDOM", "UID",
}

// namesOf looks through a whole script: what is declared anywhere counts
// everywhere, as functions may run in any order.
func namesOf(nodes tour) names {
	n := names{whole: map[string]bool{}, lists: map[string]bool{}}
	for _, node := range nodes {
		switch node := node.(type) {
		case *syntax.Assign:
			if node.Name != nil && (node.Array != nil || node.Index != nil) {
				n.lists[node.Name.Value] = true
			}
		case *syntax.DeclClause:
			n.declared(node)
		case *syntax.CallExpr:
			n.filled(node)
		}
	}
	return n
}

// integer tells whether bash calculates with what a variable holds.
func (n names) integer(name string) bool { return n.whole[name] || slices.Contains(bashIntegers, name) }

func (n names) declared(d *syntax.DeclClause) {
	opts := options(d)
	for _, a := range d.Args {
		if a.Name == nil {
			continue
		}
		if strings.Contains(opts, "i") {
			n.whole[a.Name.Value] = true
		}
		if strings.ContainsAny(opts, "aA") {
			n.lists[a.Name.Value] = true
		}
	}
}

// filled notes the arrays that a command fills, and the integers that it
// declares: behind quotes, command or builtin a declaration is a command.
func (n names) filled(c *syntax.CallExpr) {
	args := bared(c.Args)
	if len(args) == 0 {
		return
	}
	whole := false
	switch nameOf(args[0]) {
	case "read", "mapfile", "readarray":
		for _, arg := range args[1:] {
			n.lists[nameOf(arg)] = true
		}
	case "declare", "typeset", "local", "readonly", "export":
		for _, arg := range args[1:] {
			name, _, _ := strings.Cut(nameOf(arg), "=")
			if strings.HasPrefix(name, "-") {
				whole = whole || strings.Contains(name, "i")
			} else if whole {
				n.whole[name] = true
			}
		}
	}
}

// options are the letters of a declaration's options.
func options(d *syntax.DeclClause) string {
	var b strings.Builder
	if d.Variant.Value == "nameref" {
		b.WriteByte('n')
	}
	for _, a := range d.Args {
		if a.Name != nil || a.Value == nil {
			continue
		}
		if lit := nameOf(a.Value); strings.HasPrefix(lit, "-") {
			b.WriteString(lit[1:])
		}
	}
	return b.String()
}

func (w *walker) assign(n *syntax.Assign, s setting) {
	if n.Name == nil {
		return
	}
	if n.Index != nil {
		s.math = slices.Contains(w.strict, n) // a declaration reads its subscript twice
		w.subscript(n.Name, n.Index, s)
	}
	if n.Array != nil {
		for _, elem := range n.Array.Elems {
			w.splits(elem.Value)
			w.subscript(n.Name, elem.Index, s)
		}
	}
	w.role(n.Name, refuse(notName))
	if n.Value != nil {
		w.bashVariable(n.Name.Value, n.Value)
	}
	if !w.names.integer(n.Name.Value) {
		return
	}
	if n.Value != nil {
		w.role(n.Value, whole)
	}
	if n.Array != nil {
		w.role(n.Array, whole)
	}
}

// beforeValue is a declaration in quotes up to its value.
var beforeValue = pattern.Lazy(`^["']?([A-Za-z_][A-Za-z0-9_]*)\+?=`)

// declare knows that bash reads a declared value once more where an array, a
// number or another name is declared.
func (w *walker) declare(d *syntax.DeclClause) {
	opts := options(d)
	for _, a := range d.Args {
		if a.Index != nil {
			w.strict = append(w.strict, a)
		}
		if a.Value == nil {
			continue
		}
		name := ""
		switch {
		case a.Name != nil:
			name = a.Name.Value
		default:
			word := w.text[a.Value.Pos().Offset():a.Value.End().Offset()]
			if m := beforeValue().FindStringSubmatch(word); m != nil && !w.holds(m[1]) {
				name = m[1]
				w.bashVariable(name, a.Value)
			} else {
				w.role(a.Value, refuse(notName))
				continue
			}
		}
		switch {
		case strings.Contains(opts, "n"):
			w.role(a.Value, refuse(notName))
		case strings.ContainsAny(opts, "aA") || w.names.lists[name]:
			w.role(a.Value, refuse(refusal{"bash would read the value as a list of words with commands in it", "declare the variable first and assign the value in a line of its own"}))
		case strings.Contains(opts, "i") || w.names.integer(name):
			w.role(a.Value, whole)
		}
	}
}

// holds tells whether a placeholder stands in a piece of marked text.
func (w *walker) holds(text string) bool { return w.prefix != "" && strings.Contains(text, w.prefix) }

// call knows the commands that do more with a word than to take it.
func (w *walker) call(c *syntax.CallExpr) {
	args := bared(c.Args)
	w.runs(args)
	if len(args) < 2 {
		return
	}
	name, args := nameOf(args[0]), args[1:]
	switch name {
	case "unset", "declare", "typeset", "local", "export", "readonly":
		w.each(args, w.named)
	case "let":
		w.each(args, func(a *syntax.Word) { w.role(a, whole) })
	case "read":
		w.readNames(args)
	case "printf":
		w.printf(args)
	case "test", "[":
		w.test(args)
	}
}

func (w *walker) each(args []*syntax.Word, f func(*syntax.Word)) {
	for _, a := range args {
		f(a)
	}
}

// readNames refuses names of variables; a prompt or a limit is a word.
func (w *walker) readNames(args []*syntax.Word) {
	for i, a := range args {
		option := i > 0 && slices.Contains([]string{"-p", "-rp", "-d", "-t", "-n", "-N", "-i", "-u"}, args[i-1].Lit())
		if !option && !strings.HasPrefix(w.source(a), "-") {
			w.named(a)
		}
	}
}

// element is a name with a subscript.
var element = pattern.Lazy(`^([A-Za-z_][A-Za-z0-9_]*)\[`)

// named refuses a value in a word that is the name of a variable, or of an
// element of an array.
func (w *walker) named(a *syntax.Word) {
	why := notName
	if m := element().FindStringSubmatch(w.source(a)); m != nil && w.keys(m[1], int(a.Pos().Offset())) {
		why = notElement
	}
	w.role(a, refuse(why))
}

func (w *walker) source(a *syntax.Word) string {
	return strings.TrimLeft(w.text[a.Pos().Offset():a.End().Offset()], `"'`)
}

// begins tells whether a word begins with a placeholder, so that its value
// could be taken for an option.
func (w *walker) begins(a *syntax.Word) bool {
	return w.prefix != "" && strings.HasPrefix(w.source(a), w.prefix)
}

func (w *walker) printf(args []*syntax.Word) {
	switch {
	case strings.HasPrefix(w.source(args[0]), "-v"):
		w.each(args[:min(len(args), 2)], w.named)
	case w.begins(args[0]) && len(args) > 1:
		w.role(args[0], refuse(refusal{"printf would take a value that begins with - for an option", "write printf '%s' {{name}}, or printf -- {{name}}"}))
	}
}

func (w *walker) test(args []*syntax.Word) {
	for i, a := range args[1:] {
		switch before := args[i]; {
		case before.Lit() == "-v" || before.Lit() == "-R":
			w.named(a)
		case w.begins(before) && w.holds(w.source(a)):
			w.role(before, refuse(refusal{"its value could be taken for an operator", "write [[ … ]] with a fixed operator"}))
		}
	}
}
