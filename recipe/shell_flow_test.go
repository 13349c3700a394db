package recipe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A value that reaches arithmetic by way of a variable runs as well as one that
// stands there, and nothing checks it.
func TestValuesFlowIntoArithmetic(t *testing.T) {
	t.Parallel()
	const hidden, prompt = `a[$(touch canary)]`, `$(touch canary)`
	for _, c := range []struct{ src, at, value string }{
		{`x={{v}}; (( x ))`, "1:13", hidden}, {`x={{v}}; echo $(( x + 1 ))`, "1:19", hidden}, {`x={{v}}; echo $(( $x + 1 ))`, "1:19", hidden}, {`x="{{v}}"; [[ $x -eq 1 ]]`, "1:15", hidden},
		{`x={{v}}; y=$x; [[ 1 -lt "$y" ]]`, "1:26", hidden}, {`for x in {{v}}; do (( x > 1 )); done`, "1:23", hidden}, {`x={{v}}; b=(1); echo "${b[x]}"`, "1:27", hidden}, {`x={{v}}; b=abc; echo "${b:x}"`, "1:27", hidden},
		{`export x={{v}}; let n=x+1`, "1:23", hidden}, {`x={{v}}; x=${x:-0}; (( x ))`, "1:24", hidden}, {`x={{v}}; for ((i = 0; i < x; i++)); do break; done`, "1:27", hidden},
		{`x={{v}}; echo "${x@P}"`, "1:16", prompt},
	} {
		script, problems := ParseScript(c.src, Pos{1, 1})
		if script == nil || len(problems) != 1 || !problems[0].Warning || !strings.HasPrefix(problems[0].String(), ":"+c.at+": warning: ") || !strings.Contains(problems[0].Msg, "holds the value of {{v}}") {
			t.Errorf("%s: %v", c.src, problems)
			continue
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script.Text)
		cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), script.Uses[0].Env + "=" + c.value}
		_ = cmd.Run() // some of them fail after the harm is done
		if _, err := os.Stat(filepath.Join(cmd.Dir, "canary")); err != nil {
			t.Errorf("%s does no harm with %s: why is it warned of?", c.src, c.value)
		}
	}
	for _, src := range []string{
		`x={{v}}; [[ $x =~ ^[0-9]+$ ]] || exit 1; (( x ))`, `x={{v}}; case $x in *[!0-9]*) exit 1;; esac; echo $(( x ))`, `x={{v}}; [ "$x" -eq 1 ]`, `declare -i x={{v}}; (( x ))`, `x=$(( {{v}} )); (( x ))`,
		`x=$(wc -l < {{v}}); (( x ))`, `y={{v}}; x=3; (( x ))`, `x={{v}}; echo $(( ${#x} ))`, `x={{v}}; echo "${x@Q}"`, `x={{v}}; [[ $x == 1 ]]`,
	} {
		if script, problems := ParseScript(src, Pos{1, 1}); script == nil || len(problems) > 0 {
			t.Errorf("%s: %v", src, problems)
		}
	}
}

// The names under which variables are exported are no safer.
func TestExportedNamesInArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{`echo $((COUNT))`, "COUNT"}, {`echo $(( $COUNT + 1 ))`, "COUNT"}, {`[[ $COUNT -eq 1 ]]`, "COUNT"}, {`(( RECIPE_VAR_count ))`, "RECIPE_VAR_count"}, {`COUNT=${COUNT:-0}; (( COUNT ))`, "COUNT"}, {`n=$COUNT; (( n ))`, "COUNT"},
		{`echo {{other}}; (( COUNT ))`, "COUNT"}, {`echo "${OTHER@P}"`, "OTHER"}, {`(( RESULT ))`, "RESULT"}, {`x=(1); echo "${x[COUNT]}"`, "COUNT"},
		{`echo $((HEIGHT))`, ""}, {`COUNT=3; (( COUNT ))`, ""}, {`[ "$COUNT" -eq 1 ]`, ""}, {`[[ $COUNT =~ ^[0-9]+$ ]] && (( COUNT ))`, ""}, {`case {{count}} in [0-9]) echo $(( COUNT )) ;; esac`, ""}, {`read -r COUNT < f; (( COUNT ))`, ""},
		{`for (( COUNT = 0; COUNT < 3; COUNT++ )); do :; done`, ""}, {`echo "$COUNT" ${#COUNT} $(( ${#COUNT} ))`, ""}, {`(( count ))`, ""},
	} {
		src := "name: x\ncontext: {count: 1, other: a}\nsteps:\n  - {id: a, command: echo, output: result}\n  - id: b\n    command: |\n      " + c.script + "\n"
		r, problems := Parse("x.yaml", []byte(src))
		if r == nil {
			t.Fatalf("%s: %v", c.script, problems)
		}
		problems = append(problems, CheckCalls(r, nil)...)
		switch {
		case c.want == "" && len(problems) > 0:
			t.Errorf("%s: %v", c.script, problems)
		case c.want != "" && (len(problems) != 1 || !problems[0].Warning || problems[0].Line != 7 || !strings.HasPrefix(problems[0].Msg, "$"+c.want+" holds the value of ")):
			t.Errorf("%s: %v", c.script, problems)
		}
	}
}
