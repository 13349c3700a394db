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
	return b != nil && (b.Error != "" || (len(b.Changed) > 0 || b.Unkept != "") && !b.Meant)
}

// chunked is how many files are in one command that brings them back: a line that is too long
// is cut.
const chunked = 5

// Taken says which uncommitted work of before the run is gone from there, a sentence for some
// files, each with the command that brings them back.
func (b *UserCheckout) Taken() []string {
	if b == nil {
		return nil
	}
	git := "git -C " + Quote(b.Dir)
	var list []string
	for _, lost := range []struct {
		paths []string
		how   string
	}{{b.Gone, "bring it back"}, {b.Replaced, "bring it back, in the place of what is there now"}} {
		for some := range slices.Chunk(lost.paths, chunked) {
			back := git + " checkout " + Quote(b.Kept) + " --"
			for _, path := range some {
				back += " " + Quote(":/"+path)
			}
			list = append(list, fmt.Sprintf("uncommitted work of %s is gone from %s, by an agent or by somebody else; %s: %s", strings.Join(some, ", "), b.Dir, lost.how, back))
		}
	}
	if b.MoreGone > 0 {
		list = append(list, fmt.Sprintf("uncommitted work of %d more files is gone from %s; look: %s diff --name-status %s", b.MoreGone, b.Dir, git, Quote(b.Kept)))
	}
	if len(b.NoCopy) > 0 {
		list = append(list, "Belay has no copy of what was not committed in these files, as they were too big, not readable, or had a known secret in them: "+firstOf(b.NoCopy, chunked))
	}
	switch {
	case b.Unkept != "" && b.Kept != "":
		list = append(list, "whether uncommitted work is gone from "+b.Dir+" is not known: "+b.Unkept+"; it was kept as "+b.Kept)
	case b.Unkept != "":
		list = append(list, "Belay has no copy of what was not committed in "+b.Dir+": "+b.Unkept)
	}
	return list
}

// firstOf names the first of some files.
func firstOf(list []string, most int) string {
	n := min(len(list), most)
	text := strings.Join(list[:n], ", ")
	if more := len(list) - n; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
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
