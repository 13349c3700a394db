package recipe

// order answers which step certainly ends before another starts. Steps that
// follow each other in the list and wait for each other are one stretch, so
// that a long recipe is not walked step by step; the walks of one recipe are
// bounded all together.
type order struct {
	steps    []Step
	head     []int // the first step of the stretch
	original []int // whose fallback a step is, nil when there is no such step; itself for all others
	seen     []int
	round    int
	left     int // visits before it gives up
}

func newOrder(steps []Step) *order {
	o := &order{steps: steps, head: make([]int, len(steps)), seen: make([]int, len(steps)), left: 2_000_000}
	for i := range steps {
		o.head[i] = i
		if n := steps[i].Needs; len(n) == 1 && n[0] == i-1 {
			o.head[i] = o.head[i-1]
		}
	}
	o.original = originals(steps)
	return o
}

// before tells whether step i waits for step j, or for the step that j stands
// in for. Out of breath, it says yes: what is not known is not reported.
func (o *order) before(j, i int) bool {
	if o.original != nil {
		j = o.original[j]
	}
	if j == i {
		return false
	}
	o.round++
	stack := []int{i}
	if o.head[i] <= j && j < i {
		return true
	}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, n := range o.steps[o.head[at]].Needs {
			if o.head[n] <= j && j <= n {
				return true
			}
			if o.left--; o.left < 0 {
				return true
			}
			if o.seen[n] != o.round {
				o.seen[n] = o.round
				stack = append(stack, n)
			}
		}
	}
	return false
}
