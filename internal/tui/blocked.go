package tui

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// answer is a line for a service that is left alone, and for a working tree that
// others have: without it nobody knew what the run waits for. The same again is
// no news.
func answer(n *story.News) []Line {
	switch a := n.Answer.(type) {
	case effect.AnswerTree:
		if text := WaitsForTree(n.Run, a.WaitsFor()); text != "" {
			return []Line{line("waits", n.Place, "", text)}
		}
	case effect.AnswerAgent:
		if n.Blocks && !n.Repeated {
			return []Line{line("waits", n.Place, readable.Took(a.Until.Sub(n.At)), a.Error)}
		}
	}
	return nil
}

// WaitsForTree says which run a step waits for that has its working tree, and
// what lets it start at once; "" when nobody has it.
func WaitsForTree(run, by belay.RunID) string {
	switch by {
	case "":
		return ""
	case run.Root():
		return "waiting for the tree: another step works in it"
	}
	return "waiting for the tree: run " + string(by) + " works in it (a run with --isolate does not wait)"
}
