package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/story"
)

// belayName is the name of the program in all that Belay says without knowing who says it:
// in hints of lower rooms, and in what is on record.
const belayName = "belay"

// called is the name by which people start this program.
func (a *app) called() string { return cmp.Or(a.program.Name, belayName) }

// name is how this program is called, so that what it tells people to type
// works as it stands.
func (a *app) name() string {
	if a.state == "" {
		return a.called()
	}
	return a.called() + " --state " + story.Quote(a.state)
}

// ours is a text in which commands are those of this program: where it says belay
// COMMAND, and this program has another name, that is put there.
func (a *app) ours(text string) string {
	if a.called() == belayName || !strings.Contains(text, belayName+" ") {
		return text
	}
	makers := a.makers()
	return typedCommand().ReplaceAllStringFunc(text, func(found string) string {
		before, command, _ := strings.Cut(found, belayName+" ")
		if command != "--help" && command != "COMMAND" && !slices.ContainsFunc(makers, func(m maker) bool { return m.name == command }) {
			return found
		}
		return before + a.called() + " " + command
	})
}

// typedCommand may be a command that people type.
var typedCommand = pattern.Lazy("(?:^|[\\s(\"'`])belay (?:[a-z]+|--help|COMMAND)")

// oursIn is ours for the lines of a page that are hints; the others can be what a step said.
func (a *app) oursIn(lines []string) []string {
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "hint: ") {
			lines[i] = a.ours(l)
		}
	}
	return lines
}
