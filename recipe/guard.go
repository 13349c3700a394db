package recipe

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"
)

// Guard is a list of patterns of files that an agent may not change. An empty
// one says that it may change all.
type Guard struct{ Globs []string }

// maxGlobs is how many patterns a guard has at most.
const maxGlobs = 200

// guard reads the patterns, and refuses those that no file could match.
func (p *parser) guard(k, v *yaml.Node) *Guard {
	if isNull(v) {
		return nil
	}
	g := &Guard{Globs: p.texts(k, v)}
	if len(g.Globs) > maxGlobs {
		p.fail(posOf(k), "", "%q has %d patterns, at most %d are allowed", k.Value, len(g.Globs), maxGlobs)
	}
	for i, glob := range g.Globs {
		if why := badGlob(glob); why != "" && i < len(v.Content) {
			p.fail(posOf(v.Content[i]), "", "%q is no pattern of files: %s", clip(glob), why)
		}
	}
	return g
}

// badGlob says what is wrong with a pattern; "" = nothing.
func badGlob(glob string) string {
	if strings.TrimSpace(glob) == "" {
		return "it is empty"
	}
	if strings.HasPrefix(glob, "!") {
		return "a pattern cannot begin with an exclamation mark"
	}
	for part := range strings.SplitSeq(strings.Trim(glob, "/"), "/") {
		if part == ".." {
			return "it cannot lead out of the tree"
		}
		if _, err := path.Match(part, ""); err != nil {
			return "a bracket or a backslash is not closed"
		}
	}
	return ""
}

// builders read a file that says what they do, when no other is named.
var builders = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "gmake": {"Makefile", "makefile", "GNUmakefile"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
}

// packagers run what their file says, too, but who mends a test may have to name a package
// there.
var packagers = []string{"npm", "yarn", "pnpm", "bun"}

// wrappers run the command that follows their options.
var wrappers = []string{"env", "timeout", "nice", "nohup", "exec", "time", "setsid", "stdbuf"}

// RunsFiles are the files that a script runs by their path: a command word with
// a slash, and the first argument of an interpreter. Behind a cd the path may be
// from either place, and both are told. What is put together when it runs is not
// among them.
func (s *Script) RunsFiles() []string { return s.filesOf(runs) }

// runs are the files that a command runs by their path.
func runs(name string, rest []*syntax.Word) []string {
	if strings.Contains(name, "/") && !path.IsAbs(name) {
		return []string{name}
	}
	if lang, _ := named(name); name != "" && lang.runs {
		return interpreted(lang, rest)
	}
	return nil
}

// BuildFiles are the files in which builders that a script runs, such as make,
// find what they do.
func (s *Script) BuildFiles() []string {
	return s.filesOf(func(name string, _ []*syntax.Word) []string { return builders[path.Base(name)] })
}

// filesOf asks for the files of each command of a script.
func (s *Script) filesOf(ask func(name string, rest []*syntax.Word) []string) []string {
	if s == nil || len(s.Source) > MaxScript || tooDeep(s.Source) >= 0 {
		return nil
	}
	nodes, err := newBash().read(s.Source)
	if err != nil {
		return nil
	}
	var files []string
	dir := ""
	nodes.visit(func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		args := unwrapped(bared(call.Args))
		if len(args) == 0 {
			return true
		}
		name := nameOf(args[0])
		if name == "cd" && len(args) == 2 && !path.IsAbs(nameOf(args[1])) {
			dir = path.Join(dir, nameOf(args[1]))
		}
		for _, f := range ask(name, args[1:]) {
			for _, f := range []string{path.Clean(f), path.Join(dir, f)} {
				if !slices.Contains(files, f) && !strings.Contains(f, "{{") && !strings.HasPrefix(f, "../") {
					files = append(files, f)
				}
			}
		}
		return true
	})
	return files
}

// unwrapped is a command without what only runs it: env A=1 timeout 5 CMD is CMD.
func unwrapped(args []*syntax.Word) []*syntax.Word {
	for len(args) > 1 && slices.Contains(wrappers, nameOf(args[0])) {
		args = args[1:]
		for len(args) > 1 {
			word := nameOf(args[0])
			if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") && strings.Trim(word, "0123456789.smhd") != "" {
				break
			}
			args = args[1:]
		}
	}
	return args
}

// interpreted is the file that an interpreter runs; none where it runs a text or a
// module, or where nobody knows what.
func interpreted(lang language, rest []*syntax.Word) []string {
	for i := 0; i < len(rest); i++ {
		switch word := nameOf(rest[i]); {
		case word == "" || path.IsAbs(word) || lang.takes(word) || lang.attached(word) || slices.Contains(lang.files, word) || slices.Contains(lang.looks, word):
			return nil
		case lang.skips(word):
			i++
		case !strings.HasPrefix(word, "-"):
			return []string{word}
		}
	}
	return nil
}
