package worktree

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxCalls = 8 // functions inside of each other that are followed

// call follows one simple command: what the shell does itself, another shell, a
// function, or what the asker knows.
func (c *course) call(n *syntax.CallExpr, o order) fate {
	wrong := c.wrong
	c.wrong = false
	c.words(n)
	for _, w := range n.Args {
		syntax.SplitBraces(w)
		o.raw = append(o.raw, c.values(w)...)
	}
	o.words, _ = program(o.raw)
	if len(o.outs) > 0 || len(o.words) > 0 {
		c.ask.redirected(o)
	}
	if len(o.words) == 0 {
		return absent
	}
	c.seen++
	f := c.moved(n, o)
	c.leave(o, wrong)
	return f
}

func (c *course) run(o order) fate {
	words := o.words
	if b, ok := c.bodies[o.raw[0]]; ok && (c.naive || len(o.raw) == len(words)) { // one with the name of a wrapper is the asker's to doubt
		return c.called(b, o)
	}
	switch words[0] {
	case "cd", "pushd", "popd":
		c.goes(words)
		return absent
	case "read", "printf":
		c.adrift = c.adrift || slices.Contains(words, "CDPATH")
	case "set", "shopt":
		c.set(words)
	}
	if script, ok := shellScript(words); ok {
		return c.inner(script, o.zero, words[0] == "eval")
	}
	return c.ask.simple(o)
}

// set takes in set -e, set -o pipefail and their like.
func (c *course) set(words []string) {
	if words[0] == "shopt" && slices.ContainsFunc(words, func(w string) bool { return flags(w) && strings.Contains(w, "u") }) { // it takes options away
		c.strict, c.pipefail = c.strict && !slices.Contains(words, "errexit"), c.pipefail && !slices.Contains(words, "pipefail")
		return
	}
	mode := shellMode{strict: c.strict, pipefail: c.pipefail}
	mode.set(words[1:])
	c.strict, c.pipefail = mode.strict, mode.pipefail
}

// inner follows the script of a shell inside of this one, which stands where
// this one stands; same = it is this shell that runs it.
func (c *course) inner(script string, zero, same bool) fate {
	if !c.spend(parseCost * len(script)) {
		return lost
	}
	c.shells++
	defer func() { c.shells-- }()
	if same {
		return c.read(script, zero)
	}
	return c.apart(zero, func() fate {
		c.bodies, c.own, c.calls = map[string]body{}, true, 0
		c.strict, c.pipefail, c.unheard = false, false, 0
		return c.read(script, zero)
	})
}

// argNames are the variables for what a function is given.
var argNames = []string{"@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// called follows a function, as far as it is known.
func (c *course) called(b body, o order) fate {
	switch {
	case b.stmt == nil:
		c.ask.unknown()
		c.left, c.at = true, somewhere
		return lost
	case b.doubt:
		c.ask.unknown()
		f, _ := c.maybe(func() fate { return c.function(b, o.raw[1:], o.zero) })
		return f
	}
	return c.function(b, o.raw[1:], o.zero)
}

// function follows a function where it is called.
func (c *course) function(b body, args []string, zero bool) fate {
	if c.calls >= maxCalls || !c.spend(parseCost*int(b.stmt.End().Offset()-b.stmt.Pos().Offset())) {
		c.ask.unknown()
		return lost
	}
	src, skipped, back, before := c.src, c.skipped, c.back, map[string][]string{}
	for i, name := range argNames {
		before[name] = c.vars[name]
		switch {
		case i < 2:
			c.know(name, args[:min(len(args), maxValues)])
		case i-2 < len(args):
			c.know(name, args[i-2:i-1])
		default:
			delete(c.vars, name)
		}
	}
	c.calls++
	c.src, c.back = b.src, zero
	f := c.stmt(b.stmt, zero)
	c.calls--
	c.src, c.skipped, c.back = src, skipped, back
	maps.Copy(c.vars, before)
	if f == ends && c.mentions(b.stmt, nil, []string{"return"}) {
		return told
	}
	return f
}

// declare takes in a function. What it does counts where it is called; that it
// may do something counts here, because it may be called from anywhere.
func (c *course) declare(f *syntax.FuncDecl) {
	if f.Name == nil || f.Body == nil { // bash has no function without a name; the parser has
		c.ask.unknown()
		return
	}
	c.quiet++
	c.apart(false, func() fate { return c.perhaps(f.Body) })
	c.quiet--
	if !c.own && c.spend(varCost*len(c.bodies)) {
		c.bodies, c.own = maps.Clone(c.bodies), true
	}
	_, another := c.bodies[f.Name.Value]
	switch {
	case !c.own:
	case c.sure():
		c.bodies[f.Name.Value] = body{stmt: f.Body, src: c.src}
	case another:
		c.bodies[f.Name.Value] = body{}
	default:
		c.bodies[f.Name.Value] = body{stmt: f.Body, src: c.src, doubt: true}
	}
}

// words follows the commands inside of words: nobody hears how they end.
func (c *course) words(n syntax.Node) {
	c.quiet++
	c.within(n, func(sub *syntax.CmdSubst) { c.substitution(sub, false) })
	c.quiet--
}

// within finds the commands inside of words.
func (c *course) within(n syntax.Node, found func(*syntax.CmdSubst)) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			found(n)
			return false
		case *syntax.ProcSubst:
			c.apart(false, func() fate { return c.list(n.Stmts, false) })
			return false
		case *syntax.Stmt:
			c.apart(false, func() fate { return c.perhaps(n) })
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Word != nil { // only where there is no value
				c.maybe(func() fate { c.within(n.Exp.Word, found); return absent })
				return false
			}
		}
		return true
	})
}

// substitution follows a $( ), in which set -e is off.
func (c *course) substitution(n *syntax.CmdSubst, zero bool) fate {
	return c.apart(zero, func() fate {
		c.strict = false
		return c.list(n.Stmts, zero)
	})
}

// assigned follows assignments alone: their status is that of the last
// substitution in them.
func (c *course) assigned(n *syntax.CallExpr, zero bool) fate {
	subs, all := 0, absent
	syntax.Walk(n, func(n syntax.Node) bool {
		_, ok := n.(*syntax.CmdSubst)
		if ok {
			subs++
		}
		return !ok
	})
	c.within(n, func(sub *syntax.CmdSubst) {
		if all != absent {
			all = lost
		}
		all = min(all, c.substitution(sub, zero && subs == 1))
	})
	for _, a := range n.Assigns {
		c.assign(a)
	}
	return all
}

// leave takes in a command after which the rest may not be run.
func (c *course) leave(o order, wrong bool) {
	words := o.words
	c.left = c.left || slices.Contains(o.raw[:len(o.raw)-len(words)], "exec")
	way := words[0]
	if way == "return" && c.calls == 0 { // it ends a script that another one reads, or does nothing
		way = "exit"
	}
	switch way {
	case "exit", "logout": // one with another code is not the way that was taken
		c.left = c.left || !c.good || !c.nonzero(words, wrong)
	case "return":
		c.skipped = c.skipped || !c.back || !c.nonzero(words, wrong)
	case "break", "continue":
		c.skipped = c.skipped || c.rounds > 0
	case "kill":
		c.killed = c.killed || slices.ContainsFunc(words[1:], func(w string) bool { return w == "$$" || w == "0" || strings.Contains(w, "BASHPID") })
		c.left = c.left || c.killed
	}
}

// echoed are the words that an echo prints.
func (c *course) echoed(n *syntax.Stmt) []string {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(n.Redirs) > 0 || len(call.Args) == 0 || call.Args[0].Lit() != "echo" {
		return nil
	}
	var list []string
	for _, w := range call.Args[1:] {
		for _, v := range c.values(w) {
			list = append(list, strings.Fields(v)...)
		}
	}
	return plainWords(list)
}

// reads tells whether a redirection gives a command something to read.
func reads(r *syntax.Redirect) bool {
	return slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}, r.Op)
}

// shown is the text that a cat hands on, where it is written there.
func (c *course) shown(n *syntax.Stmt) []string {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || len(n.Redirs) != 1 || n.Redirs[0].Hdoc == nil {
		return nil
	}
	if _, own := c.bodies["cat"]; own {
		return nil
	}
	return []string{c.document(n.Redirs[0].Hdoc)}
}
