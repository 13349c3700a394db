package recipe

import "testing"

// A subscript is a word only where the array surely is an associative one;
// elsewhere bash calculates with it.
func TestKeysOfArrays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src  string
		word bool
	}{
		{`declare -A m; m["{{v}}"]=1`, true}, {`declare -A m; m[{{v}}]=1`, true}, {`declare -A m; echo "${m["{{v}}"]}"`, true}, {`declare -gA m; echo ${m[{{v}}]}`, true}, {`typeset -A m=([{{v}}]=1)`, true},
		{`declare -A m; m=(['{{v}}']=1)`, true}, {`f() { local -A m; m[{{v}}]=1; }`, true}, {`declare -A m; f() { m[{{v}}]=1; }`, true}, {`declare -A m; if x; then m[{{v}}]+=1; fi`, true}, {`declare -A m; [[ ${m[{{v}}]} -eq 1 ]]`, true},
		{`declare -A m; x=$(echo "${m[{{v}}]:-none}")`, true},
		{`m["{{v}}"]=1`, false}, {`declare -a m; m["{{v}}"]=1`, false}, {`m[{{v}}]=1; declare -A m`, false}, {`if x; then declare -A m; fi; m[{{v}}]=1`, false}, {`if x; then declare -A m; else m[{{v}}]=1; fi`, false}, {`x && declare -A m; m[{{v}}]=1`, false},
		{`f() { local -A m; }; m[{{v}}]=1`, false}, {`f() { local -A m; g() { m[{{v}}]=1; }; }; f; g`, false}, {`(declare -A m); m[{{v}}]=1`, false}, {`declare -A m & m[{{v}}]=1`, false}, {`declare -A m | m[{{v}}]=1`, false},
		{`declare -A m; unset m; m[{{v}}]=1`, false}, {`m=(1); declare -A m; m[{{v}}]=1`, false}, {`declare -A m; f() { local m; g; }; g() { m[{{v}}]=1; }`, false}, {`declare -A m; (( m[{{v}}]++ ))`, false}, {`declare -A m; declare m[{{v}}]=1`, false},
		{`declare -A m; echo $(( ${m[{{v}}]} ))`, false}, {`mapfile m; declare -A m; m[{{v}}]=1`, false}, {`declare -A m; n[{{v}}]=1`, false},
	} {
		script, problems := ParseScript(c.src, Pos{1, 1})
		if script == nil || len(problems) > 0 {
			t.Errorf("%s: %v", c.src, problems)
			continue
		}
		if script.Uses[0].Integer == c.word {
			t.Errorf("%s: the subscript is a word: %v, want %v", c.src, !c.word, c.word)
		}
	}
}
