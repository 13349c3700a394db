package recovery

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// The limits of a split.
const (
	MinParts = 2
	MaxParts = 5
	MaxDepth = 2 // how often a task may be split, part of a part
)

// ReadParts reads the parts that a planner answered with. Parts that write the
// same files are put in an order, and so are those that do not say what they
// write. A split that makes nothing smaller is refused.
func ReadParts(answer []byte, task string) ([]belay.Part, error) {
	var plan struct {
		Parts []belay.Part `json:"parts"`
	}
	if err := json.Unmarshal(answer, &plan); err != nil {
		if json.Unmarshal(answer, &plan.Parts) != nil {
			return nil, fmt.Errorf("read the parts: %w", err)
		}
	}
	parts := plan.Parts
	if len(parts) < MinParts || len(parts) > MaxParts {
		return nil, fmt.Errorf("%d parts; 2 to %d make a split", len(parts), MaxParts)
	}
	whole := flat(task)
	for i := range parts {
		p := &parts[i]
		text := flat(p.Task)
		switch {
		case text == "":
			return nil, fmt.Errorf("part %d says nothing", i+1)
		case whole != "" && strings.Contains(text, whole):
			return nil, fmt.Errorf("part %d is the whole task again", i+1)
		case slices.ContainsFunc(parts[:i], func(q belay.Part) bool { return flat(q.Task) == text }):
			return nil, fmt.Errorf("part %d is there twice", i+1)
		}
		p.Needs = slices.DeleteFunc(p.Needs, func(n int) bool { return n < 1 || n > i }) // only what is before it
		for k := range parts[:i] {
			if meets(parts[k].Files, p.Files) && !slices.Contains(p.Needs, k+1) {
				p.Needs = append(p.Needs, k+1)
			}
		}
		slices.Sort(p.Needs)
		p.Needs = slices.Compact(p.Needs)
	}
	return parts, nil
}

// flat is a text without what does not matter when two are compared.
func flat(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// meets tells whether two parts may write the same file: they name one, or one
// of them names none, or a folder of the other's.
func meets(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	clean := func(p string) string { return strings.Trim(strings.TrimPrefix(strings.TrimSpace(p), "./"), "/") }
	for _, x := range a {
		for _, y := range b {
			x, y := clean(x), clean(y)
			if x == y || x == "" || y == "" || strings.ContainsAny(x+y, "*?[") || strings.HasPrefix(x, y+"/") || strings.HasPrefix(y, x+"/") {
				return true
			}
		}
	}
	return false
}
