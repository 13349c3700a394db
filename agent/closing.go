package agent

import (
	"strings"

	"github.com/belay-run/belay"
)

// closing asks for the line that ends an answer.
const closing = `# How you end

End your answer with one line of its own, and nothing after it:
- ACHIEVED when all of it is done;
- PARTIAL -- what is missing
- NOT_ACHIEVED -- why
- NOTHING_TO_DO -- why
- NEEDS_INPUT -- your question, when only a person can answer it`

// maxClosing bounds the text of a closing line.
const maxClosing = 1000

// Close takes the closing line off an answer: its last line that is not blank,
// when that is ACHIEVED alone, or another word of the list with " -- " and a text
// after it. Nothing else is one: no other letters, no Markdown, no full stop.
// Where lines of an answer say different things it has no closing line that
// anybody can read, and stays as it is.
func Close(answer string) (rest string, c *belay.Closing) {
	body := strings.TrimRight(answer, " \t\r\n")
	start := strings.LastIndexByte(body, '\n') + 1
	var last, other belay.Closing
	if !last.Read(body[start:]) {
		return answer, nil
	}
	for line := range strings.Lines(body[:start]) {
		if other.Read(strings.TrimRight(line, "\r\n")) && other.Word != last.Word {
			return answer, &belay.Closing{Word: belay.ClosedUnclear, Text: string(other.Word) + " and " + string(last.Word)}
		}
	}
	return strings.TrimRight(body[:start], " \t\r\n"), &last
}

// Closed is what a closing line says, with its text cut after secrets are hidden
// in it.
func Closed(c *belay.Closing, hide func(string) string) *belay.Closing {
	if c == nil {
		return nil
	}
	return &belay.Closing{Word: c.Word, Text: Short(c.Text, maxClosing, hide)}
}
