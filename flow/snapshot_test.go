package flow

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/statebytes"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

const snapped = "name: n\nsteps:\n- {id: a, command: x, retry: {max_attempts: 3, backoff: 1s}}\n- {id: b, foreach: list, command: x, output: o}\ncontext: {list: [1, 2, 3]}\n"

// A snapshot that cannot be used is known as that, with the reason: the caller
// has the records.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	w := begin(t, snapped)
	w.exit("r:a.1", 1)
	good, err := w.tree.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if n := w.tree.Folded(); n != int64(len(w.recs)) {
		t.Fatalf("folded from %d records of %d", n, len(w.recs))
	}
	signed := func(b []byte) []byte {
		sum := sha256.Sum256(b)
		return append(bytes.Clone(b), sum[:]...)
	}
	body := good[:len(good)-sha256.Size]
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	type row struct {
		name string
		root belay.RunID
		lib  Library
		have []byte
		want UnusableWhy
	}
	for _, c := range []row{
		{"nothing", "r", w.lib, nil, SnapshotDamaged},
		{"one bit", "r", w.lib, flipped, SnapshotDamaged},
		{"cut off", "r", w.lib, good[:len(good)-1], SnapshotDamaged},
		{"cut off, with a sum", "r", w.lib, signed(body[:len(body)-3]), SnapshotDamaged},
		{"more at its end", "r", w.lib, signed(append(bytes.Clone(body), 0)), SnapshotDamaged},
		{"an older version", "r", w.lib, signed(bytes.Replace(body, []byte("tree 1 "), []byte("tree 0 "), 1)), SnapshotOther},
		{"other fields", "r", w.lib, signed(bytes.Replace(body, body[len("belay tree 1 "):len("belay tree 1 1234")], []byte("zzzz"), 1)), SnapshotOther},
		{"another run", "q", w.lib, good, SnapshotForeign},
		{"other recipes", "r", Library{Recipes: map[string]*recipe.Recipe{}}, good, SnapshotForeign},
	} {
		_, err := Restore(c.root, c.lib, c.have)
		var bad *UnusableSnapshot
		if !errors.As(err, &bad) || bad.Why != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := Restore("r", w.lib, good); err != nil {
		t.Error(err)
	}
}

// A big value that many child runs look at lies in a restored tree once, as it
// did before.
func TestRestoredValuesAreShared(t *testing.T) {
	t.Parallel()
	w := begin(t, snapped)
	w.exit("r:a.1", 0)
	b, err := w.tree.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Restore("r", w.lib, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tree.born[1:] {
		if !same(s.vars.vars["list"].JSON, tree.born[0].vars.vars["list"].JSON) || s.vars.up != tree.born[0].vars {
			t.Errorf("run %s has a list of its own", s.id)
		}
	}
	if len(tree.born) < 2 {
		t.Fatal("there is no child run")
	}
}

// TestPlantedInSnapshots shows that the comparison finds what a snapshot leaves
// out: a field that decides something is lost in each restored tree, and a turn is
// another one. BELAY_PLANT=all loses each field of the state in turn and says
// which ones no turn missed.
func TestPlantedInSnapshots(t *testing.T) {
	t.Parallel()
	rules := verdict.NewClassifier()
	type hidden struct {
		of   reflect.Type
		name string
	}
	plants := []hidden{
		{reflect.TypeFor[Tree](), "parents"}, {reflect.TypeFor[State](), "open"},
		{reflect.TypeFor[step](), "failed"}, {reflect.TypeFor[agentHistory](), "grant"},
	}
	all := os.Getenv("BELAY_PLANT") == "all"
	if all {
		plants = nil
		for _, of := range []reflect.Type{reflect.TypeFor[Tree](), reflect.TypeFor[State](), reflect.TypeFor[step](), reflect.TypeFor[agentHistory](), reflect.TypeFor[helper](), reflect.TypeFor[scope]()} {
			for i := range of.NumField() {
				if f := of.Field(i); f.Tag.Get(statebytes.Tag) == "" {
					plants = append(plants, hidden{of, f.Name})
				}
			}
		}
	}
	var missed []string
	for _, p := range plants {
		if by := plantedIn(rules, func(tree *Tree) { lose(tree, p.of, p.name) }); by == "" {
			missed = append(missed, p.of.Name()+"."+p.name)
		} else if !all {
			t.Logf("%s.%s: %s", p.of.Name(), p.name, by)
		}
	}
	if len(missed) > 0 && !all {
		t.Errorf("not found: %v", missed)
	}
	t.Logf("%d of %d planted are found; not: %v", len(plants)-len(missed), len(plants), missed)
}

// plantedIn is how some history finds what is done to its restored trees.
func plantedIn(rules *verdict.Classifier, plant func(*Tree)) (found string) {
	defer func() {
		if r := recover(); r != nil {
			found = "it cannot go on"
		}
	}()
	for n := uint64(0); n < 200; n += 4 {
		h, err := newHistory(1, n, rules)
		h.plant = plant
		for k := 0; err == nil && k < mostSteps; k++ {
			var more bool
			if more, err = h.step(); !more {
				break
			}
		}
		if err != nil {
			return strings.SplitN(err.Error(), "{", 2)[0]
		}
	}
	return ""
}

// lose empties one field everywhere in a tree.
func lose(t *Tree, of reflect.Type, name string) {
	empty := func(v any) {
		if e := reflect.ValueOf(v).Elem(); e.Type() == of {
			f := e.FieldByName(name)
			reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().SetZero()
		}
	}
	for _, s := range t.born {
		for i := range s.steps {
			empty(&s.steps[i].agent)
			empty(&s.steps[i].helper)
			empty(&s.steps[i])
		}
		if s.vars != nil {
			empty(s.vars)
		}
		empty(s)
	}
	empty(t)
}
