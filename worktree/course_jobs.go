package worktree

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// job follows a command in the background whose status the list at hand ends
// with; zero tells that it is 0.
func (c *course) job(s *syntax.Stmt, zero bool) fate {
	front := *s
	front.Background = false
	return c.apart(zero, func() fate { return c.stmt(&front, zero) })
}

// awaited tells whether what comes after a command in the background only waits
// for it: wait $!, or the same by way of a variable.
func (c *course) awaited(rest []*syntax.Stmt) bool {
	if _, own := c.bodies["wait"]; own || strings.Contains(c.src, "alias") {
		return false
	}
	number := []string{"$!"}
	if len(rest) == 2 {
		set, ok := rest[0].Cmd.(*syntax.CallExpr)
		if !ok || len(set.Args) > 0 || len(set.Assigns) != 1 || rest[0].Negated || rest[0].Background {
			return false
		}
		name, value, _ := strings.Cut(c.text(set), "=")
		if strings.Trim(value, `"`) != "$!" || !assignment(name+"=") {
			return false
		}
		number, rest = []string{"$" + name, "${" + name + "}"}, rest[1:]
	}
	if len(rest) != 1 || rest[0].Negated || rest[0].Background {
		return false
	}
	words := c.spelled(rest[0])
	return len(words) == 2 && words[0] == "wait" && oneOf(words[1], number)
}
