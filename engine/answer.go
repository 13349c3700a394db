package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
)

// maxAskValue is the biggest value that a condition may look at.
const maxAskValue = 16 << 20

// answer finds out what the brain cannot see: the truth of a condition over
// values that are too big for the records, whether one more agent may start,
// the place of a worktree. Only the answer becomes a record.
func (w *drive) answer(c belay.Ask) flow.Fact {
	var a belay.Answer
	switch q := c.Question; {
	case q.Agent != "":
		a = w.permit(q.Agent)
	case q.Worktree != nil:
		a = w.house(*q.Worktree, c.Key)
	default:
		ok, err := w.truth(q)
		if err != nil {
			a.Error = err.Error()
		}
		a.OK = ok
	}
	return flow.Fact{Run: w.asker(c.Key), Event: belay.AnswerGiven{Key: c.Key, Answer: a}}
}

// asker is the run whose step asked: the key begins with its id.
func (w *drive) asker(k belay.Key) belay.RunID {
	run, _, _ := strings.Cut(string(k), ":")
	return belay.RunID(run)
}

func (w *drive) truth(q belay.Question) (bool, error) {
	vals := make(map[string]any, len(q.Vars))
	for name, v := range q.Vars {
		if v.Inline() {
			var x any
			if err := json.Unmarshal(v.JSON, &x); err != nil {
				return false, fmt.Errorf("value of %s: %w", name, err)
			}
			vals[name] = x
			continue
		}
		if v.Size > maxAskValue {
			return false, fmt.Errorf("the value of %s has %d bytes; a condition can look at %d", name, v.Size, maxAskValue)
		}
		b, err := w.Store.ReadBlob(v.Sha, maxAskValue)
		if err != nil {
			return false, fmt.Errorf("value of %s: %w", name, err)
		}
		var x any
		if err := json.Unmarshal(recipe.Typed(string(b)), &x); err != nil { // a big output is typed like a small one
			return false, fmt.Errorf("value of %s: %w", name, err)
		}
		vals[name] = x
	}
	e, err := expr.Parse(q.Cond)
	if err != nil {
		return false, err
	}
	return e.Truth(func(n string) (any, bool) { v, ok := vals[n]; return v, ok })
}
