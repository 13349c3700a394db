package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/recipe"
)

// unread is a value of --set that nothing in a recipe, or in what it calls, can
// see: likely a slip of the keyboard.
type unread struct{ name, meant string }

func (u unread) msg() string { return fmt.Sprintf("--set %s: no step reads this variable", u.name) }

func (u unread) hint() string {
	if u.meant == "" {
		return "see what the steps read with belay explain"
	}
	return fmt.Sprintf("did you mean %q?", u.meant)
}

// unreadSets are the names among those of --set that no recipe declares and no
// step could read. Where what is read cannot be known, there are none.
func unreadSets(set *library.Set, names []string) []unread {
	var seen readers
	for _, r := range set.Library.Recipes {
		seen.recipe(r)
	}
	var list []unread
	for _, name := range names {
		if !seen.any && !seen.reads(name) {
			list = append(list, unread{name, spelling.Near(name, seen.names)})
		}
	}
	return list
}

// warnUnread says on stderr which values were set for nothing.
func (a *app) warnUnread(set *library.Set, vars map[string]json.RawMessage) {
	for _, u := range unreadSets(set, slices.Sorted(maps.Keys(vars))) {
		a.say("warning: %s", u.msg())
		a.say("hint: %s", u.hint())
	}
}

// warnTags says which tags choose nothing, since no step of the recipe or of what it calls
// has them: a slip of the keyboard leaves out what was wanted, or runs what was not.
func (a *app) warnTags(set *library.Set, flag string, tags []string) {
	var known []string
	for _, r := range set.Library.Recipes {
		for i := range r.Steps {
			known = append(known, r.Steps[i].Tags...)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, tag := range tags {
		if slices.Contains(known, tag) {
			continue
		}
		a.say("warning: %s %s: no step has this tag", flag, tag)
		switch near := spelling.Near(tag, known); {
		case near != "":
			a.say("hint: did you mean %q?", near)
		case len(known) > 0:
			a.say("hint: the tags of the steps (when_tags) are %s", strings.Join(known, ", "))
		default:
			a.say("hint: no step of the recipe has when_tags")
		}
	}
}

// readers gathers what recipes read.
type readers struct {
	names []string        // declared, or named in braces and conditions
	words map[string]bool // in scripts, any of which may be the name of a variable
	any   bool            // there is someone who may read everything
}

func (s *readers) recipe(r *recipe.Recipe) {
	for _, v := range r.Context {
		s.names = append(s.names, v.Name)
	}
	for _, rule := range r.Rules {
		s.names = append(s.names, rule.Name)
	}
	for _, h := range []*recipe.Script{r.Hooks.PreStep, r.Hooks.PostStep, r.Hooks.OnError} {
		s.script(h)
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		s.any = s.any || st.Type.Agent() // an agent looks at what it likes
		s.names = append(s.names, reads(st, nil)...)
		s.script(st.Script)
		s.script(st.Verify)
	}
}

var (
	word     = pattern.Lazy(`[A-Za-z_][A-Za-z0-9_]*`)
	readsAll = pattern.Lazy(`\$\{!|\b(env|printenv|eval|declare|typeset|compgen|export -p|environ)\b`)
)

func (s *readers) script(sc *recipe.Script) {
	if sc == nil {
		return
	}
	if s.words == nil {
		s.words = map[string]bool{}
	}
	s.any = s.any || readsAll().MatchString(sc.Source)
	for _, u := range sc.Uses {
		s.names = append(s.names, u.Value.Names()...)
	}
	for _, w := range word().FindAllString(sc.Source, -1) {
		s.words[w] = true
	}
}

func (s *readers) reads(name string) bool {
	long, short := recipe.EnvNames(name)
	return slices.Contains(s.names, name) || s.words[long] || s.words[short]
}
