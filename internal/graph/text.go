package graph

import (
	"fmt"
	"strings"
)

// Text is the graph as lines: each step with its row, so that steps of one row
// can run at the same time.
func (g *Graph) Text() []string {
	lines := []string{g.Title}
	return g.text(lines, "")
}

func (g *Graph) text(lines []string, indent string) []string {
	rows := g.layers()
	wide := 0
	for _, n := range g.Nodes {
		wide = max(wide, len([]rune(n.ID)))
	}
	for _, i := range g.Order() {
		n := g.Nodes[i]
		line := fmt.Sprintf("%s%3d  %-*s  %-6s", indent, rows[i]+1, wide, n.ID, n.Type)
		for _, more := range []string{n.Phase, n.Note, g.after(n)} {
			if more != "" {
				line += "  " + more
			}
		}
		lines = append(lines, strings.TrimRight(line, " "))
		if n.Sub != nil {
			lines = append(lines, indent+"       "+n.Sub.Title)
			lines = n.Sub.text(lines, indent+"       ")
		}
	}
	return lines
}

func (g *Graph) after(n Node) string {
	word, of := "after ", n.Needs
	if len(n.For) > 0 {
		word, of = "instead of ", n.For
	}
	if len(of) == 0 {
		return ""
	}
	var ids []string
	for _, k := range of {
		ids = append(ids, g.Nodes[k].ID)
	}
	return word + strings.Join(ids, ", ")
}
