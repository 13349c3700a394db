package recipe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
)

// Denied tells whether a variable of this name, upper-cased, would take the
// place of one that the system, a language's runtime or Belay itself lives by.
func Denied(name string) bool {
	up := strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	return slices.Contains(deniedNames, up) ||
		slices.ContainsFunc(deniedPrefixes, func(prefix string) bool { return strings.HasPrefix(up, prefix) })
}

var (
	deniedNames = []string{
		"PATH", "HOME", "SHELL", "PWD", "USER", "LOGNAME", "IFS", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4",
		"PROMPT_COMMAND", "PYTHONPATH", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "GLIBC_TUNABLES",
	}
	deniedPrefixes = []string{"LD_", "DYLD_", "BELAY_", "AMPLIHACK_"}
)

const maxName = 100 // characters of an id or a name

var (
	idForm     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	varForm    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	envForm    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	recipeForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

// variable checks the name of a variable or, with form envForm, of an
// environment variable.
func (p *parser) variable(n *yaml.Node, name string, form *regexp.Regexp) bool {
	what := "a variable"
	rest := "letters, digits, _ and -"
	if form == envForm {
		what, rest = "an environment variable", "letters, digits and _"
	}
	switch {
	case name == "":
		p.fail(posOf(n), "", "the name of %s is empty", what)
	case len(name) > maxName:
		p.fail(posOf(n), "", "the name of %s has at most %d characters", what, maxName)
	case !form.MatchString(name):
		p.fail(posOf(n), "", "%q cannot name %s: it is a letter or _, then %s", name, what, rest)
	case Denied(name):
		p.fail(posOf(n), "choose another name", "%s named %q would overwrite one that the system or belay itself relies on", what, name)
	default:
		return true
	}
	return false
}

// sets notes that the file sets a variable.
func (p *parser) sets(n *yaml.Node, name string) {
	if _, known := p.set[name]; known {
		return
	}
	p.set[name] = true
	_, short := EnvNames(name)
	if other, clash := p.env[short]; clash {
		p.warn(posOf(n), "rename one of them", "%q and %q are both $%s in a script", other, name, short)
		return
	}
	p.env[short] = name
}

// use is a name that is read somewhere.
type use struct {
	name string
	pos  Pos
}

func (p *parser) reads(n *yaml.Node, names []string) {
	for _, name := range names {
		p.used = append(p.used, use{name, posOf(n)})
	}
}

// unset warns of names that nothing in the file sets. The caller of the recipe
// may set them, and so may a sub-recipe; then only a likely slip is worth a word.
func (p *parser) unset(r *Recipe) {
	var missing []use
	for _, u := range p.used {
		if !p.set[u.name] && len(missing) < MaxProblems { // more would not be shown
			missing = append(missing, u)
		}
	}
	if len(missing) == 0 {
		return
	}
	known, calls := p.known(), len(r.SubRecipes()) > 0
	for _, u := range missing {
		hint := didYouMean(expr.Near(u.name, known))
		if hint == "" && calls {
			continue
		}
		if hint == "" {
			hint = "give it a default under context:"
		}
		p.warn(u.pos, hint, "nothing in this file sets the variable %q", u.name)
	}
}

func (p *parser) known() []string {
	names := make([]string, 0, len(p.set))
	for name := range p.set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", word)
}
