package tui

import (
	"strings"

	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Line is one plain line about a step: what became of it, which one, how long
// it took, and what there is to say.
type Line struct {
	Word string
	Step string
	Took string
	Text string

	Detail bool // only for those who want everything
	Start  bool // an agent starts: the live view shows it while it works

	at     story.Place // the step, "" for none
	stands int         // how many steps it stands for, where that is not one
	holds  bool        // it is that of a sub-recipe: the lines of its steps stand below it
	nth    int         // of the lines that were kept; 0: it was not
}

const (
	wordWidth = 9
	stepWidth = 12
	tookWidth = 6
)

// textAt is where the text of a line begins, behind a column of that width for the step.
func textAt(steps int) int { return 2 + wordWidth + 1 + steps + 1 + tookWidth + 3 }

// TextAt is where it begins behind the narrowest column.
const TextAt = 2 + wordWidth + 1 + stepWidth + 1 + tookWidth + 3

// mark is what a line begins with: good and bad ends are seen at a glance.
func mark(word string) string {
	switch word {
	case "done", story.AnsweredWord, story.DecidedWord, story.RecoveredWord:
		return "✓"
	case "failed", "lost", "killed", "refused":
		return "✗"
	}
	return " "
}

// Format lays the line out; colour marks the word only.
func (l Line) Format(colour bool) string { return l.format(colour, stepWidth) }

// format is Format with a column of that width for the step.
func (l Line) format(colour bool, steps int) string {
	word := mark(l.Word) + " " + pad(l.Word, wordWidth)
	if colour {
		word = paint(l.Word, word)
	}
	s := word + " " + pad(indented(l.Step), steps) + " " + padLeft(l.Took, tookWidth)
	if l.Text != "" {
		between := "   "
		if l.Took != "" {
			between = " · "
		}
		s += between + readable.Clean(l.Text)
	}
	return strings.TrimRight(s, " ")
}

// indented is the name of a step, made clean, with the blanks before it.
func indented(name string) string {
	bare := strings.TrimLeft(name, " ")
	return name[:len(name)-len(bare)] + readable.Clean(bare)
}

// paint gives a word the colour of its news.
func paint(word, text string) string {
	code := ""
	switch word {
	case "done", story.AnsweredWord, story.DecidedWord, story.RecoveredWord:
		code = "32"
	case "failed", "lost", "killed":
		code = "31"
	case "held", "waits", "retry", "refused", "degraded", story.BackWord, "hook", "interrupt",
		"resume", "fresh", "failover", "reassign", "repair", "decompose", "recover", "fallback":
		code = "33"
	case "not taken", "stopped", "skipped", "started", "quiet", "note", pendingWord:
		code = "2"
	case "adopted", "harvested", "resumed":
		code = "36"
	}
	if code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
