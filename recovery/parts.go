package recovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// The limits of a split.
const (
	MinParts = 2
	MaxParts = 5
	MaxDepth = 2 // how often a task may be split, its parts included
)

// ReadParts reads the parts that a planner answered with. Parts that write the
// same files are put in an order, and so are those that do not say what they
// write; what a part needs comes before it. A split that makes nothing smaller
// is refused, and one whose parts need what is not there or each other.
func ReadParts(answer []byte, task string) ([]belay.Part, error) {
	parts, err := decodeParts(answer)
	if err != nil {
		return nil, err
	}
	if len(parts) < MinParts || len(parts) > MaxParts {
		return nil, fmt.Errorf("%d parts; 2 to %d make a split", len(parts), MaxParts)
	}
	if parts, err = ordered(parts); err != nil {
		return nil, err
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

// decodeParts reads an object with parts, or the list alone.
func decodeParts(answer []byte) ([]belay.Part, error) {
	var plan struct {
		Parts []belay.Part `json:"parts"`
	}
	var err error
	if strings.HasPrefix(strings.TrimSpace(string(answer)), "[") {
		err = json.Unmarshal(answer, &plan.Parts)
	} else {
		err = json.Unmarshal(answer, &plan)
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, fmt.Errorf("%s is %s, and must be %s", wrong.Field, valueWord(wrong.Value), kindWord(wrong.Type.Kind().String()))
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("it is %s, and must be an object with parts", valueWord(wrong.Value))
	case err != nil:
		return nil, errors.New("it is no JSON value")
	}
	return plan.Parts, nil
}

// valueWord names what was found instead; a number comes with its digits.
func valueWord(value string) string {
	switch value, _, _ := strings.Cut(value, " "); value {
	case "string":
		return "a text"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a number"
}

// kindWord names what a member of a plan must be.
func kindWord(kind string) string {
	switch kind {
	case "int":
		return "a whole number"
	case "string":
		return "a text"
	case "slice":
		return "a list"
	}
	return "an object"
}

// ordered puts every part behind those that it needs, and otherwise leaves the
// order as it is.
func ordered(parts []belay.Part) ([]belay.Part, error) {
	for i, p := range parts {
		for _, n := range p.Needs {
			switch {
			case n < 1 || n > len(parts):
				return nil, fmt.Errorf("part %d needs part %d, and there is none", i+1, n)
			case n == i+1:
				return nil, fmt.Errorf("part %d needs itself", n)
			}
		}
	}
	out := make([]belay.Part, 0, len(parts))
	place := make([]int, len(parts)+1) // the new number of each old one, 0 = not there yet
	for len(out) < len(parts) {
		next := free(parts, place)
		if next < 0 {
			return nil, errors.New("the parts need each other in a circle")
		}
		p := parts[next]
		needs := make([]int, len(p.Needs))
		for k, n := range p.Needs {
			needs[k] = place[n]
		}
		p.Needs = needs
		out = append(out, p)
		place[next+1] = len(out)
	}
	return out, nil
}

// free is the first part that has no place yet and whose needs all have one; -1
// when there is none.
func free(parts []belay.Part, place []int) int {
	for i, p := range parts {
		if place[i+1] == 0 && !slices.ContainsFunc(p.Needs, func(n int) bool { return place[n] == 0 }) {
			return i
		}
	}
	return -1
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
