package recipe

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// flow is how values move through the variables of a script, as far as its
// plain assignments tell.
type flow struct {
	from    map[string][]string // a variable to those that it is set from
	holds   map[string]*spot    // a variable to a placeholder that it is set from
	set     map[string]bool     // variables that the script sets
	guarded map[string]bool     // variables that the script looks at with case or =~
	used    []arithmeticUse
}

// arithmeticUse is a variable whose text bash reads as arithmetic, or as a prompt:
// commands that are hidden in it run.
type arithmeticUse struct {
	name   string
	offset int
	prompt bool
}

// mayReckon finds what scripts without arithmetic do not have, to save the time.
func mayReckon(text string) bool {
	has := func(part string) bool { return strings.Contains(text, part) }
	return has("[") || has("((") || has("let ") || has("@P") || has("${") && has(":") || has("declare ") || has("typeset ") || has("local ")
}

// flowOf looks through a whole script.
func (w *walker) flowOf(nodes tour) *flow {
	f := &flow{from: map[string][]string{}, holds: map[string]*spot{}, set: map[string]bool{}, guarded: map[string]bool{}}
	for _, node := range nodes {
		switch n := node.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Index == nil && n.Array == nil && !n.Naked {
				w.moves(f, n.Name.Value, n.Value)
			}
		case *syntax.WordIter:
			w.moves(f, n.Name.Value, n.Items...)
		case *syntax.CStyleLoop:
			if b, ok := n.Init.(*syntax.BinaryArithm); ok && b.Op == syntax.Assgn {
				f.set[plainName(b.X)] = true
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && nameOf(n.Args[0]) == "read" {
				for _, a := range n.Args[1:] {
					f.set[a.Lit()] = true
				}
			}
		case *syntax.CaseClause:
			w.guards(f, n.Word)
		case *syntax.BinaryTest:
			if n.Op == syntax.TsReMatch {
				w.guards(f, n.X)
			}
		}
	}
	return f
}

// moves notes that a variable is set from words.
func (w *walker) moves(f *flow, name string, words ...*syntax.Word) {
	f.set[name] = true
	for _, word := range words {
		if word == nil {
			continue
		}
		names, spots := w.parts(word)
		f.from[name] = append(f.from[name], names...)
		if len(spots) > 0 {
			f.holds[name] = spots[0]
		}
	}
}

// guards notes the variables whose form the script itself looks at.
func (w *walker) guards(f *flow, n syntax.Node) {
	names, spots := w.parts(n)
	for _, name := range names {
		f.guarded[name] = true
	}
	for _, sp := range spots {
		if sp.hole.Err != nil {
			continue
		}
		if name, alone := sp.hole.Value.Alone(); alone {
			long, short := EnvNames(name)
			f.guarded[long], f.guarded[short] = true, true
		}
	}
}

// parts are the variables and placeholders whose values are in a word.
func (w *walker) parts(n syntax.Node) (names []string, spots []*spot) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			return false
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length {
				names = append(names, n.Param.Value)
			}
		case *syntax.Lit, *syntax.SglQuoted:
			in := w.in(int(n.Pos().Offset()), int(n.End().Offset()))
			for i := range in {
				spots = append(spots, &in[i])
			}
		}
		return true
	})
	return names, spots
}

// plainName is the name that stands alone in arithmetic; "" otherwise.
func plainName(x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok {
		return word.Lit()
	}
	return ""
}

// origins are where a variable may have its value from: a placeholder, and
// variables that the script does not set, or sets from themselves.
func (f *flow) origins(name string) (sp *spot, names []string) {
	queue, seen := []string{name}, map[string]bool{}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		if f.guarded[at] {
			return nil, nil
		}
		if sp == nil {
			sp = f.holds[at]
		}
		if !f.set[at] || slices.Contains(f.from[at], at) {
			names = append(names, at)
		}
		queue = append(queue, f.from[at]...)
	}
	return sp, names
}

// inArithmetic notes a variable that stands in arithmetic.
func (w *walker) inArithmetic(n syntax.Node, s setting) {
	if w.flow == nil {
		return
	}
	switch n := n.(type) {
	case *syntax.Word:
		if !s.integer {
			return
		}
		if name := n.Lit(); envForm(name) {
			w.flow.used = append(w.flow.used, arithmeticUse{name: name, offset: int(n.Pos().Offset())})
		}
	case *syntax.ParamExp:
		if n.Param == nil || n.Length {
			return
		}
		prompt := n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word != nil && n.Exp.Word.Lit() == "P"
		if s.integer || prompt {
			w.flow.used = append(w.flow.used, arithmeticUse{n.Param.Value, int(n.Pos().Offset()), prompt})
		}
	}
}

// envRead is a variable of the environment that a script calculates with, or that
// it may take for one of the recipe.
type envRead struct {
	name   string
	prompt bool
	kept   bool // it is only read, but its name is one of the system's
	pos    Pos
}

// flows warns where a placeholder reaches arithmetic by way of a variable, and
// gives the variables of the environment that do.
func (s *scriptReader) flows(m *marked, f *flow) (reads []envRead) {
	if f == nil {
		return nil
	}
	said := map[arithmeticUse]bool{}
	for _, u := range f.used {
		if len(said) >= MaxProblems {
			break
		}
		key := arithmeticUse{name: u.name, prompt: u.prompt}
		if said[key] {
			continue
		}
		said[key] = true
		sp, names := f.origins(u.name)
		if sp != nil && sp.hole.Err == nil && !((sp.integer || sp.reached) && !u.prompt) {
			s.say(m.origin(u.offset), true, u.cure(sp.hole.Value.String()),
				"%s holds the value of %s, and %s", u.name, sp.hole.Value, u.harm())
		}
		for _, name := range names {
			if name == strings.ToUpper(name) || strings.HasPrefix(name, "RECIPE_VAR_") {
				reads = append(reads, envRead{name: name, prompt: u.prompt, pos: s.pos(m.origin(u.offset))})
			}
		}
	}
	return reads
}

func (u arithmeticUse) harm() string {
	if u.prompt {
		return "bash would run commands hidden in it here: @P reads it as a prompt"
	}
	return "bash would run commands hidden in it here, in arithmetic"
}

func (u arithmeticUse) cure(value string) string {
	if u.prompt {
		return "leave the @P out"
	}
	return "write " + value + " here: a placeholder in arithmetic must be a whole number, or the step does not start"
}
