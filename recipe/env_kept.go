package recipe

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// keptNames are variables of the environment that programs read: a variable of a
// recipe never takes their place.
var keptNames = []string{
	"ALL_PROXY", "BASH_XTRACEFD", "CDPATH", "DISPLAY", "EDITOR", "ENV", "GIT_ASKPASS", "GIT_DIR", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_WORK_TREE", "GLOBIGNORE", "HOME", "HOSTNAME", "HTTPS_PROXY", "HTTP_PROXY", "LANG", "LOGNAME", "MAIL",
	"NO_PROXY", "OLDPWD", "PAGER", "PATH", "POSIXLY_CORRECT", "PS1", "PS2", "PS3", "PWD", "SHELL", "TERM", "TMP", "TMPDIR", "USER", "VISUAL",
}

// keptPrefix begins the names of more of them.
const keptPrefix = "LC_"

// kept tells whether programs read a variable of the environment by this name.
func kept(short string) bool {
	return strings.HasPrefix(short, keptPrefix) || slices.Contains(keptNames, short)
}

// mayReadKept finds a $ before one of these names, to save the time.
func mayReadKept(text string) bool {
	for {
		_, after, found := strings.Cut(text, "$")
		if !found {
			return false
		}
		text = after
		part := strings.TrimLeft(after, "{#!")
		end := strings.IndexFunc(part, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
		if end < 0 {
			end = len(part)
		}
		if kept(part[:end]) {
			return true
		}
	}
}

// keptReads are where a script reads one of these names without setting it.
func (s *scriptReader) keptReads(m *marked, nodes tour) (reads []envRead) {
	if !mayReadKept(m.text) {
		return nil
	}
	said := map[string]bool{}
	for _, node := range nodes {
		if a, ok := node.(*syntax.Assign); ok && a.Name != nil && !a.Naked {
			said[a.Name.Value] = true
		}
	}
	for _, node := range nodes {
		p, ok := node.(*syntax.ParamExp)
		if !ok || p.Param == nil || !kept(p.Param.Value) || said[p.Param.Value] {
			continue
		}
		said[p.Param.Value] = true
		reads = append(reads, envRead{name: p.Param.Value, kept: true, pos: s.pos(m.origin(int(p.Pos().Offset())))})
	}
	return reads
}

// keeps warns of a script that reads $HOSTNAME where a variable is called
// hostname: it gets what the system has there.
func (g *callGraph) keeps(file string, read envRead, hidden map[string]string) {
	name, ours := hidden[read.name]
	if !ours {
		return
	}
	long, _ := EnvNames(name)
	g.add(Problem{
		File: file, Line: read.pos.Line, Col: read.pos.Col, Warning: true, Hint: fmt.Sprintf("write {{%s}} or $%s", name, long),
		Msg: fmt.Sprintf("$%s is not the variable %q: programs read a variable of that name, so it stays what the system has there", read.name, name),
	})
}
