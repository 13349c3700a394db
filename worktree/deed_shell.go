package worktree

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxCalls   = 8 // functions inside of each other that are followed
	maxNamings = 2000
)

// shellReader reads what a shell command may change.
type shellReader struct {
	deed
	src    string              // the script at hand
	vars   map[string][]string // values of its variables, as far as they are plain
	bodies map[string]body     // its functions
	kept   *texts              // files with a text that is known
	at     string              // where it stands
	dirs   []string            // where pushd came from
	shells int                 // around this one
	fed    []string            // words on the stdin of the command at hand
	calls  int                 // functions around this place
	seen   int                 // simple commands
	spent  int                 // bytes of words that were put together
	broken bool                // a reader broke
	surety
}

// body is a function of a shell, with the script that it stands in.
type body struct {
	stmt *syntax.Stmt
	src  string
}

// read takes in a script; zero tells that it exited with 0. What does not parse
// may do anything.
func (s *shellReader) read(script string, zero bool) {
	if s.shells > maxShells {
		s.unknown()
		return
	}
	if s.vars == nil {
		s.vars, s.bodies = map[string][]string{}, map[string]body{}
	}
	src := s.src
	s.src = script
	if err := parse(script, func(file *syntax.File) { s.list(file.Stmts, zero) }); err != nil {
		s.broken = s.broken || errors.Is(err, errBroken)
		s.unknown()
	}
	s.src = src
	s.many = s.many || s.seen > 1
}

func (s *shellReader) unknown() { s.writes, s.afar, s.many = true, true, true }

// redirects reads the redirections of a command: what it is given to read, and
// where it writes.
func (s *shellReader) redirects(n *syntax.Stmt) (given []string, outs []output) {
	for _, r := range n.Redirs {
		switch {
		case r.Hdoc != nil:
			given = append(given, s.document(r.Hdoc))
		case r.Op == syntax.WordHdoc:
			given = append(given, s.values(r.Word)...)
		case r.Op == syntax.DplIn || r.Word == nil:
		case r.Op == syntax.RdrIn:
			for _, from := range s.values(r.Word) {
				if known, ok := s.kept.get(s.spot(from)); ok || from == "/dev/null" {
					given = append(given, known)
				}
			}
		default:
			for _, to := range s.values(r.Word) {
				if r.Op != syntax.DplOut || strings.Trim(to, "0123456789-") != "" {
					s.name(to, written)
					outs = append(outs, output{to, r.Op == syntax.AppOut})
				}
			}
		}
	}
	return given, outs
}

// output is a file that a command writes; more = behind what is in it.
type output struct {
	to   string
	more bool
}

// call reads one simple command.
func (s *shellReader) call(c *syntax.CallExpr, given []string, outs []output, zero bool) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			s.assign(a)
		}
		return
	}
	var raw []string
	for _, w := range c.Args {
		syntax.SplitBraces(w)
		raw = append(raw, s.values(w)...)
	}
	words, _ := program(raw)
	if len(words) == 0 {
		return
	}
	s.seen++
	defer func() { s.leave(raw, words) }()
	s.remember(words, given, outs)
	if inner, ok := shellScript(words); ok {
		s.inner(inner, zero, words[0] == "eval")
		return
	}
	if words[0] == "trap" {
		s.trap(words)
		return
	}
	if oneOf(path.Base(words[0]), shellNames) && readsOnly(words[1:]) {
		return
	}
	if oneOf(path.Base(words[0]), shellNames) && len(given) > 0 && readsStdin(path.Base(words[0]), words[1:]) {
		for _, g := range given {
			s.inner(g, zero, false)
		}
		return
	}
	if b, ok := s.bodies[words[0]]; ok {
		s.function(b, words[1:], zero)
		return
	}
	if !s.scriptFile(raw, words, zero) {
		s.command(words, scriptsOf(raw, words, given))
	}
}

var shellNames = []string{"sh", "bash", "zsh", "dash", "ksh"}

// trap reads what a shell is to run later: surely only what is for its end.
func (s *shellReader) trap(words []string) {
	if len(words) < 3 || words[1] == "-" {
		return
	}
	if oneOf("EXIT", words[2:]) || oneOf("0", words[2:]) {
		s.inner(words[1], false, true)
		return
	}
	s.maybe(func() { s.inner(words[1], false, true) })
}

// inner reads the script of a shell inside this one, which stands where this
// one stands; same = it is this shell that runs it.
func (s *shellReader) inner(script string, zero, same bool) {
	if !s.spend(parseCost * len(script)) {
		return
	}
	s.shells++
	defer func() { s.shells-- }()
	if same {
		s.read(script, zero)
		return
	}
	s.apart(func() { s.read(script, zero) })
}

// function reads a function where it is called.
func (s *shellReader) function(b body, args []string, zero bool) {
	if s.calls >= maxCalls || !s.spend(parseCost*int(b.stmt.End().Offset()-b.stmt.Pos().Offset())) {
		s.unknown()
		return
	}
	src, skipped, own := s.src, s.skipped, map[string][]string{}
	for i, name := range argNames {
		own[name] = s.vars[name]
		switch {
		case i < 2:
			s.know(name, args[:min(len(args), maxValues)])
		case i-2 < len(args):
			s.know(name, args[i-2:i-1])
		default:
			delete(s.vars, name)
		}
	}
	s.calls++
	s.src = b.src
	s.stmt(b.stmt, zero)
	s.calls--
	s.src, s.skipped = src, skipped
	maps.Copy(s.vars, own)
}

// argNames are the variables for what a function is given.
var argNames = []string{"@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// name notes a path as written, unless it is no file, or the command that names
// it may not have been run.
func (s *shellReader) name(to string, how manner) {
	if strings.HasPrefix(to, "/dev/") || to == "" || to == "-" {
		return
	}
	s.writes = true
	if s.sure() && len(s.names) < maxNamings {
		s.names = append(s.names, naming{path: s.here(to), how: how, from: s.at})
	}
}

// tell notes texts that name what may be written.
func (s *shellReader) tell(texts ...string) {
	for _, t := range texts {
		if s.sure() && len(s.texts) < maxNamings {
			s.texts = append(s.texts, passage{t, s.at})
		}
	}
}

// heres are ways to write where a shell stands.
var heres = []string{"$PWD", "${PWD}", "$(pwd)", "`pwd`"}

// here takes the place where a shell stands off the front of a path.
func (s *shellReader) here(p string) string {
	for _, h := range heres {
		if rest, ok := strings.CutPrefix(p, h); ok && (rest == "" || rest[0] == '/') {
			return "." + rest
		}
	}
	if rest, ok := strings.CutPrefix(p, "$(git rev-parse --show-toplevel)/"); ok && s.at == "" {
		return rest
	}
	return p
}

// stand takes in a change of the directory.
func (s *shellReader) stand(to string) {
	to = s.here(to)
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

// pushed takes in a change of the directory that popd takes back.
func (s *shellReader) pushed(to string) {
	s.dirs = append(s.dirs, s.at)
	s.stand(to)
}

func (s *shellReader) popped() {
	last := len(s.dirs) - 1
	if last < 0 {
		s.at = somewhere
		return
	}
	s.at, s.dirs = s.dirs[last], slices.Clone(s.dirs[:last])
}
