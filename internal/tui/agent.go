package tui

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/story"
)

// AgentWork is who did an attempt, what it used and what it left behind, in one
// short phrase.
func AgentWork(r *belay.AgentReport) string {
	words := []string{story.AgentName(r.Name)}
	if used := Used(r.Result.Usage); used != "" {
		words = append(words, used)
	}
	if left := Left(r.Evidence); left != "" {
		words = append(words, left)
	}
	return strings.Join(words, ", ")
}

// Used is what an agent told about its use, "" when it told nothing.
func Used(u belay.Usage) string {
	var words []string
	if n := u.Tokens(); n > 0 {
		words = append(words, Count(n)+" tokens")
	}
	if u.MicroUSD > 0 {
		words = append(words, Dollars(u.MicroUSD))
	}
	return strings.Join(words, ", ")
}

// Left is what was seen of an agent's work, "" when nobody could look.
func Left(e belay.Evidence) string {
	var words []string
	switch {
	case e.Files > 0:
		words = append(words, fmt.Sprintf("%s +%d −%d", plural(e.Files, "file"), e.Added, e.Deleted))
	case e.Before.Tree == "" || e.After.Tree == "":
	case e.Before.Tree != e.After.Tree:
		words = append(words, "the working tree changed")
	case len(e.Commits) == 0:
		words = append(words, "no change")
	}
	if n := len(e.Commits); n > 0 {
		words = append(words, plural(n, "commit"))
	}
	if e.PR != "" {
		words = append(words, "pull request")
	}
	return strings.Join(words, ", ")
}

// Reason is a failure without the step that was named already. A class that
// says no more than the kind is left out.
func Reason(f *belay.Failure) string { return f.Name() + ": " + f.Cause }

// Count is a big number as people say it: 950, 1.5k, 23k, 1.2M.
func Count(n int64) string {
	const kilo, mega, giga = 1e3, 1e6, 1e9
	switch f := float64(n); {
	case n < kilo:
		return fmt.Sprint(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", f/kilo)
	case n < mega-500:
		return fmt.Sprintf("%.0fk", f/kilo)
	case n < giga:
		return fmt.Sprintf("%.1fM", f/mega)
	default:
		return fmt.Sprintf("%.1fG", f/giga)
	}
}

// Dollars is an amount of millionths of a dollar. Less than ten cents are shown
// with all their places: a sum of them is what matters.
func Dollars(micro int64) string {
	if micro >= 100_000 {
		return fmt.Sprintf("$%.2f", float64(micro)/1e6)
	}
	text := strings.TrimRight(fmt.Sprintf("%.6f", float64(micro)/1e6), "0")
	for len(text) < len("0.00") {
		text += "0"
	}
	return "$" + text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// began is a line for an agent that starts: who, with which model, as whom.
func (b *Board) began(a *story.Attempt) []Line {
	switch {
	case story.Helps(a.Role):
		return helperBegan(a)
	case a.Agent == "" || a.Role != belay.RoleMain:
		return nil
	}
	text := "agent " + story.AgentName(a.Agent)
	if def := b.story.Def(a.Place); def != nil {
		if def.Model != "" {
			text += ", model " + def.Model
		}
		if strings.Contains(def.Agent, ":") {
			text += ", as " + def.Agent
		}
	}
	if a.N > 1 {
		text += fmt.Sprintf(", attempt %d", a.N)
	}
	if a.Resume {
		text += ", its session goes on"
	}
	return []Line{line("started", a.Place, "", text)}
}

// noted is a line for what became known of a running agent.
func noted(n *story.News) []Line {
	line := func(word, text string, detail bool) []Line {
		l := line(word, beside(n.Attempt), "", text)
		l.Detail = detail
		return []Line{l}
	}
	switch n.Note.What {
	case belay.NoteInterrupt:
		return line("interrupt", n.Note.Text, false)
	case belay.NoteResume:
		return line("resumed", "its session goes on", false)
	case belay.NoteKill:
		return line("killed", n.Note.Text, false)
	case belay.NoteQuiet:
		return line("quiet", n.Note.Text, true)
	case belay.NoteRetry:
		return line("note", "the agent calls its model again: "+n.Note.Text, true)
	case belay.NoteSession, belay.NoteBase:
	}
	return nil
}
