package recipe

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Sources that are made to hurt: a clear error or success, in bounded time and
// memory. The bounds are loose for slow machines.
func TestHostile(t *testing.T) {
	laughs := "name: x\na: &a [lol, lol]\n"
	for c := 'b'; c <= 'z'; c++ {
		laughs += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	steps := 10_000
	if sweepsWhole() {
		steps = 100_000
	}
	many := func(n int, extra func(i int) string) string {
		var b bytes.Buffer
		b.WriteString("name: x\ncontext: {v: 1}\nsteps:\n")
		for i := range n {
			fmt.Fprintf(&b, "- {id: s%d, command: \"echo {{v}}\", output: o%d%s}\n", i, i, extra(i))
		}
		return b.String()
	}
	var keys strings.Builder
	keys.WriteString("name: x\ncontext:\n")
	for i := range 2 * steps {
		fmt.Fprintf(&keys, "  v%d: 1\n", i)
	}
	for _, c := range []struct {
		name, src string
		want      string // part of the first problem; "" for a recipe
	}{
		{"billion laughs", laughs + oneStep, "anchors are not supported"},
		{"ten megabytes of text", "name: x\ndescription: |\n" + strings.Repeat("  all work and no play\n", 450_000) + oneStep, ""},
		{"ten megabytes of script", "name: x\nsteps:\n  - id: a\n    command: |\n" + strings.Repeat("      echo all work and no play\n", 300_000), ""},
		{"very many steps", many(steps, func(int) string { return "" }), ""},
		{"steps that read the one after", many(steps/3, func(i int) string { return fmt.Sprintf(", condition: \"o%d == 1\"", i+1) }), "which runs later"},
		{"a mistake in every step", many(steps/5, func(i int) string { return fmt.Sprintf(", outputt: o%d, env: {A-B: x}, needs: [s%dx]", i, i) }), "unknown key"},
		{"steps that wait for nothing", many(steps/5, func(int) string { return ", needs: []" }), ""},
		{"a group of all", many(steps/10, func(int) string { return ", parallel_group: g" }), "a group has at most 256 steps"},
		{"keys", keys.String() + oneStep, ""},
		{"deep flow", "name: x\ncontext: {a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}\n" + oneStep, "nested more than 64 deep"},
		{"deep block", deepBlock(300) + oneStep, "nested more than 64 deep"},
		{"NUL", "name: x\x00\n" + oneStep, "NUL"},
		{"not UTF-8", "name: \xff\xfe\n" + oneStep, "UTF-8"},
		{"UTF-16", "\xff\xfen\x00a\x00", "UTF-8"},
		{"BOM", "\ufeffname: x\n" + oneStep, ""},
		{"CRLF", strings.ReplaceAll("name: x\n"+oneStep, "\n", "\r\n"), ""},
		{"tabs", "name: x\nsteps:\n\t- id: a\n\t  command: x\n", "not valid YAML"},
		{"same key", "name: x\nname: y\n" + oneStep, "given twice"},
		{"many placeholders", "name: x\ncontext: {v: 1}\nsteps:\n  - id: a\n    command: |\n" + strings.Repeat("      echo {{v}} {{v}}\n", 5000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var was, is runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&was)
			start := time.Now()
			r, problems := Parse("h.yaml", []byte(c.src))
			if r != nil {
				problems = append(problems, CheckCalls(r, nil)...)
			}
			took := time.Since(start)
			runtime.ReadMemStats(&is)
			used := (is.TotalAlloc - was.TotalAlloc) >> 20
			t.Logf("%d bytes: %v, %d MB", len(c.src), took, used)
			if took > 60*time.Second || used > 4096 {
				t.Errorf("%v and %d MB for %d bytes", took, used, len(c.src))
			}
			switch {
			case c.want == "" && (r == nil || len(problems) > 0):
				t.Errorf("got %v", problems)
			case c.want != "" && (len(problems) == 0 || !strings.Contains(problems[0].Msg, c.want)):
				t.Errorf("got %.300v, want %q", problems, c.want)
			}
		})
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	b.WriteString("name: x\ncontext:\n")
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	b.WriteString(strings.Repeat(" ", n+1) + "a: 1\n")
	return b.String()
}

// What may set a variable is looked up in a graph: many readers and many
// setters in many groups must not multiply.
func TestManyVariables(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("name: x\nsteps:\n")
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&b, "- {id: s%d, command: x, output: o%d, parallel_group: g%d, condition: \"o%d == o%d\"}\n", i, i, i/100, max(i-5000, 0)%n, n-1-i)
	}
	start := time.Now()
	r, problems := Parse("m.yaml", b.Bytes())
	if r == nil {
		t.Fatal(problems)
	}
	got := CheckCalls(r, nil)
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("%v", took)
	} else {
		t.Logf("%v, %d problems", took, len(got))
	}
	if len(got) != MaxProblems {
		t.Errorf("%d problems", len(got))
	}
}
