package worktree

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fate is what becomes of a failure of what is looked for inside of a command.
type fate int

const (
	lost   fate = iota // the whole can exit with 0 all the same
	soft               // the status tells, and set -e does not look at it
	told               // the status tells
	ends               // the shell ends, and its status tells
	absent             // there is no such command in it
)

// carried tells what becomes of a status, seen from the commands after it: most
// lose it.
func (c *course) carried(rest []*syntax.Stmt) fate {
	if f := c.never(rest, true); f != lost {
		return f
	}
	set, ok := rest[0].Cmd.(*syntax.CallExpr)
	if !ok || len(set.Args) > 0 || len(set.Assigns) != 1 || len(rest) < 2 {
		return lost
	}
	name, value, found := strings.Cut(c.src[set.Pos().Offset():set.End().Offset()], "=")
	if !found || !c.status(value) {
		return lost
	}
	words := c.spelled(rest[len(rest)-1])
	if len(words) != 2 || words[0] != "exit" || words[1] != "$"+name && words[1] != "${"+name+"}" {
		return lost
	}
	for _, s := range rest[1 : len(rest)-1] {
		if c.mentions(s, nil, append([]string{name, "kill", "trap", "read", "unset", "export", "printf"}, leavers...)) {
			return lost
		}
	}
	return ends
}

// never tells whether commands that run after a failure never end with 0; wrong
// tells that the first one sees its status.
func (c *course) never(list []*syntax.Stmt, wrong bool) fate {
	for i, s := range list {
		f, last := c.fails(s, wrong && i == 0), i == len(list)-1
		if f == ends || f != lost && last {
			return f
		}
		if c.ahead > maxCourse || c.mentions(s, nil, leavers) { // it may end with 0 before
			return lost
		}
	}
	return lost
}

// leavers are words by which a shell may be left.
var leavers = []string{"exit", "return", "exec", "eval", "source", "."}

// fails tells it of one command.
func (c *course) fails(s *syntax.Stmt, wrong bool) fate {
	if c.ahead++; s.Negated || s.Background || c.ahead > maxCourse {
		return lost
	}
	switch n := s.Cmd.(type) {
	case *syntax.Block:
		return c.never(n.Stmts, wrong)
	case *syntax.Subshell:
		return min(c.never(n.Stmts, wrong), told)
	case *syntax.IfClause:
		if wrong && len(n.Cond) == 1 && !n.Cond[0].Negated && c.compares(c.spelled(n.Cond[0]), "-ne", "-gt", "!=") {
			return c.never(n.Then, false)
		}
		return lost
	case *syntax.BinaryCmd:
		x := c.fails(n.X, wrong)
		switch {
		case x == lost && c.mentions(n.X, nil, leavers):
			return lost
		case n.Op == syntax.OrStmt && x != lost:
			return c.fails(n.Y, true)
		case n.Op != syntax.AndStmt:
			return lost
		}
		return min(max(x, c.fails(n.Y, false)), soft)
	}
	words := c.spelled(s)
	if len(words) == 0 {
		return lost
	}
	if _, own := c.bodies[words[0]]; own {
		return lost // a function of that name
	}
	switch words[0] {
	case "false":
		return told
	case "test", "[":
		if wrong && c.compares(words, "-eq", "=", "==") {
			return told
		}
	case "exit", "return":
		if words[0] == "return" && c.calls == 0 { // outside of a function it does nothing
			return lost
		}
		if c.nonzero(words, wrong) {
			return ends
		}
	}
	return lost
}

// nonzero tells whether an exit or a return is with another code than 0; after a
// failure it is, if it names none.
func (c *course) nonzero(words []string, wrong bool) bool {
	switch {
	case len(words) == 1:
		return wrong && !c.drained
	case c.status(words[1]):
		return wrong
	}
	code, err := strconv.Atoi(words[1])
	return err == nil && code%256 != 0
}

// status tells whether a word is the status of the command before, in which what
// is looked for stands.
func (c *course) status(word string) bool {
	word = strings.Trim(word, `"`)
	return word == "$?" && !c.drained || c.pipe >= 0 && word == "${PIPESTATUS["+strconv.Itoa(c.pipe)+"]}"
}

// compares tells whether a test compares the status with 0, in such a way.
func (c *course) compares(words []string, ways ...string) bool {
	switch firstOf(words) {
	case "test":
	case "[":
		if words[len(words)-1] != "]" {
			return false
		}
		words = words[:len(words)-1]
	default:
		return false
	}
	return len(words) == 4 && c.status(words[1]) && oneOf(words[2], ways) && words[3] == "0"
}

// spelled are the words of a simple command as they are written.
func (c *course) spelled(s *syntax.Stmt) []string {
	n, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(n.Args) == 0 || len(n.Assigns) > 0 {
		return nil
	}
	if list := split(c.src[n.Pos().Offset():n.End().Offset()]); len(list) == 1 {
		return list[0].words
	}
	return nil
}

// mentions tells whether one of some words stands in a command or in a function
// that it calls, by itself or as the name of a variable that is set. Where too
// much was asked before it says yes, after which nobody trusts the command.
func (c *course) mentions(n syntax.Node, met map[string]bool, words []string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c.asked++; c.asked > maxAsking {
			found = true
		}
		switch n := n.(type) {
		case *syntax.Word:
			name := n.Lit()
			found = found || slices.Contains(words, name)
			if b, ok := c.bodies[name]; ok && !found && !met[name] {
				if met == nil {
					met = map[string]bool{}
				}
				met[name] = true
				found = b.stmt == nil || c.mentions(b.stmt, met, words)
			}
		case *syntax.Assign:
			found = found || n.Name != nil && slices.Contains(words, n.Name.Value)
		}
		return !found
	})
	return found
}
