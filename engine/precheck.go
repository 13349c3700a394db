package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/worktree"
)

// Precheck refuses what could only fail: it looks at the recipes and the given
// values before anything is recorded.
func Precheck(spec Spec) error {
	vars := spec.context()
	var problems []string
	for name, raw := range vars {
		if hasNUL(raw) {
			p := fmt.Sprintf("the value of %q has a NUL byte, which no environment can hold", name)
			if by := readers(spec, name); by != "" {
				p += " (" + by + ")"
			}
			problems = append(problems, p)
		}
	}
	for _, r := range spec.Set.Root.Rules {
		if p := keeps(r, vars[r.Name], spec.Dir); p != "" {
			problems = append(problems, fmt.Sprintf("%q %s", r.Name, p))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return exit.New(exit.Invalid, "check the context of "+spec.Set.Root.Name,
		errors.New(strings.Join(problems, "; ")), "give values with --set NAME=VALUE; nothing was started")
}

// context is what the run begins with: the recipe's defaults, and over them
// what the user gave.
func (spec Spec) context() map[string]json.RawMessage {
	vars := make(map[string]json.RawMessage, len(spec.Set.Root.Context)+len(spec.Vars))
	for _, v := range spec.Set.Root.Context {
		vars[v.Name] = v.JSON
	}
	for n, raw := range spec.Vars {
		vars[n] = raw
	}
	return vars
}

// hasNUL tells whether a text anywhere in a value has a NUL byte in it: a
// placeholder may ask for any part of it.
func hasNUL(raw json.RawMessage) bool {
	if !bytes.Contains(raw, []byte(`\u0000`)) {
		return false // the only way to write one in JSON
	}
	var v any
	return json.Unmarshal(raw, &v) == nil && holdsNUL(v)
}

func holdsNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.IndexByte(v, 0) >= 0
	case []any:
		return slices.ContainsFunc(v, holdsNUL)
	case map[string]any:
		for name, part := range v {
			if strings.IndexByte(name, 0) >= 0 || holdsNUL(part) {
				return true
			}
		}
	}
	return false
}

// readers says which placeholders of the recipes read a variable, "" when none
// does.
func readers(spec Spec, name string) string {
	var found []string
	for _, r := range spec.Set.Library.Recipes {
		for i := range r.Steps {
			s := &r.Steps[i]
			for _, script := range []*recipe.Script{s.Script, s.Verify} {
				if script == nil {
					continue
				}
				for _, u := range script.Uses {
					if slices.Contains(u.Value.Names(), name) {
						found = append(found, fmt.Sprintf("step %s reads it at %s:%d:%d: %s", s.ID, s.Where(r), u.Pos.Line, u.Pos.Col, u.Value))
					}
				}
			}
		}
	}
	slices.Sort(found)
	return strings.Join(found[:min(len(found), 3)], "; ")
}

// keeps says what is wrong with a variable by a rule, "" when nothing is.
func keeps(r recipe.Rule, raw json.RawMessage, dir string) string {
	var text *string
	isText := len(raw) > 0 && json.Unmarshal(raw, &text) == nil
	empty := len(raw) == 0 || isText && (text == nil || strings.TrimSpace(*text) == "")
	switch r.Kind {
	case recipe.RuleNonempty:
		if empty {
			return "is required but empty or missing"
		}
		return ""
	case recipe.RuleGitRepo, recipe.RulePath:
		if empty || !isText {
			return "is required: it must be the path of " + map[recipe.RuleKind]string{
				recipe.RuleGitRepo: "a git repository", recipe.RulePath: "something that exists",
			}[r.Kind]
		}
		return placeKeeps(r.Kind, *text, dir)
	case recipe.RuleOptional:
	}
	return ""
}

func placeKeeps(kind recipe.RuleKind, text, dir string) string {
	path := text
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Sprintf("is the path %s, which does not exist", text)
	case kind == recipe.RulePath:
		return ""
	case !info.IsDir() || !inRepository(path):
		return fmt.Sprintf("is the path %s, which is not a git repository", text)
	}
	return ""
}

// inRepository tells whether a directory is in a work tree of git, or is a bare
// repository.
func inRepository(dir string) bool {
	exists := func(parts ...string) bool {
		_, err := os.Stat(filepath.Join(parts...))
		return err == nil
	}
	if exists(dir, "HEAD") && exists(dir, "objects") && exists(dir, "refs") {
		return true
	}
	for ; ; dir = filepath.Dir(dir) {
		if worktree.IsTop(dir) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
