package verdict

import (
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// changed tells whether there is a change that counts as the agent's. Where
// others worked in the same tree, its own records must show that it did
// something that can change files.
func (c Claim) changed() bool {
	return Changed(c.Evidence) && (!c.Shared || c.Acted || Acts(c.Result))
}

// doubts say why a change may be somebody else's.
func (c Claim) doubts() []string {
	if !Changed(c.Evidence) {
		return nil
	}
	var list []string
	if c.Shared {
		list = append(list, "other steps worked in the same tree")
	}
	if c.Severed {
		list = append(list, "the work is measured since an attempt that was cut off")
	}
	return list
}

// Acts tells whether the typed records of an agent show something that can
// change files: a command, or a file tool, that ended well.
func Acts(r belay.AgentResult) bool { return slices.ContainsFunc(r.Tools, acts) }

func acts(t belay.ToolCall) bool {
	if !endedWell(t) {
		return false
	}
	return t.Command != "" || t.Path != "" && !onlyLooks(t.Name)
}

// The words by which CLIs name their file tools.
var (
	makers  = []string{"write", "edit", "replace", "patch", "create", "delete", "insert", "update", "move"}
	lookers = []string{"read", "view", "grep", "glob", "search", "list", "ls", "find", "fetch"}
)

// onlyLooks tells whether a file tool changes nothing, by its name.
func onlyLooks(name string) bool {
	name = strings.ToLower(name)
	within := func(w string) bool { return strings.Contains(name, w) }
	return slices.ContainsFunc(lookers, within) && !slices.ContainsFunc(makers, within)
}
