package worktree

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// branch follows an if: its first condition is run, all else may be.
func (c *course) branch(n *syntax.IfClause, zero bool) fate {
	near := c.near()
	all := c.condition(n)
	f, came := c.maybe(func() fate { return c.list(n.Then, zero) })
	all = min(all, f)
	if n.Else == nil {
		return all
	}
	f, other := c.maybe(func() fate {
		if len(n.Else.Cond) == 0 {
			return c.list(n.Else.Then, zero)
		}
		return c.branch(n.Else, zero)
	})
	c.come = c.come || near && came && other
	return min(all, f)
}

// condition follows the condition of an if: a failure in it leads to the other
// branch.
func (c *course) condition(n *syntax.IfClause) fate {
	other, wrong := []*syntax.Stmt(nil), true // what runs after a failure, and sees it
	if n.Else != nil && len(n.Else.Cond) == 0 {
		other = n.Else.Then
	}
	cond := n.Cond
	if len(cond) == 1 && cond[0].Negated {
		turned := *cond[0]
		turned.Negated = false
		cond, other, wrong = []*syntax.Stmt{&turned}, n.Then, false
	}
	f := c.aside(func() fate { return c.list(cond, false) })
	if f == soft || f == told {
		return c.never(other, wrong)
	}
	return f
}

// cases follows a case: each of its branches may be run.
func (c *course) cases(n *syntax.CaseClause, zero bool) fate {
	c.words(n.Word)
	all := absent
	for _, item := range n.Items {
		f, _ := c.maybe(func() fate { return c.list(item.Stmts, zero) })
		all = min(all, f)
	}
	return all
}

// round follows the condition and the body of a loop, which a break leaves; once
// tells that the body is run at least once. Where the last round leads the shell
// nobody knows.
func (c *course) round(cond, body []*syntax.Stmt, once bool) fate {
	was := c.shell
	c.rounds++
	all := c.aside(func() fate { return c.list(cond, false) })
	if once {
		all = min(all, c.list(body, false))
		c.doubt(was)
	} else {
		f, _ := c.maybe(func() fate { return c.list(body, false) })
		all = min(all, f)
	}
	c.skipped, c.rounds = was.skipped, was.rounds
	return last(all)
}

// last is of a part that runs again and again: only the last status stays.
func last(f fate) fate {
	if f < ends {
		return lost
	}
	return f
}

// loop follows a for: one over words that are there has at least one round.
func (c *course) loop(n *syntax.ForClause) fate {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok {
		c.words(n.Loop)
		return c.round(nil, n.Do, false)
	}
	var all []string
	for _, w := range iter.Items {
		c.words(w)
		syntax.SplitBraces(w)
		if counted := counts(w); len(counted) > 0 {
			all = append(all, counted...)
		} else if len(all) < maxValues {
			all = append(all, c.values(w)...)
		}
	}
	all = all[:min(len(all), maxValues)]
	c.know(iter.Name.Value, all)
	return c.round(nil, n.Do, slices.ContainsFunc(all, func(v string) bool { return v != "" && !strings.ContainsAny(v, "$`") }))
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
	call, ok := sub.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 2 || call.Args[0].Lit() != "seq" {
		return nil
	}
	n, err := strconv.Atoi(call.Args[1].Lit())
	if err != nil {
		return nil
	}
	var list []string
	for i := range min(n, maxValues) {
		list = append(list, strconv.Itoa(i+1))
	}
	return list
}
