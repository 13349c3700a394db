package recipe

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// nameOf is the text of a word without its quotes, as bash takes it for the name
// of a command: \eval, 'eval' and e""val are all eval. It is "" when a part of
// the word is known only while the script runs.
func nameOf(word *syntax.Word) string {
	if name := word.Lit(); name != "" && strings.IndexByte(name, '\\') < 0 {
		return name // as nearly always
	}
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

// bared are the arguments of a call without the builtins that only run others.
func bared(args []*syntax.Word) []*syntax.Word {
	for len(args) > 1 && slices.Contains([]string{"command", "builtin"}, nameOf(args[0])) {
		args = args[1:]
		for len(args) > 1 && slices.Contains([]string{"-p", "--"}, nameOf(args[0])) {
			args = args[1:]
		}
	}
	return args
}

// joined knows the programs that make one text of their arguments and give it
// to a shell.
func (w *walker) joined(name string, rest []*syntax.Word) (p program, found bool) {
	p = program{name: name, language: language{shell: true, cure: `quote it for the other shell: NAME "… $(printf %q VALUE) …"`}}
	switch name {
	case "watch":
		p.texts = w.afterOptions(rest, "-n", "--interval", "-q", "--equexit")
	case "parallel":
		p.texts = w.afterOptions(rest, "-j", "--jobs", "-a", "--arg-file", "-S", "--colsep", "--delay", "--timeout", "--results", "--joblog", "-n", "-N", "-I")
		if i := slices.IndexFunc(p.texts, func(a *syntax.Word) bool { return strings.HasPrefix(w.source(a), ":::") }); i >= 0 {
			p.texts = p.texts[:i]
		}
	case "tmux":
		p.texts = rest
		if len(rest) > 0 && slices.Contains([]string{"set-environment", "setenv", "kill-session", "has-session", "has"}, nameOf(rest[0])) {
			return program{}, false
		}
	case "alias":
		p.texts, p.cure = rest, `write a function instead: name() { … VALUE …; }`
	default:
		return program{}, false
	}
	return p, true
}

// afterOptions are the arguments from the first on that is no option; those of
// the given options are theirs.
func (w *walker) afterOptions(args []*syntax.Word, valued ...string) []*syntax.Word {
	for i := 0; i < len(args); i++ {
		switch src := w.source(args[i]); {
		case slices.Contains(valued, src):
			i++
		case !strings.HasPrefix(src, "-"):
			return args[i:]
		}
	}
	return nil
}

var notSplit = refusal{"bash would split the result at blanks and match patterns in it, the value included", `put double quotes around the whole of it: "${…/…/…}"`}

// splits refuses a value that becomes a part of a result which bash splits: the
// quotes around a replacement do not reach its result.
func (w *walker) splits(words ...*syntax.Word) {
	for _, word := range words {
		if word == nil || w.again || !mayReplace(word) {
			continue
		}
		syntax.Walk(word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DblQuoted, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
				return false
			case *syntax.ParamExp:
				if n.Repl != nil && n.Repl.With != nil {
					w.role(n.Repl.With, refuse(notSplit))
				}
			}
			return true
		})
	}
}

// mayReplace tells whether a word has more to it than what splits passes over.
func mayReplace(word *syntax.Word) bool {
	for _, part := range word.Parts {
		switch part.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
		default:
			return true
		}
	}
	return false
}
