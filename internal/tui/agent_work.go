package tui

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// AgentWork is who did an attempt, what it used and what it left behind, in one
// short phrase.
func AgentWork(r *effect.AgentReport) string {
	words := []string{story.AgentName(r.Name)}
	if used := readable.Used(r.Result.Usage); used != "" {
		words = append(words, used)
	}
	if left := Left(r.Evidence); left != "" {
		words = append(words, left)
	}
	return strings.Join(words, ", ")
}

// NoChange says that an agent left the working tree as it was.
const NoChange = "no change"

// Left is what was seen of an agent's work, "" when nobody could look.
func Left(e belay.Evidence) string {
	var words []string
	switch {
	case e.Files > 0:
		words = append(words, fmt.Sprintf("%s +%d −%d", readable.Many(e.Files, "file"), e.Added, e.Deleted))
	case e.Before.Tree == "" || e.After.Tree == "":
	case e.Before.Tree != e.After.Tree:
		words = append(words, "the working tree changed")
	case len(e.Commits) == 0:
		words = append(words, NoChange)
	}
	if n := len(e.Commits); n > 0 {
		words = append(words, readable.Many(n, "commit"))
	}
	if e.PR != "" {
		words = append(words, "pull request")
	}
	return strings.Join(words, ", ")
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
		text += ", same session"
	}
	l := line("started", a.Place, "", text)
	l.Start = true
	return []Line{l}
}

// noted is a line for what became known of a running agent.
func noted(n *story.News) []Line {
	line := func(word, text string, detail bool) []Line {
		l := line(word, beside(n.Attempt), "", text)
		l.Detail = detail
		return []Line{l}
	}
	switch n.Note.What {
	case effect.NoteInterrupt:
		return line("interrupt", n.Note.Text, false)
	case effect.NoteResume:
		return line("resumed", "its session is continued", false)
	case effect.NoteKill:
		return line("killed", n.Note.Text, false)
	case effect.NoteQuiet:
		return line("quiet", n.Note.Text, true)
	case effect.NoteRetry:
		return line("note", "the agent calls its model again: "+n.Note.Text, true)
	case effect.NoteSession, effect.NoteBase:
	}
	return nil
}
