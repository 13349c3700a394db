package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

// workPart is where the work is and how it was seen last.
func (w *whyFacts) workPart(p *page) {
	k := w.Work
	p.head("WHERE THE WORK IS")
	if k.Host != "" {
		p.whole("  directory " + readable.Clean(k.HostDir) + " on host " + readable.Clean(k.Host))
	} else {
		p.whole("  directory " + readable.Clean(k.Dir))
	}
	offered := w.Task != nil && w.Task.Branch != "" && w.Task.of.Offered
	if offered {
		p.whole("  result    branch " + readable.Clean(w.Task.Branch))
	}
	for i, t := range k.Worktrees {
		if i == shownPlaces {
			p.whole(fmt.Sprintf("  … %d more worktrees", len(k.Worktrees)-i))
			break
		}
		p.text("  ", worktreeWords(t))
	}
	if w.UserCheckout.Warns() {
		p.text("  warning: ", w.UserCheckout.Words(shownBeside))
		for _, c := range w.UserCheckout.Look() {
			p.whole("    look: " + c)
		}
		for _, words := range w.UserCheckout.Taken() {
			p.whole("  warning: " + readable.Clean(words))
		}
	} else if w.UserCheckout != nil {
		p.text("  ", w.UserCheckout.Words(shownBeside))
		for _, words := range w.UserCheckout.Taken() {
			p.whole("  " + readable.Clean(words))
		}
	}
	for _, r := range k.Replaced {
		p.text("  ", r.Step+" resolved a conflict and took away uncommitted lines of "+strings.Join(r.Files, ", ")+"; the files as they were:")
		p.whole("    see them: " + r.See)
	}
	if k.Seen.IsZero() {
		if w.Cost.Starts > 0 {
			p.text("  ", "no agent has ended yet: nobody looked at its work")
		}
		return
	}
	back := ""
	if slices.Contains(w.Steps.Back, k.After) {
		back = "; its fallback rolled that back"
	}
	if !offered { // what an agent left was committed after that look
		p.text("  ", "as of "+w.clock(k.Seen)+", after "+k.After+": "+k.seen()+back)
	}
	if k.PR != "" {
		p.text("  ", "pull request "+k.PR)
	}
	if k.Error != "" {
		p.text("  ", "the look was not complete: "+k.Error)
	}
	w.snapshots(p)
}

// shownBeside is how many names a page has of what changed in the user's checkout.
const shownBeside = 20

// shownPlaces is how many worktrees and snapshots a page has.
const shownPlaces = 3

func worktreeWords(t story.Worktree) string {
	text := "worktree " + t.Dir
	if t.Branch != "" {
		text += ", branch " + t.Branch
	}
	if t.Step != "" {
		text += ", of " + t.Step
	}
	if t.Gone {
		text += " (it is gone)"
	}
	return text
}

// since is what was found changed when the tree was seen: held against the state before the
// step, so that earlier attempts, and what a person did between them, are in it.
func (w whyWork) since() string {
	left := tui.Left(w.Last)
	if left == "" {
		return "nobody could look"
	}
	return "since " + w.After + " began: " + left
}

// seen is how the tree was found.
func (w whyWork) seen() string {
	if !w.Repo {
		return joined([]string{"no git repository", w.since()}, "; ")
	}
	state := ""
	switch {
	case w.Dirty && w.Files == 0 && len(w.Commits) == 0:
		state = "with uncommitted changes from before this step"
	case w.Dirty:
		state = "with uncommitted changes"
	}
	where := "detached"
	if w.Branch != "" {
		where = "branch " + w.Branch
	}
	return joined([]string{joined([]string{joined([]string{where, prefixed("at ", short(w.Head))}, " "), state}, ", "), w.since()}, "; ")
}

// snapshots are the newest ones, with what gets them back. After a good end the
// work is where it belongs, and one line is enough.
func (w *whyFacts) snapshots(p *page) {
	list := w.Work.Snapshots
	if len(list) == 0 {
		return
	}
	if w.Status == belay.Achieved || w.Task != nil && (!w.Work.Dirty || w.Task.of.Offered) { // the rounds of a task commit it
		what := "uncommitted work"
		if w.Task != nil && w.Task.of.Offered {
			what = "work that is committed now"
		}
		p.text("  ", fmt.Sprintf("%s of %s, as git refs that begin with refs/belay/%s", readable.Many(len(list), "snapshot"), what, w.Run))
		for _, k := range newestOf(list) {
			k.left(p)
		}
		return
	}
	shown := newestOf(list)
	for _, k := range shown {
		when := "after "
		if k.Before {
			when = "from before "
		}
		p.text("  ", "uncommitted work "+when+k.Step+" is kept as "+k.Ref)
		k.left(p)
		p.whole("    see it:       " + k.See)
		p.whole("    get it back:  " + k.Get + "   # writes over newer edits")
	}
	if more := len(list) - len(shown); more > 0 {
		p.whole(fmt.Sprintf("  … %d older: git -C %s for-each-ref refs/belay", more, story.Quote(w.Work.SeenDir)))
	}
}

// newestOf is the newest snapshot of each step, the newest first, up to a few.
func newestOf(list []whySnapshot) []whySnapshot {
	var shown []whySnapshot
	for i := len(list) - 1; i >= 0 && len(shown) < shownPlaces; i-- {
		if !slices.ContainsFunc(shown, func(k whySnapshot) bool { return k.Step == list[i].Step && k.Before == list[i].Before }) {
			shown = append(shown, list[i])
		}
	}
	return shown
}

// costPart is what was used, by agent when there were several.
func (w *whyFacts) costPart(p *page) {
	p.head("COST")
	w.ownCost(p)
	if t := w.Cost.Together; t != nil {
		p.text("  ", "with all runs that belong to it: "+joined([]string{
			story.StartsWords(t.Starts, t.Allowed), readable.Used(belay.Usage{Input: t.Tokens, MicroUSD: t.MicroUSD}),
		}, ", "))
	}
}

func (w *whyFacts) ownCost(p *page) {
	c, text := w.Cost, readable.Took(w.wall())+" in all"
	if c.Starts == 0 {
		p.text("  ", joined([]string{text, "no agent was started", replans(c)}, ", "))
		return
	}
	p.text("  ", joined([]string{
		text, story.StartsWords(c.Starts, c.Allowed), cmp.Or(readable.Used(c.Usage), "tokens and cost not reported"), replans(c),
	}, ", "))
	if len(c.Agents) < 2 {
		return
	}
	for _, a := range c.Agents {
		p.text("    ", joined([]string{
			fmt.Sprintf("%s: %s", a.Agent, readable.Many(a.Starts, "start")), readable.Used(a.Usage), "worked " + readable.Took(a.Wall()),
		}, ", "))
	}
}

func replans(c story.Cost) string {
	if c.Replans == 0 {
		return ""
	}
	return story.RecoveriesWords(c.Replans, c.MaxPlan)
}
