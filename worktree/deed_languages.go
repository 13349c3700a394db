package worktree

import (
	"regexp"
	"slices"
	"strings"
)

// languages are programs that take a text in a language of their own, by flag.
var languages = map[string][]string{
	"python": {"-c"}, "perl": {"-e", "-E"}, "ruby": {"-e"}, "node": {"-e", "--eval", "-p", "--print", "-pe"}, "nodejs": {"-e"},
	"php": {"-r"}, "deno": {"eval"}, "bun": {"-e"}, "lua": {"-e"}, "Rscript": {"-e"}, "julia": {"-e"}, "osascript": {"-e"}, "tsx": {"-e"}, "awk": nil, "gawk": nil, "mawk": nil,
}

// language takes in a program in another language: what it names, it may write,
// unless it only reads or says it.
func (s *shellReader) language(name string, rest, given []string) bool {
	name = languageOf(name)
	if _, ok := languages[name]; !ok {
		return false
	}
	switch {
	case strings.HasSuffix(name, "awk"):
		s.awk(rest, plainWords(rest))
		return true
	case name == "perl" || name == "ruby":
		if slices.ContainsFunc(rest, perlPlace.MatchString) {
			s.writes = true
			s.all(plainWords(rest), written) // the text of the program among them is the name of no file
			return true
		}
	}
	t := textsOf(name, rest)
	if t.check {
		return true
	}
	s.writes, s.afar = true, true
	if !t.file && len(t.scripts) == 0 {
		t.scripts = given
	}
	for _, script := range t.scripts {
		s.program(name, script, t.args)
	}
	return true
}

// languageOf is the name of a language without its number: python3.12.
func languageOf(name string) string {
	if base := strings.TrimRight(name, "0123456789."); base == "python" {
		return base
	}
	return name
}

// program takes in the text of a program and what it is given.
func (s *shellReader) program(name, text string, args []string) {
	if !s.spend(parseCost * len(text)) { // one that is run again and again is not read again and again
		return
	}
	in, ok := tongueOf(name)
	names := text
	if ok {
		names = writtenIn(text, in, s.onlyLooks)
	} else if !scriptWrites.MatchString(text) {
		names = ""
	}
	if names == "" {
		return
	}
	s.tell(names)
	if takesArgs.MatchString(text) {
		s.tell(args...)
	}
}

// takesArgs are signs that a program looks at what it is given.
var takesArgs = regexp.MustCompile(`(?i)arg|fileinput|<>|<\$|shift|click|typer|gets|opts`)

// onlyLooks tells whether a command that a program runs changes nothing.
func (s *shellReader) onlyLooks(command string) bool {
	if s.shells >= maxShells || !s.spend(parseCost*len(command)) {
		return false
	}
	inner := newShellReader(nil, false)
	inner.shells, inner.spent, inner.steps = s.shells+1, s.spent, s.steps
	inner.read(command, false)
	s.spent, s.steps, s.broken = inner.spent, inner.steps, s.broken || inner.broken
	return !inner.writes
}

// interpreted are the words of a program that runs others in its language.
type interpreted struct {
	scripts, args []string
	file          bool // its text is in a file
	check         bool // it only looks whether the text is one
}

// textsOf sorts the words of a program that runs others in its language, or of a
// shell.
func textsOf(name string, rest []string) interpreted {
	t := interpreted{}
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		switch {
		case ownText(name, w) && i+1 < len(rest):
			i++
			t.scripts = append(t.scripts, rest[i])
		case checking(name, w):
			t.check = true
		case oneOf(w, []string{"-o", "+o", "-O"}) && oneOf(name, shellNames):
			i++
		case strings.HasPrefix(w, "-") && w != "-":
		case len(t.scripts) > 0:
			t.args = rest[i:]
			return t
		default:
			t.file, t.args = w != "-", rest[i+1:]
			return t
		}
	}
	return t
}

// Flags that may stand before the one by which a text is given.
var (
	pythonText = regexp.MustCompile(`^-[BdEiIOPqsSuvx]*c$`)
	perlText   = regexp.MustCompile(`^-[acFlnpswWTt0-9]*[eE]$`)
	perlPlace  = regexp.MustCompile(`^-[acFlnpswWTt0-9]*i`)
	perlCheck  = regexp.MustCompile(`^-[wWtTv]*c[wWtTv]*$`)
)

// ownText tells whether the word behind a flag is a program in its own language.
func ownText(name, flag string) bool {
	switch name = languageOf(name); {
	case oneOf(flag, languages[name]):
		return true
	case name == "python":
		return pythonText.MatchString(flag)
	case name == "perl" || name == "ruby":
		return perlText.MatchString(flag)
	}
	return false
}

// checking tells whether with a flag a program is only looked at.
func checking(name, flag string) bool {
	switch name {
	case "perl", "ruby":
		return perlCheck.MatchString(flag)
	case "node", "nodejs":
		return flag == "-c" || flag == "--check"
	case "php":
		return flag == "-l"
	}
	return false
}

// scriptWrites are signs that a program in another language writes a file, or
// runs something that may: one that only reads a file names none as written.
var scriptWrites = regexp.MustCompile(`(?i)writ|["'][wax]b?t?\+?b?t?["']|["']r[bt]?\+|["']\s*\+?<?>|replace|unlink|\brm|remove|delete|rename|\bmove|\bmv|` +
	`shutil|copy_?file|\bcp|\bcopy|dump|save|sink\(|touch|truncate|symlink|chmod|append_?file|\bput|put_contents|edit|patch|\bto_(csv|json|excel|parquet|html|pickle)|` +
	`system|exec|spawn|popen|subprocess|sub!`)

// awk takes in an awk: it only looks, unless it prints into files or programs.
func (s *shellReader) awk(rest, v []string) {
	if slices.Contains(rest, "inplace") {
		s.writes = true
		s.all(v, written)
		return
	}
	scripts, values, unread := awkScripts(rest)
	for _, script := range scripts {
		if strings.Contains(script, "system(") || strings.Contains(strings.ReplaceAll(script, "||", ""), "|") {
			s.writes, s.afar = true, true
		}
		if printsInto(script) {
			s.writes = true
			s.tell(append([]string{script}, values...)...)
		}
	}
	if unread {
		s.writes, s.afar = true, true
	}
}

// awkScripts are the programs in the words of an awk, and the values that it is
// given. A program in a file is not read.
func awkScripts(words []string) (scripts, values []string, unread bool) {
	plain := []string{}
	for i := 0; i < len(words); i++ {
		w, next := words[i], ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case oneOf(w, []string{"-v", "-F", "--assign", "--field-separator", "-i", "--include"}):
			values = append(values, next)
			i++
		case oneOf(w, []string{"-e", "--source"}):
			scripts = append(scripts, next)
			i++
		case flagged(w, []string{"-f", "--file", "-E", "--exec"}):
			unread = true
		case strings.HasPrefix(w, "-") && w != "-":
			values = append(values, w)
		default:
			plain = append(plain, w)
		}
	}
	if len(scripts) == 0 && !unread && len(plain) > 0 {
		scripts, plain = plain[:1], plain[1:]
	}
	return scripts, slices.Concat(values, slices.DeleteFunc(plain, func(w string) bool { return !assignment(w) })), unread
}

var awkText = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)

// printsInto tells whether a print of an awk program goes into a file: behind
// one, > compares only inside of brackets.
func printsInto(script string) bool {
	for _, after := range strings.Split(awkText.ReplaceAllString(script, `""`), "print")[1:] {
		depth := 0
		for i := 0; i < len(after) && depth >= 0 && !strings.ContainsRune(";}\n", rune(after[i])); i++ {
			switch after[i] {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '>':
				if depth == 0 {
					return true
				}
			}
		}
	}
	return false
}
