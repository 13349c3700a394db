package recipe

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// programs are the ends of the names of files that a command can run or build.
var programs = []string{
	"", ".sh", ".bash", ".zsh", ".ksh", ".fish", ".bats", ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".rb", ".pl",
	".php", ".lua", ".tcl", ".awk", ".sed", ".jq", ".r", ".R", ".jl", ".ps1", ".mk", ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m",
	".java", ".kt", ".kts", ".groovy", ".scala", ".cs", ".fs", ".swift", ".zig", ".f90", ".pas", ".d", ".nim", ".hs", ".ml", ".ex", ".exs", ".erl", ".clj",
}

// lookers are commands that only look at the files that they name.
var lookers = []string{
	"test", "[", "grep", "egrep", "fgrep", "rg", "ag", "ls", "stat", "file", "wc", "diff", "cmp", "md5sum", "sha1sum", "sha256sum",
	"cat", "head", "tail", "sed", "awk", "cut", "sort", "uniq", "tr", "jq", "yq", "echo", "printf", "find",
	"shellcheck", "shfmt", "gofmt", "py_compile", "compileall", "pyflakes", "flake8", "pylint", "mypy", "ruff", "black", "eslint", "prettier",
}

// lookingAt are the commands of git that only look.
var lookingAt = []string{"grep", "diff", "log", "show", "status", "ls-files", "ls-tree", "blame", "cat-file"}

// doing are options with which a looker runs what is in a file, or another command.
var doing = map[string][]string{
	"awk": {"-f", "--file"}, "sed": {"-f", "--file"}, "jq": {"-f", "--from-file"}, "yq": {"--from-file"},
	"find": {"-exec", "-execdir", "-ok", "-okdir"},
}

// IsProgram tells by the name of a file whether a command can run or build it.
func IsProgram(name string) bool { return slices.Contains(programs, path.Ext(path.Base(name))) }

// Names are those of some files, by their paths, that a shell text names for more than a look:
// programs whose name stands anywhere in it, and files that say what one of its commands does,
// such as the Makefile of make. How they are run is not asked, because there is always another
// way; only commands that are known to look at files are left out, and what these print must
// not go into another command.
func (s *Script) Names(files []string) []string {
	if s == nil || len(files) == 0 {
		return nil
	}
	var words []word
	before := "" // the last word that is no option
	for _, text := range WordsOf(s.withoutLooks()) {
		lang, _ := named(before)
		w := word{path: rooted(text), run: before != "" && lang.runs}
		if w.run && path.Base(text) == text {
			w.path = "/" + text
		}
		if !strings.HasPrefix(text, "-") {
			before = text
		}
		words = append(words, w)
	}
	var list []string
	for _, file := range files {
		base := path.Base(file)
		if slices.ContainsFunc(words, func(w word) bool {
			return (w.run || IsProgram(file)) && means(w.path, file, base) || ordersIn(path.Base(w.path), base)
		}) {
			list = append(list, file)
		}
	}
	return list
}

// WordsOf are the words of a shell text that may name files, as they stand there.
func WordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|<>()[]{}\"'`=,:", r) })
}

// word is one of a shell text.
type word struct {
	path string
	run  bool // it stands behind a program that runs files, so it is one, whatever its name ends in
}

// ordersIn tells whether a file says what a command does.
func ordersIn(command, file string) bool {
	return slices.ContainsFunc(orders[command], func(pattern string) bool {
		ok, _ := path.Match(pattern, file) // they are sound
		return ok
	})
}

// rooted is a word as a path; one that leads from the directory, wherever that is, begins with a
// slash.
func rooted(word string) string {
	here := strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
	if at := strings.LastIndexByte(word, '$'); at >= 0 { // a variable may be any folder
		_, word, here = strings.Cut(word[at:], "/")
	}
	word = path.Clean(word)
	for strings.HasPrefix(word, "../") {
		word = word[len("../"):]
	}
	if here {
		return "/" + word
	}
	return word
}

// means tells whether a word can be a file: it ends in its name, and what is before that is no
// other folder. A name without an end may be a command, so it counts with its path only,
// or behind a program that runs files.
func means(word, file, base string) bool {
	switch {
	case word == file:
		return true
	case path.Base(word) != base || path.Ext(base) == "" && word == base:
		return false
	}
	return strings.HasSuffix("/"+file, "/"+strings.TrimLeft(word, "/")) || strings.HasSuffix(word, "/"+file)
}

// orders are the files that say what a command does, by its name.
var orders = func() map[string][]string {
	all := map[string][]string{"rake": {"Rakefile"}, "tox": {"tox.ini"}, "nox": {"noxfile.py"}, "composer": {"composer.json"}}
	for name, files := range builders {
		all[name] = append(all[name], files...) // a new list: the tables stay as they are
	}
	all["make"], all["gmake"] = append(all["make"], "*.mk"), append(all["gmake"], "*.mk")
	for _, name := range packagers {
		all[name] = append(all[name], "package.json")
	}
	return all
}()

// Rivals are the other files that a command takes in the place of one, such as the GNUmakefile
// for a Makefile.
func Rivals(name string) []string {
	for _, files := range builders {
		if slices.Contains(files, path.Base(name)) {
			return slices.DeleteFunc(slices.Clone(files), func(other string) bool { return other == path.Base(name) })
		}
	}
	return nil
}

// span is a part of a text.
type span struct{ from, to int }

func spanOf(n syntax.Node) span { return span{int(n.Pos().Offset()), int(n.End().Offset())} }

// withoutLooks is the text without the commands that only look at files.
func (s *Script) withoutLooks() string {
	if len(s.Source) > MaxScript || tooDeep(s.Source) >= 0 {
		return s.Source
	}
	nodes, err := newBash().read(s.Source)
	if err != nil { // so it is no look
		return s.Source
	}
	out := []byte(s.Source)
	var fed []span // what is printed here goes into a command that does more than look
	nodes.visit(func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && !looks(n.Y) {
				fed = append(fed, spanOf(n.X))
			}
		case *syntax.Stmt:
			at := spanOf(n)
			if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && !looks(n) {
				fed = append(fed, at)
			} else if looks(n) && !slices.ContainsFunc(fed, func(f span) bool { return f.from <= at.from && at.to <= f.to }) {
				for i := at.from; i < at.to; i++ {
					out[i] = ' '
				}
			}
		case *syntax.ForClause:
			if in, ok := n.Loop.(*syntax.WordIter); ok && len(in.Items) > 0 && allLook(n.Do) {
				for i := spanOf(in.Items[0]).from; i < spanOf(in.Items[len(in.Items)-1]).to; i++ {
					out[i] = ' '
				}
			}
		case *syntax.CmdSubst, *syntax.ProcSubst: // what runs in a look
			at := spanOf(n)
			copy(out[at.from:at.to], s.Source[at.from:at.to])
		}
		return true
	})
	return string(out)
}

// allLook tells whether all commands of a loop only look, or end it.
func allLook(list []*syntax.Stmt) bool {
	all := true
	for _, stmt := range list {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if s, ok := n.(*syntax.Stmt); ok {
				if call, is := s.Cmd.(*syntax.CallExpr); is && len(call.Args) > 0 {
					all = all && (looks(s) || slices.Contains([]string{"exit", "return", "break", "continue", "true", "false", ":"}, nameOf(call.Args[0])))
				}
			}
			return all
		})
	}
	return all
}

// looks tells whether a command only looks at files.
func looks(stmt *syntax.Stmt) bool {
	if slices.ContainsFunc(stmt.Redirs, func(r *syntax.Redirect) bool {
		return (r.Op == syntax.RdrOut || r.Op == syntax.AppOut) && nameOf(r.Word) != "/dev/null"
	}) {
		return false // what it prints stays
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		_, test := stmt.Cmd.(*syntax.TestClause)
		return test
	}
	args := unwrapped(bared(call.Args))
	if len(args) == 0 {
		return false
	}
	name, rest := nameOf(args[0]), make([]string, 0, len(args))
	for _, arg := range args[1:] {
		rest = append(rest, nameOf(arg))
	}
	if at := slices.IndexFunc(rest, func(word string) bool { return !strings.HasPrefix(word, "-") }); at >= 0 && name == "xargs" {
		name, rest = rest[at], rest[at+1:]
	}
	switch {
	case slices.Contains(lookers, name):
		return !slices.ContainsFunc(rest, func(word string) bool { return slices.Contains(doing[name], word) })
	case name == "git" && len(rest) > 0:
		return slices.Contains(lookingAt, rest[0])
	case len(rest) > 1 && rest[0] == "-m":
		return slices.Contains(lookers, rest[1])
	}
	lang, _ := named(name)
	for _, word := range rest {
		if slices.Contains(lang.looks, word) {
			return name != ""
		}
		if !strings.HasPrefix(word, "-") {
			break
		}
	}
	return false
}
