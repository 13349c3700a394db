package tui

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
)

// AgentName is an agent's name without what belongs to its call: the script of
// the scripted one.
func AgentName(name string) string {
	short, _, _ := strings.Cut(name, ":")
	return short
}

// AgentWork is who did an attempt, what it used and what it left behind, in one
// short phrase.
func AgentWork(r *belay.AgentReport) string {
	words := []string{AgentName(r.Name)}
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
func (b *Board) began(at place, e belay.AttemptStarted) []Line {
	switch {
	case Helps(e.Role):
		return b.aideBegan(at, e)
	case e.Agent == "" || e.Role != belay.RoleMain:
		return nil
	}
	text := "agent " + AgentName(e.Agent)
	model, persona := b.asked(at)
	if model != "" {
		text += ", model " + model
	}
	if persona != "" {
		text += ", as " + persona
	}
	if e.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", e.Attempt)
	}
	if e.Resume {
		text += ", its session goes on"
	}
	return []Line{b.line("started", at, "", text)}
}

// asked is the model and the persona that the recipe asks for.
func (b *Board) asked(at place) (model, persona string) {
	s := b.tree.Run(at.run)
	if s == nil {
		return "", ""
	}
	for i := range s.Recipe().Steps {
		st := &s.Recipe().Steps[i]
		if st.ID != at.path {
			continue
		}
		if strings.Contains(st.Agent, ":") {
			persona = st.Agent
		}
		return st.Model, persona
	}
	return "", ""
}

// noted is a line for what became known of a running agent.
func (b *Board) noted(run belay.RunID, e belay.AttemptNoted) []Line {
	at, _ := placeOf(run, e.Key)
	if l := b.open[e.Key]; l != nil {
		at = l.place
	}
	line := func(word, text string, detail bool) []Line {
		l := b.line(word, at, "", text)
		l.Detail = detail
		return []Line{l}
	}
	switch e.What {
	case belay.NoteInterrupt:
		return line("interrupt", e.Text, false)
	case belay.NoteResume:
		return line("resumed", "its session goes on", false)
	case belay.NoteKill:
		return line("killed", e.Text, false)
	case belay.NoteQuiet:
		return line("quiet", e.Text, true)
	case belay.NoteRetry:
		return line("note", "the agent calls its model again: "+e.Text, true)
	case belay.NoteSession, belay.NoteBase:
	}
	return nil
}

// took is how long an attempt ran, "" when nobody knows.
func (l *lane) took() string {
	if l == nil || l.ended == nil || l.ended.Started.IsZero() {
		return ""
	}
	return Took(l.ended.Ended.Sub(l.ended.Started))
}

// agentOf is the report of an attempt's agent, nil when there is none.
func (l *lane) agentOf() *belay.AgentReport {
	if l == nil || l.ended == nil {
		return nil
	}
	return l.ended.Agent
}
