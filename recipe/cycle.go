package recipe

import "slices"

// findCycles gives the cycles that a walk along the edges closes, each from its
// lowest node on. There is none if and only if the graph has none.
func findCycles(edges [][]int) [][]int {
	const (
		fresh = iota
		open  // on the path from where the walk started
		done
	)
	state := make([]uint8, len(edges))
	next := make([]int, len(edges)) // the edge to follow, by node
	var found [][]int
	for start := range edges {
		if state[start] != fresh {
			continue
		}
		path := []int{start}
		state[start] = open
		for len(path) > 0 {
			at := path[len(path)-1]
			if next[at] == len(edges[at]) {
				state[at] = done
				path = path[:len(path)-1]
				continue
			}
			to := edges[at][next[at]]
			next[at]++
			switch state[to] {
			case fresh:
				state[to] = open
				path = append(path, to)
			case open:
				if len(found) < MaxProblems {
					found = append(found, fromLowest(path[slices.Index(path, to):]))
				}
			}
		}
	}
	return found
}

// fromLowest turns a cycle so that its lowest node comes first.
func fromLowest(cycle []int) []int {
	low := slices.Index(cycle, slices.Min(cycle))
	return append(slices.Clone(cycle[low:]), cycle[:low]...)
}
