package graph

import (
	"cmp"
	"slices"
)

// panel is one graph with the places of its boxes.
type panel struct {
	g          *Graph
	title      string
	places     []place // of the nodes, then of the lanes
	links      [][]int // each from a node over lanes to a node
	solid      int     // how many of them are needs; the others lead to fallbacks
	wide, high int
}

// place is the middle of a box's upper side, or where an arrow passes a row.
type place struct {
	x, y, wide int
	row        int
	over       []int // what is linked to it in the row above
}

// layOut puts every node into its row. An arrow that passes rows gets a lane
// in each, so that it crosses no box.
func layOut(g *Graph, title string) *panel {
	p := &panel{g: g, title: title}
	for i, row := range g.layers() {
		n := g.Nodes[i]
		text := max(textWide(cut(n.ID), 12), textWide(cut(second(n)), 10))
		p.places = append(p.places, place{row: row, wide: max(minBox, text+2*boxPad)})
	}
	for i, n := range g.Nodes {
		for _, k := range n.Needs {
			p.connect(k, i)
		}
	}
	p.solid = len(p.links)
	for i, n := range g.Nodes {
		for _, k := range n.For {
			p.connect(k, i)
		}
	}
	rows := p.rows()
	sweep(p.places, rows)
	p.set(rows)
	return p
}

// connect makes the link from node k to node i with its lanes.
func (p *panel) connect(k, i int) {
	stops := []int{k}
	for row := p.places[k].row + 1; row < p.places[i].row; row++ {
		p.places = append(p.places, place{row: row, wide: lane, over: []int{stops[len(stops)-1]}})
		stops = append(stops, len(p.places)-1)
	}
	p.places[i].over = append(p.places[i].over, stops[len(stops)-1])
	p.links = append(p.links, append(stops, i))
}

func (p *panel) rows() [][]int {
	var rows [][]int
	for i, at := range p.places {
		for len(rows) <= at.row {
			rows = append(rows, nil)
		}
		rows[at.row] = append(rows[at.row], i)
	}
	return rows
}

// sweep orders each row by the middle of what its members hang from, which
// keeps arrows short and crossings few.
func sweep(places []place, rows [][]int) {
	order := make([]float64, len(places))
	for _, row := range rows {
		middle := map[int]float64{}
		for n, i := range row {
			middle[i] = float64(n)
			if over := places[i].over; len(over) > 0 {
				sum := 0.0
				for _, k := range over {
					sum += order[k]
				}
				middle[i] = sum / float64(len(over))
			}
		}
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
		for n, i := range row {
			order[i] = float64(n) / float64(len(row))
		}
	}
}

// set gives every place its pixels: rows are centred.
func (p *panel) set(rows [][]int) {
	widths := make([]int, len(rows))
	for r, row := range rows {
		for _, i := range row {
			widths[r] += p.places[i].wide + boxGap
		}
		widths[r] -= boxGap
		p.wide = max(p.wide, widths[r])
	}
	p.wide = max(p.wide, textWide(p.title, 14)) // it is bold, and so wider than it is high
	for r, row := range rows {
		x := edge + (p.wide-widths[r])/2
		for _, i := range row {
			at := &p.places[i]
			at.x, at.y = x+at.wide/2, titleHigh+r*(boxHigh+rowGap)
			x += at.wide + boxGap
		}
	}
	p.wide += 2 * edge
	p.high = titleHigh + len(rows)*(boxHigh+rowGap)
}
