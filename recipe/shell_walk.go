package recipe

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// quoting is what bash does to the text around a placeholder.
type quoting int

const (
	bare     quoting = iota // words are split and patterns matched
	double                  // inside "…"
	document                // inside a here-document
)

// setting is all that decides how a placeholder is written.
type setting struct {
	quote   quoting
	math    bool    // in arithmetic that is no word
	integer bool    // the value is arithmetic with
	ticks   bool    // inside `…`
	refused refusal // no placeholder may stand here
	locked  refusal // nor in any command inside
}

// inner is the setting of the commands inside a substitution.
func (s setting) inner() setting { return setting{ticks: s.ticks, locked: s.locked} }

// walker goes through a script and tells every spot how it is written. What a
// node means for one of its parts is noted in roles when the node is entered.
type walker struct {
	*marked
	stack        []setting
	roles        map[syntax.Node]func(*setting)
	names        names
	keyed        []keyed
	functions    []*syntax.FuncDecl
	strict       []*syntax.Assign // declarations with a subscript
	flow         *flow            // nil when the script does not calculate
	again        bool             // the script was looked through before
	edits        []edit
	doubt        int // the place after a quote that bash and our reading take differently; 0 = none
	safe, unsafe int // references to our variables, in a place of the right kind or not
}

func (b *bash) newWalker(m *marked) *walker {
	clear(b.roles)
	b.stack = append(b.stack[:0], setting{})
	return &walker{marked: m, stack: b.stack, roles: b.roles}
}

func (w *walker) walk(nodes tour) {
	if mayKey(w.text) {
		w.keyed = w.keyedOf(nodes)
	}
	if !w.again {
		w.names = namesOf(nodes)
		if mayReckon(w.text) {
			w.flow = w.flowOf(nodes)
		}
		w.reachWhole(nodes)
	}
	nodes.visit(w.visit)
}

func (w *walker) visit(n syntax.Node) bool {
	if n == nil {
		w.stack = w.stack[:len(w.stack)-1]
		return true
	}
	w.stack = append(w.stack, w.stack[len(w.stack)-1])
	s := &w.stack[len(w.stack)-1]
	if role := w.roles[n]; role != nil {
		role(s)
	}
	if !w.enter(n, s) {
		w.stack = w.stack[:len(w.stack)-1]
		return false
	}
	return true
}

// role notes what is special about a part of the node that is being entered.
func (w *walker) role(n syntax.Node, f func(*setting)) {
	before := w.roles[n]
	w.roles[n] = func(s *setting) {
		if before != nil {
			before(s)
		}
		f(s)
	}
}

func arithmetic(s *setting) {
	s.math, s.integer, s.refused = true, true, refusal{}
}
func whole(s *setting)     { s.integer = true }
func inPattern(s *setting) { s.quote, s.math = bare, false }

func refuse(r refusal) func(*setting) { return func(s *setting) { s.refused = r } }

// enter adapts the setting to a node; false when its parts need no visit.
func (w *walker) enter(n syntax.Node, s *setting) bool {
	if w.again && !shapes(n) {
		return true
	}
	switch n := n.(type) {
	case *syntax.Lit:
		w.literal(n, *s)
	case *syntax.SglQuoted:
		w.single(n, *s)
	case *syntax.Comment:
		w.comment(n)
	case *syntax.DblQuoted:
		s.quote, s.math = double, false
	case *syntax.CmdSubst:
		w.substitution(n, s)
	case *syntax.ProcSubst:
		*s = s.inner()
	case *syntax.ParamExp:
		w.inArithmetic(n, *s)
		w.parameter(n, *s)
	case *syntax.ExtGlob:
		s.refused = refusal{"it is inside an extended pattern", viaVariable}
	case *syntax.Redirect:
		w.redirect(n, *s)
	case *syntax.CallExpr:
		w.splits(n.Args...)
		w.call(n)
	default:
		return w.enterRest(n, *s)
	}
	return true
}

// shapes tells whether a node can say how something in it is quoted. The others
// say what is done with a placeholder, and a second look finds none.
func shapes(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.Lit, *syntax.SglQuoted, *syntax.Comment, *syntax.CallExpr, *syntax.Stmt, *syntax.BinaryCmd:
		return false
	}
	return true
}

func (w *walker) enterRest(n syntax.Node, s setting) bool {
	switch n := n.(type) {
	case *syntax.Assign:
		w.assign(n, s)
	case *syntax.DeclClause:
		w.declare(n)
	case *syntax.ArithmExp:
		w.arithmetic(n.X)
	case *syntax.ArithmCmd:
		w.arithmetic(n.X)
	case *syntax.CStyleLoop:
		w.arithmetic(n.Init, n.Cond, n.Post)
	case *syntax.BinaryArithm:
		if assigns(n.Op) {
			w.role(n.X, refuse(notAssigned))
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			w.role(n.X, refuse(notAssigned))
		}
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			w.role(x, whole)
		}
	case *syntax.BinaryTest:
		if compares(n.Op) {
			w.role(n.X, whole)
			w.role(n.Y, whole)
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			if word, ok := n.X.(*syntax.Word); ok {
				w.named(word)
			}
		}
	case *syntax.WordIter:
		w.splits(n.Items...)
		w.role(n.Name, refuse(notName))
		for _, item := range n.Items {
			if w.names.integer(n.Name.Value) {
				w.role(item, whole)
			}
		}
	case *syntax.FuncDecl:
		if n.Name != nil {
			w.role(n.Name, refuse(notName))
		}
	case *syntax.Stmt:
		w.input(n)
	case *syntax.BinaryCmd:
		w.pipe(n)
	case *syntax.CoprocClause:
		if n.Name != nil {
			w.role(n.Name, refuse(notName))
		}
	case *syntax.Word:
		w.inArithmetic(n, s)
		return !w.done(n)
	}
	return true
}

func (w *walker) arithmetic(exprs ...syntax.ArithmExpr) {
	for _, x := range exprs {
		if x != nil {
			w.role(x, arithmetic)
		}
	}
}

func assigns(op syntax.BinAritOperator) bool {
	switch op { //nolint:exhaustive // the operators of another package: all that are not named are harmless
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn,
		syntax.AndBoolAssgn, syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
		return true
	}
	return false
}

func compares(op syntax.BinTestOperator) bool {
	switch op { //nolint:exhaustive // the operators of another package: all that are not named are harmless
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}

// substitution begins anew inside. Backslashes inside `…` mean something else
// than they seem to, so a placeholder beside them is not touched.
func (w *walker) substitution(n *syntax.CmdSubst, s *setting) {
	*s = s.inner()
	if !n.Backquotes {
		return
	}
	s.ticks = true
	if strings.Contains(w.text[n.Left.Offset():n.Right.Offset()], `\`) {
		s.locked = refusal{"it is inside `…` with backslashes", "write $(…) instead of `…`"}
	}
}

func (w *walker) parameter(n *syntax.ParamExp, s setting) {
	if n.Param != nil {
		w.parameterName(n, s)
	}
	w.subscript(n.Param, n.Index, s)
	if n.Slice != nil {
		w.arithmetic(n.Slice.Offset, n.Slice.Length)
	}
	if n.Repl != nil {
		w.matched(n.Repl.Orig, n.Repl.With)
	}
	if n.Exp == nil || n.Exp.Word == nil {
		return
	}
	switch n.Exp.Op { //nolint:exhaustive // the operators of another package: all that are not named are harmless
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
	case syntax.OtherParamOps:
		w.role(n.Exp.Word, refuse(refusal{"it is an operator of bash", viaVariable}))
	default:
		w.matched(n.Exp.Word)
	}
}

// matched are words whose text is a pattern: quotes make it literal, inside
// double quotes too.
func (w *walker) matched(words ...*syntax.Word) {
	for _, word := range words {
		if word != nil {
			w.role(word, inPattern)
		}
	}
}
