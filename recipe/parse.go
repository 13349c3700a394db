package recipe

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/effect"
)

// Parse reads a recipe. It reports every problem it finds, up to MaxProblems;
// the recipe is nil when one of them is an error. The file is only named, never
// opened. Whether every variable that is read is set by something is only known
// with the caller and the sub-recipes: CheckCalls tells.
func Parse(file string, src []byte, opts ...Option) (*Recipe, []Problem) {
	p := &parser{file: file, src: newSource(bytes.TrimPrefix(src, bom)), env: map[string]string{}}
	for _, opt := range opts {
		opt(p)
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
	file     string
	src      *source
	compat   bool
	again    bool                // it was read before, and what is wrong was said
	twice    map[*yaml.Node]bool // keys that their mapping has already
	env      map[string]string   // environment name to variable
	defaults *yaml.Node          // the step keys for every step; nil = none
	muted    bool                // what is read now was read and reported before
	to       *Step               // the step that is read; nil outside of all
	hooks    []use               // what is read outside of all steps
	extends  bool
	bash     *bash // for all scripts; nil until there is one
}

func (p *parser) fail(at Pos, hint, format string, args ...any) {
	p.problem(at, false, hint, fmt.Sprintf(format, args...))
}

func (p *parser) warn(at Pos, hint, format string, args ...any) {
	p.problem(at, true, hint, fmt.Sprintf(format, args...))
}

// loose reports what the older runner lets pass: an error, but a warning where
// its ways are asked for.
func (p *parser) loose(at Pos, hint, format string, args ...any) {
	p.problem(at, p.compat, hint, fmt.Sprintf(format, args...))
}

func (p *parser) problem(at Pos, warning bool, hint, msg string) {
	if p.muted {
		return
	}
	at = p.src.clamp(at)
	p.add(Problem{File: p.file, Line: at.Line, Col: at.Col, Msg: msg, Hint: hint, Warning: warning})
}

// recipe reads the whole source; what it gives is worth something only when no
// error was reported.
func (p *parser) recipe() *Recipe {
	r := &Recipe{Version: "1.0.0"}
	if at, msg := p.src.unreadable(); msg != "" {
		p.fail(at, "", "%s", msg)
		return r
	}
	root := p.tree()
	if root == nil {
		return r
	}
	p.early(root)
	if p.compat {
		p.ownBraces(root)
	}
	found := readKeys(p, root, topKeys, 0, r)
	for _, name := range []string{"name", "steps"} {
		if !topKeys.holds(&found, name) {
			p.fail(posOf(root), "", "a recipe needs %q", name)
		}
	}
	if len(r.Steps) > 0 {
		p.link(r.Steps, p.extends)
	}
	if r.stranded() {
		p.fail(posOf(keyNode(root, "merge")), strandedHint, strandedText)
	}
	r.Compat, r.hookUses = p.compat, p.hooks
	giveTests(r.Steps, r.Tests)
	pin(r.Steps)
	if p.compat {
		r.lenient()
	}
	if r.Shell == "" {
		r.Shell = effect.ShellStrict
		if p.compat {
			r.Shell = effect.ShellPlain
		}
	}
	for i := range r.Steps {
		if r.Steps[i].Shell == "" {
			r.Steps[i].Shell = r.Shell
		}
	}
	p.whole(r)
	if len(p.errors) > 0 {
		p.survey(root, r)
	}
	return r
}

// keyNode is a key of a mapping that has it.
func keyNode(m *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return m.Content[i]
		}
	}
	return m
}

// early looks at the keys that say how the others are read, wherever they
// stand. What is wrong with them is reported when it is their turn.
func (p *parser) early(root *yaml.Node) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		switch {
		case p.twice[k]:
		case k.Value == "compat":
			if b, ok := boolean(v); ok && b {
				p.compat = true
			}
		case k.Value == "defaults" && v.Kind == yaml.MappingNode:
			p.defaults = v
		case k.Value == "extends":
			p.extends = true
		}
	}
}
