package recipe

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/belay-run/belay/expr"
)

// reread reads a script up to its check, and does both: the quick one, and that
// which reads the result once more. It is false when there is nothing to check.
// tamper may spoil what was read.
func reread(src string, tamper func(*marked)) (sure, safe, read bool) {
	var r report
	s := &scriptReader{bash: newBash(), src: src, pos: blockAt(src, Pos{1, 1}), report: &r}
	holes := expr.Holes(src)
	if len(holes) == 0 || len(src) > MaxScript || tooDeep(src) >= 0 || strings.Contains(src, argName) {
		return false, false, false
	}
	m := mark(src, holes)
	nodes, err := s.bash.read(m.text)
	if err != nil {
		return false, false, false
	}
	w := s.bash.newWalker(m)
	w.walk(nodes)
	if s.judge(m); len(r.errors) > 0 || w.doubt > 0 {
		return false, false, false
	}
	script := &Script{Uses: s.uses(m)}
	if len(r.errors) > 0 {
		return false, false, false
	}
	tamper(m)
	script.Text = m.rewritten(w.edits)
	sure = len(w.edits) == 0 && m.sure(nodes)
	s.verify(m, script)
	return sure, len(r.errors) == 0, true
}

func untouched(*marked) {}

func TestSure(t *testing.T) {
	for _, c := range []struct {
		src  string
		want bool
	}{
		{"echo {{v}}", true},
		{`echo "a {{v}} (b) it's #1"`, true},
		{"cd {{a}}\necho \"x\"{{b}}\"{{c}}\" | head -n {{n}} && {{d}} --x={{e}}; f &\n", true},
		{"echo \"{{v}}\n{{w}}\"", true},
		{"echo {{v}} # {{w}}", false},
		{`echo \"{{v}}`, false},
		{`echo "\"{{v}}"`, false},
		{`echo \"\"{{v}}`, false},
		{`echo "\\"{{v}}`, false},
		{"echo '\"' {{v}}", false},
		{"echo $x{{v}}", false},
		{`echo "$(echo "{{v}}")"`, false},
		{"x={{v}}", false},
		{"cat <<'E'\n{{v}}\nE", false},
		{"[[ {{v}} = a ]]", false},
		{"if true; then echo {{v}}; fi", false},
		{"echo é{{v}}", false},
	} {
		sure, safe, read := reread(c.src, untouched)
		if sure != c.want || !safe || !read {
			t.Errorf("%s: sure %v, safe %v, read %v, want sure %v", c.src, sure, safe, read, c.want)
		}
	}
}

// A reference that is written for another place than it stands in is found.
func TestSureFindsSlips(t *testing.T) {
	for _, c := range []struct {
		src   string
		wrong form
	}{
		{"echo {{v}}", formOpen},
		{"echo {{v}}", formSingle},
		{`echo "{{v}}"`, formQuoted},
		{`echo "{{v}}"`, formSingle},
		{`echo "a" {{v}} "b"`, formOpen},
	} {
		sure, _, read := reread(c.src, func(m *marked) { m.spots[0].form = c.wrong })
		if sure || !read {
			t.Errorf("%s: form %d, sure %v, read %v", c.src, c.wrong, sure, read)
		}
	}
}

// Of what is sure without a second reading, a second reading finds the same.
func TestSureIsSafe(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	parts := []string{
		"{{v}}", "{{v}}", "{{w}}", `"`, `"`, " ", " ", "\n", "echo ", "a", "if ", "fi", "then ", "let ", "export ", "time ", "=", "-", ";", "|", "&",
		"$", "'", `\`, "`", "(", ")", "{", "}", "[", "]", "<", ">", "#", "!", "*", "~", "é", "\t", "\r",
	}
	surely, others := 0, 0
	for range 30_000 {
		var b strings.Builder
		b.WriteString("echo ")
		kinds := 21 // what is plain
		if rng.IntN(4) == 0 {
			kinds = len(parts)
		}
		for range 1 + rng.IntN(8) {
			b.WriteString(parts[rng.IntN(kinds)])
		}
		sure, safe, read := reread(b.String(), untouched)
		switch {
		case sure && !safe:
			t.Fatalf("%q is not safe", b.String())
		case sure:
			surely++
		case read:
			others++
		}
	}
	if surely < 1000 || others < 500 {
		t.Errorf("%d scripts are sure, %d are not: too few to tell", surely, others)
	}
}
