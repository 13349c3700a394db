package recipe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// nester writes random scripts in which placeholders stand in quotes inside
// quotes.
type nester struct{ *rand.Rand }

func (n nester) pick(choices ...func() string) string { return choices[n.IntN(len(choices))]() }

func (n nester) plain() string {
	return []string{"{{v}}", "{{v}}", "{{ v }}", "a", "b.c", "-x=", "é"}[n.IntN(7)]
}

// word is a word that is not split.
func (n nester) word(depth int) string {
	var b strings.Builder
	for range 1 + n.IntN(3) {
		b.WriteString(n.part(depth))
	}
	return b.String()
}

func (n nester) part(depth int) string {
	if depth <= 0 {
		return n.plain()
	}
	return n.pick(
		n.plain,
		func() string { return `"` + n.quoted(depth-1) + `"` },
		func() string { return "'" + n.verbatim() + "'" },
		func() string { return `"$(` + n.command(depth-1) + `)"` },
		func() string { return "${u:-" + n.word(depth-1) + "}" },
		func() string { return "${one:+" + n.word(depth-1) + "}" },
	)
}

// quoted is text inside double quotes.
func (n nester) quoted(depth int) string {
	if depth <= 0 {
		return n.plain() + []string{" ", `\"`, `\\`, `\`, "'", "$one", "\n", "#"}[n.IntN(8)] + n.plain()
	}
	return n.pick(
		func() string { return n.quoted(0) + n.quoted(depth-1) },
		func() string { return "$(" + n.command(depth-1) + ")" },
		func() string { return "${u:-" + n.plain() + ` \"` + n.plain() + "}" },
		func() string { return "${u-$(" + n.command(depth-1) + ")}" + n.plain() },
		func() string { return "${pq#" + n.pattern() + "}" },
		func() string { return "${pq/q/" + n.pattern() + "}" },
		func() string { return "$(( ${#one} + 1 ))" + n.plain() },
	)
}

func (n nester) pattern() string {
	return []string{"p", "{{v}}", `"{{v}}"`, "'{{v}}'", "z{{v}}", `"$one{{v}}"`}[n.IntN(6)]
}

func (n nester) verbatim() string {
	return []string{"{{v}}", "$x {{v}}", "`{{v}}", "a{{v}}{{ v }}b", `"{{v}}"`, "# {{v}}\n"}[n.IntN(6)]
}

// document is the body of a here-document that bash expands.
func (n nester) document(depth int) string {
	if depth <= 0 {
		return n.plain() + []string{" ", `"`, "'", `\\`, `\`, "$one"}[n.IntN(6)] + n.plain()
	}
	return n.pick(
		func() string { return n.document(0) + "\n" + n.document(depth-1) },
		func() string { return "$(" + n.command(depth-1) + ")" },
		func() string { return "${u:-{{v}}}" },
		func() string { return "${pq#" + n.pattern() + "}" },
	)
}

// here is a here-document; each ends with a word of its own, as bash confuses
// one inside another that ends with the same.
func (n nester) here(delimiter, body string) string {
	end := fmt.Sprintf("E%d", n.Int32())
	return "<<" + fmt.Sprintf(delimiter, end) + "\n" + body + "\n" + end + "\n"
}

// command prints something that ends in no newline.
func (n nester) command(depth int) string {
	return n.pick(
		func() string { return "printf '<%s>' " + n.word(depth-1) + " " + n.word(0) },
		// Not deeper: inside ${…} inside "$(…)" bash itself stumbles over $'…'.
		func() string { return "printf '<%s>' $'\\\\\\t" + n.verbatim() + "\\\\'" + n.word(0) },
		func() string { return "x=" + n.word(depth-1) + "; printf '<%s>' \"$x\"" },
		func() string { return "a=(" + n.word(depth-1) + " " + n.word(0) + "); printf '<%s>' \"${a[@]}\"" },
		func() string { return "for x in " + n.word(depth-1) + "; do printf '<%s>' \"$x\"; done # {{v}}\n" },
		func() string {
			return "{ mapfile -d '' -t g; printf '<%s>' \"${g[@]}\"; } " + n.here("%s", n.document(depth-1))
		},
		func() string {
			return "{ mapfile -d '' -t g; printf '<%s>' \"${g[@]}\"; } " + n.here("'%s'", n.verbatim())
		},
		func() string {
			return "{ mapfile -d '' -t g; printf '<%s>' \"${g[@]}\"; } <<< " + n.word(depth-1) + "\n"
		},
		func() string {
			return "case " + n.word(depth-1) + " in 'no such') ;; " + n.pattern() + "zzz) ;; *) printf '<%s>' " + n.word(0) + ";; esac"
		},
		func() string { return "f() { printf '<%s>' \"$1\" " + n.word(0) + "; }; f " + n.word(depth-1) },
		func() string { return "printf '<%s>' `printf %s x{{v}}x | cat >&2; printf '%s' \"ok\"`" + n.word(0) },
	)
}

// TestHostileNesting compares what a script prints for a harmless value with
// what it prints for hostile ones: the difference is the value and nothing else.
func TestHostileNesting(t *testing.T) {
	t.Parallel()
	const harmless = "SAFE"
	rnd := nester{rand.New(rand.NewPCG(3, 4))}
	all := hostileValues()
	for range sweep(80) {
		template := "u= pq=pq\nunset u\nshow \"$(" + rnd.command(3) + "\n)\""
		values := []string{harmless}
		for range 12 {
			values = append(values, all[rnd.IntN(len(all))])
		}
		r := shell(t, strings.ReplaceAll(template, ">&2", ">/dev/null"))
		got := r.run(values)
		for i, v := range values[1:] {
			want := []string{strings.ReplaceAll(got[0][0], harmless, v)}
			if !slices.Equal(got[i+1], want) {
				t.Fatalf("%s\nbecame\n%s\n%q: got %q, want %q", template, r.code, v, got[i+1], want)
			}
		}
		if fmt.Sprint(got[0]) == "[]" {
			t.Fatalf("%s\nprints nothing", template)
		}
	}
}
