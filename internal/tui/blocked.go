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
	if lines, ok := b.forTree(r.Run, e); ok {
		return lines
	}
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

// WaitsForTree says which run a step waits for that has its working tree, and
// what lets it start at once; "" for any other answer.
func WaitsForTree(run belay.RunID, e belay.AnswerGiven) string {
	if e.Answer.OK || e.Answer.By == "" || e.Answer.Error != "" || !strings.HasSuffix(string(e.Key), "?tree") {
		return ""
	}
	if e.Answer.By == run.Root() {
		return "waiting for the tree: another step works in it"
	}
	return "waiting for the tree: run " + string(e.Answer.By) + " works in it (a run with --isolate does not wait)"
}

// forTree is a line for a step that waits until others have left its working tree.
func (b *Board) forTree(run belay.RunID, e belay.AnswerGiven) ([]Line, bool) {
	key, ok := strings.CutSuffix(string(e.Key), "?tree")
	if !ok {
		return nil, false
	}
	at, _ := placeOf(run, belay.Key(key))
	if text := WaitsForTree(run, e); text != "" {
		b.forTrees[at] = text
		return []Line{b.line("waits", at, "", text)}, true
	}
	delete(b.forTrees, at)
	return nil, true
}
