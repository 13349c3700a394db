package recipe

import (
	"slices"
	"testing"

	"github.com/belay-run/belay"
)

// Every type of step has one row in the language, with a key that only it takes
// and that says what it does.
func TestKindRows(t *testing.T) {
	t.Parallel()
	for _, typ := range belay.StepTypes() {
		at := slices.IndexFunc(kindRows, func(r kindRow) bool { return r.typ == typ })
		if at < 0 {
			t.Errorf("type %q has no row", typ)
			continue
		}
		row := kindRows[at]
		k, ok := stepKeys.at[row.key]
		if !ok || stepKeys.keys[k].on != row.on {
			t.Errorf("type %q: no key %q of its own", typ, row.key)
		}
		if row.noun == "" || row.on != 1<<at || at > 0 && len(row.marks) == 0 {
			t.Errorf("type %q: no noun, no mark, or not in its place: %+v", typ, row)
		}
		for _, m := range row.marks {
			if _, ok := stepKeys.at[m.key]; !ok {
				t.Errorf("type %q is told by %q, which is no key", typ, m.key)
			}
		}
	}
	if len(kindRows) != len(belay.StepTypes()) || onAll != 1<<len(kindRows)-1 {
		t.Errorf("%d rows for %d types, all of them %b", len(kindRows), len(belay.StepTypes()), onAll)
	}
}
