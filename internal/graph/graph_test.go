package graph

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
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
		"sample.txt": strings.Join(g.Text(), "\n") + "\n", "sample.mmd": g.Mermaid(), "sample.svg": g.SVG(),
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

// random is a graph of n nodes that only need earlier ones.
func random(rng *rand.Rand, n int) *Graph {
	g := &Graph{Title: "random"}
	for i := range n {
		node := Node{ID: fmt.Sprintf("step-%d", i), Type: "bash", Note: strings.Repeat("x", rng.IntN(60))}
		for k := range i {
			if rng.IntN(n) < 2 {
				node.Needs = append(node.Needs, k)
			}
		}
		g.Nodes = append(g.Nodes, node)
	}
	return g
}

// No box covers another one, no arrow goes up, and the picture is XML.
func TestRandomPictures(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same in every run on purpose
		g := random(rng, 1+rng.IntN(30))
		p := layOut(g, g.Title)
		for a := range p.places {
			for b := range a {
				x, y := p.places[a], p.places[b]
				if x.y == y.y && max(x.x-x.wide/2, y.x-y.wide/2) < min(x.x+x.wide/2, y.x+y.wide/2) {
					t.Fatalf("seed %d: %d and %d overlap: %+v %+v", seed, a, b, x, y)
				}
			}
			if at := p.places[a]; at.x-at.wide/2 < 0 || at.x+at.wide/2 > p.wide || at.y+boxHigh > p.high {
				t.Fatalf("seed %d: %d is outside the picture: %+v", seed, a, at)
			}
		}
		for _, l := range p.links {
			for i := 1; i < len(l); i++ {
				if p.places[l[i]].row != p.places[l[i-1]].row+1 {
					t.Fatalf("seed %d: link %v does not go down row by row", seed, l)
				}
			}
		}
		wellFormed(t, g.SVG())
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, text)
		}
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	g := &Graph{Title: "</svg>\x00\xff", Nodes: []Node{{ID: `"];click n0 "x"`, Type: "bash", Note: "a\nb<script>"}}}
	wellFormed(t, g.SVG())
	m := g.Mermaid()
	if strings.Count(m, `"`) != 2 || strings.Count(m, "\n") != 2 || strings.Contains(m, "<script>") {
		t.Errorf("text escapes from its quotes:\n%s", m)
	}
}

// A line of boxes has one middle, whatever they are called.
func TestMiddle(t *testing.T) {
	t.Parallel()
	for a := range 40 {
		for b := range a {
			g := &Graph{Nodes: []Node{{ID: strings.Repeat("x", a)}, {ID: strings.Repeat("x", b), Needs: []int{0}}}}
			if at := layOut(g, "").places; at[0].x != at[1].x {
				t.Fatalf("%d and %d letters: the middle is %d, then %d", a, b, at[0].x, at[1].x)
			}
		}
	}
}

// Texts fit into their boxes: the widths are those of a wide common font.
func TestTextFits(t *testing.T) {
	t.Parallel()
	for text, real := range map[string]int{"WWWWMMMMWWWWMMMM": 178, "build-everything-from-scratch": 179, "iiiiiiiillllllll": 54, "日本語": 36} {
		if got := textWide(text, 12); got < real || got > real+real/2+4 {
			t.Errorf("%s takes %d pixels, and %d are reckoned with", text, real, got)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	g := &Graph{Nodes: []Node{{ID: "c", Needs: []int{2}}, {ID: "a"}, {ID: "b", Needs: []int{1}}}}
	if got := g.Order(); !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("order %v", got)
	}
}
