package worktree

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxValues  = 50 // that a variable of a shell is followed with
	maxNamings = 2000
)

// shellReader reads what a shell command may change.
type shellReader struct {
	deed
	vars  map[string][]string // values of its variables, as far as they are plain
	bodys map[string]bool     // its functions
	at    string              // where it stands
	seen  int                 // simple commands
}

// read takes in a script. What does not parse may do anything.
func (s *shellReader) read(script string, shells int) {
	if shells > maxShells || tooDeep(script) {
		s.unknown()
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		s.unknown()
		return
	}
	if s.vars == nil {
		s.vars, s.bodys = map[string][]string{}, map[string]bool{}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			s.bodys[f.Name.Value] = true
		}
		return true
	})
	var back []string // where it stood before each node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			if last := len(back) - 1; last >= 0 {
				if back[last] != stays {
					s.at = back[last]
				}
				back = back[:last]
			}
			return true
		}
		before := stays
		switch n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			before = s.at
		}
		back = append(back, before)
		s.node(n, script, shells)
		return true
	})
	s.many = s.many || s.seen > 1
}

// stays says that a part of a script does not lead the shell back.
const stays = "\x00"

func (s *shellReader) unknown() { s.writes, s.afar, s.many = true, true, true }

func (s *shellReader) node(n syntax.Node, script string, shells int) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil {
			s.vars[n.Name.Value] = s.values(n.Value, script)
		}
	case *syntax.WordIter:
		var all []string
		for _, w := range n.Items {
			all = append(all, s.values(w, script)...)
		}
		s.vars[n.Name.Value] = all[:min(len(all), maxValues)]
	case *syntax.Stmt:
		s.statement(n, script, shells)
	}
}

// statement reads one command with its redirections.
func (s *shellReader) statement(n *syntax.Stmt, script string, shells int) {
	var given []string // what it reads from here-documents
	for _, r := range n.Redirs {
		switch {
		case r.Hdoc != nil:
			given = append(given, document(r.Hdoc, script))
		case r.Op == syntax.WordHdoc:
			given = append(given, s.values(r.Word, script)...)
		case r.Op == syntax.RdrIn || r.Op == syntax.DplIn || r.Word == nil:
		default:
			for _, to := range s.values(r.Word, script) {
				if r.Op != syntax.DplOut || strings.Trim(to, "0123456789-") != "" {
					s.name(to, written)
				}
			}
		}
	}
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	var words []string
	for _, w := range call.Args {
		words = append(words, s.values(w, script)...)
	}
	words, _ = program(words)
	if len(words) == 0 {
		return
	}
	s.seen++
	if inner, ok := shellScript(words); ok {
		s.inner(inner, shells)
		return
	}
	if oneOf(path.Base(words[0]), shellNames) && len(given) > 0 {
		for _, g := range given {
			s.inner(g, shells)
		}
		return
	}
	if !s.bodys[words[0]] {
		s.command(words, given)
	}
}

var shellNames = []string{"sh", "bash", "zsh", "dash", "ksh"}

// inner reads the script of a shell inside this one, which stands where this
// one stands.
func (s *shellReader) inner(script string, shells int) {
	at := s.at
	s.read(script, shells+1)
	s.at = at
}

// name notes a path as written, unless it is no file.
func (s *shellReader) name(to string, how manner) {
	if strings.HasPrefix(to, "/dev/") || to == "" || to == "-" {
		return
	}
	s.writes = true
	if len(s.names) < maxNamings {
		s.names = append(s.names, naming{path: to, how: how, from: s.at})
	}
}

// stand takes in a change of the directory.
func (s *shellReader) stand(to string) {
	switch {
	case strings.ContainsAny(to, "$`~*") || to == "-" || to == "":
		s.at = somewhere
	case strings.HasPrefix(to, "/"):
		s.at = path.Clean(to)
	case s.at != somewhere:
		s.at = path.Join(s.at, to)
	}
}

// text is a piece of a script as it stands there.
func text(n syntax.Node, script string) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if int(to) > len(script) || from > to {
		return ""
	}
	return script[from:to]
}

// document is the text of a here-document.
func document(w *syntax.Word, script string) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
			continue
		}
		b.WriteString(text(p, script))
	}
	return b.String()
}

// values are what a word can be: one text, or one for each value of the
// variable in it. What is not known stays as it is written.
func (s *shellReader) values(w *syntax.Word, script string) []string {
	list := []string{""}
	for _, p := range w.Parts {
		list = product(list, s.part(p, script))
	}
	return list
}

func product(heads, tails []string) []string {
	var out []string
	for _, h := range heads {
		for _, t := range tails {
			if len(out) < maxValues {
				out = append(out, h+t)
			}
		}
	}
	return out
}

var escaped = regexp.MustCompile(`\\(.)`)

func (s *shellReader) part(p syntax.WordPart, script string) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{escaped.ReplaceAllString(strings.ReplaceAll(p.Value, "\\\n", ""), "$1")}
	case *syntax.SglQuoted:
		return []string{p.Value}
	case *syntax.DblQuoted:
		list := []string{""}
		for _, in := range p.Parts {
			if lit, ok := in.(*syntax.Lit); ok {
				list = product(list, []string{strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "").Replace(lit.Value)})
				continue
			}
			list = product(list, s.part(in, script))
		}
		return list
	case *syntax.ParamExp:
		if p.Param == nil || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil {
			break
		}
		if known := s.vars[p.Param.Value]; len(known) > 0 {
			return known
		}
	}
	return []string{text(p, script)}
}
