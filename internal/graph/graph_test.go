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
		"sample.txt": strings.Join(g.Text(), "\n") + "\n", "sample.mmd": g.Mermaid(),
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
