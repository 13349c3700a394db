package graph

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// sample has all that a picture can have: parallel steps, an arrow past a row,
// a call, a fallback, every phase, and text that is hostile to both formats.
func sample() *Graph {
	return &Graph{Title: "release <1> & \"co\"", Nodes: []Node{
		{ID: "fetch", Type: "bash", Phase: "done"},
		{ID: "lint", Type: "bash", Phase: "failed", Note: "optional", Needs: []int{0}},
		{ID: "unit", Type: "agent", Phase: "running", Needs: []int{0}},
		{ID: "pack", Type: "recipe", Phase: "held", Note: `if a < b && c == "#x"`, Needs: []int{1, 2}, Sub: &Graph{
			Title: "box", Nodes: []Node{{ID: "fold", Type: "bash", Phase: "waiting"}, {ID: "tape", Type: "bash", Phase: "not_taken", Needs: []int{0}}},
		}},
		{ID: "tell", Type: "bash", Phase: "skipped", Needs: []int{0, 3}},
		{ID: "by hand", Type: "bash", For: []int{1}},
	}}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	g := sample()
	for name, got := range map[string]string{
		"sample.txt": strings.Join(g.Text(0), "\n") + "\n", "sample.mmd": g.Mermaid(),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; -update writes it, then look at it:\n%s", file, got)
		}
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	g := &Graph{Title: "</svg>\x00\xff", Nodes: []Node{{ID: `"];click n0 "x"`, Type: "bash", Note: "a\nb<script>"}}}
	m := g.Mermaid()
	if strings.Count(m, `"`) != 2 || strings.Count(m, "\n") != 2 || strings.Contains(m, "<script>") {
		t.Errorf("text escapes from its quotes:\n%s", m)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	g := &Graph{Nodes: []Node{{ID: "c", Needs: []int{2}}, {ID: "a"}, {ID: "b", Needs: []int{1}}}}
	if got := g.Order(); !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("order %v", got)
	}
}

// On a terminal no word is broken, and what a step comes after begins a line of its own.
func TestTextFitsATerminal(t *testing.T) {
	t.Parallel()
	g := sample()
	got := strings.Join(g.Text(58), "\n")
	for _, want := range []string{
		"\n  3  pack     recipe  held  if a < b && c == \"#x\"\n                      after lint, unit\n",
		"\n         2  tape  bash    not_taken  after fold\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	words := strings.Fields(strings.Join(g.Text(0), " "))
	for width := 30; width < 70; width++ {
		lines := g.Text(width)
		if got := strings.Fields(strings.Join(lines, " ")); !slices.Equal(got, words) {
			t.Errorf("at %d the words are others: %q", width, got)
		}
		for _, l := range lines {
			if len(l) > width || l != strings.TrimRight(l, " ") {
				t.Errorf("at %d: %q", width, l)
			}
		}
	}
}
