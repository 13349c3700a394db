package worktree

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// byName are programs that run whatever somebody wrote down under a name: only
// what they print shows that it was tests.
var byName = []string{"make", "just", "task", "ninja", "rake", "npm", "yarn", "pnpm", "composer", "tox", "nox", "manage.py", "artisan", "runtests", "run-tests", "run_tests"}

// interpreters are programs that run the file that they are given.
var interpreters = []string{"sh", "bash", "zsh", "dash", "ksh", "source", ".", "node", "tsx", "ts-node", "perl", "Rscript", "lua"}

// scriptEnds are ends of the names of scripts.
var scriptEnds = []string{".sh", ".bash", ".py", ".rb", ".php", ".pl", ".js", ".mjs", ".cjs", ".ts", ".cmd"}

// installed are places in a tree where programs are installed, and not written.
var installed = []string{"node_modules/.bin", "venv/bin", ".venv/bin", "env/bin", "vendor/bin"}

// runsKnown tells whether a simple command runs tests with a program that is
// known to do just that.
func runsKnown(words []string) bool { return runsSuite(words) && !onlyNamed(words) }

// onlyNamed tells whether a command that runs tests does it by its name alone: a
// target, a script of a package, or a program of the tree with any name.
func onlyNamed(words []string) bool {
	name := path.Base(words[0])
	for _, ext := range []string{".sh", ".cmd"} {
		name = strings.TrimSuffix(name, ext)
	}
	if oneOf(name, byName) || name == "bun" && slices.Contains(words, "run") {
		return true
	}
	return selfMade(words[0]) && name != "gradlew" && name != "mvnw"
}

// selfMade tells whether a program is called by a path at which anybody could
// have written it.
func selfMade(program string) bool {
	dir := path.Dir(program)
	if !strings.Contains(program, "/") || trusted(dir) {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(homes, installed), func(end string) bool {
		return dir == end || strings.HasSuffix(dir, "/"+strings.TrimPrefix(end, "/"))
	})
}

// runsScript tells whether a simple command runs something that somebody wrote
// down: tests, when it prints what tests print.
func runsScript(words []string) bool {
	name := path.Base(words[0])
	switch {
	case oneOf(name, interpreters):
		return len(operands(name, words[1:])) > 0 && !slices.ContainsFunc(words[1:], func(w string) bool { return flags(w) && strings.ContainsAny(w, "nce") })
	case oneOf(name, byName):
		return true
	}
	return selfMade(words[0]) || slices.Contains(scriptEnds, path.Ext(words[0]))
}

// silent are programs that print nothing when all is well.
var silent = []string{
	"cd", "[", "[[", "test", "true", "false", ":", "export", "unset", "set", "local", "readonly", "declare", "umask", "ulimit", "shopt",
	"mkdir", "touch", "exit", "return", "then", "else", "fi", "do", "done", "}", "rm", "cp", "mv", "chmod", "sleep", "wait", "kill", "ln",
}

// dull are programs that print, and never what a runner of tests prints; with
// words, only those commands of theirs.
var dull = map[string][]string{
	"date": nil, "pwd": nil, "which": nil, "type": nil, "nvm": nil, "conda": nil, "mamba": nil, "micromamba": nil, "deactivate": nil, "venv": nil, "virtualenv": nil, "ensurepip": nil, "popd": nil,
	"apt-get": nil, "apt": nil, "apk": nil, "dnf": nil, "yum": nil, "brew": nil,
	"pip": {"install"}, "pip3": {"install"}, "poetry": {"install"}, "uv": {"sync", "pip", "venv"}, "bundle": {"install"},
	"gofmt": {"-l", "-w"}, "git": {"add", "commit", "push", "status", "checkout", "switch", "stash"}, "go": {"build", "vet", "fmt", "mod", "version"},
}

// filters are programs that hand on what they read.
var filters = []string{"tail", "head", "tee", "cat", "grep", "egrep"}

// speaks tells whether a command that stands beside tests may print what looks
// like the sum of theirs.
func speaks(words []string, piped bool) bool {
	name, rest := words[0], words[1:]
	if oneOf(name, silent) || runsScript(words) {
		return false
	}
	if verbs, ok := dull[name]; ok {
		return verbs != nil && !oneOf(firstOf(rest), verbs) && !(strings.HasPrefix(name, "pip") && oneOf(firstOf(plainWords(rest)), verbs))
	}
	switch {
	case name == "pushd": // it prints folders, whose names may be anything
		return slices.ContainsFunc(rest, func(w string) bool { return strings.ContainsAny(w, "$` \t\n\r") })
	case name == "trap":
		return slices.ContainsFunc(split(firstOf(rest)), func(c simple) bool {
			words, _ := program(c.words)
			return len(words) > 0 && speaks(words, false)
		})
	case name == "eval":
		return len(rest) != 1 || !prepares(rest[0])
	case strings.HasPrefix(name, "$("): // what is evaluated
		return !prepares(name)
	case name == "echo":
		return slices.ContainsFunc(rest, func(w string) bool { return strings.ContainsAny(w, "0123456789$`\\>\t\n\r") || flags(w) })
	case piped && oneOf(name, filters):
		given := slices.DeleteFunc(plainWords(rest), func(w string) bool { return strings.Trim(w, "0123456789") == "" })
		return name != "tee" && len(given) > 1 || len(given) == 1 && oneOf(name, []string{"tail", "head", "cat"})
	}
	return true
}

// preparers are programs that print what prepares a shell for others, each with
// the commands that do.
var preparers = map[string][]string{
	"pyenv": {"init"}, "rbenv": {"init"}, "nodenv": {"init"}, "goenv": {"init"}, "conda": {"shell.bash", "shell.zsh", "shell.posix"}, "mamba": {"shell"}, "micromamba": {"shell"},
	"fnm": {"env"}, "mise": {"activate"}, "brew": {"shellenv"}, "opam": {"env"}, "ssh-agent": {"", "-s"},
}

// prepares tells whether a $( ) is what such a program prints, and no more.
func prepares(word string) bool {
	in, ok := strings.CutSuffix(strings.TrimPrefix(word, "$("), ")")
	words := strings.Fields(in)
	if !ok || len(words) == 0 || strings.ContainsAny(in, "$`()|&;<>\n") || selfMade(words[0]) {
		return false
	}
	return slices.Contains(preparers[path.Base(words[0])], firstOf(words[1:]))
}

// placeFlags are flags by which programs work in another folder, or with a file
// of one.
var placeFlags = map[string][]string{
	"go": {"-C"}, "make": {"-C", "--directory"}, "ninja": {"-C"}, "npm": {"--prefix"}, "yarn": {"--cwd"}, "pnpm": {"-C", "--dir"}, "bun": {"--cwd"},
	"cargo": {"--manifest-path"}, "mvn": {"-f", "--file"}, "gradle": {"-p", "--project-dir"}, "just": {"-d", "--working-directory"}, "ctest": {"--test-dir"},
}

// worksAt is where a command works that is called at a place.
func worksAt(at string, words []string) string {
	known := placeFlags[path.Base(words[0])]
	for i, w := range words[1:] {
		name, value, joined := strings.Cut(w, "=")
		switch {
		case joined && oneOf(name, known):
			at = stood(at, value)
		case oneOf(w, known) && i+2 < len(words):
			at = stood(at, words[i+2])
		}
	}
	return at
}

// whereabouts tells of a place of a shell whether it is known, and lies outside
// of the working tree of an agent that works in dir; "" = nobody knows where.
func whereabouts(dir, at string) (known, away bool) {
	switch {
	case at == somewhere:
		return false, false
	case !path.IsAbs(at) && at != ".." && !strings.HasPrefix(at, "../"):
		return true, false
	case dir == "":
		return false, false
	case !path.IsAbs(at):
		at = filepath.Join(dir, at)
	}
	top := resolved(topOf(dir))
	_, in := inside(top, at)
	return true, !in && resolved(at) != top
}

// topOf is the folder of a repository that a folder lies in, or the folder.
func topOf(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
