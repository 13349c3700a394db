package worktree

import (
	"path"
	"slices"
	"strings"
)

const (
	maxKept     = 64 << 10 // bytes of one text that is kept
	maxKeptAll  = 1 << 20  // of all
	maxKeptText = 200      // texts
)

// texts are files that an agent wrote with a text that its records tell, such as
// a script that it runs later. The zero value holds none, and nil keeps none.
type texts struct {
	by   map[string]string // by where they are, as the shell wrote it
	size int
}

func (t *texts) get(p string) (string, bool) {
	if t == nil {
		return "", false
	}
	text, ok := t.by[p]
	return text, ok
}

// put keeps a text, or forgets the old one where the new one is too long.
func (t *texts) put(p, text string) {
	if t == nil {
		return
	}
	t.size -= len(t.by[p])
	delete(t.by, p)
	if len(p) > maxPath || len(text) > maxKept || t.size+len(text) > maxKeptAll || len(t.by) >= maxKeptText {
		return
	}
	if t.by == nil {
		t.by = map[string]string{}
	}
	t.by[strings.Clone(p)] = strings.Clone(text) // not a part of a long command
	t.size += len(text)
}

// remember keeps what a command surely wrote into files, where its text is known.
func (s *shellReader) remember(o order) {
	if !s.sure() {
		return
	}
	text, known, outs := "", false, o.outs
	words, given := o.words, o.given
	switch path.Base(firstOf(words)) {
	case "cat":
		text, known = strings.Join(given, ""), len(given) > 0 && len(words) == 1
	case "tee":
		text, known = strings.Join(given, ""), len(given) > 0
		for _, p := range plainWords(words[1:]) {
			outs = append(outs, output{to: p})
		}
	case "echo", "printf":
		text, known = strings.ReplaceAll(strings.Join(plainWords(words[1:]), " "), `\n`, "\n")+"\n", true
	}
	for _, o := range outs {
		at := s.spot(o.to)
		old, _ := s.kept.get(at)
		switch {
		case !known:
			s.kept.put(at, "")
		case o.more:
			s.kept.put(at, old+text)
		default:
			s.kept.put(at, text)
		}
	}
}

// scriptFile takes in a program that is a file, or an interpreter with one, when
// the agent wrote it and its text is known.
func (s *shellReader) scriptFile(o order) bool {
	raw, words := o.raw, o.words
	file, args, language, inShell := words[0], words[1:], "", false
	for i, w := range raw {
		language = languageOf(path.Base(w))
		_, inLanguage := languages[language]
		inShell = oneOf(path.Base(w), shellNames) || i == 0 && (w == "." || w == "source")
		if inLanguage || inShell { // once: the words behind it are looked at as a whole
			t := textsOf(language, raw[i+1:])
			if inShell && readsOnly(raw[i+1:]) {
				return true
			}
			if !t.file || len(t.scripts) > 0 || t.check {
				return false // its text is among its words, or not run
			}
			file, args = raw[len(raw)-len(t.args)-1], t.args
			break
		}
		language = ""
	}
	text, ok := s.kept.get(s.spot(file))
	if !ok || text == "" || language == "" && !strings.Contains(file, "/") {
		return false
	}
	first, _, _ := strings.Cut(text, "\n")
	if language == "" && strings.HasPrefix(first, "#!") && !strings.HasSuffix(first, "sh") {
		language = languageOf(path.Base(lastOf(strings.Fields(first))))
	} else if language == "" {
		inShell = true
	}
	if inShell {
		s.inner(text, o.zero, false)
		return true
	}
	s.writes, s.afar = true, true
	s.program(language, text, args)
	return true
}

// readsOnly tells whether a shell is told to read a script and to run nothing.
func readsOnly(words []string) bool {
	for i, w := range words {
		switch {
		case w == "noexec" && i > 0 && words[i-1] == "-o":
			return true
		case flags(w) && w != "-":
			if strings.ContainsAny(w, "ntD") {
				return true
			}
		case i == 0 || words[i-1] != "-o":
			return false
		}
	}
	return false
}

// readsStdin tells whether a shell takes its script from its stdin.
func readsStdin(name string, words []string) bool {
	return !textsOf(name, words).file || slices.ContainsFunc(words, func(w string) bool { return flags(w) && strings.Contains(w, "s") })
}

// scriptsOf is what a command is given to read, where that may be a program:
// what python x.py or a shell with a script is given is not.
func scriptsOf(raw, words, given []string) []string {
	if _, ok := languages[languageOf(path.Base(words[0]))]; ok || len(given) == 0 {
		return given
	}
	if oneOf(path.Base(words[0]), shellNames) {
		return nil
	}
	for _, w := range raw[:max(0, len(raw)-len(words))] {
		if _, ok := languages[languageOf(path.Base(w))]; ok {
			return nil
		}
	}
	return given
}

// apartFrom takes in that git is told of another working tree than the one that
// the shell stands in.
func (s *shellReader) apartFrom(words []string) {
	for i, w := range words {
		to, joined := strings.CutPrefix(w, "--work-tree=")
		if w == "--work-tree" && i+1 < len(words) {
			to, joined = words[i+1], true
		}
		if joined && stood(s.at, to) != stood(s.at, ".") {
			s.at = somewhere
		}
	}
}

// patched names the files of a patch, as they are after the first folder of
// their names is taken off, and as they stand there.
func (s *shellReader) patched(texts ...string) {
	s.writes = true
	for _, text := range texts {
		for line := range strings.Lines(text) {
			for _, head := range []string{"+++ ", "--- ", "rename to ", "rename from ", "*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
				p, ok := strings.CutPrefix(line, head)
				if !ok {
					continue
				}
				p, _, _ = strings.Cut(strings.TrimRight(p, "\r\n"), "\t")
				s.name(p, written)
				if first, rest, ok := strings.Cut(p, "/"); ok && oneOf(first, []string{"a", "b", "i", "w", "c", "o", "old", "new"}) {
					s.name(rest, written)
				}
			}
		}
	}
}
