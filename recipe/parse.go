package recipe

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

// Parse reads a recipe. It reports every problem it finds, up to MaxProblems;
// the recipe is nil when one of them is an error. The file is only named, never
// opened.
func Parse(file string, src []byte) (*Recipe, []Problem) {
	p := &parser{
		file: file, src: newSource(bytes.TrimPrefix(src, bom)),
		set: map[string]bool{}, env: map[string]string{},
	}
	r := p.recipe()
	if len(p.errors) > 0 {
		return nil, p.list()
	}
	r.File, r.Digest = file, Digest(src)
	return r, p.list()
}

// parser is the reading of one source.
type parser struct {
	report
	file string
	src  *source
	set  map[string]bool   // variables that the file sets
	env  map[string]string // environment name to variable
	used []use
}

func (p *parser) fail(at Pos, hint, format string, args ...any) {
	p.problem(at, false, hint, format, args)
}

func (p *parser) warn(at Pos, hint, format string, args ...any) {
	p.problem(at, true, hint, format, args)
}

func (p *parser) problem(at Pos, warning bool, hint, format string, args []any) {
	at = p.src.clamp(at)
	p.add(Problem{
		File: p.file, Line: at.Line, Col: at.Col,
		Msg: fmt.Sprintf(format, args...), Hint: hint, Warning: warning,
	})
}

// recipe reads the whole source; what it gives is worth something only when no
// error was reported.
func (p *parser) recipe() *Recipe {
	r := &Recipe{Version: "1.0.0", Shell: belay.ShellStrict}
	if at, msg := p.src.unreadable(); msg != "" {
		p.fail(at, "", "%s", msg)
		return r
	}
	root := p.tree()
	if root == nil {
		return r
	}
	found := readKeys(p, root, topKeys, otherTop, 0, r)
	for _, name := range []string{"name", "steps"} {
		if !found[name] {
			p.fail(posOf(root), "", "a recipe needs %q", name)
		}
	}
	for i := range r.Steps {
		if r.Steps[i].Shell == "" {
			r.Steps[i].Shell = r.Shell
		}
	}
	p.unset(r)
	return r
}

// key is a word of the language: where it may stand and how it is read.
type key[T any] struct {
	name string
	on   stepKinds // for keys of a step
	why  string    // why it may not stand elsewhere
	read func(p *parser, to *T, k, v *yaml.Node)
}

func known[T any](keys []key[T], name string) *key[T] {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

// readKeys reads a mapping by its table; found has the keys that are there or
// were likely meant. The kind is that of the step, 0 when it is of no matter.
func readKeys[T any](p *parser, n *yaml.Node, keys []key[T], others map[string]string, kind stepKinds, to *T) (found map[string]bool) {
	found = make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if found[k.Value] {
			continue // given twice, and said so
		}
		found[k.Value] = true
		switch known := known(keys, k.Value); {
		case known == nil:
			found[unknown(p, k, keys, others)] = true
		case kind != 0 && known.on&kind == 0:
			p.fail(posOf(k), known.why, "%q does not apply to %s", k.Value, kind)
		case known.read == nil && kind == onAgent: // the whole step is refused already
		case known.read == nil:
			p.fail(posOf(k), "", "%q is not supported by this version", k.Value)
		default:
			known.read(p, to, k, v)
		}
	}
	return found
}

// unknown reports a key that is no word of the language and gives the one that
// was likely meant.
func unknown[T any](p *parser, k *yaml.Node, keys []key[T], others map[string]string) string {
	if p.full() {
		return ""
	}
	names := make([]string, len(keys))
	for i, known := range keys {
		names[i] = known.name
	}
	meant := others[k.Value]
	if meant == "" {
		meant = expr.Near(k.Value, names)
	}
	p.fail(posOf(k), didYouMean(meant), "unknown key %q", k.Value)
	return meant
}
