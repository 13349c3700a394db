package worktree

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// surety is what a reader of a script knows about whether the command at hand
// was run: what may have been passed by names nothing.
type surety struct {
	failed  bool // the script did not exit with 0
	unsure  bool // the command is one of several ways
	left    bool // the shell may have ended before
	skipped bool // the loop or the function may have
	errexit bool // a command that fails ends the shell
	below   int  // subshells around the command
}

func (s *surety) sure() bool { return !s.unsure && !s.left && !s.skipped }

// maybe reads what may not have been run. Where it would have led the shell
// nobody knows.
func (s *shellReader) maybe(read func()) {
	was, at := s.unsure, s.at
	s.unsure = true
	read()
	s.unsure = was
	if s.at != at {
		s.at = somewhere
	}
}

// apart reads what a shell of its own runs.
func (s *shellReader) apart(read func()) {
	was, at, dirs, vars := s.surety, s.at, s.dirs, s.vars
	switch {
	case len(vars) == 0:
		s.vars = map[string][]string{}
	case s.spend(varCost * len(vars)):
		s.vars = maps.Clone(vars)
	}
	s.below++
	read()
	s.surety, s.at, s.dirs, s.vars = was, at, dirs, vars
}

// list reads commands one after the other; zero tells that the last exited with 0.
func (s *shellReader) list(stmts []*syntax.Stmt, zero bool) {
	for i, st := range stmts {
		s.stmt(st, zero && i == len(stmts)-1)
		if s.errexit && !zero && !s.plain(st) {
			s.left = true
		}
	}
}

// stmt reads one command.
func (s *shellReader) stmt(n *syntax.Stmt, zero bool) {
	zero = zero && !n.Negated && !n.Background && !n.Coprocess
	for _, r := range n.Redirs {
		s.substitutions(r.Word)
		s.substitutions(r.Hdoc)
	}
	given, outs := s.redirects(n)
	switch c := n.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		s.substitutions(c)
		s.call(c, given, outs, zero)
	case *syntax.BinaryCmd:
		s.binary(c, zero)
	case *syntax.Block:
		s.list(c.Stmts, zero)
	case *syntax.Subshell:
		s.apart(func() { s.list(c.Stmts, zero) })
	case *syntax.IfClause:
		s.branches(c)
	case *syntax.WhileClause:
		s.list(c.Cond, false)
		s.round(func() { s.maybe(func() { s.list(c.Do, false) }) })
	case *syntax.ForClause:
		s.loop(c)
	case *syntax.CaseClause:
		s.substitutions(c.Word)
		for _, item := range c.Items {
			s.maybe(func() { s.list(item.Stmts, false) })
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.stmt(c.Stmt, zero)
		}
	case *syntax.FuncDecl:
		s.declare(c)
	case *syntax.DeclClause:
		s.substitutions(c)
		for _, a := range c.Args {
			s.assign(a)
		}
	default:
		s.substitutions(c)
	}
}

// binary reads two commands and what joins them.
func (s *shellReader) binary(c *syntax.BinaryCmd, zero bool) {
	switch c.Op {
	case syntax.AndStmt:
		was, at := s.unsure, s.at
		for _, part := range chain(c) {
			if s.unsure == was {
				at = s.at
			}
			s.stmt(part, zero)
			if !zero && !s.plain(part) {
				s.unsure = true
			}
		}
		if s.unsure != was && s.at != at {
			s.at = somewhere
		}
		s.unsure = was
	case syntax.OrStmt:
		s.stmt(c.X, false)
		s.maybe(func() { s.stmt(c.Y, zero) })
	case syntax.Pipe, syntax.PipeAll:
		s.apart(func() { s.stmt(c.X, false) })
		fed := s.echoed(c.X)
		s.apart(func() {
			if _, ok := c.Y.Cmd.(*syntax.CallExpr); ok {
				s.fed = fed
			}
			s.stmt(c.Y, zero)
			s.fed = nil
		})
	}
}

// echoed are the words that an echo prints.
func (s *shellReader) echoed(n *syntax.Stmt) []string {
	c, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(n.Redirs) > 0 || len(c.Args) == 0 || c.Args[0].Lit() != "echo" {
		return nil
	}
	var list []string
	for _, w := range c.Args[1:] {
		for _, v := range s.values(w) {
			list = append(list, strings.Fields(v)...)
		}
	}
	return plainWords(list)
}

// chain are the commands that && joins.
func chain(c *syntax.BinaryCmd) []*syntax.Stmt {
	list := []*syntax.Stmt{c.Y}
	for x := c.X; ; {
		in, ok := x.Cmd.(*syntax.BinaryCmd)
		if !ok || in.Op != syntax.AndStmt || x.Negated || len(x.Redirs) > 0 {
			list = append(list, x)
			slices.Reverse(list)
			return list
		}
		list, x = append(list, in.Y), in.X
	}
}

// plain tells whether a command ends well wherever it is run: what && joins to
// it is run too, whatever came of all in the end.
func (s *shellReader) plain(n *syntax.Stmt) bool {
	c, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || n.Negated || len(c.Args) == 0 {
		return false
	}
	for _, r := range n.Redirs {
		if r.Hdoc == nil && (r.Word == nil || r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), "/") || r.Op == syntax.RdrIn) {
			return false
		}
	}
	switch c.Args[0].Lit() {
	case "cd", "echo", "printf", "export", "set", "pwd", "true", ":", "umask":
		return true // a cd to where nothing is names what is not there
	case "cat":
		return len(c.Args) == 1
	case "mkdir":
		return len(c.Args) > 1 && c.Args[1].Lit() == "-p"
	}
	return false
}

// branches reads an if: its first condition is run, all else may be.
func (s *shellReader) branches(c *syntax.IfClause) {
	s.list(c.Cond, false)
	s.maybe(func() { s.list(c.Then, false) })
	for c = c.Else; c != nil; c = c.Else {
		s.maybe(func() {
			s.list(c.Cond, false)
			s.list(c.Then, false)
		})
	}
}

// round reads the body of a loop, which a break leaves.
func (s *shellReader) round(read func()) {
	skipped := s.skipped
	read()
	s.skipped = skipped
}

// loop reads a for: one over words that are there has at least one round.
func (s *shellReader) loop(c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		s.substitutions(c.Loop)
		s.round(func() { s.maybe(func() { s.list(c.Do, false) }) })
		return
	}
	var all []string
	for _, w := range iter.Items {
		s.substitutions(w)
		syntax.SplitBraces(w)
		if counted := counts(w); len(counted) > 0 {
			all = append(all, counted...)
		} else if len(all) < maxValues {
			all = append(all, s.values(w)...)
		}
	}
	all = all[:min(len(all), maxValues)]
	s.know(iter.Name.Value, all)
	some := slices.ContainsFunc(all, func(v string) bool { return v != "" && !strings.ContainsAny(v, "$`") })
	s.round(func() {
		if some {
			s.list(c.Do, false)
			return
		}
		s.maybe(func() { s.list(c.Do, false) })
	})
}

// counts are the numbers of a $(seq N).
func counts(w *syntax.Word) []string {
	if len(w.Parts) != 1 {
		return nil
	}
	sub, ok := w.Parts[0].(*syntax.CmdSubst)
	if !ok || len(sub.Stmts) != 1 {
		return nil
	}
	c, ok := sub.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) != 2 || c.Args[0].Lit() != "seq" {
		return nil
	}
	n, err := strconv.Atoi(c.Args[1].Lit())
	if err != nil {
		return nil
	}
	var list []string
	for i := range min(n, maxValues) {
		list = append(list, strconv.Itoa(i+1))
	}
	return list
}

// declare takes in a function. What it does counts where it is called; that it
// may do something counts here, because it may be called from anywhere.
func (s *shellReader) declare(f *syntax.FuncDecl) {
	if f.Name == nil || f.Body == nil { // bash has no function without a name; the parser has
		s.unknown()
		return
	}
	s.apart(func() { s.maybe(func() { s.stmt(f.Body, false) }) })
	if s.sure() {
		s.bodies[f.Name.Value] = body{f.Body, s.src}
	} else {
		delete(s.bodies, f.Name.Value)
	}
}

// substitutions reads the commands inside of words.
func (s *shellReader) substitutions(n syntax.Node) {
	switch n := n.(type) {
	case nil:
		return
	case *syntax.Word:
		if n == nil {
			return
		}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.apart(func() { s.list(n.Stmts, false) })
			return false
		case *syntax.ProcSubst:
			s.apart(func() { s.list(n.Stmts, false) })
			return false
		case *syntax.Stmt:
			s.apart(func() { s.maybe(func() { s.stmt(n, false) }) })
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Word != nil { // only where there is no value
				s.maybe(func() { s.substitutions(n.Exp.Word) })
				return false
			}
		}
		return true
	})
}

// leave takes in a command after which the rest may not be run.
func (s *shellReader) leave(raw, words []string) {
	if slices.Contains(raw[:len(raw)-len(words)], "exec") {
		s.left = true
	}
	switch words[0] {
	case "exit":
		told := s.below == 0 && !s.failed && len(words) > 1 && strings.Trim(words[1], "0") != "" && strings.Trim(words[1], "0123456789") == ""
		s.left = s.left || !told // one with another code is not the way that was taken
	case "return":
		s.skipped = true
		s.left = s.left || s.calls == 0
	case "break", "continue":
		s.skipped = true
	case "set":
		for _, w := range words[1:] {
			s.errexit = s.errexit || flags(w) && strings.Contains(w, "e") || w == "errexit"
			s.left = s.left || flags(w) && strings.ContainsAny(w, "nt") || w == "noexec"
		}
	}
}
