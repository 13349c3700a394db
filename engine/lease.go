package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// treeEvery is how often a tree that others have is asked for again.
const treeEvery = time.Second

// treeWait is a question for a working tree that others have.
type treeWait struct {
	ask   effect.AskTree
	since time.Time
	by    belay.RunID
}

// tree asks for a working tree. While another run has it there is no answer, but
// a record that says who: the question stays here and is asked again.
func (w *drive) tree(k belay.Key, q effect.AskTree) (flow.Fact, bool) {
	wait, waits := w.trees[k]
	if !waits {
		wait = treeWait{ask: q, since: w.now()}
	}
	waited := time.Duration(0)
	if waits {
		waited = w.now().Sub(wait.since)
	}
	a, again := w.site().Tree(q, waited)
	if again {
		news := wait.by != a.By
		wait.by = a.By
		w.trees[k] = wait
		w.beat()
		return given(k, a), news
	}
	if a.OK {
		w.needed = nil // the step may not need it after all: looked at again after the next turn
	}
	delete(w.trees, k)
	return given(k, a), true
}

// askTrees asks again for the trees that others had.
func (w *drive) askTrees() {
	if len(w.trees) == 0 || time.Since(w.treesAt) < treeEvery {
		return
	}
	w.treesAt = time.Now()
	for _, k := range slices.Sorted(maps.Keys(w.trees)) {
		if !w.Tree.Awaits(k) {
			delete(w.trees, k)
			continue
		}
		if fact, news := w.tree(k, w.trees[k].ask); news {
			w.facts = append(w.facts, fact)
		}
	}
}

// giveTrees gives back the trees that no step needs any more. What is needed is
// told by the records, so that whoever drives the run next gives them back, too.
func (w *drive) giveTrees() error {
	need := w.Tree.Trees()
	if w.needed != nil && maps.EqualFunc(need, w.needed, slices.Equal) {
		return nil
	}
	if err := w.Ledger.GiveTrees(need); err != nil {
		return err
	}
	w.needed = need
	return nil
}

// beat tells those who list runs how this one stands.
func (w *drive) beat() {
	phase := string(w.turn.Status)
	if a, ok := w.Tree.NextDue(); ok && w.turn.Status == belay.Running {
		phase = journal.WaitsFor(awaitedWords(a))
	}
	if asks := w.Tree.Asking(); len(asks) > 0 && w.turn.Idle && w.turn.Status == belay.Running {
		phase = journal.WaitsFor("an answer to step " + string(asks[0].Path))
	}
	if _, paused := w.Tree.Paused(); paused && w.turn.Status == belay.Running {
		phase = journal.Pausing
	}
	for _, wait := range w.trees {
		if w.turn.Status == belay.Running && wait.by != w.Root {
			phase = journal.WaitsForTree(wait.by)
		}
	}
	if done := w.Tree.Done(); done != w.worked {
		w.worked, w.tried = done, 0
	}
	if w.turn.Status != belay.Running || !w.counted { // while it goes on the work that is finished is new
		w.redone, w.counted = w.Tree.Done()-stepsDone(w.Tree), true
	}
	starts, used := w.Tree.Spent()
	w.Log.Beat(journal.Sign{
		Phase: phase, Done: w.Tree.Done(), Until: w.turn.Until, Allowed: w.allowed(), Tried: w.tried, Micros: used.MicroUSD, Redone: w.redone,
		Quiet: !w.Tree.Asks(), Untold: starts > 0 && used.MicroUSD == 0,
	})
}

// stepsDone is how many steps of a tree are done, as its summary counts them.
func stepsDone(t *flow.Tree) int64 { return int64(story.CountSteps(story.Steps(t, "")).Done) }

// awaitedWords say what a run waits for.
func awaitedWords(a flow.Awaited) string {
	if a.Service != "" {
		return "the service of " + a.Service
	}
	return "step " + string(a.Path) + ", to try it again"
}
