package belay_test

import (
	"path"
	"strings"
	"testing"
)

// TestHouseHasTeeth shows that each rule of the house can fail: a small module
// that keeps them all, and one change for each that breaks exactly one.
func TestHouseHasTeeth(t *testing.T) {
	t.Parallel()
	const (
		words   = "// Package belay holds words.\npackage belay\n"
		journal = "// Package journal keeps facts.\npackage journal\nimport _ \"" + module + "\"\n"
		flow    = "// Package flow decides.\npackage flow\nimport _ \"" + module + "/verdict\"\n"
		verdict = "// Package verdict judges.\npackage verdict\n"
		faceOf  = "// Package cli prints.\npackage cli\nimport \"" + module + "/event\"\n"
	)
	sound := []source{
		{"belay.go", words},
		{"verdict/verdict.go", verdict},
		{"journal/journal.go", journal},
		{"flow/flow.go", flow},
		{"cmd/belay/main.go", "// Command belay runs recipes.\npackage main\nimport \"os\"\nfunc main() { os.Exit(1) }\n"},
		{"engine/engine.go", "// Package engine drives.\npackage engine\nimport \"time\"\nfunc f() { go f(); _ = time.Now() }\n"},
		{"belaytest/sim/sim.go", "// Package sim simulates.\npackage sim\nimport _ \"" + module + "/flow\"\n"},
		{"journal/journal_test.go", "package journal\nimport _ \"" + module + "/belaytest/sim\"\nfunc f() { go f() }\n"},
	}
	if got := inspect(sound); len(got) != 0 {
		t.Fatalf("a sound house is refused:\n%s", strings.Join(got, "\n"))
	}
	for _, c := range []struct {
		name, path, text, want string
	}{
		{"unknown room", "attic/attic.go", "// Package attic is new.\npackage attic\n", "attic: has no rank"},
		{"higher rank", "journal/up.go", "package journal\nimport _ \"" + module + "/flow\"\n", "journal (rank 3) imports flow (rank 3)"},
		{"same rank", "agent/side.go", "package agent\nimport _ \"" + module + "/expr\"\n", "agent (rank 1) imports expr (rank 1)"},
		{"pure imports impure", "flow/hand.go", "package flow\nimport _ \"" + module + "/journal\"\n", "flow is a pure room and may not import journal"},
		{"pure imports os", "verdict/os.go", "package verdict\nimport _ \"os\"\n", `may not import "os"`},
		{"pure imports a stranger", "flow/yaml.go", "package flow\nimport _ \"go.yaml.in/yaml/v3\"\n", "may not import \"go.yaml.in"},
		{"pure reads the clock", "flow/now.go", "package flow\nimport \"time\"\nvar t = time.Now()\n", "time.Now: flow has no clock"},
		{"pure reads a renamed clock", "flow/now.go", "package flow\nimport clock \"time\"\nvar t = clock.Since\n", "time.Since: flow has no clock"},
		{"pure prints", "flow/print.go", "package flow\nimport \"fmt\"\nfunc f() { fmt.Println() }\n", "fmt.Println: flow has no terminal"},
		{"simulator reads the clock", "belaytest/sim/now.go", "package sim\nimport \"time\"\nvar t = time.Now()\n", "time.Now: belaytest/sim has no clock"},
		{"test support in the product", "cmd/belay/sim.go", "package main\nimport _ \"" + module + "/belaytest/sim\"\n", "test support stays out"},
		{"no comment", "recipe/recipe.go", "package recipe\n", "recipe: has no package comment"},
		{"two comments", "flow/two.go", "// Package flow decides again.\npackage flow\n", "flow: has more than one package comment"},
		{"wrong comment", "recipe/recipe.go", "// Reads recipes.\npackage recipe\n", `not "Package recipe "`},
		{"init", "journal/init.go", "package journal\nfunc init() {}\n", "an init function"},
		{"goroutine", "journal/go.go", "package journal\nfunc f() { go f() }\n", "journal may not start a goroutine"},
		{"goroutine of a group", "journal/go.go", "package journal\nimport \"sync\"\nfunc f(g *sync.WaitGroup) { g.Go(func() {}) }\n", "journal may not start a goroutine"},
		{"goroutine of a timer", "journal/go.go", "package journal\nimport \"time\"\nfunc f() { time.AfterFunc(1, f) }\n", "journal may not start a goroutine"},
		{"exit", "engine/exit.go", "package engine\nimport \"os\"\nfunc g() { os.Exit(0) }\n", "os.Exit: only main"},
		{"exit beside main", "cmd/belay/other.go", "package main\nimport \"os\"\nfunc g() { os.Exit(0) }\n", "os.Exit: only main"},
		{"fatal log", "engine/log.go", "package engine\nimport \"log\"\nfunc g() { log.Fatal() }\n", "log.Fatal: only main"},
		{"sleeping test", "engine/engine_test.go", "package engine\nimport \"time\"\nfunc g() { time.Sleep(1) }\n", "a test that sleeps"},
		{"drawer as file", "engine/util.go", "package engine\n", `"util" is the name of a drawer`},
		{"drawer as part of a name", "engine/pipe_helper_linux.go", "package engine\n", `"helper" is the name of a drawer`},
		{"drawer as folder", "engine/types/x.go", "package types_test\n", `"types" is the name of a drawer`},
		{"text of an error", "journal/text.go", "package journal\nimport \"strings\"\nfunc f(err error) bool { return strings.Contains(err.Error(), \"x\") }\n", "a decision on the text of an error"},
		{"a face asserts an event", "internal/cli/fold.go", faceOf + "func f(r event.Record) { _, _ = r.Event.(event.RunEnded) }\n", "internal/cli tells events apart"},
		{"a face switches on events", "internal/cli/fold.go", faceOf + "func f(e event.Event) { switch e.(type) { case event.RunEnded: } }\n", "internal/cli tells events apart"},
		{"a face goes through records", "internal/cli/fold.go", faceOf + "func f(recs []event.Record) { for range recs[1:] {} }\n", "internal/cli goes through records"},
		{"a face goes through a field", "internal/cli/fold.go", faceOf + "type v struct{ recs []event.Record }\nfunc f(s v) { for range s.recs {} }\n", "internal/cli goes through records"},
		{"a face goes through a journal", "internal/cli/fold.go", faceOf + "func f(v view) { recs, _ := v.Load(); for range recs {} }\n", "internal/cli goes through records"},
		{"long function", "engine/long.go", "package engine\nfunc f() {" + strings.Repeat("\n", 79) + "}\n", "f has 80 lines"},
		{"long file", "engine/long.go", "package engine\n" + strings.Repeat("\n", 499), "500 lines"},
		{"dot import", "journal/dot.go", "package journal\nimport . \"strings\"\n", "a dot import"},
		{"not Go", "journal/bad.go", "package\n", "does not parse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(inspect(append(sound[:len(sound):len(sound)], source{c.path, c.text})), "\n")
			if !strings.Contains(got, c.want) {
				t.Errorf("the rule did not bite: want %q in\n%s", c.want, got)
			}
		})
	}
}

// TestDepthHasTeeth shows that a tower of rooms that is too high is refused.
func TestDepthHasTeeth(t *testing.T) {
	t.Parallel()
	tower := []string{".", "effect", "verdict", "flow", "story", "internal/hand", "engine", "internal/demo", "internal/cli", "cmd/belay"}
	var sources []source
	for i, room := range tower {
		name, below := path.Base(room), ""
		text := "// Package " + name + " is a floor.\npackage " + name + "\n"
		switch {
		case room == ".":
			name, text = "belay", "// Package belay is the ground.\npackage belay\n"
		case room == "cmd/belay":
			text = "// Command belay is the roof.\npackage main\n"
		}
		if i > 0 {
			below = strings.TrimSuffix(module+"/"+tower[i-1], "/.")
			text += "import _ \"" + below + "\"\n"
		}
		sources = append(sources, source{path.Join(room, name+".go"), text})
	}
	got := inspect(sources)
	if len(got) != 2 || !strings.Contains(got[0], "cmd/belay: is 10 rooms above the ground") || !strings.Contains(got[1], "internal/cli: is 9 rooms") {
		t.Errorf("a tower of 10 rooms:\n%s", strings.Join(got, "\n"))
	}
}

// TestWordsAreFew keeps the words few enough to be known.
func TestWordsAreFew(t *testing.T) {
	t.Parallel()
	names := 0
	for line := range strings.Lines(page(t, "testdata/api/belay.txt")) {
		kind, rest, _ := strings.Cut(line, " ")
		if (kind == "const" || kind == "type" || kind == "var" || kind == "func") && rest[0] != '(' {
			names++
		}
	}
	if names < 100 || names >= maxNames {
		t.Errorf("the root package exports %d names, and may have fewer than %d", names, maxNames)
	}
}
