package recipe

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
)

// Denied tells whether a variable of this name, upper-cased, would take the
// place of one that the system, a language's runtime or Belay itself lives by.
func Denied(name string) bool {
	return denied(strings.ReplaceAll(strings.ToUpper(name), "-", "_"))
}

// denied is Denied for a name in upper case, as a shell has it.
func denied(up string) bool {
	return slices.Contains(deniedNames, up) ||
		slices.ContainsFunc(deniedPrefixes, func(prefix string) bool { return strings.HasPrefix(up, prefix) })
}

var (
	deniedNames = []string{
		"IFS", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "PYTHONPATH", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "GLIBC_TUNABLES",
	}
	deniedPrefixes = []string{"LD_", "DYLD_", "BELAY_", "AMPLIHACK_"}
	systemNames    = []string{"ENV", "HOME", "LOGNAME", "PATH", "PWD", "SHELL", "USER"} // kept; env: may not set them
)

const maxName = 100 // characters of an id or a name

// The forms of names, written out because they are looked at for every step.

func idForm(s string) bool {
	return s != "" && (isAlnum(s[0]) || s[0] == '_') && all(s, func(c byte) bool { return isAlnum(c) || c == '_' || c == '.' || c == '-' })
}

func varForm(s string) bool {
	return s != "" && (isAlpha(s[0]) || s[0] == '_') && all(s, func(c byte) bool { return isAlnum(c) || c == '_' || c == '-' })
}

func envForm(s string) bool { return varForm(s) && strings.IndexByte(s, '-') < 0 }

func recipeForm(s string) bool {
	return s != "" && all(s, func(c byte) bool { return isAlnum(c) || c == '_' || c == '-' })
}

func isAlpha(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isAlnum(c byte) bool { return isAlpha(c) || '0' <= c && c <= '9' }

func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// variable checks the name of a variable.
func (p *parser) variable(n *yaml.Node, name string, form func(string) bool) bool {
	what, rest := "a variable", "letters, digits, _ and -"
	if !form("a-b") {
		what, rest = "an environment variable", "letters, digits and _"
	}
	switch {
	case name == "":
		p.fail(posOf(n), "", "the name of %s is empty", what)
	case len(name) > maxName:
		p.fail(posOf(n), "", "the name of %s has at most %d characters", what, maxName)
	case !form(name):
		p.fail(posOf(n), "", "%q cannot name %s: it is a letter or _, then %s", name, what, rest)
	case Denied(name), !form("a-b") && slices.Contains(systemNames, strings.ToUpper(name)):
		p.fail(posOf(n), "choose another name", "%s named %q would overwrite one that the system or belay itself relies on", what, name)
	default:
		return true
	}
	return false
}

// sets notes that the file sets a variable, to find two that are one in a script.
func (p *parser) sets(n *yaml.Node, name string) {
	_, short := EnvNames(name)
	other, clash := p.env[short]
	if clash && other != name && short != "" {
		p.warn(posOf(n), "rename one of them", "%q and %q are both $%s in a script", other, name, short)
		return
	}
	p.env[short] = name
}

// use is a name that is read somewhere.
type use struct {
	name  string
	pos   Pos
	maybe bool // it has a default where it is read

	outside bool // it is read before the items of foreach are gone through
}

// readsText notes what a text reads that is one placeholder.
func (p *parser) readsText(at Pos, t *expr.Text) {
	for _, r := range t.Reads() {
		p.note(use{name: r.Name, pos: at, maybe: r.Optional})
	}
}

// readsValue notes what the text of a scalar reads, each name at its place.
func (p *parser) readsValue(v *yaml.Node, t *expr.Text) {
	if t.Literal() {
		return
	}
	place := p.src.place(v)
	for _, r := range t.Reads() {
		p.note(use{name: r.Name, pos: place.offset(r.Offset), maybe: r.Optional})
	}
}

func (p *parser) note(u use) {
	to := &p.hooks
	if p.to != nil {
		to = &p.to.uses
	}
	if *to == nil {
		*to = make([]use, 0, 4) // a step reads a few
	}
	*to = append(*to, u)
}

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", word)
}
