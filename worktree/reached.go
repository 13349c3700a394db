package worktree

import (
	"errors"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// reached tells whether a command cannot exit with 0 without having run a simple
// command that is looked for. What does not parse can: nobody knows what it does.
func reached(command string, is func(words []string) bool) bool {
	w := &ways{is: is}
	return w.script(command)
}

// ways follows the ways on which a shell command comes to an exit with 0.
type ways struct {
	is     func(words []string) bool
	src    string
	bodies map[string]*syntax.Stmt // of functions
	shells int                     // around this one
	known  map[step]bool           // what was looked at, or is being looked at: then it counts as no
	broken bool                    // a reader broke
}

// step is one question about one command.
type step struct {
	stmt *syntax.Stmt
	zero bool
}

// once answers a question once, however often it is asked.
func (w *ways) once(s *syntax.Stmt, zero bool, answer func(*syntax.Stmt) bool) bool {
	key := step{s, zero}
	if yes, ok := w.known[key]; ok {
		return yes
	}
	w.known[key] = false
	w.known[key] = answer(s)
	return w.known[key]
}

// script is of a whole text.
func (w *ways) script(text string) bool {
	inner := &ways{is: w.is, src: text, bodies: map[string]*syntax.Stmt{}, shells: w.shells, known: map[step]bool{}}
	comes := false
	err := parse(text, func(file *syntax.File) {
		syntax.Walk(file, func(n syntax.Node) bool {
			if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil { // bash has no function without a name; the parser has
				inner.bodies[f.Name.Value] = f.Body
			}
			return true
		})
		comes = inner.zeroList(file.Stmts)
	})
	w.broken = w.broken || inner.broken || errors.Is(err, errBroken)
	return err == nil && comes
}

// alwaysList and zeroList are of commands one after the other.
func (w *ways) alwaysList(list []*syntax.Stmt) bool { return slices.ContainsFunc(list, w.always) }

func (w *ways) zeroList(list []*syntax.Stmt) bool {
	return w.alwaysList(list) || len(list) > 0 && w.zero(list[len(list)-1])
}

// always tells whether a command that is run at all comes to what is looked for.
func (w *ways) always(s *syntax.Stmt) bool { return w.once(s, false, w.run) }

func (w *ways) run(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, w.always)
	case *syntax.BinaryCmd:
		return w.always(c.X) || pipes(c) && w.always(c.Y)
	case *syntax.Block:
		return w.alwaysList(c.Stmts)
	case *syntax.Subshell:
		return w.alwaysList(c.Stmts)
	case *syntax.IfClause:
		return w.alwaysList(c.Cond) || w.branches(c, w.alwaysList)
	case *syntax.WhileClause:
		return w.alwaysList(c.Cond)
	case *syntax.ForClause:
		return items(c) && w.alwaysList(c.Do)
	case *syntax.TimeClause:
		return c.Stmt != nil && w.always(c.Stmt)
	}
	return false
}

// zero tells whether a command that exits with 0 has come to it.
func (w *ways) zero(s *syntax.Stmt) bool { return w.once(s, true, w.passed) }

func (w *ways) passed(s *syntax.Stmt) bool {
	if s.Negated || s.Background {
		return w.always(s)
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, w.zero)
	case *syntax.BinaryCmd:
		switch {
		case w.always(s):
			return true
		case c.Op == syntax.AndStmt:
			return w.zero(c.X) || w.zero(c.Y)
		case c.Op == syntax.OrStmt:
			return w.zero(c.X) && w.zero(c.Y)
		}
		return w.zero(c.Y)
	case *syntax.Block:
		return w.zeroList(c.Stmts)
	case *syntax.Subshell:
		return w.zeroList(c.Stmts)
	case *syntax.IfClause:
		return w.always(s) || w.branches(c, w.zeroList)
	case *syntax.TimeClause:
		return c.Stmt != nil && w.zero(c.Stmt)
	}
	return w.always(s)
}

func pipes(c *syntax.BinaryCmd) bool { return c.Op == syntax.Pipe || c.Op == syntax.PipeAll }

// branches tells it of an if whose every way goes there; without an else one
// does not.
func (w *ways) branches(c *syntax.IfClause, list func([]*syntax.Stmt) bool) bool {
	for ; c != nil; c = c.Else {
		if !list(c.Then) {
			return false
		}
		if len(c.Cond) == 0 { // the else
			return true
		}
	}
	return false
}

// items tells whether a loop has at least one round.
func items(c *syntax.ForClause) bool {
	words, ok := c.Loop.(*syntax.WordIter)
	return ok && slices.ContainsFunc(words.Items, func(w *syntax.Word) bool { return w.Lit() != "" })
}

// call looks at one simple command: whether it is what is looked for, or a shell
// or a function that comes to it.
func (w *ways) call(c *syntax.CallExpr, way func(*syntax.Stmt) bool) bool {
	if len(c.Args) == 0 {
		return slices.ContainsFunc(c.Assigns, w.assigned)
	}
	list := split(w.src[c.Pos().Offset():c.End().Offset()])
	if len(list) != 1 {
		return false
	}
	words, _ := program(list[0].words)
	if len(words) == 0 {
		return false
	}
	if script, ok := shellScript(words); ok && w.shells < maxShells {
		inner := &ways{is: w.is, shells: w.shells + 1}
		comes := inner.script(script)
		w.broken = w.broken || inner.broken
		return comes
	}
	if body := w.bodies[words[0]]; body != nil {
		return way(body)
	}
	return w.is(words)
}

// assigned tells whether a variable is set to the output of what comes to it.
func (w *ways) assigned(a *syntax.Assign) bool {
	comes := false
	if a.Value == nil {
		return false
	}
	syntax.Walk(a.Value, func(n syntax.Node) bool {
		sub, ok := n.(*syntax.CmdSubst)
		comes = comes || ok && w.zeroList(sub.Stmts)
		return !ok
	})
	return comes
}
