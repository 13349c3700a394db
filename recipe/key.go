package recipe

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/internal/spelling"
)

// key is a word of the language: where it may stand, what it holds, how it is
// read and what the reference says about it. One without a reader is refused.
type key[T any] struct {
	name  string
	on    stepKinds // for keys of a step: where it may stand
	later stepKinds // for keys of a step: where it will work in another version
	why   string    // why it may not stand elsewhere
	same  string    // the key that this one is another spelling of
	idle  string    // it is read and does nothing: what to do instead
	quiet string    // with idle: the value that asks for nothing, so that nobody misses it
	own   bool      // it belongs to one step and makes no sense as a default
	types []string
	form  string
	def   string
	enum  []string
	doc   string
	inner []Key // the keys of the mapping that it holds
	bound bounds
	read  func(p *parser, to *T, k, v *yaml.Node)
}

// table is a list of keys, in the order in which they are best written, and
// where each stands in it.
type table[T any] struct {
	keys   []key[T]
	at     map[string]int
	others map[string]string // words of other tools and what they are called here
	cures  map[string]string // what to say of words that are called nothing here
}

func newTable[T any](others map[string]string, keys ...key[T]) *table[T] {
	t := &table[T]{keys: keys, at: make(map[string]int, len(keys)), others: others}
	for i := range keys {
		t.at[keys[i].name] = i
	}
	return t
}

// keySet has the keys of a table that a mapping holds.
type keySet [2]uint64

func (s *keySet) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *keySet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// mark notes key i, and the one that it is another spelling of.
func (t *table[T]) mark(s *keySet, i int) {
	s.add(i)
	if same := t.keys[i].same; same != "" {
		s.add(t.at[same])
	}
}

// holds tells whether the key, or another spelling of it, was marked.
func (t *table[T]) holds(s *keySet, name string) bool {
	i, ok := t.at[name]
	if !ok {
		return false
	}
	if same := t.keys[i].same; same != "" {
		i = t.at[same]
	}
	return s.has(i)
}

func (t *table[T]) names() []string {
	names := make([]string, len(t.keys))
	for i := range t.keys {
		names[i] = t.keys[i].name
	}
	return names
}

// readKeys reads a mapping by its table; found has the keys that are there or
// were likely meant. The kind is that of the step, 0 when it is of no matter.
func readKeys[T any](p *parser, n *yaml.Node, t *table[T], kind stepKinds, to *T) (found keySet) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if p.twice[k] {
			continue // said so
		}
		at, ok := t.at[k.Value]
		if !ok {
			if meant, ok := t.at[unknown(p, k, t)]; ok {
				t.mark(&found, meant)
			}
			continue
		}
		t.mark(&found, at)
		switch known := &t.keys[at]; {
		case kind != 0 && known.later&kind != 0:
			p.loose(posOf(k), "", "%q on %s is not supported by this version", k.Value, kind.row().noun)
		case kind != 0 && known.on&kind == 0:
			p.loose(posOf(k), known.why, "%q does not apply to %s", k.Value, kind.row().noun)
		case known.read == nil:
			p.fail(posOf(k), "", "%q is not supported by this version", k.Value)
		default:
			before := len(p.errors)
			known.read(p, to, k, v)
			if known.idle != "" && (known.quiet == "" || v.Value != known.quiet) && len(p.errors) == before {
				p.warn(posOf(k), known.idle, "%q has no effect in this version", k.Value)
			}
		}
	}
	return found
}

// unknown reports a key that is no word of the language and gives the one that
// was likely meant.
func unknown[T any](p *parser, k *yaml.Node, t *table[T]) string {
	if p.full() {
		return ""
	}
	meant := t.others[k.Value]
	hint := t.cures[k.Value]
	if meant == "" && hint == "" {
		meant = spelling.Near(k.Value, t.names())
	}
	if hint == "" {
		hint = didYouMean(meant)
	}
	if p.compat {
		p.warn(posOf(k), hint, "unknown key %q, which has no effect", k.Value)
		return "" // it was not read, so what it was meant for is still missing
	}
	p.fail(posOf(k), hint, "unknown key %q", k.Value)
	return meant
}

// Key describes a word of the language for the reference and for editors.
type Key struct {
	Name    string   `json:"name"`            // with dots for a key inside a mapping: retry.backoff
	On      string   `json:"on"`              // top or step
	Steps   []string `json:"steps,omitempty"` // the types of step that take it
	Types   []string `json:"types"`           // see the constants of kinds of values
	Form    string   `json:"form,omitempty"`
	Default string   `json:"default,omitempty"`
	Doc     string   `json:"doc"`
	Enum    []string `json:"enum,omitempty"`
	Works   bool     `json:"works"` // false: a word that this version refuses

	bound bounds
}

// The kinds of values that keys hold, as Key.Types names them.
const (
	typeText     = "text"     // any plain value
	typeBool     = "boolean"  // true or false
	typeCount    = "count"    // a whole number from 1 on
	typeDuration = "duration" // seconds, or a text such as 5m
	typeTexts    = "list"     // of texts
	typeItems    = "items"    // a list of any values
	typeMapping  = "mapping"
	typeScript   = "script" // shell text
	typeSteps    = "steps"
	typeAny      = "any"
)

// Keys are all words of the language, in the order in which they are best
// written: those at the top, then those of a step.
func Keys() []Key {
	return append(describe(topKeys, "top"), describe(stepKeys, "step")...)
}

func describe[T any](t *table[T], on string) []Key {
	var list []Key
	for i := range t.keys {
		k := &t.keys[i]
		d := Key{
			Name: k.name, On: on, Types: slices.Clone(k.types), Form: k.form, Default: k.def,
			Doc: k.doc, Enum: slices.Clone(k.enum), Works: k.read != nil, bound: k.bound,
		}
		if on == "step" {
			d.Steps = k.on.words()
		}
		list = append(list, d)
		for _, in := range k.inner {
			in.Name, in.On, in.Steps, in.Works = k.name+"."+in.Name, on, d.Steps, d.Works
			list = append(list, in)
		}
	}
	return list
}

// inner describes the keys of a mapping that is itself a value.
func inner[T any](t *table[T]) []Key { return describe(t, "") }
