package recipe

import "strings"

// EnvNames gives the names under which a script reads the variable v:
// RECIPE_VAR_v always, and its upper-case form when that is a name of the
// shell and not one that the system or Belay itself lives by ("" otherwise).
// A variable called lang or editor is fine; it only does not become $LANG.
func EnvNames(v string) (long, short string) {
	name := shellName(v)
	long = "RECIPE_VAR_" + name
	short = strings.ToUpper(name)
	if denied(short) || kept(short) {
		return long, ""
	}
	return long, short
}

// shellName is the name of a variable as a shell can have it.
func shellName(v string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, v)
}
