package sim

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/belay-run/belay/flow"
)

// twin is a tree that knows nothing but what is on disk.
type twin struct {
	*flow.Tree
	of string
}

// twinsNow are those that are to make the next turn as well, where they are
// wanted: one from the records alone, and one from the last snapshot.
func (w *world) twinsNow() (list []twin) {
	if !w.twins {
		return nil
	}
	tree, err := w.bounded(fold(w.root, w.brain, w.disk, w.classes))
	list = append(list, twin{tree, "the records"})
	if err == nil && w.kept != nil {
		tree, err = w.tree(w.disk)
		list = append(list, twin{tree, "a snapshot and the records after it"})
	}
	if err != nil {
		w.violate("a tree is what its records say", "%v", err)
		return nil
	}
	w.stats.Twins++
	return list
}

// compare has a twin make the turn that the driver's tree made.
func (w *world) compare(twin twin, turn flow.Turn, facts []flow.Fact) {
	again, err := twin.Turn(w.now, facts...)
	if err != nil {
		w.violate("a tree is what its records say", "built from %s, it cannot make the next turn: %v", twin.of, err)
		return
	}
	if d := differs(turn, again); d != "" {
		w.violate("a tree is what its records say", "built from %s, it makes another turn after record %d: %s", twin.of, len(w.disk), d)
	}
}

// differs says in what two turns differ, "" for in nothing.
func differs(a, b flow.Turn) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	for i := range max(len(a.Records), len(b.Records)) {
		if x, y := nth(a.Records, i), nth(b.Records, i); x != y {
			return fmt.Sprintf("record %d is %s and %s", i+1, x, y)
		}
	}
	for i := range max(len(a.Effects), len(b.Effects)) {
		if x, y := nth(a.Effects, i), nth(b.Effects, i); x != y {
			return fmt.Sprintf("effect %d is %s and %s", i+1, x, y)
		}
	}
	if !a.Until.Equal(b.Until) || a.Status != b.Status || a.More != b.More {
		return fmt.Sprintf("%s until %s (more: %v), and %s until %s (more: %v)", a.Status, a.Until, a.More, b.Status, b.Until, b.More)
	}
	return ""
}

// nth is one of a list as text, "nothing" where there is none.
func nth[T any](list []T, i int) string {
	if i >= len(list) {
		return "nothing"
	}
	b, err := json.Marshal(list[i])
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%T %s", list[i], b)
}
