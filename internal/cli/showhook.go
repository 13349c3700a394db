package cli

import (
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
