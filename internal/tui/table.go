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

// widest is how wide a column is at most in a table that does not fit.
const widest = 24

// underRow is where the rest of a row begins in a table that does not fit.
const underRow = "    "

// Fit is Table for a terminal of that width; 0 = no bound. Where it is too wide, only the
// first columns stand beside each other, and the rest of each row stands below it.
func Fit(rows [][]string, width, first int) []string {
	all := columns(rows)
	sum := 0
	for _, w := range all {
		sum += w + 2
	}
	if width <= 0 || sum-2 <= width {
		return Table(rows)
	}
	narrow, taken := make([]int, len(all)), 0
	for i, w := range all {
		narrow[i] = min(w, widest)
		if i < first {
			taken += narrow[i] + 2
		}
	}
	if first == len(all)-1 && width-taken >= widest { // the last column has room beside them
		narrow[first], first = width-taken, first+1
	}
	var lines []string
	for n, row := range rows {
		head := row[:min(first, len(row))]
		lines = append(lines, wrapped(head, narrow)...)
		if n == 0 { // the names of columns that are not there
			continue
		}
		var rest []string
		for _, cell := range row[len(head):] {
			if cell != "" && cell != "-" {
				rest = append(rest, cell)
			}
		}
		for _, l := range readable.Wrap(strings.Join(rest, ", "), max(width-len(underRow), widest)) {
			if l != "" {
				lines = append(lines, underRow+l)
			}
		}
	}
	return lines
}

// wrapped is a row whose wide cells take several lines.
func wrapped(row []string, widths []int) []string {
	cells, most := make([][]string, len(row)), 0
	for i, cell := range row {
		cells[i] = lead(cell, readable.Wrap(cell, widths[i]))
		most = max(most, len(cells[i]))
	}
	lines := make([]string, most)
	for n := range lines {
		part := make([]string, len(row))
		for i := range part {
			if n < len(cells[i]) {
				part[i] = cells[i][n]
			}
		}
		lines[n] = inColumns(part, widths)
	}
	return lines
}

// lead gives a cell back the blanks that it began with, where there is room.
func lead(cell string, lines []string) []string {
	if len(lines) == 1 {
		lines[0] = cell
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
