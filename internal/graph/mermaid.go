package graph

import (
	"fmt"
	"strings"
)

// Mermaid is the graph as a Mermaid flowchart.
func (g *Graph) Mermaid() string {
	m := &mermaid{phases: map[string][]string{}}
	m.line(0, "flowchart TD")
	m.graph(g, "n", 1)
	for _, p := range palette {
		if ids := m.phases[p.phase]; len(ids) > 0 {
			m.line(1, "classDef %s fill:%s,stroke:%s,color:#000", p.phase, p.fill, p.line)
			m.line(1, "class %s %s", strings.Join(ids, ","), p.phase)
		}
	}
	return m.b.String()
}

type mermaid struct {
	b      strings.Builder
	phases map[string][]string // phase to the names of its nodes
}

func (m *mermaid) line(depth int, format string, args ...any) {
	fmt.Fprintf(&m.b, strings.Repeat("  ", depth)+format+"\n", args...)
}

// graph writes the nodes with a prefix that keeps the names of nested graphs apart.
func (m *mermaid) graph(g *Graph, prefix string, depth int) {
	for i, n := range g.Nodes {
		name := fmt.Sprintf("%s%d", prefix, i)
		left, right := `["`, `"]`
		switch n.Type {
		case "agent":
			left, right = `(["`, `"])`
		case "recipe":
			left, right = `[["`, `"]]`
		}
		m.line(depth, "%s%s%s%s", name, left, label(n), right)
		if n.Phase != "" {
			m.phases[n.Phase] = append(m.phases[n.Phase], name)
		}
	}
	for i, n := range g.Nodes {
		for _, k := range n.Needs {
			m.line(depth, "%s%d --> %s%d", prefix, k, prefix, i)
		}
		for _, k := range n.For {
			m.line(depth, "%s%d -. fallback .-> %s%d", prefix, k, prefix, i)
		}
	}
	for i, n := range g.Nodes {
		if n.Sub == nil {
			continue
		}
		sub := fmt.Sprintf("%s%ds", prefix, i)
		m.line(depth, `subgraph %s["%s"]`, sub, quoted(n.Sub.Title))
		m.graph(n.Sub, sub, depth+1)
		m.line(depth, "end")
		m.line(depth, "%s%d -.-> %s", prefix, i, sub)
	}
}

func label(n Node) string {
	lines := []string{quoted(n.ID)}
	for _, more := range []string{n.Phase, n.Note} {
		if more != "" {
			lines = append(lines, quoted(more))
		}
	}
	return strings.Join(lines, "<br/>")
}

// quoted makes a text safe between the double quotes of Mermaid, which reads
// marks of HTML and entities with # there.
func quoted(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "\n", " ", "\r", " ", "`", "#96;").Replace(s)
}

// palette is how phases are coloured, in the order in which they are listed.
// The word is always there beside the colour.
var palette = []struct{ phase, fill, line string }{
	{"done", "#d7f0d8", "#2e7d32"},
	{"answered", "#d7f0d8", "#2e7d32"},
	{"recovered", "#d7f0d8", "#2e7d32"},
	{"failed", "#f9d6d5", "#c62828"},
	{"running", "#d5e5fa", "#1565c0"},
	{"checking", "#d5e5fa", "#1565c0"},
	{"held", "#fdeac2", "#b26a00"},
	{"waiting", "#eeeeee", "#757575"},
	{"not_taken", "#ffffff", "#757575"},
	{"skipped", "#ffffff", "#757575"},
	{"ended", "#eeeeee", "#757575"},
	{"broken", "#f9d6d5", "#c62828"},
}
