package graph

import (
	"fmt"
	"strings"
)

// The measures of a picture, in pixels.
const (
	boxHigh   = 44
	boxPad    = 14
	minBox    = 60
	rowGap    = 40
	boxGap    = 24
	lane      = 12 // the room that an arrow needs which passes a row
	edge      = 20
	titleHigh = 28
	maxChars  = 48
)

// style is what follows the reader's choice of light or dark: the paper and
// what is drawn on it. Boxes have their own colours and are light in both.
const style = `<style>@media (prefers-color-scheme:dark){.paper{fill:#14181f}.title{fill:#e8ebef}.link{stroke:#aab2bd}.tip{fill:#aab2bd}}</style>` + "\n"

// SVG is the graph as a picture; graphs that steps call follow below it.
func (g *Graph) SVG() string {
	var panels []*panel
	collect(g, "", &panels)
	wide, high := 0, edge
	for _, p := range panels {
		wide, high = max(wide, p.wide), high+p.high
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		wide, high, wide, high)
	b.WriteString(style)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">` +
		`<path class="tip" d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>` + "\n")
	fmt.Fprintf(&b, `<rect class="paper" width="%d" height="%d" fill="#fff"/>`+"\n", wide, high)
	top := edge
	for _, p := range panels {
		p.draw(&b, top)
		top += p.high
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func collect(g *Graph, by string, panels *[]*panel) {
	title := g.Title
	if by != "" {
		title = by + ": " + title
	}
	*panels = append(*panels, layOut(g, title))
	for _, n := range g.Nodes {
		if n.Sub != nil {
			collect(n.Sub, n.ID, panels)
		}
	}
}

func (p *panel) draw(b *strings.Builder, top int) {
	fmt.Fprintf(b, `<g transform="translate(0,%d)">`+"\n", top)
	fmt.Fprintf(b, `<text class="title" x="%d" y="14" font-weight="bold" fill="#111">%s</text>`+"\n", edge, markup(p.title))
	for i, l := range p.links {
		p.link(b, l, i >= p.solid)
	}
	for i, n := range p.g.Nodes {
		p.box(b, n, p.places[i])
	}
	b.WriteString("</g>\n")
}

// link draws an arrow as a curve through the lanes it was given.
func (p *panel) link(b *strings.Builder, stops []int, dashed bool) {
	from := p.places[stops[0]]
	fmt.Fprintf(b, `<path d="M%d %d`, from.x, from.y+boxHigh)
	y := from.y + boxHigh
	for i, s := range stops[1:] {
		to := p.places[s]
		mid := (y + to.y) / 2
		x := p.places[stops[i]].x
		fmt.Fprintf(b, ` C%d %d %d %d %d %d`, x, mid, to.x, mid, to.x, to.y)
		y = to.y
		if s >= len(p.g.Nodes) { // straight down beside the boxes of the row
			y += boxHigh
			fmt.Fprintf(b, ` V%d`, y)
		}
	}
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="4 3"`
	}
	b.WriteString(`" class="link" fill="none" stroke="#555"` + dash + ` marker-end="url(#tip)"/>` + "\n")
}

func (p *panel) box(b *strings.Builder, n Node, at place) {
	fill, line, dash := "#f5f7fa", "#4a5568", ""
	for _, c := range palette {
		if c.phase == n.Phase {
			fill, line = c.fill, c.line
		}
	}
	if n.Phase == "not_taken" || n.Phase == "skipped" {
		dash = ` stroke-dasharray="4 3"`
	}
	round := 3
	if n.Type == "agent" {
		round = boxHigh / 2
	}
	x := at.x - at.wide/2
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s" stroke="%s"%s/>`+"\n",
		x, at.y, at.wide, boxHigh, round, fill, line, dash)
	if n.Type == "recipe" {
		fmt.Fprintf(b, `<path d="M%d %dv%dM%d %dv%d" stroke="%s"/>`+"\n", x+5, at.y, boxHigh, x+at.wide-5, at.y, boxHigh, line)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#111">%s</text>`+"\n", at.x, at.y+18, markup(cut(n.ID)))
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" font-size="10" fill="#444">%s</text>`+"\n", at.x, at.y+34, markup(cut(second(n))))
}

// second is the second line of a box.
func second(n Node) string {
	words := []string{n.Type}
	for _, more := range []string{strings.ReplaceAll(n.Phase, "_", " "), n.Note} {
		if more != "" {
			words = append(words, more)
		}
	}
	return strings.Join(words, " · ")
}

func cut(s string) string {
	if r := []rune(s); len(r) > maxChars {
		return string(r[:maxChars-1]) + "…"
	}
	return s
}

// markup makes a text safe inside XML, which has no place for most control bytes.
func markup(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
