package tui

import (
	"strings"

	"github.com/belay-run/belay"
)

// Blocks tells whether an answer keeps an agent from starting for a while, and
// the step that it is for. That of an agent that helps is the step it helps with.
func Blocks(run belay.RunID, e belay.AnswerGiven) (belay.Path, bool) {
	key, ok := strings.CutSuffix(string(e.Key), "?agent")
	if !ok {
		return "", false
	}
	at, _ := placeOf(run, belay.Key(key))
	at, _ = helped(at)
	return at.path, !e.Answer.OK && !e.Answer.Until.IsZero()
}

// answer is a line for a service that is left alone: without it nobody knew what
// the run waits for. The same again is no news.
func (b *Board) answer(r belay.Record, e belay.AnswerGiven) []Line {
	path, blocks := Blocks(r.Run, e)
	at := place{r.Run, path}
	if !blocks {
		delete(b.blocked, at)
		return nil
	}
	b.waiting[at] = retry{b.step(at).Attempt + 1, max(b.step(at).Attempts, b.step(at).Attempt+1), e.Answer.Until}
	if b.blocked[at] == e.Answer.Error {
		return nil
	}
	b.blocked[at] = e.Answer.Error
	return []Line{b.line("waits", at, Took(e.Answer.Until.Sub(r.At)), e.Answer.Error)}
}
