package cli

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
)

// hooks are the attempts of the hooks beside a step, by the order of the hooks
// and then of their start.
func (s *story) hooks(p placed) []*attemptFacts {
	var list []*attemptFacts
	for _, name := range []belay.Path{"pre_step", "post_step", "on_error"} {
		list = append(list, s.attempts(p.run, p.Path+"@"+name)...)
	}
	return list
}

// hookTroubles says which hooks of a step did not end well; of each the last
// attempt counts.
func (s *story) hookTroubles(p placed) string {
	list := s.hooks(p)
	var words []string
	for i, f := range list {
		if i+1 < len(list) && list[i+1].Hook == f.Hook {
			continue
		}
		if text := f.hookTrouble(); text != "" {
			words = append(words, "hook "+f.Hook+" "+text)
		}
	}
	return strings.Join(words, "; ")
}

func (f *attemptFacts) hookTrouble() string {
	if f.Observation != nil {
		return tui.HookTrouble(f.Observation)
	}
	for _, how := range f.Found {
		if how == belay.Lost {
			return "was lost"
		}
	}
	return ""
}

// besideForm is the name of what runs beside a step, an agent that helps or a
// hook, with the number of an attempt: test@repair, test@repair.2.
var besideForm = regexp.MustCompile(`^(.+)@(repair|plan|recovery|verify|pre_step|post_step|on_error)(?:\.([1-9][0-9]{0,8}))?$`)

// part is a step, or only what runs beside it under a name.
type part struct {
	placed
	beside string // "" = all attempts of the step
	n      int    // 0 = all of them
}

// part finds what a name means.
func (s *story) part(p belay.Path) (part, error) {
	at, err := s.step(p)
	m := besideForm.FindStringSubmatch(string(p))
	if err == nil || m == nil {
		return part{placed: at}, err
	}
	if at, err = s.step(belay.Path(m[1])); err != nil {
		return part{}, s.noStep(p)
	}
	n, _ := strconv.Atoi(m[3]) // "" is none: all of them
	found := part{at, m[2], n}
	for _, r := range s.recs {
		if e, ok := r.Event.(belay.AttemptStarted); ok && found.has(r.Run, e) {
			return found, nil
		}
	}
	return part{}, s.noStep(p)
}

// has tells whether an attempt belongs to it.
func (p part) has(run belay.RunID, e belay.AttemptStarted) bool {
	if run != p.run {
		return false
	}
	if p.beside == "" {
		return e.Path == p.Path
	}
	if p.n > 0 && p.n != e.Attempt {
		return false
	}
	if e.Role == belay.RoleHook {
		return e.Path == p.Path+"@"+belay.Path(p.beside)
	}
	return e.Path == p.Path && string(e.Role) == p.beside
}
