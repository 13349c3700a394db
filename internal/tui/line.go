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
}

const (
	wordWidth = 9
	stepWidth = 12
	tookWidth = 6
)

// TextAt is where the text of a line begins.
const TextAt = 2 + wordWidth + 1 + stepWidth + 1 + tookWidth + 2

// Format lays the line out; colour marks the word only.
func (l Line) Format(colour bool) string { return l.format(colour, stepWidth) }

// format is Format with a column of that width for the step.
func (l Line) format(colour bool, steps int) string {
	word := pad(l.Word, wordWidth)
	if colour {
		word = paint(l.Word, word)
	}
	s := "  " + word + " " + pad(indented(l.Step), steps) + " " + padLeft(l.Took, tookWidth)
	if l.Text != "" {
		s += "  " + readable.Clean(l.Text)
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
	case "done", story.AnsweredWord, story.DecidedWord, "recovered":
		code = "32"
	case "failed", "lost", "killed":
		code = "31"
	case "held", "waits", "retry", "refused", "degraded", "hook", "interrupt",
		"resume", "fresh", "failover", "reassign", "repair", "decompose", "recover", "fallback":
		code = "33"
	case "not taken", "stopped", "unborn", "skipped", "started", "quiet", "note", pendingWord:
		code = "2"
	case "adopted", "harvested", "resumed":
		code = "36"
	}
	if code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
