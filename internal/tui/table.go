package tui

import (
	"strings"

	"github.com/belay-run/belay/internal/readable"
)

// pad fills s with blanks up to width.
func pad(s string, width int) string {
	if n := width - readable.Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// padLeft fills s with blanks in front.
func padLeft(s string, width int) string {
	if n := width - readable.Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// Table lays rows out in columns; the last column is not padded.
func Table(rows [][]string) []string {
	widths := columns(rows)
	lines := make([]string, len(rows))
	for n, row := range rows {
		lines[n] = inColumns(row, widths)
	}
	return lines
}

const (
	roomy   = 20     // the least of a column that texts are in, where there is room
	tight   = 12     // the least of any other
	between = 2      // columns
	below   = "    " // where the rest of a row begins that stands below it
)

// Fit is Table for a terminal of that width; 0 = no bound. Where it is too wide, cells are
// broken at their blanks. A word that is wider than its column is not broken: the rest of
// the row stands in the next line. Where even that has no room, only the first columns
// stand beside each other, and the rest of each row stands below it.
func Fit(rows [][]string, width, first int) []string {
	all := columns(rows)
	if width <= 0 || room(all) <= width {
		return Table(rows)
	}
	g := grid{width: width}
	if first >= len(all)-1 {
		g.widths = narrowed(rows, all, width, 1)
	}
	if g.widths == nil {
		if first < len(all) {
			all = all[:first]
		}
		if g.widths = narrowed(rows, all, width, len(all)); g.widths == nil {
			g.widths = []int{width} // no room for two
		}
	}
	var lines []string
	for n, row := range rows {
		lines = append(lines, g.row(row, n == 0)...)
	}
	return lines
}

// room is how wide columns are beside each other.
func room(widths []int) int {
	sum := between * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// narrowed are columns that fit, each as wide as its cells as far as there is room, else
// as their longest words. Of the first ones the widest get less. nil: it cannot be.
func narrowed(rows [][]string, full []int, width, first int) []int {
	got := make([]int, len(full))
	for i, wide := range full {
		for _, row := range rows {
			if i < len(row) {
				got[i] = max(got[i], widestWord(row[i]))
			}
		}
		if got[i] < roomy || i == len(full)-1 { // the last column is for texts
			got[i] = min(wide, roomy)
		}
	}
	for room(got) > width {
		most := 0
		for i := range first {
			if got[i] > got[most] {
				most = i
			}
		}
		if got[most] <= tight {
			return nil
		}
		got[most]--
	}
	for i, wide := range full {
		got[i] += max(min(wide-got[i], width-room(got)), 0)
	}
	return got
}

// widestWord is how wide the widest word of a cell is, with what indents it.
func widestWord(cell string) int {
	most := 0
	for _, word := range strings.Fields(cell) {
		most = max(most, readable.Width(word))
	}
	return indent(cell) + most
}

func indent(cell string) int { return len(cell) - len(strings.TrimLeft(cell, " ")) }

// grid is where the columns of a table stand.
type grid struct {
	width  int
	widths []int
}

// row is one row: in several lines where a word is wider than its column, and with what
// has no column below it.
func (g grid) row(row []string, head bool) (lines []string) {
	at, beside := 0, row[:min(len(g.widths), len(row))]
	for i, cell := range beside {
		if widestWord(cell) <= g.widths[i] && !(g.last(i) && g.long(cell)) {
			continue
		}
		var before []string
		if i > at {
			before = g.cells(beside, at, i)
		}
		if len(before) == 1 && g.from(i)+readable.Width(cell) <= g.width {
			before[0] = pad(before[0], g.from(i)) + cell
		} else {
			before = append(before, g.alone(beside, i)...)
		}
		lines, at = append(lines, before...), i+1
	}
	if at < len(beside) {
		lines = append(lines, g.cells(beside, at, len(beside))...)
	}
	if head { // the names of columns that are not there
		return lines
	}
	var rest []string
	for _, cell := range row[len(beside):] {
		if cell != "" && cell != "-" {
			rest = append(rest, cell)
		}
	}
	if len(rest) > 0 {
		lines = append(lines, readable.Hang(below+strings.Join(rest, ", "), g.width, len(below))...)
	}
	return lines
}

func (g grid) last(i int) bool { return i > 0 && i == len(g.widths)-1 }

// long tells whether a text is better off below its row than in a narrow column.
func (g grid) long(cell string) bool {
	wide := g.widths[len(g.widths)-1]
	return wide < g.width/2 && len(readable.Wrap(cell, wide)) > 2
}

// from is where a column begins.
func (g grid) from(i int) (at int) {
	for _, w := range g.widths[:i] {
		at += w + between
	}
	return at
}

// alone is a cell whose word is wider than its column. That of the last column stands
// below the row.
func (g grid) alone(row []string, i int) []string {
	cell := row[i]
	if g.last(i) {
		under := indent(row[0]) + len(below)
		return readable.Hang(strings.Repeat(" ", under)+cell, g.width, under)
	}
	under := min(g.from(i)+indent(cell), max(g.width-widestWord(strings.TrimLeft(cell, " ")), 0))
	if widestWord(cell) > g.width {
		under = len(below)
	}
	return readable.Hang(strings.Repeat(" ", under)+strings.TrimLeft(cell, " "), g.width, under)
}

// cells are those of a row from one column to another, each in as many lines as it needs.
func (g grid) cells(row []string, from, to int) []string {
	parts, most := make([][]string, to), 0
	for i := from; i < to; i++ {
		parts[i] = readable.Hang(row[i], g.widths[i], indent(row[i]))
		most = max(most, len(parts[i]))
	}
	lines := make([]string, most)
	for n := range lines {
		line := make([]string, to)
		for i := from; i < to; i++ {
			if n < len(parts[i]) {
				line[i] = parts[i][n]
			}
		}
		lines[n] = inColumns(line, g.widths)
	}
	return lines
}

// columns are the widths that hold every cell.
func columns(rows [][]string) (widths []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], readable.Width(cell))
		}
	}
	return widths
}

func inColumns(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		if i < len(row)-1 {
			cell = pad(cell, widths[i]+2)
		}
		b.WriteString(cell)
	}
	return strings.TrimRight(b.String(), " ")
}
