package flow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

// askedFor is the waiting step that a question is about. It is read from the
// key, not looked for: thousands of steps may ask at the same time.
func (s *State) askedFor(k belay.Key) (int, bool) {
	text, _ := strings.CutPrefix(string(k), string(s.id)+":")
	text, _, _ = strings.Cut(text, "?")
	at := strings.LastIndexByte(text, '.')
	if at < 0 {
		return 0, false
	}
	i, ok := s.index[belay.Path(text[:at])]
	if !ok || s.steps[i].phase != Waiting || s.steps[i].waits > 0 {
		return 0, false
	}
	return i, text[at+1:] == strconv.Itoa(s.steps[i].attempt+1)
}

// forget drops the texts of a step that read what the step itself has set: a
// hook after it must see the new value.
func (s *State) forget(i int, sets []string) {
	for src := range s.steps[i].filled {
		t, err := expr.ParseText(src)
		if err != nil || slices.ContainsFunc(t.Names(), func(n string) bool { return slices.Contains(sets, n) }) {
			delete(s.steps[i].filled, src)
		}
	}
}
