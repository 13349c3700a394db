package recipe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pieces are what hostile values are made of. Each tries to leave some quotes,
// to be split, to match, or to run: a file named canary must never appear.
var pieces = []string{
	"", "a", "-n", "--", "-v", " ", "  a  b ", "\t", "\n", "\r\n", "a\n", "\n\n",
	"'", `"`, "`", "$", `\`, `\\`, `\'`, `\"`, "\\`", `\$`, "\\\n", "''", `""`, "$'", `$"`, `'"'"'`,
	"$(touch canary)", "`touch canary`", ";touch canary;", "\ntouch canary\n", "&touch canary&", "|touch canary", "&& touch canary",
	"<(touch canary)", ">canary", "$((touch canary))", "a[$(touch canary)]", "($(touch canary))", "${x:=$(touch canary)}",
	"'$(touch canary)'", `"$(touch canary)"`, "'; touch canary; '", `"; touch canary; "`, "\"`touch canary`\"", `\$(touch canary)`,
	"EOF", "\nEOF\n", "EOF\ntouch canary\n", "\tEOF\n", "$HOME", "${HOME}", "$1", "$@", "$$", "${", "$((", "}", "}}", "{{", "{{v}}",
	"*", "?", "[a-z]*", "[!a]", "[", "]", "~", "~root", "!", "!!", "!$", "{a,b}", "{1..3}", "@(a|b)", "+(a)", "^", ".*", "(", ")", "))", "]]", "esac", ";;",
	"#", "# x", "%", "%s%n", "&", "=", "x=1", ",", ":", "/", "//", "done", "then", "\x01", "\x02\x1b[31m", "\x7f", "\x01\x7f\x01", "\b\f\v",
	"é", "日本", "👍", "e\u0301", "\u2028", "\u00a0", "\ufeff", "\xff", "\xc3", "\xff\xfe\x80", "\xe2\x80", "\xed\xa0\x80",
}

// hostileValues are all pieces, all pairs of them, and longer mixtures with
// random bytes; the same ones each time.
func hostileValues() []string {
	values := slices.Clone(pieces)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		values = append(values, pieces[rnd.IntN(len(pieces))]+pieces[rnd.IntN(len(pieces))])
	}
	for range 1500 {
		var b strings.Builder
		for range 3 + rnd.IntN(5) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		values = append(values, b.String())
	}
	for range 800 {
		b := make([]byte, 1+rnd.IntN(30))
		for i := range b {
			b[i] = byte(1 + rnd.IntN(255))
		}
		values = append(values, string(b))
	}
	return values
}

// bashRun is one bash that runs the same body for many values.
type bashRun struct {
	t    *testing.T
	dir  string
	code string
}

// shell makes a body of a template. In the body, show reports its arguments,
// $RAW holds the value, and x, y, a, g, u and X are not set.
func shell(t *testing.T, template string) *bashRun {
	t.Helper()
	script, problems := ParseScript(template, Pos{1, 1})
	if script == nil || len(problems) > 0 {
		t.Fatalf("%s\n%v", template, problems)
	}
	dir := t.TempDir()
	for _, name := range []string{"a", "ab", "b", "x=1"} { // for patterns to match
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &bashRun{t: t, dir: dir, code: script.Text}
}

const driver = `show() { printf '%%s\0' "$#" "$@" >&3; }
one=1
body() {
unset x y a g u X
%s
}
mapfile -d '' -t values
for RAW in "${values[@]}"; do
  BELAY_ARG_1=$RAW
  body
  printf 'next\0' >&3
done
`

// run gives what show reported for each value.
func (r *bashRun) run(values []string) [][]string {
	r.t.Helper()
	out := r.exec(fmt.Sprintf(driver, r.code), values)
	var all [][]string
	one := []string{}
	for i := 0; i < len(out); i++ {
		if out[i] == "next" {
			all, one = append(all, one), []string{}
			continue
		}
		n := 0
		if _, err := fmt.Sscanf(out[i], "%d", &n); err != nil || i+n >= len(out) {
			r.t.Fatalf("%s\nthe report is torn at %q", r.code, out[i])
		}
		one = append(one, out[i+1:i+1+n]...)
		i += n
	}
	if len(all) != len(values) {
		r.t.Fatalf("%s\n%d of %d values arrived", r.code, len(all), len(values))
	}
	return all
}

// exec runs a script in a folder of its own and gives the parts of its report.
func (r *bashRun) exec(code string, values []string) []string {
	r.t.Helper()
	before := listing(r.t, r.dir)
	report, err := os.CreateTemp(r.t.TempDir(), "report")
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = report.Close() }() // it was only read
	cmd := exec.CommandContext(r.t.Context(), "bash", "-c", code)
	cmd.Dir = r.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader(strings.Join(values, "\x00") + "\x00")
	cmd.ExtraFiles = []*os.File{report}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		r.t.Fatalf("%s\n%v: %.400s", r.code, err, stderr.String())
	}
	if after := listing(r.t, r.dir); !slices.Equal(before, after) {
		r.t.Fatalf("%s\nsomething ran: the folder held %q and now %q", r.code, before, after)
	}
	b, err := os.ReadFile(report.Name())
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestHostileValues puts every value into every place and reads it back from a
// real bash: it is one word, byte for byte, and nothing of it runs.
//
// promise: L
func TestHostileValues(t *testing.T) {
	values := hostileValues()
	t.Logf("%d values in %d places", len(values), len(places))
	if len(values) < 5000 {
		t.Fatalf("only %d values", len(values))
	}
	all := values
	for i, p := range places {
		values := all
		if !sweepsWhole() {
			values = share(all, i)
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			mistakes := 0
			for i, got := range shell(t, p.script).run(values) {
				want := p.want(values[i])
				if slices.Equal(got, want) {
					continue
				}
				if mistakes++; mistakes <= 5 {
					t.Errorf("%q: got %q, want %q", values[i], got, want)
				}
			}
			if mistakes > 5 {
				t.Errorf("%d values in all", mistakes)
			}
		})
	}
}

// sweepsWhole tells whether everything is tried, not only what a change is held against.
func sweepsWhole() bool { return os.Getenv("BELAY_SWEEPS") == "all" }

// sweep is how many of n a change is held against.
func sweep(n int) int {
	if sweepsWhole() {
		return n
	}
	return n / 5
}

// shares is among how many places the values are divided.
const shares = 16

// share is every piece alone and a part of what is made of them, beginning at
// another one for the next place: all values are tried in some places, and in all
// places with BELAY_SWEEPS=all.
func share(values []string, place int) []string {
	some := slices.Clone(values[:len(pieces)])
	for i := len(pieces) + place%shares; i < len(values); i += shares {
		some = append(some, values[i])
	}
	return some
}

func is(before, after string) func(string) []string {
	return func(v string) []string { return []string{before + v + after} }
}

func yes(string) []string { return []string{"yes"} }

// places are the quoting contexts of bash.
var places = []struct {
	name, script string
	want         func(v string) []string
}{
	{"bare", `show {{v}}`, is("", "")},
	{"bare in a word", `show a{{v}}b`, is("a", "b")},
	{"option", `show --x={{ v }}`, is("--x=", "")},
	{"twice", `show {{v}}{{v}} {{v}}`, func(v string) []string { return []string{v + v, v} }},
	{"after a name", `show $one{{v}}`, is("1", "")},
	{"brace", `show {x,{{v}}}`, func(v string) []string { return []string{"x", v} }},
	{"double", `show "{{v}}"`, is("", "")},
	{"double in text", `show "a {{v}} \"b\""`, is("a ", ` "b"`)},
	{"double after a name", `show "$one{{v}}"`, is("1", "")},
	{"double after a backslash", `show "\{{v}}" "\\{{v}}" "\${{v}}"`, func(v string) []string { return []string{`\` + v, `\` + v, "$" + v} }},
	{"double with dollar", `show $"{{v}}"`, is("", "")},
	{"single", `show '{{v}}'`, is("", "")},
	{"single in text", `show 'a $x {{v}} \'`, is("a $x ", ` \`)},
	{"ansi", `show $'a\t{{v}}\n'`, is("a\t", "\n")},
	{"ansi after a backslash", `show $'\\{{v}}'`, is(`\`, "")},

	{"assignment", `x={{v}}; show "$x"`, is("", "")},
	{"assignment in text", `x=a{{v}}b; show "$x"`, is("a", "b")},
	{"assignment quoted", `x="{{v}}" y='{{v}}'; show "$x$y"`, func(v string) []string { return []string{v + v} }},
	{"assignment appends", `x=p; x+={{v}}; show "$x"`, is("p", "")},
	{"assignment for a command", `X={{v}} eval 'show "$X"'`, is("", "")},
	{"local", `local x={{v}}; show "$x"`, is("", "")},
	{"declare", `declare x={{v}} "y={{v}}"; show "$x$y"`, func(v string) []string { return []string{v + v} }},
	{"export", `export X={{v}}; show "$X"`, is("", "")},
	{"array", `a=({{v}} z); a+=({{v}}); show "${a[@]}"`, func(v string) []string { return []string{v, "z", v} }},
	{"array with index", `a=([1]={{v}}); a[2]={{v}}; show "${a[@]}"`, func(v string) []string { return []string{v, v} }},
	{"key", `declare -A a; a[k{{v}}]=1; a["k{{v}}"]+=2; a['k{{v}}'z]=3; show "${#a[@]}" "${a["k$RAW"]}" "${a["k${RAW}z"]}"`, func(string) []string { return []string{"2", "12", "3"} }},
	{"key of a list", `declare -A a=([k{{v}}]={{v}}); a+=(["{{v}}z"]=y); show "${a["k$RAW"]}" "${a["${RAW}z"]}"`, func(v string) []string { return []string{v, "y"} }},
	{"value of a key", `declare -A a; a["k$RAW"]=$RAW; show ${a[k{{v}}]+yes} "${a["k{{v}}"]}" ${a[k{{v}}x]-"no"}`, func(v string) []string { return []string{"yes", v, "no"} }},
	{"keys", `declare -A a; a[{{v}}k]=1; show "${!a[@]}"`, is("", "k")},
	{"key in a here-document", "declare -A a; a[\"k$RAW\"]=$RAW\nmapfile -d '' -t g <<EOF\n${a[k{{v}}]}${a[\"k{{v}}\"]}\nEOF\nshow \"${g[0]}\"", func(v string) []string { return []string{v + v + "\n"} }},

	{"here-document", "mapfile -d '' -t g <<EOF\n[{{v}}]\nEOF\nshow \"${g[0]}\"", is("[", "]\n")},
	{"here-document alone", "mapfile -d '' -t g <<EOF\n{{v}}\nEOF\nshow \"${g[0]}\"", is("", "\n")},
	{"here-document with tabs", "mapfile -d '' -t g <<-EOF\n\t{{v}}\n\tEOF\nshow \"${g[0]}\"", is("", "\n")},
	{"here-document backslash", "mapfile -d '' -t g <<EOF\n\\{{v}} \\\\{{v}}\nEOF\nshow \"${g[0]}\"", func(v string) []string { return []string{`\` + v + ` \` + v + "\n"} }},
	{"here-document default", "mapfile -d '' -t g <<EOF\n${u:-{{v}}}|${u:-\"{{v}}\"}\nEOF\nshow \"${g[0]}\"", func(v string) []string { return []string{v + "|" + v + "\n"} }},
	{"here-document pattern", "x=\"$RAW-tail\"\nmapfile -d '' -t g <<EOF\n${x#{{v}}}\nEOF\nshow \"${g[0]}\"", func(string) []string { return []string{"-tail\n"} }},
	{"verbatim", "mapfile -d '' -t g <<'EOF'\n{{v}}\nEOF\nshow \"${g[0]}\"", is("", "\n")},
	{"verbatim in text", "mapfile -d '' -t g <<\"EOF\"\n$x `y` \\ \\\\ \\$ [{{v}}] $(z) \\\nEOFF \"'\nEOF\nshow \"${g[0]}\"", is("$x `y` \\ \\\\ \\$ [", "] $(z) \\\nEOFF \"'\n")},
	{"verbatim with tabs", "mapfile -d '' -t g <<-\\EOF\n\t\t$x{{v}}\n\tEOF\nshow \"${g[0]}\"", is("$x", "\n")},
	{"here-string", `mapfile -d '' -t g <<< {{v}}; show "${g[0]}"`, is("", "\n")},
	{"here-string quoted", `mapfile -d '' -t g <<< "a{{v}}"'{{v}}'; show "${g[0]}"`, func(v string) []string { return []string{"a" + v + v + "\n"} }},

	{"case word", `case {{v}} in "$RAW") show yes;; esac`, yes},
	{"case pattern", `case "$RAW" in {{v}}) show yes;; esac`, yes},
	{"case pattern is literal", `case "x$RAW" in {{v}}) show no;; "{{v}}") show no;; *) show yes;; esac`, yes},
	{"case pattern with more", `case "a${RAW}zz" in a{{v}}*) show yes;; esac`, yes},
	{"test word", `[[ {{v}} == "$RAW" ]] && show yes`, yes},
	{"test pattern", `[[ "$RAW" == {{v}} && "x$RAW" != {{v}} && "x$RAW" == *{{v}} ]] && show yes`, yes},
	{"regular expression", `[[ "<$RAW>" =~ ^"<"{{v}}">"$ && ! "<x$RAW>" =~ ^"<"{{v}}">"$ ]] && show yes`, yes},
	{"old test", `[ {{v}} = "$RAW" ] && [ "$RAW" = "{{v}}" ] && show yes`, yes},

	{"default", `show ${u:-{{v}}} ${u-a{{v}}}`, func(v string) []string { return []string{v, "a" + v} }},
	{"default in double quotes", `show "${u:-{{v}}}" "${u-"{{v}}"}"`, func(v string) []string { return []string{v, v} }},
	{"default assigned", `: "${x:={{v}}}" ${y:={{v}}}; show "$x$y"`, func(v string) []string { return []string{v + v} }},
	{"alternative", `show "${one:+{{v}}}" ${one:+'{{v}}'}`, func(v string) []string { return []string{v, v} }},
	{"cut off", `x="$RAW-$RAW"; show "${x#{{v}}}" "${x%%{{v}}}"`, func(v string) []string { return []string{"-" + v, v + "-"} }},
	{"cut off unquoted", `x="$RAW-tail"; y=${x#{{v}}}; show "$y" "${x#'{{v}}'}"`, func(string) []string { return []string{"-tail", "-tail"} }},
	{"replacement", `x=aMb; show "${x/M/{{v}}}" "${x//M/"{{v}}"}"; y=${x/M/{{v}}}; show "$y"`, func(v string) []string { return []string{"a" + v + "b", "a" + v + "b", "a" + v + "b"} }},
	{"replaced", `x="<$RAW>"; y=${x/"<"{{v}}/R}; show "${x/"<"{{v}}/R}" "$y"`, func(string) []string { return []string{"R>", "R>"} }},

	{"loop", `for x in {{v}} "{{v}}"; do show "$x"; done`, func(v string) []string { return []string{v, v} }},
	{"arguments", `set -- {{v}} z; show "$@"`, func(v string) []string { return []string{v, "z"} }},
	{"printf", `printf -v x '%s' {{v}}; show "$x"`, is("", "")},
	{"function", `f() { show "$1" '{{v}}'; }; f {{v}}`, func(v string) []string { return []string{v, v} }},
	{"after a comment", "# {{v}} 'x\nshow {{v}} # `{{v}}", is("", "")},
}
