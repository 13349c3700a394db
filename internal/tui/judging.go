package tui

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
)

// Judging says which files that judge the work the agent of a done step changed:
// tests, their settings, orders for CI; "" for none.
func Judging(v flow.StepView) string {
	const most = 3
	if v.Phase != flow.Done || v.Main == nil || v.Main.Agent == nil || len(v.Main.Agent.Evidence.Guards) == 0 {
		return ""
	}
	var names []string
	for _, f := range v.Main.Agent.Evidence.Guards {
		if len(names) < most {
			names = append(names, readable.Clean(f.Path))
		}
	}
	text := "changed test or CI files, review these first: " + strings.Join(names, ", ")
	if more := len(v.Main.Agent.Evidence.Guards) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
