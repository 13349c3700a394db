package story

import (
	"fmt"
	"strings"
)

// ToProve says what the criteria must have in a new run, so that those can be proven which are
// not: a check, or the files that their check names and that the work is to change.
func (t *Task) ToProve() string {
	var has []string
	checks := false
	for i := range t.Criteria {
		switch c := &t.Criteria[i]; {
		case len(c.Rewritten) > 0:
			has = append(has, fmt.Sprintf(`%s has "files": ["%s"] (only if that is the program, and no check of it)`, c.ID, strings.Join(c.Rewritten, `", "`)))
		case c.Unproven():
			checks = true
		}
	}
	if checks || len(has) == 0 {
		has = append(has, "each criterion has a check")
	}
	return strings.Join(has, ", and ")
}
