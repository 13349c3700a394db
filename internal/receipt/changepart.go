package receipt

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/readable"
)

func (r *Receipt) changesPart(p *page) {
	c := r.Changes
	p.head("What changed")
	if len(c.Trees) == 0 && len(c.Apart) > 0 {
		p.line("Nothing is merged into the result. There is work of workstreams in %s.", codes(c.Apart, 0))
		r.besideWords(p)
		return
	}
	if len(c.Trees) == 0 {
		what := "No agent left a change."
		switch {
		case len(c.Unseen) > 0:
			what = "Whether agents left a change is not known: changes were not recorded."
		case len(c.Merges) > 0:
			what = "The work of isolated steps is merged into the directory."
		case r.Cost.Starts == 0:
			what = "No agent was started."
		}
		p.line("%s Belay compares files before and after each agent; files that git ignores and uncommitted changes by shell steps are not listed.", what)
		r.besideWords(p)
		return
	}
	p.line("%s; %s.", c.counted(), c.pushedWords())
	p.line("")
	for _, t := range c.Trees {
		if t.Settled && t.Own {
			p.line("- branch %s%s", code(t.Branch), treeWords(t))
		} else {
			p.line("- %s%s", code(t.Dir), treeWords(t))
		}
	}
	r.besideWords(p)
	if len(c.List) == 0 {
		return
	}
	p.line("")
	rows := [][]string{{"file", "change", "lines", "step"}}
	for _, f := range c.List {
		nobody := "no agent: a shell step, or somebody else"
		if f.Uncounted || c.unnamed || len(c.Unseen) > 0 {
			nobody = "unknown"
		}
		row := []string{code(f.Path), cmp.Or(string(f.Change), "changed"), fmt.Sprintf("+%d −%d", f.Added, f.Deleted), p.plain(cmp.Or(strings.Join(f.Steps, ", "), nobody))}
		if f.Uncounted {
			row[2] = "not counted"
		}
		rows = append(rows, row)
	}
	p.table(rows)
	if more := c.Files - len(c.List); more > 0 {
		p.line("")
		p.line("… and %s more.", readable.Many(more, "file"))
	}
}

// counted says how much changed. What is in no repository has no lines that anybody
// counted, and often no number of files.
func (c *Changes) counted() string {
	known := 0 // files with their lines
	for _, f := range c.List {
		if !f.Uncounted {
			known++
		}
	}
	text := fmt.Sprintf("%s, +%d −%d, %s", readable.Many(c.Files, "file"), c.Added, c.Deleted, readable.Many(len(c.Commits), "commit"))
	switch {
	case len(c.Blind) == 0:
		return text
	case known > 0 || len(c.Commits) > 0 || len(c.Trees) > len(c.Blind):
		return text + "; not counted: what changed in " + codes(c.Blind, 0) + " (no git repository)"
	case c.Files > 0:
		return readable.Many(c.Files, "file") + " changed; lines are not counted (no git repository)"
	}
	return "Files changed, and are not counted (no git repository)"
}

// namedInCheckout is how many names the page has of what changed in the user's checkout;
// the JSON has more.
const namedInCheckout = 10

// pushedWords say what left the machine.
func (c *Changes) pushedWords() string {
	switch {
	case len(c.Remote) > 0:
		return "pushed to " + plain(strings.Join(c.Remote, ", "))
	case c.Pushed:
		return "pushed by an agent"
	}
	return "nothing was pushed, as far as Belay saw"
}

// besideWords are what there is to say beside the numbers.
func (r *Receipt) besideWords(p *page) {
	c := r.Changes
	if d := r.Task.dropped(); d != nil && d.Commit == "" {
		away := ""
		if d.Dir != "" {
			away = "; what was changed after it, by an agent or by somebody else, is in " + code(d.Dir)
		}
		if len(d.PutAway) > 0 {
			away += ": " + codes(d.PutAway, d.Away-len(d.PutAway))
		}
		p.line("- the files were put back to what round %d left%s", r.Task.Round, away)
	} else if d != nil {
		kept := "it is not kept"
		if d.Branch != "" {
			kept = "it is on branch " + code(d.Branch)
		}
		p.line("- the result is that of round %d (%.12s); the work of later rounds, up to %.12s, is not part of it: %s", r.Task.Round, r.Task.Commit, d.Commit, kept)
	}
	for _, u := range c.Unasked {
		if u.Tests {
			p.line("- %s should write tests, and changed files that are none by their names: %s", p.plain(u.Step), codes(u.Files, u.More))
			continue
		}
		p.line("- %s should change nothing, but changed %s", p.plain(u.Step), codes(u.Files, u.More))
	}
	for _, w := range c.Merges {
		p.line("- merged from the worktree of %s: %s, %s", p.plain(w.Step), readable.Many(w.Files, "file"), readable.Many(len(w.Commits), "commit"))
	}
	for _, pr := range c.PRs {
		p.line("- pull request: %s", code(pr))
	}
	for _, f := range c.Outside {
		p.line("- written outside of the directory: %s", code(f))
	}
	if r.UserCheckout != nil && !r.UserCheckout.Warns() {
		p.line("- %s", p.plain(r.UserCheckout.Words(namedInCheckout)))
		for _, words := range r.UserCheckout.Taken() {
			p.line("- %s", p.plain(words))
		}
	}
	for _, name := range c.Unseen {
		p.line("- what the agent of %s changed was not recorded", p.plain(name))
	}
	for _, t := range c.Trouble {
		p.line("- Belay did not see all changes: %s", p.plain(t))
	}
}

func treeWords(t Tree) string {
	if !t.Repo {
		return ": no git repository"
	}
	text := ""
	if t.Branch != "" && (!t.Settled || !t.Own) {
		text += ", branch " + code(t.Branch)
	}
	switch {
	case t.From == "":
	case t.From == t.To:
		text += fmt.Sprintf(", at %.12s", t.To)
	default:
		text += fmt.Sprintf(", from %.12s to %.12s", t.From, t.To)
	}
	if t.moved() {
		text += ", which was on " + code(t.Was) + " before"
	}
	if t.Dirty {
		text += ", with uncommitted changes"
	}
	return text
}
