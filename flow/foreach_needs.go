package flow

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/belay-run/belay"
)

// itemNeeds reads which items of a list come before which: items that are objects with an id,
// a text or a number, name others in needs, one or a list of them. In a list of which not
// every item has an id, needs is something else. problem says why there can be no order.
func itemNeeds(items []json.RawMessage) (needs [][]int, problem string) {
	ids, named, ok := itemNames(items)
	if !ok || !slices.ContainsFunc(named, func(list []string) bool { return len(list) > 0 }) {
		return nil, ""
	}
	known := make(map[string]int, len(items))
	for i, id := range ids {
		if _, twice := known[id]; !twice {
			known[id] = i
		}
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
// of which not every item has an id, or in which a needs is no name and no list of names.
func itemNames(items []json.RawMessage) (ids []string, needs [][]string, ok bool) {
	for _, raw := range items {
		var item struct {
			ID    json.RawMessage `json:"id"`
			Needs json.RawMessage `json:"needs"`
		}
		if json.Unmarshal(raw, &item) != nil {
			return nil, nil, false
		}
		id := itemName(item.ID)
		list, is := itemList(item.Needs)
		if id == "" || !is {
			return nil, nil, false
		}
		ids, needs = append(ids, id), append(needs, list)
	}
	return ids, needs, true
}

// itemName is a name: a text, or a number as it is written; "" = it is none.
func itemName(raw json.RawMessage) string {
	var text string
	var number json.Number
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &number) == nil:
		return number.String()
	}
	return ""
}

// itemList are the names in a needs: one, or a list of them.
func itemList(raw json.RawMessage) (names []string, ok bool) {
	var list []json.RawMessage
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		name := itemName(one)
		if name == "" {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
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
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(s.each.items[n], &of) != nil {
			continue // it has an id: that is how it is needed
		}
		return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("it needs %s (%s), which failed", itemName(of.ID), s.prog.Steps[n].ID), "")
	}
	return nil
}
