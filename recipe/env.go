package recipe

import "strings"

// EnvNames gives the names under which a script reads the variable v:
// RECIPE_VAR_v always, and its upper-case form when that is a name of the
// shell and not one that the system or Belay itself lives by ("" otherwise).
func EnvNames(v string) (long, short string) {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, v)
	long = "RECIPE_VAR_" + name
	short = strings.ToUpper(name)
	if Denied(short) {
		return long, ""
	}
	return long, short
}
