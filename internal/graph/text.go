package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/readable"
)

// Text is the graph as lines: each step with its row, so that steps of one row
// can run at the same time. A line that is wider than a terminal of that width is
// broken at its blanks; 0 breaks none.
func (g *Graph) Text(width int) []string {
	return g.text(readable.Hang(g.Title, width, 2), "", width)
}

func (g *Graph) text(lines []string, indent string, width int) []string {
	rows := g.layers()
	wide := 0
	for _, n := range g.Nodes {
		wide = max(wide, len([]rune(n.ID)))
	}
	for _, i := range g.Order() {
		n := g.Nodes[i]
		lines = append(lines, broken([]string{
			fmt.Sprintf("%s%3d  %-*s  %-6s", indent, rows[i]+1, wide, n.ID, n.Type), n.Phase, n.Note, g.after(n),
		}, len(indent)+len("  1  "), width)...)
		if n.Sub != nil {
			lines = append(lines, readable.Hang(indent+"       "+n.Sub.Title, width, len(indent)+9)...)
			lines = n.Sub.text(lines, indent+"       ", width)
		}
	}
	return lines
}

// least is how much room there must be behind the columns for what is told of a step; with
// less, what has none in the first line stands below its name.
const least = 32

// broken is the line of a step, in several where a terminal is narrower: a part that has no
// room begins a line, so that a condition does not run into what the step comes after.
func broken(parts []string, name, width int) []string {
	line := strings.TrimRight(strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), "  "), " ")
	if width <= 0 || readable.Width(line) <= width {
		return []string{line}
	}
	under := readable.Width(parts[0]) + 2
	if width-under < least {
		under = name
	}
	lines := []string{parts[0]} // with the blanks behind it, up to its column
	for _, part := range parts[1:] {
		last := len(lines) - 1
		switch {
		case part == "":
		case readable.Width(lines[last])+2+readable.Width(part) <= width:
			lines[last] += "  " + part
		case last == 0 && readable.Width(lines[0])+2 == under: // its own column
			lines = readable.Hang(lines[0]+"  "+part, width, under)
		default:
			lines = append(lines, readable.Hang(strings.Repeat(" ", under)+part, width, under)...)
		}
	}
	lines[0] = strings.TrimRight(lines[0], " ")
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
