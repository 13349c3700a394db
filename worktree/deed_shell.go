package worktree

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxValues  = 50       // that a variable of a shell is followed with
	maxValue   = 16 << 10 // bytes of one that is followed
	maxSpent   = 4 << 20  // bytes of words that are put together for one command
	parseCost  = 8        // bytes that a byte of a script inside of one counts
	maxNamings = 2000
)

// shellReader reads what a shell command may change.
type shellReader struct {
	deed
	vars   map[string][]string // values of its variables, as far as they are plain
	bodies map[string]bool     // its functions
	at     string              // where it stands
	seen   int                 // simple commands
	spent  int                 // bytes of words that were put together
	broken bool                // a reader broke
}

// read takes in a script. What does not parse may do anything.
func (s *shellReader) read(script string, shells int) {
	if shells > maxShells {
		s.unknown()
		return
	}
	if s.vars == nil {
		s.vars, s.bodies = map[string][]string{}, map[string]bool{}
	}
	if err := parse(script, func(file *syntax.File) { s.walk(file, script, shells) }); err != nil {
		s.broken = s.broken || errors.Is(err, errBroken)
		s.unknown()
	}
	s.many = s.many || s.seen > 1
}

// walk reads a script that was parsed.
func (s *shellReader) walk(file *syntax.File, script string, shells int) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil { // bash has no function without a name; the parser has
			s.bodies[f.Name.Value] = true
		}
		return true
	})
	var back []string // where it stood before each node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			if last := len(back) - 1; last >= 0 {
				if back[last] != onward {
					s.at = back[last]
				}
				back = back[:last]
			}
			return true
		}
		before := onward
		switch n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			before = s.at
		}
		back = append(back, before)
		s.node(n, script, shells)
		return true
	})
}

// onward says that a part of a script does not lead the shell back.
const onward = "\x00"

func (s *shellReader) unknown() { s.writes, s.afar, s.many = true, true, true }

func (s *shellReader) node(n syntax.Node, script string, shells int) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil {
			s.know(n.Name.Value, s.values(n.Value, script))
		}
	case *syntax.WordIter:
		var all []string
		for _, w := range n.Items {
			if len(all) < maxValues {
				all = append(all, s.values(w, script)...)
			}
		}
		s.know(n.Name.Value, all[:min(len(all), maxValues)])
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
	if words[0] == "trap" {
		if len(words) > 2 && words[1] != "-" { // what it is to run at the end
			s.inner(words[1], shells)
		}
		return
	}
	if oneOf(path.Base(words[0]), shellNames) && len(given) > 0 {
		for _, g := range given {
			s.inner(g, shells)
		}
		return
	}
	if !s.bodies[words[0]] {
		s.command(words, given)
	}
}

var shellNames = []string{"sh", "bash", "zsh", "dash", "ksh"}

// inner reads the script of a shell inside this one, which stands where this
// one stands.
func (s *shellReader) inner(script string, shells int) {
	if !s.spend(parseCost * len(script)) {
		return
	}
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
	case strings.Contains(to, "git rev-parse --show-toplevel"): // the top of the tree that it stands in
		if path.IsAbs(s.at) {
			s.at = somewhere
		} else if s.at != somewhere {
			s.at = ""
		}
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

// know keeps what a variable can be. A long value is not followed: one that is
// made of itself twice, and that again, is soon longer than all memory.
func (s *shellReader) know(name string, values []string) {
	if slices.ContainsFunc(values, func(v string) bool { return len(v) > maxValue }) {
		values = nil
	}
	s.vars[name] = values
}

// spend tells whether so many bytes more may be put together. Where they may
// not, the command is one of which nobody knows what it does.
func (s *shellReader) spend(n int) bool {
	s.spent += n
	if s.spent > maxSpent {
		s.unknown()
	}
	return s.spent <= maxSpent
}

// values are what a word can be: one text, or one for each value of the
// variable in it. What is not known stays as it is written.
func (s *shellReader) values(w *syntax.Word, script string) []string {
	list, ok := s.joined(w.Parts, func(p syntax.WordPart) []string { return s.part(p, script) })
	if !ok {
		return []string{text(w, script)}
	}
	return list
}

// joined puts the parts of a word together, if that is not too much.
func (s *shellReader) joined(parts []syntax.WordPart, values func(syntax.WordPart) []string) ([]string, bool) {
	list := [][]byte{nil}
	for _, p := range parts {
		tails := values(p)
		if len(tails) == 1 { // in place: a long word of many parts is not copied for each
			for i := range list {
				if !s.spend(len(tails[0])) {
					return nil, false
				}
				list[i] = append(list[i], tails[0]...)
			}
			continue
		}
		var out [][]byte
		for _, h := range list {
			for _, t := range tails[:min(len(tails), maxValues-len(out))] {
				if !s.spend(len(h) + len(t)) {
					return nil, false
				}
				out = append(out, slices.Concat(h, []byte(t)))
			}
		}
		list = out
	}
	texts := make([]string, 0, len(list))
	for _, b := range list {
		if !s.spend(len(b) + 1) {
			return nil, false
		}
		texts = append(texts, string(b))
	}
	return texts, true
}

var (
	escaped = regexp.MustCompile(`\\(.)`)
	quotes  = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "") // what a backslash hides between them
)

func (s *shellReader) part(p syntax.WordPart, script string) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{escaped.ReplaceAllString(strings.ReplaceAll(p.Value, "\\\n", ""), "$1")}
	case *syntax.SglQuoted:
		return []string{p.Value}
	case *syntax.DblQuoted:
		list, ok := s.joined(p.Parts, func(in syntax.WordPart) []string {
			if lit, ok := in.(*syntax.Lit); ok {
				return []string{quotes.Replace(lit.Value)}
			}
			return s.part(in, script)
		})
		if ok {
			return list
		}
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
