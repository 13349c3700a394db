package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
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
	list := slices.Clone(v.Main.Agent.Evidence.Guards)
	slices.SortStableFunc(list, func(a, b belay.FileChange) int { return cmp.Compare(weight(a.Change), weight(b.Change)) })
	var names []string
	for _, f := range list[:min(len(list), most)] {
		name := readable.Clean(f.Path)
		if weight(f.Change) == 0 {
			name += " (" + string(f.Change) + ")"
		}
		names = append(names, name)
	}
	text := "changed test or CI files, review these first: " + strings.Join(names, ", ")
	if more := len(v.Main.Agent.Evidence.Guards) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// weight puts first what takes a test away.
func weight(how belay.ChangeKind) int {
	if how == belay.FileDeleted || how == belay.FileRenamed {
		return 0
	}
	return 1
}
