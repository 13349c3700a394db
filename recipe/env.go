package recipe

import "strings"

// EnvNames gives the names under which a script reads the variable v:
// RECIPE_VAR_v always, and its upper-case form when that is a name of the
// shell and not one that the system or Belay itself lives by ("" otherwise).
// A variable called lang or editor is fine; it only does not become $LANG.
func EnvNames(v string) (long, short string) {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, v)
	long = "RECIPE_VAR_" + name
	short = strings.ToUpper(name)
	if Denied(short) || kept(short) {
		return long, ""
	}
	return long, short
}

// kept tells whether programs read a variable of the environment by this name.
func kept(short string) bool {
	switch short {
	case "OLDPWD", "TERM", "TMPDIR", "TMP", "LANG", "MAIL", "EDITOR", "VISUAL", "DISPLAY", "HOSTNAME", "PS1", "PS2", "PS3",
		"CDPATH", "GLOBIGNORE", "POSIXLY_CORRECT", "BASH_XTRACEFD", "PAGER", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_PAGER", "GIT_DIR", "GIT_WORK_TREE", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS":
		return true
	}
	return strings.HasPrefix(short, "LC_")
}
