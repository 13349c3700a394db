package worktree

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// shellMode is what commands before it do to the exit of a command.
type shellMode struct {
	strict   bool // set -e
	pipefail bool
	tricked  bool // the exit, or the program itself, may be another than it seems
	shadows  map[string]bool
	text     string // the whole
}

// take takes in one simple command, words of the shell and all.
func (m *shellMode) take(words []string) {
	for len(words) > 0 && (oneOf(words[0], openers) || oneOf(words[0], hiders)) {
		words = words[1:]
	}
	for _, w := range words {
		if !assignment(w) && w != "export" && w != "env" && w != "declare" {
			break
		}
		m.tricked = m.tricked || foreign(w)
	}
	if words, _ = program(words); len(words) == 0 {
		return
	}
	switch words[0] {
	case "trap": // it may exit with another code
		m.tricked = m.tricked || !m.tidies(words[1:])
	case "hash": // a program is another one from now on
		m.tricked = m.tricked || slices.ContainsFunc(words[1:], func(w string) bool { return flags(w) && strings.Contains(w, "p") })
	case "set", "shopt":
		m.set(words[1:])
	}
}

// set takes in set -e, set +e, set -o pipefail and their like.
func (m *shellMode) set(words []string) {
	on := true
	for _, w := range words {
		switch {
		case w == "--": // what follows are the arguments of the shell
			return
		case w == "noexec" || w == "onecmd":
			m.tricked = m.tricked || on
		case w == "pipefail":
			m.pipefail = on
		case w == "errexit":
			m.strict = on
		case len(w) > 1 && (w[0] == '-' || w[0] == '+'):
			on = w[0] == '-'
			m.tricked = m.tricked || on && strings.ContainsAny(w, "nt") // it reads on and runs nothing more
			if strings.IndexByte(w, 'e') > 0 && !strings.HasPrefix(w, "--") {
				m.strict = on
			}
		}
	}
}

// homes are places of a person's own programs; systems are places that an agent
// cannot write to as it pleases.
var (
	homes   = []string{"/.cargo/bin", "/.local/bin", "/go/bin", "/.go/bin", "/.bun/bin", "/.deno/bin", "/.dotnet", "/.pyenv/bin", "/.pyenv/shims", "/.rbenv/bin", "/.rbenv/shims"}
	systems = []string{"/usr/", "/opt/", "/bin", "/sbin", "/snap/", "/nix/", "/home/linuxbrew/"}
)

// foreign tells whether an assignment can make a program another one, or make
// a failure none: a search path that begins at a place where anybody can put a
// program, or flags for make.
func foreign(word string) bool {
	name, value, ok := strings.Cut(word, "=")
	switch {
	case !ok:
		return false
	case name == "MAKEFLAGS" || name == "GNUMAKEFLAGS":
		return lenient(append([]string{"make"}, strings.Fields(value)...))
	case name == "BASH_ENV" || name == "LD_PRELOAD":
		return true
	case name == "GOFLAGS":
		return slices.ContainsFunc(strings.Fields(strings.Trim(value, `'"`)), replaced)
	case name != "PATH":
		return false
	}
	for dir := range strings.SplitSeq(value, ":") {
		if dir == "$PATH" || dir == "${PATH}" {
			return false // what follows comes last
		}
		if !trusted(dir) {
			return true
		}
	}
	return false
}

func trusted(dir string) bool {
	if slices.ContainsFunc(systems, func(s string) bool { return strings.HasPrefix(dir+"/", s) }) {
		return !strings.Contains(dir, "..")
	}
	for _, home := range []string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(dir, home); ok && slices.Contains(homes, strings.TrimSuffix(rest, "/")) {
			return true
		}
	}
	return dir == "$(go env GOPATH)/bin" || dir == "$GOPATH/bin"
}

// lenients are flags by which a program forgives failures.
var lenients = map[string][]string{
	"make": {"--ignore-errors", "--keep-going"},
	"mvn":  {"-fn", "--fail-never"}, "mvnw": {"-fn", "--fail-never"},
	"tox": {"--ignore-outcome"},
}

// makeFlags are the short flags of make that may stand together, and numbers of theirs.
const makeFlags = "bBdeikLnpqrRsStvwjlO0123456789"

// lenient tells whether a program was told to forgive failures.
func lenient(words []string) bool {
	name := path.Base(words[0])
	return slices.ContainsFunc(words[1:], func(w string) bool {
		switch {
		case oneOf(w, lenients[name]) || strings.HasPrefix(w, "-Dmaven.test.failure.ignore") || name == "go" && replaced(w):
			return true
		case name != "make" || len(w) < 2 || w[0] != '-' || strings.Trim(w[1:], makeFlags) != "":
			return name == "make" && foreign(w)
		}
		return strings.ContainsAny(w, "ik")
	})
}

// replaced tells whether a flag has go run another program than it built.
func replaced(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	return strings.HasPrefix(flag, "-") && (name == "exec" || name == "toolexec")
}

var (
	functions = regexp.MustCompile(`(?:^|[\s;&|({])([\w.-]+)[ \t]*\([ \t]*\)|\bfunction[ \t]+([\w.-]+)`)
	aliases   = regexp.MustCompile(`\balias[ \t]+([^;&|\n]*)`)
)

// shadows are the names that functions and aliases of a command take. What only
// looks like one, inside a text, harms no command of another name.
func shadows(command string) map[string]bool {
	names := map[string]bool{}
	for _, m := range functions.FindAllStringSubmatch(command, -1) {
		names[m[1]+m[2]] = true
	}
	for _, m := range aliases.FindAllStringSubmatch(command, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			if name, _, ok := strings.Cut(word, "="); ok {
				names[name] = true
			}
		}
	}
	return names
}

// shadowed tells whether a word of a command may be a function or an alias.
func (m *shellMode) shadowed(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return m.shadows[w] })
}

// lends tells whether a command has its shell take in what is written elsewhere:
// that may make any name another program.
func lends(words []string) bool {
	return len(words) > 1 && oneOf(words[0], []string{".", "source", "eval"})
}
