package recipe

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// forks are places in a command of its own process: many values share one.
var forks = []struct{ name, before, each, after, end string }{
	{"substitution", `x=$(`, `show {{v%d}} "{{v%d}}" '{{v%d}}'`, `)`, ""},
	{"substitution in double quotes", `x="$(`, `show {{v%d}} "{{v%d}}" '{{v%d}}'`, `)"`, ""},
	{"substitution twice", `x="$(y=$(`, `show {{v%d}} "{{v%d}}" '{{v%d}}'`, `))"`, ""},
	{"substitution in a here-document", "mapfile g <<EOF\n$(", `show {{v%d}} "{{v%d}}" '{{v%d}}'`, ")\nEOF", ""},
	{"here-document in a substitution", `x="$(`, "mapfile -d '' -t g <<'EOF'\n{{v%d}}|\nEOF\nshow \"${g[0]}\" {{v%d}} {{v%d}}", "\n)\"", "|\n"},
	{"backquotes", "x=`", `show {{v%d}} "{{v%d}}" '{{v%d}}'`, "`", ""},
	{"backquotes in double quotes", "x=\"`", `show {{v%d}} "{{v%d}}" '{{v%d}}'`, "`\"", ""},
	{"process substitution", `mapfile g < <(`, `show {{v%d}} "{{v%d}}" '{{v%d}}'`, `)`, ""},
	{"subshell", `(`, `show {{v%d}} "{{v%d}}" '{{v%d}}'`, `)`, ""},
	{"pipe", `{ `, `show {{v%d}} "{{v%d}}" '{{v%d}}'`, "; } | mapfile g", ""},
}

// promise: L
func TestHostileValuesInOtherProcesses(t *testing.T) {
	const together = 100
	for i, f := range forks {
		values := hostileValues()
		if !sweepsWhole() {
			values = share(values, i)
		}
		for len(values)%together != 0 {
			values = append(values, "rest")
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var template, set strings.Builder
			template.WriteString(f.before)
			for i := range together {
				if i > 0 {
					template.WriteString("\n")
				}
				fmt.Fprintf(&template, f.each, i, i, i)
				fmt.Fprintf(&set, "BELAY_ARG_%d=${values[from+%d]}\n", i+1, i)
			}
			template.WriteString(f.after)
			r := shell(t, template.String())
			out := r.exec(fmt.Sprintf("show() { printf '%%s\\0' \"$@\" >&3; }\nbody() {\n%s\n}\nmapfile -d '' -t values\n"+
				"for ((from = 0; from < ${#values[@]}; from += %d)); do\n%s\nbody\nwait\ndone\n", r.code, together, set.String()), values)
			var want []string
			for _, v := range values {
				want = append(want, v+f.end, v, v)
			}
			for i := range want {
				if i >= len(out) || out[i] != want[i] {
					t.Fatalf("value %d of %d: got %q, want %q", i/3, len(values), out[min(i, len(out)-1)], want[i])
				}
			}
			if len(out) != len(want) {
				t.Fatalf("%d words, want %d", len(out), len(want))
			}
		})
	}
}

// The value of a substitution is what its command printed, as in any shell
// without the newlines at its end.
func TestHostileValuesOutOfSubstitution(t *testing.T) {
	t.Parallel()
	values := hostileValues()[:600]
	for i, got := range shell(t, "show \"$(printf '%s' {{v}})\" \"`printf '%s' \"{{v}}\"`\"").run(values) {
		want := strings.TrimRight(values[i], "\n")
		if !slices.Equal(got, []string{want, want}) {
			t.Errorf("%q: got %q", values[i], got)
		}
	}
}

// A file is named by the value, whatever it holds.
func TestHostileFileNames(t *testing.T) {
	t.Parallel()
	all := hostileValues()
	if !sweepsWhole() {
		all = share(all, 0)
	}
	var values []string
	for _, v := range all {
		if v = strings.ReplaceAll(v, "/", "_"); v != "" && v != "." && v != ".." && len(v) < 200 {
			values = append(values, v)
		}
	}
	r := shell(t, `: > "$FILES"/{{v}} < "$FILES/{{v}}"`)
	files := t.TempDir()
	r.exec(fmt.Sprintf("FILES='%s'\n"+driver, files, r.code), values)
	want := map[string]bool{}
	for _, v := range values {
		want[v] = true
	}
	for _, name := range listing(t, files) {
		if !want[name] {
			t.Errorf("a file %q", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%d files are not there", len(want))
	}
}

// A command is named by the value as one word: no options, no second word.
func TestHostileCommandNames(t *testing.T) {
	t.Parallel()
	var values []string
	for _, v := range hostileValues()[:700] {
		_, err := exec.LookPath(v)
		if err == nil || v == ":" || v == "[" || strings.Contains(v, "/") || strings.HasPrefix(v, "%") {
			continue // a command, a file, or a job of bash
		}
		values = append(values, v)
	}
	r := shell(t, "command_not_found_handle() { show \"$@\"; }\n{{v}} z")
	for i, got := range r.run(values) {
		if !slices.Equal(got, []string{values[i], "z"}) {
			t.Errorf("%q: got %q", values[i], got)
		}
	}
}

// The values of a real run come by the environment.
func TestHostileEnvironment(t *testing.T) {
	t.Parallel()
	script, problems := ParseScript("printf '%s\\0' {{v}} \"{{v}}\" '{{v}}' | cat", Pos{1, 1})
	if script == nil {
		t.Fatal(problems)
	}
	for _, v := range pieces {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script.Text)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), script.Uses[0].Env + "=" + v}
		out, err := cmd.Output()
		if want := v + "\x00" + v + "\x00" + v + "\x00"; err != nil || string(out) != want {
			t.Errorf("%q: got %q, %v", v, out, err)
		}
		if _, err := os.Stat(filepath.Join(cmd.Dir, "canary")); err == nil {
			t.Fatalf("%q ran", v)
		}
	}
}

// In arithmetic the value is a whole number, negative ones too, and the script
// says so to whoever hands it over.
func TestArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, n, want string }{
		{`show $(( {{n}} + 1 ))`, "41", "42"}, {`show $(( 5-{{n}} ))`, "-3", "8"}, {`show $((-{{n}}))`, "-3", "3"}, {`show $((5 * -{{n}}))`, "-3", "15"},
		{`show "$(( {{n}}*2 ))"`, "-4", "-8"}, {`show $(( "{{n}}" + 1 ))`, "1", "2"}, {`show $((10#{{n}}))`, "7", "7"}, {`show $[ {{n}} + 1 ]`, "1", "2"},
		{`x=3; show $(( x{{n}} + 1 ))`, "0", "1"}, {`(( x = {{n}} )); show "$x"`, "-9", "-9"}, {`(( {{n}} < 0 )) && show yes`, "-1", "yes"},
		{`let x={{n}}+1 "y={{n}}" 'a = {{n}} - 1'; show "$x $y $a"`, "-5", "-4 -5 -6"},
		{`a=(p q r); show "${a[{{n}}]}" ${a[{{n}}]}`, "-1", "r r"}, {`a=(p q r); a[{{n}}]=z; show "${a[*]}"`, "1", "p z r"}, {`a=([{{n}}]=z); show "${!a[@]}"`, "4", "4"},
		{`a=(p q r); (( a[{{n}}] = 3 )); show "${a[*]}"`, "1", "p 3 r"}, {`a=(p q r); show "${a[@]:{{n}}:1}"`, "1", "q"}, {`a=(p q r); show "${a["{{n}}"]}"`, "2", "r"},
		{`x=abcdef; show "${x:{{n}}:2}" "${x:{{n}}}"`, "1", "bc bcdef"}, {`x=abcdef; show "${x:{{n}}}" "${x: {{n}}:1}"`, "-2", "ef e"}, {`x=abcdef; show "${x:0:{{n}}}"`, "-2", "abcd"},
		{`[[ {{n}} -eq -7 && -8 -lt "{{n}}" && '{{n}}' -ge -7 ]] && show yes`, "-7", "yes"},
		{`declare -i x={{n}}; x+={{n}}; show "$x"`, "4", "8"}, {`local -i x; for x in {{n}} 2; do show "$x"; done`, "1", "1 2"}, {`declare -ir x='{{n}}'; show "$x"`, "4", "4"},
		{`for ((x = 0; x < {{n}}; x++)); do show "$x"; done`, "2", "0 1"}, {`SECONDS={{n}}; show "${SECONDS:0:3}"`, "800", "800"},
		{`command let x={{n}}; show $x`, "3", "3"}, {"mapfile -t g <<EOF\n$(( {{n}} + 1 ))\nEOF\nshow \"${g[0]}\"", "1", "2"}, {`show $(( ${u:-{{n}}} + 1 ))`, "1", "2"},
		{`show $(( $one{{n}} ))`, "2", "12"}, {`show $(( $(echo {{n}} {{m}}) ))`, "2", ""},
	} {
		script, problems := ParseScript(c.script, Pos{1, 1})
		if script == nil {
			t.Errorf("%s: %v", c.script, problems)
			continue
		}
		if whole := c.want != ""; script.Uses[0].Integer != whole {
			t.Errorf("%s: whole number %v, want %v", c.script, !whole, whole)
		}
		if c.want == "" {
			continue
		}
		if got := shell(t, c.script).run([]string{c.n})[0]; strings.Join(got, " ") != c.want {
			t.Errorf("%s with %s gives %q, want %q", c.script, c.n, got, c.want)
		}
	}
}

// What makes a value run in bash although it is one word is refused, and would
// be dangerous if it were not.
func TestRefusedPlacesAreDangerous(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ template, value string }{
		{`declare -a q={{v}}`, `($(touch canary))`}, {`q=(1); declare q={{v}}`, `($(touch canary))`}, {`declare {{v}}=1`, `a[$(touch canary)]`},
		{`declare "{{v}}=1"`, `a[$(touch canary)]`}, {`printf -v {{v}} x`, `a[$(touch canary)]`}, {`read {{v}} <<< x`, `a[$(touch canary)]`},
		{`[ -v {{v}} ]`, `a[$(touch canary)]`}, {`[[ -v {{v}} ]]`, `a[$(touch canary)]`}, {`declare -n q={{v}}; : $q`, `a[$(touch canary)]`},
		{`printf {{v}} x`, `-va[$(touch canary)]`}, {`$(( {{v}} ))`, `a[$(touch canary)]`}, {`[[ {{v}} -eq 1 ]]`, `a[$(touch canary)]`}, {`RANDOM={{v}}`, `a[$(touch canary)]`},
	} {
		script, problems := ParseScript(c.template, Pos{1, 1})
		if script != nil && !script.Uses[0].Integer || script == nil && len(problems) != 1 {
			t.Errorf("%s is accepted: %v", c.template, problems)
		}
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(c.template, "{{v}}", `"$v"`))
		if strings.Contains(c.template, `"{{v}}`) {
			cmd = exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(c.template, "{{v}}", `$v`))
		}
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "v=" + c.value}
		_ = cmd.Run() // most of them fail after the harm is done
		if _, err := os.Stat(filepath.Join(dir, "canary")); err != nil {
			t.Errorf("%s does no harm with %s: why is it refused?", c.template, c.value)
		}
	}
}
