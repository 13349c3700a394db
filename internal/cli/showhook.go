package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

// hookTroubles says which hooks of a step did not end well; of each the last
// attempt counts.
func hookTroubles(list []*story.Attempt) string {
	var words []string
	for i, f := range list {
		if i+1 < len(list) && list[i+1].Hook == f.Hook {
			continue
		}
		if text := hookTrouble(f); text != "" {
			words = append(words, "hook "+f.Hook+" "+text)
		}
	}
	return strings.Join(words, "; ")
}

func hookTrouble(f *story.Attempt) string {
	if f.Observation != nil {
		return tui.HookTrouble(f.Observation)
	}
	if f.Lost() {
		return "was lost"
	}
	return ""
}

// besideForm is the name of what runs beside a step, an agent that helps or a
// hook, with the number of an attempt: test@repair, test@repair.2.
var besideForm = pattern.Lazy(`^(.+)@(repair|plan|recovery|verify|pre_step|post_step|on_error)(?:\.([1-9][0-9]{0,8}))?$`)

// part is a step, or only what runs beside it under a name.
type part struct {
	story.Placed
	beside string // "" = all attempts of the step
	n      int    // 0 = all of them
}

// part finds what a name means.
func (s *runView) part(p belay.Path) (part, error) {
	at, err := s.step(p)
	m := besideForm().FindStringSubmatch(string(p))
	if err == nil || m == nil {
		return part{Placed: at}, err
	}
	if at, err = s.step(belay.Path(m[1])); err != nil {
		return part{}, s.noStep(p)
	}
	n, _ := strconv.Atoi(m[3]) // "" is none: all of them
	found := part{at, m[2], n}
	if slices.ContainsFunc(s.Attempts, found.has) {
		return found, nil
	}
	return part{}, s.noStep(p)
}

// has tells whether an attempt belongs to it.
func (p part) has(a *story.Attempt) bool {
	switch {
	case a.Run != p.Run:
		return false
	case p.beside == "":
		return a.Path == p.Path
	case p.n > 0 && p.n != a.N:
		return false
	case a.Role == belay.RoleHook:
		return a.Path == p.Path.WithHook(p.beside)
	}
	return a.Path == p.Path && string(a.Role) == p.beside
}
