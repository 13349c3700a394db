package cli

import (
	"strings"

	"github.com/belay-run/belay/internal/readable"
)

// page is a page in the making.
type page struct {
	sheet
	lines []string

	named func(string) string // gives the items in a text their names; nil = as on record
}

// head begins a part of the page.
func (p *page) head(title string) {
	if p.colour {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	p.lines = append(p.lines, "", title)
}

// text is a paragraph. Its lines after the first stand under the text behind
// its head, which is not broken.
func (p *page) text(head, text string) {
	if p.named != nil {
		text = p.named(text)
	}
	under := strings.Repeat(" ", readable.Width(head))
	for i, l := range wrap(readable.Clean(text), p.width-readable.Width(head)) {
		if i > 0 {
			head = under
		}
		p.lines = append(p.lines, strings.TrimRight(head+l, " "))
	}
}

// whole is a line that can be copied: a command or a path. A terminal that is too narrow
// for a command gets it in several lines that a shell takes for one.
func (p *page) whole(line string) { p.lines = append(p.lines, readable.Continued(line, p.screen)...) }

// quoted are lines of somebody else, cut where the page ends.
func (p *page) quoted(lines []string) {
	for _, l := range lines {
		p.lines = append(p.lines, readable.Cut("    | "+l, p.width))
	}
}

// maxParagraph keeps one long text from filling the page.
const maxParagraph = 6

// wrap breaks a paragraph of a page.
func wrap(text string, width int) []string {
	width = max(width, narrowest/2)
	lines := readable.Wrap(text, width)
	if len(lines) > maxParagraph {
		lines = lines[:maxParagraph]
		lines[maxParagraph-1] = readable.Cut(lines[maxParagraph-1]+" …", width)
	}
	return lines
}

// names lists the first of many.
func names(list []string) string {
	const shown = 5
	if len(list) <= shown+1 {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:shown], ", ") + ", …"
}
