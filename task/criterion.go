package task

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

const (
	MostCriteria = 50      // that a task has
	maxCheck     = 100_000 // bytes of a check: a program cannot be given much more in one argument
)

// Criterion is one thing that must be so when a task is done.
type Criterion struct {
	ID    string   `json:"id"`
	Text  string   `json:"text"`
	Check string   `json:"check,omitempty"` // shell that Belay runs: exit 0 proves it
	Files []string `json:"files,omitempty"` // a change in one of these, with passing tests, proves it
}

var bullet = pattern.Lazy(`^\s*(?:[-*•]|\[[ xX]?\]|\d{1,3}[.)])\s+`)

// readCriteria reads criteria: a list of texts and objects, or lines.
func readCriteria(v any) (list []Criterion, warnings []string) {
	items, isList := unwrapped(v).([]any)
	if !isList {
		if o, ok := unwrapped(v).(map[string]any); ok {
			items = []any{o}
		} else {
			items = linesOf(textOf(v))
		}
	}
	known := ids{}
	var rest []string
	for _, item := range items {
		c, wish, why := readCriterion(item)
		if len(list) == MostCriteria && c.Text != "" {
			rest = append(rest, c.Text)
			continue
		}
		warnings = append(warnings, why...)
		if c.Text == "" {
			continue
		}
		c.ID = known.take(wish, "c"+strconv.Itoa(len(list)+1), func(n int) string { return "c" + strconv.Itoa(n) })
		list = append(list, c)
	}
	if len(rest) > 0 { // nothing is left out in silence, and nothing proves the last one
		last := &list[MostCriteria-1]
		rest = append([]string{last.Text}, rest...)
		*last = Criterion{ID: last.ID, Text: line(fmt.Sprintf("%d more: %s", len(rest), strings.Join(rest, "; ")), maxLine)}
		warnings = append(warnings, fmt.Sprintf("there are more than %d criteria: %s stands for %d of them and has no check", MostCriteria, last.ID, len(rest)))
	}
	return list, warnings
}

// BadCheck says why a check cannot be run by any shell; empty where it can.
func BadCheck(check string) string {
	switch {
	case strings.ContainsRune(check, 0):
		return "has a NUL byte"
	case len(check) > maxCheck:
		return fmt.Sprintf("has more than %d bytes", maxCheck)
	}
	return ""
}

func linesOf(text string) []any {
	var items []any
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(bullet().ReplaceAllString(l, "")); l != "" {
			items = append(items, l)
		}
	}
	return items
}

func readCriterion(item any) (c Criterion, wish string, warnings []string) {
	o, ok := item.(map[string]any)
	if !ok {
		return Criterion{Text: line(textOf(item), maxLine)}, "", nil
	}
	c.Text = line(first(o, "text", "criterion", "description", "name"), maxLine)
	c.Check = first(o, "check")
	if c.Text == "" && c.Check != "" {
		c.Text = line("passes: "+c.Check, maxLine)
	}
	if why := BadCheck(c.Check); why != "" {
		c.Check = ""
		warnings = append(warnings, fmt.Sprintf("the check of %q %s and is left out", cut(c.Text, 60), why))
	}
	for _, f := range texts(o["files"]) {
		if clean := path.Clean(f); strings.ContainsAny(f, "\x00\n") || path.IsAbs(f) || clean == ".." || strings.HasPrefix(clean, "../") {
			warnings = append(warnings, fmt.Sprintf("%q is no place in the repository and proves nothing", line(f, 60)))
			continue
		}
		c.Files = append(c.Files, f)
	}
	return c, first(o, "id"), warnings
}
