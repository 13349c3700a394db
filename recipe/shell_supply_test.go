package recipe

import (
	"strings"
	"testing"
)

// TestReachesInteger: a value that gets to an integer variable by a way around
// would run. It does with a plain reference, and its placeholder is marked.
//
// promise: L
func TestReachesInteger(t *testing.T) {
	t.Parallel()
	const evil = "none[$(touch canary)]" // a name that no script has: bash would look it up a thousand times
	for _, src := range []string{
		`declare -i z; : ${z:={{v}}}`, `declare -i z; : "${z={{v}}}"`, `declare -i z; printf -v z %s {{v}}`, `declare -i z; printf -vz %s {{v}}`,
		`declare -i z; read z <<< {{v}}`, "declare -i z\nread -r z <<EOF\n{{v}}\nEOF", `declare -i z; while read -r z; do :; done <<< {{v}}`,
		`declare -i z; f() { z=$1; }; f {{v}}`, `declare -i z; f() { local a=$2; z=$a; }; f x {{v}}`, `declare -i z; f() { shift; z=$1; }; f x {{v}}`,
		`declare -i z; set -- {{v}}; z=$1`, `declare -i z; x={{v}}; z=$x`, `declare -i z; a=({{v}}); z=${a[0]}`, `declare -i z; z=$(echo {{v}})`,
		`declare -i z; declare -n r=z; r={{v}}`, `declare -i z; for z in {{v}}; do :; done`, `typeset -i z; : ${z:={{v}}}`, `f() { local -i z; : ${z:={{v}}}; }; f`,
		`export -i z 2>/dev/null; declare -i z; z={{v}}`, `\declare -i z; z={{v}}`, `builtin declare -i z; : ${z:={{v}}}`, `'declare' "-i" z; z={{v}}`, `declare "-i" z; z={{v}}`,
		`declare -i z; n=z; printf -v "$n" %s {{v}}`, `declare -i z; f() { for x in "$@"; do z=$x; done; }; f {{v}}`,
	} {
		if !harms(t, src, evil) {
			t.Errorf("%s does no harm: why must it be a number?", src)
		}
		script, problems := ParseScript(src, Pos{1, 1})
		if script == nil {
			t.Errorf("%s: %v", src, problems)
			continue
		}
		if len(script.Uses) != 1 || !script.Uses[0].Integer {
			t.Errorf("%s: the value may be any text: %+v", src, script.Uses)
		}
	}
	for _, src := range []string{
		`declare -i z=1; echo {{v}} $z`, `declare -i z; f() { z=$2; echo "$1"; }; f {{v}} 3`, `declare -i z; x={{v}}; case $x in 1) z=$x;; esac`,
		`declare -i z; z=$(grep -c x {{v}})`, `declare -i z; read -r line <<< {{v}}; z=1`, `: ${z:={{v}}}`,
	} {
		script, problems := ParseScript(src, Pos{1, 1})
		if script == nil || script.Uses[0].Integer {
			t.Errorf("%s: the value must be a number: %v", src, problems)
		}
	}
}

// TestReplacementIsNotSplit: the quotes of a replacement do not reach its result.
func TestReplacementIsNotSplit(t *testing.T) {
	t.Parallel()
	for _, src := range []string{`echo ${z/PRE/{{v}}}`, `echo a${z//PRE/"{{v}}"}b`, `for x in ${z/P/{{v}}}; do :; done`, `a=(${z/P/{{v}}})`, `echo ${u:-${z/P/{{v}}}}`, `cat < ${z/P/{{v}}}`} {
		script, problems := ParseScript(src, Pos{1, 1})
		if script != nil || len(problems) != 1 || !strings.Contains(problems[0].Hint, "double quotes") {
			t.Errorf("%s: %v", src, problems)
		}
	}
	for _, src := range []string{`echo "${z/PRE/{{v}}}"`, `y=${z/PRE/{{v}}}`, `local y=${z/PRE/{{v}}}`, `[[ ${z/P/{{v}}} == x ]]`, `case ${z/P/{{v}}} in x) ;; esac`, `cat <<< ${z/P/{{v}}}`, `echo ${z/{{v}}/x}`} {
		if script, problems := ParseScript(src, Pos{1, 1}); script == nil || len(problems) > 0 {
			t.Errorf("%s: %v", src, problems)
		}
	}
}
