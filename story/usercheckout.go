package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
)

// UserCheckout is what the look at the user's own checkout saw, at the end of a run whose
// agents worked in worktrees.
type UserCheckout struct {
	effect.UserCheckout
	Meant bool   `json:"meant,omitempty"` // an operation is done there: what changed is its work
	Error string `json:"error,omitempty"` // why nobody knows
}

// UserCheckoutOf is that of a run; nil = nobody looked, because no worktree was made or the
// run has not ended.
func UserCheckoutOf(t *flow.Tree, asked *Task) *UserCheckout {
	look := t.UserCheckout()
	if look == nil || look.UserCheckout == nil {
		return nil
	}
	return &UserCheckout{UserCheckout: *look.UserCheckout, Meant: asked != nil && asked.Type == "Operations", Error: look.Error}
}

// Warns tells whether a person must know of it.
func (b *UserCheckout) Warns() bool {
	return b != nil && (b.Error != "" || len(b.Changed) > 0 && !b.Meant)
}

// Words say it, with the first names of what changed.
func (b *UserCheckout) Words(most int) string {
	switch {
	case b.Error != "":
		return "whether something changed in " + b.Dir + " itself is not known: " + b.Error
	case len(b.Changed) == 0 && b.Files:
		return "nothing changed in " + b.Dir + " itself"
	case len(b.Changed) == 0:
		return "no setting, hook or other branch changed in " + b.Dir
	case b.Meant:
		return "changed in " + b.Dir + ": " + b.names(most)
	}
	return "in " + b.Dir + " itself something changed during the run, by an agent or by somebody else: " + b.names(most)
}

func (b *UserCheckout) names(most int) string {
	n := min(len(b.Changed), most)
	text := strings.Join(b.Changed[:n], ", ")
	if more := len(b.Changed) - n + b.More; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Look are the commands that show what changed.
func (b *UserCheckout) Look() []string {
	git := "git -C " + Quote(b.Dir)
	has := func(prefix string) bool {
		return slices.ContainsFunc(b.Changed, func(name string) bool { return strings.HasPrefix(name, prefix) })
	}
	var list []string
	if has(".git/config: ") {
		list = append(list, git+" config --local --list")
	}
	if has("~/.gitconfig: ") {
		list = append(list, "git config --global --list")
	}
	if has("refs/") || has("HEAD") {
		list = append(list, git+" log -g --all -20") // where refs were, with the commands that moved them
	}
	if b.Files && len(b.Changed) > 0 {
		list = append(list, git+" status")
	}
	return list
}
