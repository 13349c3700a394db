package tui

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/story"
)

// answer is a line for a service that is left alone, and for a working tree that
// others have: without it nobody knew what the run waits for. The same again is
// no news.
func answer(n *story.News) []Line {
	switch {
	case n.Topic == belay.TopicTree:
		if text := WaitsForTree(n.Run, *n.Answer); text != "" {
			return []Line{line("waits", n.Place, "", text)}
		}
	case n.Blocks && !n.Repeated:
		return []Line{line("waits", n.Place, Took(n.Answer.Until.Sub(n.At)), n.Answer.Error)}
	}
	return nil
}

// WaitsForTree says which run a step waits for that has its working tree, and
// what lets it start at once; "" when nobody has it.
func WaitsForTree(run belay.RunID, a belay.Answer) string {
	switch {
	case a.OK || a.By == "" || a.Error != "":
		return ""
	case a.By == run.Root():
		return "waiting for the tree: another step works in it"
	}
	return "waiting for the tree: run " + string(a.By) + " works in it (a run with --isolate does not wait)"
}
