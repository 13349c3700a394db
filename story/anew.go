package story

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

// anew is the command for a new run of the same recipe with the same values, from the
// directory of who reads it; none where the recipe has no file.
func (f *finder) anew() []Command {
	s, prog := f.started, f.tree.Library().Recipes[f.started.Recipe]
	if s.File == "" || prog == nil {
		return nil
	}
	file := s.File
	if name, shipped := strings.CutPrefix(file, recipe.Shipped+"/"); shipped { // it is no file, and is run by its name
		file = strings.TrimSuffix(name, ".yaml")
	}
	c := Command{"run", Quote(file)}
	own := map[string]string{}
	for _, v := range prog.Context {
		own[v.Name] = string(v.JSON)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Vars)) {
		v := s.Vars[name]
		if is, listed := own[name]; listed && is == string(v.JSON) {
			continue
		}
		c = append(c, "--set", name+"="+Quote(setText(v)))
	}
	if f.Here != "" && s.Dir != f.Here {
		c = append(c, "--dir", Quote(s.Dir))
	}
	if len(s.Include) > 0 {
		c = append(c, "--include-tags", Quote(strings.Join(s.Include, ",")))
	}
	if len(s.Exclude) > 0 {
		c = append(c, "--exclude-tags", Quote(strings.Join(s.Exclude, ",")))
	}
	if s.Agent != "" && !slices.Contains(agent.Kinds(), agent.Kind(s.Agent)) {
		c = append(c, "--agent", Quote(s.Agent))
	}
	return []Command{append(c, likeBefore(s, prog)...).Given(f.Lacks...)}
}

// likeBefore are the flags under which a run began, where neither its recipe nor a default
// says the same: how the recipe is read, where it works, how it recovers, and what its
// agents may use. Who may take over from another depends on what is installed, and is not
// among them.
func likeBefore(s event.RunStarted, prog *recipe.Recipe) (flags []string) {
	add := func(given bool, words ...string) {
		if given {
			flags = append(flags, words...)
		}
	}
	number := func(name string, n int64) { add(n > 0, name, strconv.FormatInt(n, 10)) }
	for _, dir := range s.Shelves {
		add(true, "--recipes", Quote(dir))
	}
	add(s.Compat, "--compat")
	add(s.Isolate, "--isolate")
	for _, name := range s.Secrets {
		add(!slices.Contains(prog.Secrets, name), "--secret", Quote(name))
	}
	lim, usual := s.Limits, belay.DefaultLimits()
	if lim.MaxParallel != usual.MaxParallel {
		number("--max-parallel", int64(lim.MaxParallel))
	}
	add(s.Classic, "--hollow", "classic")
	add(s.Policy != "" && s.Policy != prog.Policy, "--policy", s.Policy)
	number("--max-retries", int64(s.MaxRetries))
	number("--max-replans", int64(lim.MaxReplans))
	add(lim.MaxReplans < 0, "--max-replans", "0")
	add(s.Recovery != "" && s.Recovery != prog.Recovery, "--recovery", s.Recovery)
	if !lim.RecipeAgents && lim.MaxAgents != usual.Starts() {
		number("--max-agents", int64(lim.MaxAgents))
	}
	number("--max-tokens", lim.MaxTokens)
	add(lim.MaxMicroUSD > 0, "--max-usd", strconv.FormatFloat(float64(lim.MaxMicroUSD)/1e6, 'f', -1, 64))
	add(lim.MaxWall > 0, "--max-wall", lim.MaxWall.String())
	return flags
}

// setText is a value as --set takes it; a text that has no place on a line is the person's.
func setText(v belay.Value) string {
	var text string
	switch {
	case !v.Inline():
		return "TEXT"
	case json.Unmarshal(v.JSON, &text) != nil:
		return string(v.JSON)
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "TEXT"
	}
	return text
}
