package recipe

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runs knows the commands that run a text: a value in it is one word still, and
// what that word holds would run.
func (w *walker) runs(args []*syntax.Word) {
	if len(args) < 2 {
		return
	}
	if p, found := w.commandText(args); found {
		var spots []*spot
		for _, text := range p.texts {
			spots = append(spots, w.direct(text)...)
		}
		w.code(p, spots, len(p.texts) == 1 && (w.alone(p.texts[0]) || w.repeats(p.texts[0])))
	}
	switch nameOf(args[0]) {
	case "env", "sudo", "doas":
		for _, a := range args[1:] {
			if name, _, found := strings.Cut(w.source(a), "="); found {
				w.bashVariable(name, a)
			}
		}
	}
}

// commandText is what a command runs, be it a builtin of bash or a program.
func (w *walker) commandText(args []*syntax.Word) (program, bool) {
	if len(args) == 0 {
		return program{}, false
	}
	rest := args[1:]
	shell := program{name: nameOf(args[0]), language: language{shell: true}}
	switch shell.name {
	case "eval":
		shell.texts, shell.cure = rest, noEval
	case "trap":
		for len(rest) > 0 && strings.HasPrefix(w.source(rest[0]), "-") {
			rest = rest[1:]
		}
		shell.texts, shell.cure = rest[:min(len(rest), 1)], `put it in a variable and name that: v=VALUE; trap '… "$v" …' EXIT`
	case "compgen", "complete", "mapfile", "readarray":
		shell.texts, shell.cure = w.callbacks(rest, shell.name), "write a fixed text there"
	case "source", ".":
		shell.cure = `call a function, or run a file of your own: . ./file VALUE`
		if len(rest) > 0 {
			shell.texts = substituted(rest[0])
			shell.reads = rest[0].Lit() == "/dev/stdin"
		}
	case "ssh":
		return w.remote(rest), true
	default:
		if p, found := w.joined(shell.name, rest); found {
			return p, true
		}
		return w.carried(args)
	}
	return shell, true
}

// callbacks are the arguments of options that bash runs.
func (w *walker) callbacks(args []*syntax.Word, name string) (texts []*syntax.Word) {
	for i, a := range args[:max(len(args)-1, 0)] {
		if option := a.Lit(); option == "-C" || option == "-W" && strings.HasPrefix(name, "comp") {
			texts = append(texts, args[i+1])
		}
	}
	return texts
}

// substituted is a word that is the output of commands, <(…); nil otherwise.
func substituted(word *syntax.Word) []*syntax.Word {
	for _, part := range word.Parts {
		if _, ok := part.(*syntax.ProcSubst); ok {
			return []*syntax.Word{word}
		}
	}
	return nil
}

// input looks at what a shell or another interpreter reads.
func (w *walker) input(n *syntax.Stmt) {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(n.Redirs) == 0 {
		return
	}
	p, found := w.commandText(call.Args)
	if !found || !p.reads {
		return
	}
	for _, r := range n.Redirs {
		switch {
		case r.Hdoc != nil:
			spots := w.direct(r.Hdoc)
			w.code(p, spots, len(spots) == 1 && strings.TrimSpace(r.Hdoc.Lit()) == w.text[spots[0].start:spots[0].end])
		case r.Word != nil:
			w.code(p, w.direct(r.Word), w.alone(r.Word))
		}
	}
}

// pipe looks at what is said to a shell or another interpreter.
func (w *walker) pipe(n *syntax.BinaryCmd) {
	call, ok := n.Y.Cmd.(*syntax.CallExpr)
	if !ok || n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
		return
	}
	if p, found := w.commandText(call.Args); found && p.reads {
		w.code(p, w.spoken(n.X), w.echoes(n.X))
	}
}

// repeats tells whether a word is what a command says that says one value.
func (w *walker) repeats(a *syntax.Word) bool {
	if len(a.Parts) != 1 {
		return false
	}
	p, ok := a.Parts[0].(*syntax.ProcSubst)
	return ok && len(p.Stmts) == 1 && w.echoes(p.Stmts[0])
}

// echoes tells whether a command says one value and nothing else.
func (w *walker) echoes(n *syntax.Stmt) bool {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || !w.alone(call.Args[len(call.Args)-1]) {
		return false
	}
	between := call.Args[1 : len(call.Args)-1]
	if nameOf(call.Args[0]) == "printf" && len(between) > 0 && slices.Contains([]string{"%s", `%s\n`}, strings.TrimRight(w.source(between[0]), `"'`)) {
		between = between[1:]
	}
	return !slices.ContainsFunc(between, func(a *syntax.Word) bool { return !strings.HasPrefix(w.source(a), "-") })
}

// code judges values in a text that a program runs: alone, a value is meant to
// be that text; among others it is an accident.
func (w *walker) code(p program, spots []*spot, alone bool) {
	cure := p.cure
	if p.reads && p.fed != "" {
		cure = p.fed
	}
	what := p.name
	if len(p.texts) > 0 && p.letters == "c" && p.shell {
		what += " -c"
	}
	for _, sp := range spots {
		if sp.hole.Err != nil {
			continue
		}
		hint := strings.NewReplacer("NAME", p.name, "VALUE", sp.hole.Value.String()).Replace(cure)
		switch {
		case !p.shell:
			sp.warned = refusal{"the value becomes a part of a program for " + p.name + ", and can change what that does", hint}
		case alone:
			sp.warned = refusal{what + " runs the value as a script", "this is right only for a value that is meant to be a script; otherwise " + hint}
		default:
			sp.refused = refusal{what + " would run what it holds as a part of a script", hint}
		}
	}
}

// alone tells whether a word is one placeholder, with or without quotes.
func (w *walker) alone(a *syntax.Word) bool {
	start, end := int(a.Pos().Offset()), int(a.End().Offset())
	spots := w.in(start, end)
	return len(spots) == 1 && strings.Trim(w.text[start:spots[0].start]+w.text[spots[0].end:end], "\"' ") == ""
}

// direct are the spots whose values become a part of a text: its own, and those
// that a command in it only repeats.
func (w *walker) direct(n syntax.Node) (spots []*spot) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			in := w.in(int(n.Pos().Offset()), int(n.End().Offset()))
			for i := range in {
				spots = append(spots, &in[i])
			}
		case *syntax.CmdSubst:
			for _, stmt := range n.Stmts {
				spots = append(spots, w.spoken(stmt)...)
			}
			return false
		case *syntax.ProcSubst:
			for _, stmt := range n.Stmts {
				spots = append(spots, w.spoken(stmt)...)
			}
			return false
		}
		return true
	})
	return spots
}

// spoken are the spots that a command prints as they are.
func (w *walker) spoken(n *syntax.Stmt) (spots []*spot) {
	switch cmd := n.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch {
		case cmd.Op != syntax.Pipe && cmd.Op != syntax.PipeAll:
			spots = append(w.spoken(cmd.X), w.spoken(cmd.Y)...)
		case passes(cmd.Y):
			spots = w.spoken(cmd.X)
		}
	case *syntax.Block:
		for _, stmt := range cmd.Stmts {
			spots = append(spots, w.spoken(stmt)...)
		}
	case *syntax.CallExpr:
		spots = w.said(cmd, n.Redirs)
	}
	return spots
}

// passes tells whether a command prints about what it reads.
func passes(n *syntax.Stmt) bool {
	call, ok := n.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && slices.Contains([]string{"cat", "tee", "tr", "sed", "grep", "head", "tail", "sort", "uniq", "envsubst"}, nameOf(call.Args[0]))
}

func (w *walker) said(call *syntax.CallExpr, redirs []*syntax.Redirect) (spots []*spot) {
	if len(call.Args) == 0 {
		return nil
	}
	switch nameOf(call.Args[0]) {
	case "printf":
		if len(call.Args) > 1 && strings.Contains(w.source(call.Args[1]), "%q") {
			return nil // quoted for a shell
		}
		return w.direct(call)
	case "echo":
		return w.direct(call)
	case "cat":
		for _, r := range redirs {
			if r.Hdoc != nil {
				spots = append(spots, w.direct(r.Hdoc)...)
			} else if r.Op == syntax.WordHdoc {
				spots = append(spots, w.direct(r.Word)...)
			}
		}
	}
	return spots
}

// bashVariable knows the variables whose values shells run.
func (w *walker) bashVariable(name string, value syntax.Node) {
	const cure = "write a fixed text there, or choose another name"
	switch name {
	case "BASH_ENV", "PS4":
		for _, sp := range w.direct(value) {
			sp.refused = refusal{fmt.Sprintf("bash runs the commands in $%s", name), cure}
		}
	case "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2":
		for _, sp := range w.direct(value) {
			sp.warned = refusal{fmt.Sprintf("a shell that somebody types into runs the commands in $%s", name), cure}
		}
	}
}
