package agent

import (
	"fmt"
	"regexp"

	"github.com/belay-run/belay/internal/pattern"
)

// MaxAnswer is how much of an answer is kept, of every agent. One that is
// longer is no answer: AgentResult.Cut says so.
const MaxAnswer = 16 << 20

// Missed tells a reader of a line of stdout that was too long to be kept: how
// it begins, and how long a line may be. A reader that finds that the answer
// may have been in it says so at the end; the output of a tool is no loss.
func Missed(r Reader, head []byte, most int) {
	if m, ok := r.(interface{ missed([]byte, int) }); ok {
		m.missed(head, most)
	}
}

var (
	typed    = pattern.Lazy(`"type"\s*:\s*"`)
	saysAll  = pattern.Lazy(`"type"\s*:\s*"result"`) // of Claude Code and Qwen Code: it holds the whole answer
	saysPart = pattern.Lazy(`"type"\s*:\s*"(?:agent_message|message|assistant\.message|text|final)"`)
)

// lost notes that the answer, or a part of it, was not read. What is said as a
// whole after that takes its place.
func (b *book) lost(most int) { b.answer = text{lost: most} }

// lose notes it when the line is one that speaks, or nobody can tell.
func (b *book) lose(head []byte, most int, speaks *regexp.Regexp) {
	if speaks.Match(head) || !typed().Match(head) {
		b.lost(most)
	}
}

func (r *claudeReader) missed(head []byte, most int)   { r.lose(head, most, saysAll()) }
func (r *qwenReader) missed(head []byte, most int)     { r.lose(head, most, saysAll()) }
func (r *codexReader) missed(head []byte, most int)    { r.lose(head, most, saysPart()) }
func (r *geminiReader) missed(head []byte, most int)   { r.lose(head, most, saysPart()) }
func (r *copilotReader) missed(head []byte, most int)  { r.lose(head, most, saysPart()) }
func (r *opencodeReader) missed(head []byte, most int) { r.lose(head, most, saysPart()) }
func (r *scriptedReader) missed(head []byte, most int) { r.lose(head, most, saysPart()) }
func (r *commandReader) missed(_ []byte, most int)     { r.lost(most) }

// LongLine says why an answer is not whole when a line of it was not read.
func LongLine(most int) string {
	return fmt.Sprintf("a line of the answer has more than %d bytes", most)
}
