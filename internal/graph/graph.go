// Package graph draws the graph of a recipe or of a run: as lines of text and as
// a Mermaid flowchart. It knows boxes and arrows, not
// recipes; it reads and runs nothing, and the same graph gives the same bytes.
package graph

import "slices"

// Graph is what is drawn: steps in the order of their recipe.
type Graph struct {
	Title string
	Nodes []Node
}

// Node is one step.
type Node struct {
	ID    string
	Type  string // a type of step
	Note  string // what else there is to say, in a few words
	Phase string // how it stands in a run; "" for a recipe
	Needs []int  // indexes of nodes
	For   []int  // nodes that it stands in for when they stay failed; it then has no needs of its own
	Sub   *Graph // what it calls, when that is drawn
}

// layers gives each node its row: one more than the lowest of those that it
// needs or stands in for. A graph with a cycle, which no checked recipe has, keeps those nodes on top.
func (g *Graph) layers() []int {
	rows := make([]int, len(g.Nodes))
	waits := make([]int, len(g.Nodes))
	after := make([][]int, len(g.Nodes))
	for i, n := range g.Nodes {
		waits[i] = len(n.Needs) + len(n.For)
		for _, k := range slices.Concat(n.Needs, n.For) {
			after[k] = append(after[k], i)
		}
	}
	var ready []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		for _, k := range after[i] {
			rows[k] = max(rows[k], rows[i]+1)
			if waits[k]--; waits[k] == 0 {
				ready = append(ready, k)
			}
		}
	}
	return rows
}

// Order is the nodes in the order in which they could run one after the other:
// by row, and as listed within it.
func (g *Graph) Order() []int {
	rows := g.layers()
	order := make([]int, len(g.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rows[a] - rows[b] })
	return order
}
