package tui

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Names gives steps the names that people see: those on record, but that an item of a
// list has its value where the record has its number (each/beta for each/item-2).
type Names struct {
	tree  *flow.Tree
	items map[belay.RunID]map[belay.Path]string
}

// NewNames gives names to the steps of a tree; without one they have those on record.
func NewNames(tree *flow.Tree) *Names {
	return &Names{tree, map[belay.RunID]map[belay.Path]string{}}
}

// Of is the name of a step from the root's view, as Place.Name has it.
func (n *Names) Of(at story.Place) string {
	parts := strings.Split(string(at.Run), "/")
	run := belay.RunID(parts[0])
	var words []string
	for _, part := range parts[1:] {
		first := strings.TrimSuffix(part, ".1")
		path, attempt := first, ""
		if i := strings.LastIndexByte(part, '.'); first == part && i >= 0 {
			path, attempt = part[:i], part[i:]
		}
		words = append(words, n.Own(story.Place{Run: run, Path: belay.Path(path)})+attempt)
		run += "/" + belay.RunID(part)
	}
	return strings.Join(append(words, n.Own(at)), "/")
}

// Own is the name of a step in its run.
func (n *Names) Own(at story.Place) string {
	step, beside := at.Path.Hook()
	name, ok := n.itemsOf(at.Run)[step]
	if !ok {
		return string(at.Path)
	}
	if beside != "" {
		name += "@" + beside
	}
	return name
}

// itemsOf are the names of the items that a run is. They never change.
func (n *Names) itemsOf(run belay.RunID) map[belay.Path]string {
	if n.tree == nil {
		return nil
	}
	if named, known := n.items[run]; known {
		return named
	}
	st := n.tree.Run(run)
	if st == nil {
		return nil // not yet
	}
	items := st.Items()
	if len(items) == 0 {
		n.items[run] = nil
		return nil
	}
	steps, named, of := st.Recipe().Steps, map[belay.Path]string{}, map[string]belay.Path{}
	for i, item := range items {
		if name := itemName(item); name != "" && i < len(steps) {
			if other, taken := of[name]; taken { // two rows that read alike tell nothing
				delete(named, other)
				continue
			}
			of[name], named[steps[i].ID] = steps[i].ID, name
		}
	}
	n.items[run] = named
	return named
}

// widestItem is how much of a value is shown in a name.
const widestItem = 28

// itemName is the value of an item in short; of an object that by which it is known. An
// empty name is that of one whose value says nothing.
func itemName(item json.RawMessage) string {
	var v any
	if json.Unmarshal(item, &v) != nil {
		return ""
	}
	text := ""
	switch x := v.(type) {
	case string:
		text = x
	case map[string]any:
		for _, key := range []string{"name", "id", "title"} {
			if s, ok := x[key].(string); ok && text == "" && !climbs(s) {
				text = s
			}
		}
	case nil, []any:
	default:
		text = string(item)
	}
	return readable.CutMiddle(readable.Clean(text), widestItem)
}

// climbs tells whether a name reads as the way to another step among the names of steps.
func climbs(name string) bool { return slices.Contains(strings.Split(name, "/"), "..") }

// From gives the names of items in texts about a step of a run, as the run's root names
// it; "" = about the run: each word that names an item on record, from the view of that
// run or of its root.
func (n *Names) From(run belay.RunID) func(step, text string) string {
	return func(step, text string) string {
		if n.tree == nil || !NamesItem(text) {
			return text
		}
		about := story.Place{Run: run}
		if at, ok := n.placeOf(run.Root(), step); ok {
			about = at
		}
		text = n.inText(run.Root(), about, text)
		if run != run.Root() {
			text = n.inText(run, about, text)
		}
		return text
	}
}

// inText gives the names of items in a text about a step. A reason names steps each of
// which is inside of the one before: "step each: step item-2: exit 1".
func (n *Names) inText(root belay.RunID, about story.Place, text string) string {
	in := root
	if v, ok := n.step(about); ok {
		in = v.Child
	}
	words, after := []string{}, ""
	for word := range strings.SplitSeq(text, " ") {
		bare, name, own := strings.Trim(word, "(),:;."), "", ""
		if at, ok := n.named(in, about.Run, bare, after); ok {
			v, _ := n.step(at)
			own, in = n.Own(at), v.Child
			name = own
		} else if at, ok := n.placeOf(root, bare); ok && (NamesItem(bare) || word == bare+":") {
			v, _ := n.step(at)
			own, in = n.Own(at), v.Child
			name = n.Of(at)
		}
		after = strings.Trim(word, "(")
		if last := len(words) - 1; last >= 0 && own != "" && own == words[last] && strings.HasPrefix(word, "("+bare+")") {
			words[last] += strings.TrimPrefix(word, "("+bare+")") // it was named both ways
			continue
		}
		if name != "" {
			word = strings.Replace(word, bare, name, 1)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// named is the step that a reason names: inside of the one before, beside it, or above it.
func (n *Names) named(in, beside belay.RunID, bare, after string) (story.Place, bool) {
	if after != "step" {
		return story.Place{}, false
	}
	at := story.Place{Run: in, Path: belay.Path(bare)}
	_, ok := n.step(at)
	for above := beside; !ok && above != ""; {
		at.Run = above
		_, ok = n.step(at)
		up, _ := above.Parent()
		above = up.Run
	}
	return at, ok
}

// Typed is a command that looks at a step as people type it: an item by its value, where
// that means this item and no other step.
func (n *Names) Typed(c story.Command) story.Command {
	if len(c) != 3 || c[0] != "logs" && c[0] != "show" {
		return c
	}
	at := story.Place{Run: belay.RunID(c[1]), Path: belay.Path(c[2])}
	root := at.Run.Root()
	name := n.Of(at)
	if n.tree == nil || n.Own(at) == string(at.Path) || !n.means(root, name, at) {
		return c
	}
	return story.Command{c[0], string(root), story.Quote(name)}
}

// means tells whether a name means an item: the run of each list around it is the last
// one, no step has the name on record, and no other item has it for its value.
func (n *Names) means(root belay.RunID, name string, at story.Place) bool {
	for run := at.Run; run != root; {
		up, ok := run.Parent()
		around := story.Place{Run: up.Run, Path: up.Path}
		if v, found := n.step(around); !ok || !found || v.Child != run {
			return false
		}
		run = up.Run
	}
	if _, taken := n.placeOf(root, name); taken {
		return false
	}
	for _, run := range n.tree.Runs() {
		for _, own := range n.itemsOf(run) {
			if own == name {
				return false
			}
		}
	}
	return true
}

// step is a step by its name on record.
func (n *Names) step(at story.Place) (flow.StepView, bool) {
	st := n.tree.Run(at.Run)
	if st == nil {
		return flow.StepView{}, false
	}
	path, _ := at.Path.Hook()
	return st.Step(path)
}

// itemWord begins the step of an item on record.
const itemWord = "item-"

// NamesItem tells whether a text may name an item as it is on record.
func NamesItem(text string) bool { return strings.Contains(text, itemWord) }

// placeOf is the step with a name, from the view of a run; false for a word that names
// none.
func (n *Names) placeOf(run belay.RunID, name string) (story.Place, bool) {
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		next := run + "/" + belay.RunID(part)
		if n.tree.Run(next) == nil {
			next += ".1"
		}
		if run = next; n.tree.Run(run) == nil {
			return story.Place{}, false
		}
	}
	at := story.Place{Run: run, Path: belay.Path(parts[len(parts)-1])}
	_, ok := n.step(at)
	return at, ok
}
