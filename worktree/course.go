package worktree

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCourse is how many commands of a script are followed, functions and loops
// and all.
const maxCourse = 20_000

// fate is what becomes of a failure of a command inside of another one.
type fate int

const (
	lost   fate = iota // the whole can exit with 0 all the same
	soft               // the status tells, and set -e does not look at it
	told               // the status tells
	ends               // the shell ends, and its status tells
	absent             // there is no such command in it
)

// course follows a shell command in the order in which it runs: what becomes of
// a failure of what is looked for, and where that stands.
type course struct {
	is       func(words []string) bool
	src      string
	bodies   map[string]*syntax.Stmt // of functions
	active   map[*syntax.Stmt]bool   // that are being followed
	shells   int                     // around this one
	left     *int                    // of maxCourse
	places   *[]string               // where it stands, each time
	at       string
	strict   bool // set -e
	pipefail bool
	unheard  int // set -e does not look in here
}

// follow follows a whole command. It tells also whether it could be read.
func follow(command string, is func(words []string) bool) (end fate, places []string, ok bool) {
	left := maxCourse
	c := &course{is: is, left: &left, places: &places}
	end = c.script(command, &ok)
	return end, places, ok
}

// script is of a whole text.
func (c *course) script(text string, ok *bool) fate {
	end := lost
	err := parse(text, func(file *syntax.File) {
		c.src, c.bodies, c.active = text, map[string]*syntax.Stmt{}, map[*syntax.Stmt]bool{}
		syntax.Walk(file, func(n syntax.Node) bool {
			if f, is := n.(*syntax.FuncDecl); is && f.Name != nil {
				c.bodies[f.Name.Value] = f.Body
			}
			return true
		})
		end = c.list(file.Stmts)
	})
	*ok = err == nil
	return end
}

// list is of commands one after the other.
func (c *course) list(stmts []*syntax.Stmt) fate {
	all := absent
	for i, s := range stmts {
		at := c.at
		f := c.stmt(s)
		if c.at != at && c.onlyIf(s) {
			c.at = somewhere
		}
		if f == told && c.strict && c.unheard == 0 {
			f = ends
		}
		if (f == soft || f == told) && i < len(stmts)-1 {
			f = c.kept(stmts[i+1:])
		}
		all = min(all, f)
	}
	return all
}

// onlyIf tells whether something else comes first in a command, and may keep the
// rest of it from being run.
func (c *course) onlyIf(s *syntax.Stmt) bool {
	n, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok {
		return false
	}
	for {
		x, ok := n.X.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		n = x
	}
	return !oneOf(firstOf(c.words(n.X)), []string{"cd", "pushd"})
}

// stmt is of one command.
func (c *course) stmt(s *syntax.Stmt) fate {
	if *c.left--; *c.left < 0 {
		return lost
	}
	switch {
	case s.Background:
		if c.apart(func() fate { return c.command(s.Cmd) }) == absent {
			return absent
		}
		return lost
	case s.Negated:
		if f := c.aside(func() fate { return c.command(s.Cmd) }); f >= ends {
			return f
		}
		return lost
	}
	return c.command(s.Cmd)
}

// aside follows a part that set -e does not look at.
func (c *course) aside(part func() fate) fate {
	c.unheard++
	defer func() { c.unheard-- }()
	return part()
}

// apart follows a part in a shell of its own: what it changes is not seen
// outside, and its end is only a status.
func (c *course) apart(part func() fate) fate {
	at, strict, pipefail := c.at, c.strict, c.pipefail
	defer func() { c.at, c.strict, c.pipefail = at, strict, pipefail }()
	if f := part(); f != ends {
		return f
	}
	return told
}

// perhaps follows a part that may not run: where the shell stands then is not
// known.
func (c *course) perhaps(part func() fate) fate {
	at := c.at
	f := part()
	if c.at != at {
		c.at = somewhere
	}
	return f
}

func (c *course) command(cmd syntax.Command) fate {
	switch n := cmd.(type) {
	case *syntax.CallExpr:
		return c.call(n)
	case *syntax.BinaryCmd:
		return c.binary(n)
	case *syntax.Block:
		return c.list(n.Stmts)
	case *syntax.Subshell:
		return c.apart(func() fate { return c.list(n.Stmts) })
	case *syntax.IfClause:
		return c.branch(n)
	case *syntax.WhileClause:
		return min(last(c.aside(func() fate { return c.list(n.Cond) })), last(c.perhaps(func() fate { return c.list(n.Do) })))
	case *syntax.ForClause:
		return last(c.perhaps(func() fate { return c.list(n.Do) }))
	case *syntax.CaseClause:
		all := absent
		for _, item := range n.Items {
			all = min(all, c.perhaps(func() fate { return c.list(item.Stmts) }))
		}
		return all
	case *syntax.TimeClause:
		if n.Stmt != nil {
			return c.stmt(n.Stmt)
		}
	case *syntax.CoprocClause:
		if n.Stmt != nil && c.apart(func() fate { return c.stmt(n.Stmt) }) != absent {
			return lost
		}
	}
	return absent
}

// last is of a part that runs again and again: only the last status stays.
func last(f fate) fate {
	if f < ends {
		return lost
	}
	return f
}

// binary is of two commands with a sign between them.
func (c *course) binary(n *syntax.BinaryCmd) fate {
	if pipes(n) {
		return c.piped(n)
	}
	x := c.aside(func() fate { return c.stmt(n.X) })
	if n.Op == syntax.AndStmt {
		if x == told {
			x = soft
		}
		return min(x, c.stmt(n.Y))
	}
	y := c.perhaps(func() fate { return c.stmt(n.Y) })
	if x == soft || x == told {
		x = c.never([]*syntax.Stmt{n.Y})
	}
	return min(x, y)
}

// piped is of two commands in a pipe: only the last one's status stays.
func (c *course) piped(n *syntax.BinaryCmd) fate {
	x := c.apart(func() fate { return c.stmt(n.X) })
	y := c.apart(func() fate { return c.stmt(n.Y) })
	switch {
	case x == absent:
	case !c.pipefail:
		x = lost
	case x == soft:
		x = told
	}
	return min(x, y)
}

// branch is of an if: a failure in its condition leads to the other branch.
func (c *course) branch(n *syntax.IfClause) fate {
	all := min(c.condition(n), c.perhaps(func() fate { return c.list(n.Then) }))
	if n.Else != nil {
		all = min(all, c.perhaps(func() fate { return c.branch(n.Else) }))
	}
	return all
}

// condition is of the condition of an if.
func (c *course) condition(n *syntax.IfClause) fate {
	other := []*syntax.Stmt(nil) // what runs after a failure
	if n.Else != nil && len(n.Else.Cond) == 0 {
		other = n.Else.Then
	}
	part := func() fate { return c.list(n.Cond) }
	if len(n.Cond) == 1 && n.Cond[0].Negated {
		other = n.Then
		part = func() fate { return c.command(n.Cond[0].Cmd) }
	}
	if f := c.aside(part); f != soft && f != told {
		return f
	}
	return c.never(other)
}

// call is of one simple command: what is looked for, or a shell, a function or a
// substitution that has it.
func (c *course) call(n *syntax.CallExpr) fate {
	if len(n.Args) == 0 {
		return c.assigned(n.Assigns)
	}
	list := split(c.src[n.Pos().Offset():n.End().Offset()])
	if len(list) != 1 {
		return absent
	}
	words, _ := program(list[0].words)
	if len(words) == 0 {
		return absent
	}
	switch words[0] {
	case "cd", "pushd":
		c.at = stood(c.at, firstOf(plainWords(words[1:])))
		return absent
	case "popd":
		c.at = somewhere
		return absent
	case "set", "shopt":
		mode := shellMode{strict: c.strict, pipefail: c.pipefail}
		mode.set(words[1:])
		c.strict, c.pipefail = mode.strict, mode.pipefail
		return absent
	}
	if script, ok := shellScript(words); ok && c.shells < maxShells {
		return c.inner(script, words[0] == "eval")
	}
	if body := c.bodies[words[0]]; body != nil {
		return c.function(body)
	}
	if !c.is(words) {
		return absent
	}
	if at := worksAt(c.at, words); len(*c.places) < maxCourse {
		*c.places = append(*c.places, at)
	}
	return told
}

// inner is of a script inside of this one; that of an eval is a part of it.
func (c *course) inner(script string, here bool) fate {
	in := &course{is: c.is, left: c.left, places: c.places, at: c.at, shells: c.shells + 1}
	if here {
		in.strict, in.pipefail, in.unheard = c.strict, c.pipefail, c.unheard
	}
	read := false
	f := in.script(script, &read)
	if here {
		c.at, c.strict, c.pipefail = in.at, in.strict, in.pipefail
		return f
	}
	if f == ends {
		return told
	}
	return f
}

// function is of the body of a function. One that calls itself is not followed
// for ever.
func (c *course) function(body *syntax.Stmt) fate {
	if c.active[body] {
		return absent
	}
	c.active[body] = true
	defer delete(c.active, body)
	f := c.stmt(body)
	if f == ends && says(body, "return") {
		return told
	}
	return f
}

// assigned is of assignments alone: their status is that of the last
// substitution in them.
func (c *course) assigned(list []*syntax.Assign) fate {
	all := absent
	for _, a := range list {
		if a.Value == nil {
			continue
		}
		syntax.Walk(a.Value, func(n syntax.Node) bool {
			sub, ok := n.(*syntax.CmdSubst)
			if ok {
				if all != absent {
					all = lost
				}
				all = min(all, c.apart(func() fate { return c.list(sub.Stmts) }))
			}
			return !ok
		})
	}
	return all
}

// kept tells what becomes of a status, seen from the commands after it: most
// lose it.
func (c *course) kept(rest []*syntax.Stmt) fate {
	if f := c.never(rest); f != lost {
		return f
	}
	set, ok := rest[0].Cmd.(*syntax.CallExpr)
	if !ok || len(set.Args) > 0 || len(set.Assigns) != 1 || len(rest) < 2 {
		return lost
	}
	name, found := strings.CutSuffix(c.src[set.Pos().Offset():set.End().Offset()], "=$?")
	if !found {
		return lost
	}
	words := c.words(rest[len(rest)-1])
	if len(words) != 2 || words[0] != "exit" || words[1] != "$"+name && words[1] != "${"+name+"}" {
		return lost
	}
	for _, s := range rest[1 : len(rest)-1] {
		if says(s, name, "exit", "return", "exec", "kill", "eval", "source", ".", "trap", "read", "unset", "export", "printf") {
			return lost
		}
	}
	return ends
}

// never tells whether commands that run after a failure never end with 0.
func (c *course) never(list []*syntax.Stmt) fate {
	for i, s := range list {
		f := c.fails(s, i == 0)
		if f == ends || f != lost && i == len(list)-1 {
			return f
		}
	}
	return lost
}

// fails tells it of one command; the first one sees the status of the failure.
func (c *course) fails(s *syntax.Stmt, first bool) fate {
	if s.Negated || s.Background {
		return lost
	}
	switch n := s.Cmd.(type) {
	case *syntax.Block:
		if !first && len(n.Stmts) > 0 {
			return max(c.never(n.Stmts[1:]), c.fails(n.Stmts[0], false))
		}
		return c.never(n.Stmts)
	case *syntax.Subshell:
		return min(c.never(n.Stmts), told)
	case *syntax.BinaryCmd:
		if n.Op == syntax.AndStmt {
			return min(max(c.fails(n.X, first), c.fails(n.Y, false)), soft)
		}
		return lost
	}
	words := c.words(s)
	if len(words) == 0 {
		return lost
	}
	switch words[0] {
	case "false":
		return told
	case "exit", "return":
		if words[0] == "return" && len(c.active) == 0 { // outside of a function it does nothing
			return lost
		}
		if len(words) == 1 || words[1] == "$?" {
			if first {
				return ends
			}
			return lost
		}
		if code, err := strconv.Atoi(words[1]); err == nil && code%256 != 0 {
			return ends
		}
	}
	return lost
}

// words are those of a simple command.
func (c *course) words(s *syntax.Stmt) []string {
	n, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(n.Args) == 0 || len(n.Assigns) > 0 {
		return nil
	}
	if list := split(c.src[n.Pos().Offset():n.End().Offset()]); len(list) == 1 {
		return list[0].words
	}
	return nil
}

// says tells whether one of some words stands in a command, by itself or as the
// name of a variable that is set.
func says(s *syntax.Stmt, words ...string) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			found = found || slices.Contains(words, n.Lit())
		case *syntax.Assign:
			found = found || n.Name != nil && slices.Contains(words, n.Name.Value)
		}
		return !found
	})
	return found
}

// stood is where a shell stands after a change of its directory.
func stood(at, to string) string {
	to = strings.TrimPrefix(strings.TrimPrefix(to, "$PWD/"), "${PWD}/")
	switch {
	case to == "$PWD" || to == "${PWD}":
		return at
	case to == "$(git rev-parse --show-toplevel)" && !path.IsAbs(at) && at != somewhere:
		return ""
	case strings.ContainsAny(to, "$`~*") || to == "-" || to == "":
		return somewhere
	case strings.HasPrefix(to, "/"):
		return path.Clean(to)
	case at == somewhere:
		return at
	}
	return path.Join(at, to)
}
