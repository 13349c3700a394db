package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/recovery"
)

// Fallback is what is done instead of a step that stays failed: another
// recipe, or another step of the same one.
type Fallback struct {
	Recipe string
	Step   belay.Path
	Pos    Pos // of the name or the id
}

func readFallback(p *parser, d *draft, k, v *yaml.Node) {
	if v.Kind != yaml.MappingNode {
		p.wrong(k, v, "a mapping", "write {recipe: NAME} or {step: ID}")
		return
	}
	var f Fallback
	readKeys(p, v, fallbackKeys, 0, &f)
	switch {
	case len(v.Content) == 0:
		p.fail(posOf(k), "write {recipe: NAME} or {step: ID}", "%q is empty", k.Value)
	case f.Recipe != "" && f.Step != "":
		p.fail(posOf(k), "leave one of them out", "%q is a recipe or a step, not both", k.Value)
	case f != (Fallback{}):
		d.Fallback = &f
	}
}

func readFallbackRecipe(p *parser, f *Fallback, k, v *yaml.Node) {
	if name, ok := p.filled(k, v); ok && p.recipeName(v, name) {
		f.Recipe, f.Pos = name, posOf(v)
	}
}

func readFallbackStep(p *parser, f *Fallback, k, v *yaml.Node) {
	if id, ok := p.filled(k, v); ok {
		f.Step, f.Pos = belay.Path(id), posOf(v)
	}
}

// readRecovery reads both spellings of the key; recovery itself wins, wherever
// it stands.
func readRecovery(p *parser, d *draft, k, v *yaml.Node) {
	if k.Value == "recovery" {
		d.Recovery, d.recovery = p.choice(k, v, recoveries()...), true
		return
	}
	word := "off"
	if p.boolean(k, v) {
		word = "on"
	}
	if !d.recovery {
		d.Recovery = word
	}
}

// RoleName is the form of a role's own name, which a recipe writes as
// custom:NAME.
var RoleName = pattern.Lazy(`^[a-z][a-z0-9_-]{0,31}$`)

func readRole(p *parser, d *draft, k, v *yaml.Node) {
	text, ok := p.filled(k, v)
	if !ok {
		return
	}
	role, err := recovery.ParseRole(text)
	own, custom := strings.CutPrefix(string(role), "custom:")
	switch {
	case err != nil:
		p.fail(posOf(v), roleHint(text), "%q is not a role", clip(text))
	case custom && !RoleName().MatchString(own):
		p.fail(posOf(v), "", "%q cannot be a role: its name is a small letter, then small letters, digits, _ and -, 32 at most", clip(text))
	default:
		d.Role, d.rolePos = string(role), posOf(v)
	}
}

// RoleAt is where the role of a step of the recipe is written.
func (s *Step) RoleAt(r *Recipe) (file string, at Pos) { return s.where(r), s.rolePos }

// roleHint says what may have been meant: a role that there is, or one of
// somebody's own.
func roleHint(text string) string {
	var words []string
	for _, r := range recovery.Roles() {
		words = append(words, string(r))
	}
	if near := spelling.Near(text, words); near != "" {
		return didYouMean(near)
	}
	if RoleName().MatchString(text) {
		return "write custom:" + text + " for a role of your own"
	}
	return "write one of " + strings.Join(words, ", ") + ", or custom:NAME"
}

// rolePattern is a role as ParseRole reads it, in a language of patterns that
// cannot be told to leave case alone.
func rolePattern() string {
	var forms []string
	for _, r := range recovery.Roles() {
		forms = append(forms, "_*"+anyCase(strings.ReplaceAll(string(r), "_", ""), "_*"))
	}
	return "^(" + strings.Join(forms, "|") + "|" + anyCase("custom", "") + ":" + strings.Trim(RoleName().String(), "^$") + ")$"
}

// anyCase is a word in small and in capital letters, with something after each.
func anyCase(word, after string) string {
	var b strings.Builder
	for _, c := range word {
		b.WriteString("[" + string(c) + strings.ToUpper(string(c)) + "]" + after)
	}
	return b.String()
}

// callee is a recipe that a step calls.
type callee struct {
	name     string
	pos      Pos // of the name
	fallback bool
}

// calls are the recipes that a step calls: its own, and the one instead.
func (s *Step) calls(yield func(callee) bool) {
	if s.Type.Child() && !yield(callee{name: s.Recipe, pos: s.recipePos}) {
		return
	}
	if s.Fallback != nil && s.Fallback.Recipe != "" {
		yield(callee{name: s.Fallback.Recipe, pos: s.Fallback.Pos, fallback: true})
	}
}
