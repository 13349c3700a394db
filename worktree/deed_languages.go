package worktree

import (
	"regexp"
	"slices"
	"strings"
)

// languages are programs that take a text in a language of their own, by flag.
var languages = map[string][]string{
	"python": {"-c"}, "python3": {"-c"}, "python2": {"-c"}, "perl": {"-e", "-E"}, "ruby": {"-e"}, "node": {"-e", "--eval", "-p"}, "nodejs": {"-e"},
	"php": {"-r"}, "deno": {"eval"}, "bun": {"-e"}, "lua": {"-e"}, "Rscript": {"-e"}, "julia": {"-e"}, "osascript": {"-e"}, "tsx": {"-e"}, "awk": nil, "gawk": nil, "mawk": nil,
}

// language takes in a program in another language: what it names, it may write.
func (s *shellReader) language(name string, rest, given []string) bool {
	byFlag, ok := languages[name]
	if !ok {
		return false
	}
	v := plainWords(rest)
	switch {
	case strings.HasSuffix(name, "awk"):
		s.awk(rest, v)
		return true
	case name == "perl" || name == "ruby":
		if slices.ContainsFunc(rest, func(w string) bool { return flags(w) && strings.Contains(w, "i") && !strings.HasPrefix(w, "-I") }) {
			s.writes = true
			s.all(v, written) // the text of the program among them is the name of no file
			return true
		}
	}
	s.writes, s.afar = true, true
	scripts := slices.Clone(given)
	var names []string // it may be given what it writes
	for i, w := range rest {
		if i+1 < len(rest) && (slices.Contains(byFlag, w) || flags(w) && len(w) > 2 && strings.HasSuffix(w, "e")) {
			scripts, names = append(scripts, rest[i+1]), rest[i+2:]
			break
		}
	}
	if len(given) > 0 {
		names = v
	}
	if slices.ContainsFunc(scripts, scriptWrites.MatchString) {
		s.tell(slices.Concat(scripts, names)...)
	}
	return true
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
