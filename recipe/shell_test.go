package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/belay-run/belay/expr"
)

func TestParseScript(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`echo {{v}} "{{v}}" '{{ v }}' $'{{v}}'`, `echo "${BELAY_ARG_1}" "${BELAY_ARG_1}" ''"${BELAY_ARG_1}"'' $''"${BELAY_ARG_1}"$''`},
		{`cmd --title={{a.b[0]['k']}} -{{n | default('x')}}`, `cmd --title="${BELAY_ARG_1}" -"${BELAY_ARG_2}"`},
		{`x=$(( {{n}} + 1 ))`, `x=$(( ${BELAY_ARG_1} + 1 ))`},
		{"cat <<EOF\n{{v}} $x\nEOF", "cat <<EOF\n${BELAY_ARG_1} $x\nEOF"},
		{"cat <<'EOF' # {{v}}\n{{v}} $x `y` \\\nEOF\necho '$x'", "cat <<EOF # {{v}}\n${BELAY_ARG_1} \\$x \\`y\\` \\\\\nEOF\necho '$x'"},
		{"cat <<'A' <<\"B\" <<C\n$x\nA\n$x {{v}}\nB\n$x\nC", "cat <<'A' <<B <<C\n$x\nA\n\\$x ${BELAY_ARG_1}\nB\n$x\nC"},
		{`docker ps --format '{''{.Names}}' {{v}}`, `docker ps --format '{''{.Names}}' "${BELAY_ARG_1}"`},
		{`docker ps --format '{{ '{{' }}.Names}}'`, `docker ps --format ''"${BELAY_ARG_1}"'.Names}}'`},
		{"# {{ no }} {{.no}} {{\necho {{v}}", "# {{ no }} {{.no}} {{\necho \"${BELAY_ARG_1}\""},
		{"x=(a # {{no}}\n{{v}})", "x=(a # {{no}}\n\"${BELAY_ARG_1}\")"},
		{`echo __belay_ph_0__ {{v}}`, `echo __belay_ph_0__ "${BELAY_ARG_1}"`},
		{`# only {{here}}`, `# only {{here}}`},
	} {
		script, problems := ParseScript(c.src, Pos{1, 1})
		if script == nil || len(problems) > 0 {
			t.Errorf("%s: %v", c.src, problems)
			continue
		}
		if script.Text != c.want || script.Source != c.src {
			t.Errorf("%s\ngives %s\nwant  %s", c.src, script.Text, c.want)
		}
	}
}

func TestScriptUses(t *testing.T) {
	script, problems := ParseScript("echo {{a}} {{ b.c }}\n  echo é {{b.c}} $(( {{ a }} )) {{d | trim}} # {{e}}", Pos{7, 5})
	if script == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, u := range script.Uses {
		got = append(got, fmt.Sprintf("%s %s %v %d:%d", u.Env, u.Value, u.Integer, u.Pos.Line, u.Pos.Col))
	}
	want := []string{"BELAY_ARG_1 {{a}} true 7:10", "BELAY_ARG_2 {{ b.c }} false 7:16", "BELAY_ARG_3 {{d | trim}} false 8:37"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestScriptProblems(t *testing.T) {
	const (
		noName = "it would name a variable or a function, and a value is no name"
		twice  = "bash would read the key a second time"
		dollar = "with the $ its value would name a variable, and a value is no name"
		slash  = "there is a backslash right before it"
		list   = "bash would read the value as a list of words with commands in it"
		ticks  = "it is inside `…` with backslashes"
	)
	for _, c := range []struct{ src, at, want string }{
		{"{{v}}=1", "1:1", noName}, {"x{{v}}=1", "1:2", noName}, {"{{v}}+=1", "1:1", noName}, {"for {{v}} in a; do :; done", "1:5", noName}, {"{{v}}() { :; }", "1:1", noName},
		{"declare -A m; unset 'm[{{v}}]'", "1:24", twice}, {"declare -A m; [[ -v m[{{v}}] ]]", "1:23", twice}, {"declare -A m; printf -v \"m[{{v}}]\" x", "1:28", twice}, {"declare -A m; read \"m[{{v}}]\"", "1:23", twice},
		{"function {{v}} { :; }", "1:10", noName}, {"unset {{v}}", "1:7", noName}, {"unset 'a[{{v}}]'", "1:10", noName}, {"read -r {{v}}", "1:9", noName}, {"export {{v}}", "1:8", noName},
		{"export \"{{v}}=1\"", "1:9", noName}, {"declare -n x={{v}}", "1:14", noName}, {"builtin declare x={{v}}", "1:19", noName}, {"printf -v {{v}} x", "1:11", noName},
		{"[[ -v {{v}} ]]", "1:7", noName}, {"test -v {{v}}", "1:9", noName}, {"{{{v}}}>f", "1:1", ""}, {"exec {x{{v}}}>f", "1:8", noName}, {"coproc {{v}} { :; }", "1:8", noName},
		{"echo ${{v}}", "1:7", dollar}, {"echo \"${{ secrets.X }}\"", "1:8", dollar}, {"echo ${x{{v}}}", "1:9", dollar}, {"echo ${#{{v}}}", "1:9", dollar}, {"echo ${!{{v}}}", "1:9", dollar},
		{`echo \{{v}}`, "1:7", slash}, {`echo $'\{{v}}'`, "1:9", slash}, {`echo $'\c{{v}}'`, "1:10", slash}, {`echo "${x#\{{v}}}"`, "1:12", slash},
		{"declare -a x={{v}}", "1:14", list}, {"x=(1)\nlocal x={{v}}", "2:9", list}, {"mapfile x\ndeclare \"x={{v}}\"", "2:12", list},
		{"echo `echo \\$x {{v}}`", "1:16", ticks}, {"echo `echo $(echo \"\\$\" '{{v}}')`", "1:25", ticks}, {"echo \"`echo \\\"{{v}}\\\"`\"", "1:15", ticks},
		{"echo `cat <<'A'\n{{v}}\nA\n`", "2:1", "it is in a here-document inside `…`"}, {"cat <<'E O'\n{{v}}\nE O", "2:1", "the here-document ends with an unusual word"},
		{"cat <<{{v}}\nx\n{{v}}", "1:7", "the word that ends"}, {"(( {{v}} = 3 ))", "1:4", "a value cannot be assigned to"}, {"(( {{v}}++ ))", "1:4", "a value cannot be assigned to"},
		{`echo "${x:-'{{v}}'}"`, "1:13", "single quotes are plain characters here"}, {"echo @({{v}}|b)", "1:8", "it is inside an extended pattern"}, {"echo ${x@{{v}}}", "1:1", ""},
		{`echo "${u-'}"'}" {{v}} "'"`, "1:11", "single quotes inside"}, {`echo "${u-'a$x'}" {{v}}`, "1:11", "single quotes inside"},
		{"printf {{v}} x", "1:8", "printf would take a value that begins with - for an option"}, {"[ {{a}} {{v}} ]", "1:3", "its value could be taken for an operator"},
		{"ps --format '{{.Names}}'", "1:14", `".Names" is not the name of a variable`}, {"echo {{v}} {{", "1:12", "the {{ that starts here is not closed"}, {"echo {{ $x }}", "1:6", `"$x" is not the name of a variable`},
		{"echo {{v|uper}}", "1:6", `no filter named "uper"`}, {"echo {{v}}\nif x; then\n", "2:7", "the script is not correct bash: "}, {"echo é \"{{v}}", "1:8", "the script is not correct bash: "},
		{"[[ a {{v}} b ]]", "1:6", "{{v}}"}, {"echo $BELAY_ARG_1 {{v}}", "1:7", "BELAY_ARG_… are the variables that stand for placeholders"},
	} {
		script, problems := ParseScript(c.src, Pos{1, 1})
		if script != nil || len(problems) == 0 {
			t.Errorf("%s is accepted", c.src)
			continue
		}
		p := problems[0]
		if at := fmt.Sprintf("%d:%d", p.Line, p.Col); c.want != "" && at != c.at || !strings.Contains(p.Msg, c.want) || p.Warning {
			t.Errorf("%s\ngives %v\nwant  %s %s", c.src, p, c.at, c.want)
		}
		if strings.Contains(p.Msg, "__belay") {
			t.Errorf("%s: the message shows what the author did not write: %s", c.src, p.Msg)
		}
	}
}

// A script is a block of YAML: its lines begin in the same column.
func TestScriptPlaces(t *testing.T) {
	_, problems := ParseScript("echo\n  unset {{v}}; unset {{v}}", Pos{10, 7})
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d:%d", p.Line, p.Col))
	}
	if want := []string{"11:15", "11:28"}; !slices.Equal(got, want) {
		t.Errorf("the problems are at %q, want %q", got, want)
	}
}

func TestScriptWarnings(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`eval "{{v}}"`, ":1:7: warning: eval runs the value as a script"},
		{`bash -c {{v}}`, ":1:9: warning: bash -c runs the value as a script"},
		{"echo '", ":1:6: warning: bash will probably refuse this: reached EOF without closing quote `'`"},
	} {
		script, problems := ParseScript(c.src, Pos{1, 1})
		if script == nil || len(problems) != 1 || problems[0].String() != c.want {
			t.Errorf("%s: %v, want %s", c.src, problems, c.want)
		}
	}
	if script, problems := ParseScript(`bash -c 'echo "$1"' _ {{v}}`, Pos{1, 1}); script == nil || len(problems) > 0 {
		t.Errorf("an argument of a script is one word: %v", problems)
	}
}

// No script uses up the stack or much time, with or without placeholders.
func TestScriptBounds(t *testing.T) {
	deep := strings.Repeat("$(", 20_000) + strings.Repeat(")", 20_000)
	for _, src := range []string{
		strings.Repeat("x", MaxScript) + "{{v}}", "echo {{v}} " + deep, "((" + strings.Repeat("a[", 30_000) + "{{v}}",
		strings.Repeat("{{", MaxScript/2), strings.Repeat("unset {{v}}\n", MaxScript/12),
	} {
		if script, problems := ParseScript(src, Pos{1, 1}); script != nil || len(problems) == 0 || len(problems) > MaxProblems {
			t.Errorf("%.20s… gives %d problems", src, len(problems))
		}
	}
	var many strings.Builder
	for i := range MaxUses {
		fmt.Fprintf(&many, "echo {{v%d}}\n", i)
	}
	if script, problems := ParseScript(many.String(), Pos{1, 1}); script == nil || len(script.Uses) != MaxUses {
		t.Errorf("%d placeholders: %v", MaxUses, problems)
	}
	many.WriteString("echo {{one_more}}")
	if script, _ := ParseScript(many.String(), Pos{1, 1}); script != nil {
		t.Errorf("%d placeholders are accepted", MaxUses+1)
	}
	for _, src := range []string{deep, strings.Repeat("x '", MaxScript)} {
		if script, problems := ParseScript(src, Pos{1, 1}); script == nil || script.Text != src || len(problems) > 0 {
			t.Errorf("%.20s… without placeholders: %v", src, problems)
		}
	}
}

func FuzzScript(f *testing.F) {
	for _, p := range places {
		f.Add(p.script)
	}
	for _, s := range []string{"", "{{", "echo {{.x}}", "`{{v}}", "cat <<'{{v}}'\n{{v}}\n", "((a[{{v}}]={{v}}", "${x:-'{{v}}'}", "[[ {{a}} =~ ({{b}}) ]]", "declare -ai x=({{v}})", "$'\\{{v}}'", "case {{v}} in ({{v}}|{{w}}) ;; esac # {{v}}", "a\x00{{v}}", "\xff{{v}}\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if sure, safe, _ := reread(src, untouched); sure && !safe {
			t.Fatalf("%q is sure and not safe", src)
		}
		script, problems := ParseScript(src, Pos{1, 1})
		lines := strings.Split(src, "\n")
		bad := 0
		for _, p := range problems {
			if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > utf8.RuneCountInString(lines[p.Line-1])+1 || p.Msg == "" {
				t.Fatalf("%q: the problem %v is outside of the script", src, p)
			}
			if !p.Warning {
				bad++
			}
		}
		if (script == nil) != (bad > 0) {
			t.Fatalf("%q: script %v, problems %v", src, script, problems)
		}
		if script == nil {
			return
		}
		if len(script.Uses) == 0 {
			if script.Text != src {
				t.Fatalf("%q without placeholders becomes %q", src, script.Text)
			}
			return
		}
		if len(expr.Holes(script.Text)) > 0 {
			return // in comments
		}
		again, problems := ParseScript(script.Text, Pos{1, 1})
		if again == nil || again.Text != script.Text || slices.ContainsFunc(problems, func(p Problem) bool { return strings.HasPrefix(p.Msg, "bash will") }) {
			t.Fatalf("%q becomes %q, and that is %v", src, script.Text, problems)
		}
	})
}
