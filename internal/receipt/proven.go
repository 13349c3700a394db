package receipt

import (
	"fmt"
	"strings"
)

// provenWords are said where no result rests on a word alone: they claim no more than the
// checks that were run.
func (r *Receipt) provenWords(p *page) string {
	var without []string
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Verdict == "done" && !s.Checked && !s.calls {
			add(&without, p.plain(s.Step))
		}
	}
	switch {
	case r.Task != nil:
		return "No result depends only on an answer or a person's word."
	case len(without) == 0:
		return "Nothing: each step that is done passed a check."
	}
	const shown = 8
	text := strings.Join(without[:min(len(without), shown)], ", ")
	if more := len(without) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "No result depends only on an answer or a person's word. Done without a check of their own: " + text + "."
}
