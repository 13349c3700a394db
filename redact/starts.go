package redact

import "math/bits"

// starts finds the patterns that can begin with three bytes. It is a table of
// its own as a map takes most of the time of a look.
type starts struct {
	slots []slotOf // a key stands at its hash or in one of the slots behind
	shift uint
}

type slotOf struct {
	key  uint32
	list []int // nil: the slot is free
}

func newStarts(lists map[uint32][]int) starts {
	size := bits.Len(uint(len(lists))) + 1 // half of it stays free
	s := starts{slots: make([]slotOf, 1<<size), shift: uint(32 - size)}
	for key, list := range lists {
		at := s.find(key)
		s.slots[at] = slotOf{key, list}
	}
	return s
}

func (s *starts) of(key uint32) []int { return s.slots[s.find(key)].list }

// find is the slot of a key, or the free one where it would be.
func (s *starts) find(key uint32) uint32 {
	last := uint32(len(s.slots) - 1)
	at := hash(key) >> s.shift
	for s.slots[at].list != nil && s.slots[at].key != key {
		at = (at + 1) & last
	}
	return at
}
