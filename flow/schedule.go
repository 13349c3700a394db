package flow

import (
	"container/heap"
	"time"
)

// schedule is who is asked in a turn, and in which order. Nothing in it is
// state: it only spares the questions to runs that would answer with Wait, and a
// tree that was built from the records, whose schedule knows nothing, asks more
// and hears the same.
//
// Runs that something happened to are asked first, one after the other. Then
// come those that may have something to say because time has passed, because
// there is room again, or because nobody knows: always the one that began first.
// A run too many among these changes nothing, so that the order does not depend
// on what is remembered.
type schedule struct {
	turns   int64   // number of the present turn
	turning bool    // in one
	queue   []int   // something happened to them
	unsure  indexes // what they would say is not known
	alarms  alarms  // when those that wait for a moment want to be asked
	roomers indexes // they wait for room
	free    bool    // there is more room than there was
	passed  int     // of roomers, those below were asked since
}

// lastSaid is what a run answered when it was last asked.
type lastSaid struct {
	queued bool
	turn   int64 // in which it was asked; 0 = never
	wait   wait
}

// touch has a run asked. Outside of a turn nobody is: the next one will.
func (t *Tree) touch(s *State) {
	switch {
	case t.turning && !s.said.queued:
		s.said.queued = true
		t.queue = append(t.queue, s.birth)
	case t.turning:
	default:
		t.suspect(s)
	}
}

// touchAll has all runs asked that have not ended.
func (t *Tree) touchAll() {
	for _, b := range t.live.list {
		t.touch(t.born[b])
	}
}

// suspect has a run asked in the next turn, if it can have something to say.
func (t *Tree) suspect(s *State) {
	t.unsure.keep(s.birth, s.result == nil || len(s.inbox) > 0)
}

// quiet asks nobody any more in this turn.
func (t *Tree) quiet() {
	for _, b := range t.queue {
		t.born[b].said.queued = false
	}
	t.queue = t.queue[:0]
}

// doubt forgets what all runs said.
func (t *Tree) doubt() {
	for _, b := range t.queue {
		t.suspect(t.born[b])
	}
	t.quiet()
	for _, b := range t.live.list {
		t.unsure.push(b)
	}
}

// freed asks those again that wait for room.
func (t *Tree) freed() { t.free, t.passed = true, 0 }

// open begins a turn. What the last one asked and nobody answered is asked again.
func (t *Tree) beginTurn(now time.Time) {
	t.turns++
	t.quiet()
	t.turning = true
	t.lapse()
	for len(t.alarms) > 0 && !t.alarms[0].at.After(now) {
		a := heap.Pop(&t.alarms).(alarm)
		if t.stands(a) {
			t.unsure.push(a.run)
		}
	}
}

// endTurn ends a turn.
func (t *Tree) endTurn() {
	t.quiet()
	t.turning, t.free = false, false
}

// following is the next run to be asked, nil when all have been.
func (w *turn) following() *State {
	t := w.tree
	if len(t.queue) > 0 {
		s := t.born[t.queue[0]]
		t.queue = t.queue[1:]
		s.said.queued = false
		return s
	}
	if w.idle {
		return nil
	}
	next := -1
	for len(t.unsure.list) > 0 {
		b := t.unsure.list[0]
		if t.born[b].said.turn != t.turns {
			next = b
			break
		}
		t.unsure.remove(b)
	}
	if t.free && w.room() > 0 {
		if b, ok := t.roomers.from(t.passed); ok && (next < 0 || b <= next) {
			next, t.passed = b, b+1
		}
	}
	if next < 0 {
		return nil
	}
	t.unsure.remove(next)
	return t.born[next]
}

// heard keeps what a run said.
func (t *Tree) heard(s *State, w wait) {
	was := s.said.wait
	s.said.turn, s.said.wait = t.turns, w
	t.roomers.keep(s.birth, w.For == waitRoom)
	if !w.Until.IsZero() && !w.Until.Equal(was.Until) {
		t.alarms.set(t, alarm{w.Until, s.birth})
	}
}

// forget drops a run that has ended.
func (t *Tree) forget(s *State) {
	t.live.remove(s.birth)
	t.roomers.remove(s.birth)
	s.said.wait = wait{}
}

// until is the next moment at which a run wants to be asked, zero for none.
func (t *Tree) until() time.Time {
	for len(t.alarms) > 0 && !t.stands(t.alarms[0]) {
		heap.Pop(&t.alarms)
	}
	if len(t.alarms) == 0 {
		return time.Time{}
	}
	return t.alarms[0].at
}

// stands tells whether a run still waits for the moment of an alarm.
func (t *Tree) stands(a alarm) bool {
	s := t.born[a.run]
	return s.result == nil && s.said.wait.Until.Equal(a.at)
}

// alarm is a moment at which a run wants to be asked.
type alarm struct {
	at  time.Time
	run int
}

// alarms is a heap; those that stand no more are left in it until they come up.
type alarms []alarm

func (h alarms) Len() int           { return len(h) }
func (h alarms) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h alarms) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *alarms) Push(x any)        { *h = append(*h, x.(alarm)) }
func (h *alarms) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// set adds an alarm, and throws out those that stand no more when they are the
// most of them.
func (h *alarms) set(t *Tree, a alarm) {
	heap.Push(h, a)
	if len(*h) < 64 || len(*h) < 2*len(t.live.list) {
		return
	}
	kept := (*h)[:0]
	for _, a := range *h {
		if t.stands(a) {
			kept = append(kept, a)
		}
	}
	*h = kept
	heap.Init(h)
}
