package flow

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/belay-run/belay"
)

// itemNeeds reads which items of a list come before which: items that are objects
// with an id name others in needs. A list in which nobody names an item of it has
// no order: its needs are something else. problem says why there can be none.
func itemNeeds(items []json.RawMessage) (needs [][]int, problem string) {
	ids, named, ok := itemNames(items)
	known := make(map[string]int, len(items))
	ordered := false
	for i, id := range ids {
		if _, twice := known[id]; !twice {
			known[id] = i
		}
	}
	for _, list := range named {
		ordered = ordered || slices.ContainsFunc(list, func(id string) bool { _, is := known[id]; return is })
	}
	if !ok || !ordered {
		return nil, ""
	}
	needs = make([][]int, len(items))
	for i, list := range named {
		if first := known[ids[i]]; first != i {
			return nil, fmt.Sprintf("has two items with the id %q (%d and %d), and others need items by their ids", ids[i], first+1, i+1)
		}
		for _, id := range list {
			n, is := known[id]
			if !is {
				return nil, fmt.Sprintf("has no item with the id %q, which item %d (%s) needs", id, i+1, ids[i])
			}
			needs[i] = append(needs[i], n)
		}
		slices.Sort(needs[i])
		needs[i] = slices.Compact(needs[i])
	}
	if i := circle(needs); i >= 0 {
		return nil, fmt.Sprintf("has items that wait for each other: %q needs itself in the end", ids[i])
	}
	return needs, ""
}

// itemNames are the ids of items and those that each needs; ok is false for a list
// of which not every item has an id, or in which a needs is no list of texts.
func itemNames(items []json.RawMessage) (ids []string, needs [][]string, ok bool) {
	for _, raw := range items {
		var item struct {
			ID    *string         `json:"id"`
			Needs json.RawMessage `json:"needs"`
		}
		if json.Unmarshal(raw, &item) != nil || item.ID == nil || *item.ID == "" {
			return nil, nil, false
		}
		var list []string
		if len(item.Needs) > 0 && json.Unmarshal(item.Needs, &list) != nil {
			return nil, nil, false
		}
		ids, needs = append(ids, *item.ID), append(needs, list)
	}
	return ids, needs, true
}

// circle finds an item that waits for itself, -1 for none.
func circle(needs [][]int) int {
	const open, done = 1, 2
	state := make([]int, len(needs))
	var visit func(i int) bool
	visit = func(i int) bool {
		if state[i] != 0 {
			return state[i] == open
		}
		state[i] = open
		if slices.ContainsFunc(needs[i], visit) {
			return true
		}
		state[i] = done
		return false
	}
	for i := range needs {
		if visit(i) {
			return i
		}
	}
	return -1
}

// unmet refuses an item of which another that it needs failed, nil when there is
// none.
func (s *State) unmet(i int) command {
	if s.each == nil {
		return nil
	}
	for _, n := range s.prog.Steps[i].Needs {
		if s.steps[n].phase != Failed {
			continue
		}
		var of struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(s.each.items[n], &of) != nil {
			continue // it has an id: that is how it is needed
		}
		return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("it needs %s (%s), which failed", of.ID, s.prog.Steps[n].ID), "")
	}
	return nil
}
