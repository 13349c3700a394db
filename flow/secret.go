package flow

import (
	"fmt"

	"github.com/belay-run/belay/recipe"
)

// secrets is the shell text, on the script's first line, that gives the
// placeholders which are secrets their values. Only the shell has those, so it
// is the shell that looks at one before it calculates with it: in arithmetic it
// would run what the value holds.
func (c *scope) secrets(script *recipe.Script) string {
	text := ""
	for _, u := range script.Uses {
		if !c.isSecret(u.Value) {
			continue
		}
		name, _ := u.Value.Alone()
		long, _ := recipe.EnvNames(name)
		text += u.Env + "=${" + long + "?is a secret and not in the environment}; "
		if u.Integer {
			text += wholeOnly(u.Env, name)
		}
	}
	return text
}

// wholeOnly is the shell text that ends a script unless a variable is a whole
// decimal number that its arithmetic can hold. The digits are written out:
// what lies between 0 and 9 depends on the language of the machine.
func wholeOnly(env, name string) string {
	return fmt.Sprintf("case ${%s#[-+]} in ''|*[!0123456789]*|0?*|????????????????????*) "+
		"printf '%%s\\n' '{{%s}} stands in arithmetic, and the secret is not a whole decimal number' >&2; exit 1;; esac; ", env, name)
}

// inEnvironment is the name under which a secret is looked for in the
// environment.
func inEnvironment(name string) string {
	if _, short := recipe.EnvNames(name); short != "" {
		return short
	}
	return name
}
