package worktree

import (
	"path"
	"strings"
)

const maxNamings = 2000

// shellReader reads what a shell command may change: it asks of each simple
// command which files it writes.
type shellReader struct {
	course
	deed
}

// newShellReader makes a reader for a command; zero tells that it exited with 0.
func newShellReader(kept *texts, zero bool) *shellReader {
	s := &shellReader{}
	s.course = begin(s, zero)
	s.kept, s.naive = kept, true
	return s
}

func (s *shellReader) unknown() { s.writes, s.afar, s.many = true, true, true }

// redirected takes in what a command writes into files, whatever it is.
func (s *shellReader) redirected(o order) {
	for _, out := range o.outs {
		s.name(out.to, written)
	}
	s.remember(o)
}

// simple takes in one simple command. For this reader none fails in a way that
// counts.
func (s *shellReader) simple(o order) fate {
	switch words := o.words; {
	case words[0] == "trap":
		s.trap(words)
	case words[0] == "set":
		s.halt(words)
	case oneOf(path.Base(words[0]), shellNames) && readsOnly(words[1:]):
	case oneOf(path.Base(words[0]), shellNames) && len(o.given) > 0 && readsStdin(path.Base(words[0]), words[1:]):
		for _, g := range o.given {
			s.inner(g, o.zero, false)
		}
	case !s.scriptFile(o):
		s.command(words, scriptsOf(o.raw, words, o.given))
	}
	return absent
}

var shellNames = []string{"sh", "bash", "zsh", "dash", "ksh"}

// halt takes in options after which a shell reads on and runs nothing.
func (s *shellReader) halt(words []string) {
	mode := shellMode{}
	mode.set(words[1:])
	s.left = s.left || mode.tricked
}

// trap reads what a shell is to run later: surely only what is for its end.
func (s *shellReader) trap(words []string) {
	if len(words) < 3 || words[1] == "-" {
		return
	}
	if oneOf("EXIT", words[2:]) || oneOf("0", words[2:]) {
		s.inner(words[1], false, true)
		return
	}
	s.maybe(func() fate { return s.inner(words[1], false, true) })
}

// name notes a path as written, unless it is no file, or the command that names
// it may not have been run.
func (s *shellReader) name(to string, how manner) {
	if strings.HasPrefix(to, "/dev/") || to == "" || to == "-" {
		return
	}
	s.writes = true
	if s.sure() && len(s.names) < maxNamings {
		s.names = append(s.names, naming{path: here(s.at, to), how: how, from: s.at})
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
