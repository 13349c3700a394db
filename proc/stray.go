package proc

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// undecidedFor is how long an orphan in the middle of an exec, whose marks
// cannot be read at that moment, is looked at again.
const undecidedFor = 50 * time.Millisecond

// end ends an attempt that runs: TERM to its tree now, KILL after the grace (0
// = its own). The first reason stays; a later call can only shorten the grace.
func (k *keeper) end(a *attempt, why fault.KilledBy, grace time.Duration) {
	if grace <= 0 {
		grace = a.s.Grace
	}
	k.mu.Lock()
	if a.ending || a.child.pid == 0 || a.child.ended() {
		k.mu.Unlock()
		return // it ended by itself
	}
	first := a.why == fault.KilledNot
	killAt := time.Now().Add(grace)
	if !first && !killAt.Before(a.killAt) {
		k.mu.Unlock()
		return
	}
	if first {
		a.why = why
	}
	a.killAt = killAt
	a.timers = append(a.timers, time.AfterFunc(grace, func() { k.strike(a, syscall.SIGKILL) }))
	k.mu.Unlock()
	if first {
		k.strike(a, syscall.SIGTERM)
	}
}

// strike sends sig to the whole tree of a running attempt. What is outside the
// group is found before the leader dies: afterwards it is an orphan.
func (k *keeper) strike(a *attempt, sig syscall.Signal) {
	outside := k.outside(a)
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.reaped {
		return // what is left is being ended already
	}
	for _, p := range outside {
		_ = signalExact(p.pid, p.start, sig) // one that is gone needs none
		if sig != syscall.SIGKILL {
			_ = signalExact(p.pid, p.start, syscall.SIGCONT) // a stopped one would not hear it
		}
	}
	pid := a.child.pid          // not reaped, so nobody else's
	_ = syscall.Kill(-pid, sig) // none left to hear it is as good
	_ = syscall.Kill(pid, sig)  // it may have left its group
	if sig != syscall.SIGKILL {
		_ = syscall.Kill(-pid, syscall.SIGCONT) // the same
	}
}

// outside is the living processes of an attempt that are not in its group: what
// is below its leader, and orphans of its own.
func (k *keeper) outside(a *attempt) []process {
	all, err := processes()
	if err != nil {
		return nil // the group is signalled in any case
	}
	roots := map[int]bool{a.child.pid: true}
	mine, _ := k.sortStrays(a)
	for _, p := range mine {
		roots[p.pid] = true
	}
	var found []process
	for _, p := range append(descendants(all, roots, nil), mine...) {
		if !p.zombie && p.pgid != a.child.pid {
			found = append(found, p)
		}
	}
	return found
}

// clear ends what an attempt left behind: background children, daemons, what
// left its group or session. It returns when none is left.
func (k *keeper) clear(a *attempt, e *Exit, grace time.Duration) {
	if noChildren() {
		return
	}
	h := newHunt(grace)
	until := time.Now().Add(undecidedFor)
	for first := true; ; first = false {
		mine, undecided := k.sortStrays(a)
		prey := k.withBelow(mine)
		k.mu.Lock()
		for _, p := range prey {
			if first && p.pgid == e.Pid {
				h.spareTerm(p) // its group was told
			}
			a.strays[p.pid] = true
		}
		k.mu.Unlock()
		born := len(prey) == 0 && k.hasMore(a)
		if len(prey) == 0 && !born && (!undecided || time.Now().After(until)) {
			break
		}
		if !h.round(prey) {
			e.Detail = strconv.Itoa(max(len(prey), 1)) + " descendants survive KILL"
			break
		}
		if born && h.kills() {
			k.chase()
		}
	}
	k.mu.Lock()
	e.Strays = len(a.strays)
	k.mu.Unlock()
}

// hasMore tells whether the keeper has children although none was seen that
// could be ended, when they can only be the attempt's: they were born, or died,
// while somebody looked.
func (k *keeper) hasMore(a *attempt) bool {
	if Containment() == LevelGroup {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.leaders) == 0 && len(k.live) == 1 && k.live[a.s.Key] == a && !noChildren()
}

// chase hunts those below the keeper that no attempt leads and that are too fast
// for a look at all.
func (k *keeper) chase() {
	k.mu.Lock()
	defer k.mu.Unlock()
	chase(func(pid int) bool { return k.leaders[pid] != nil })
}

// withBelow adds what is below the strays.
func (k *keeper) withBelow(mine []process) []process {
	if len(mine) == 0 {
		return nil
	}
	all, err := processes()
	if err != nil {
		return mine
	}
	roots := map[int]bool{}
	for _, p := range mine {
		roots[p.pid] = true
	}
	for _, p := range descendants(all, roots, nil) {
		if !p.zombie {
			mine = append(mine, p)
		}
	}
	return mine
}

// sortStrays lists the living orphans that belong to the attempt. Those that
// belong to nobody are its own when no other attempt is in flight; undecided
// says that there is one that cannot be told at this moment.
func (k *keeper) sortStrays(a *attempt) (mine []process, undecided bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	only := len(k.live) == 1 && k.live[a.s.Key] == a && a.ending
	for _, p := range k.orphans() {
		switch owner, known := k.ownerOf(p); {
		case owner == a:
			k.claim(a, p)
			mine = append(mine, p)
		case owner != nil:
		case only && Containment() > LevelGroup:
			if !a.strays[p.pid] {
				k.noteStray(p)
			}
			mine = append(mine, p)
		case !known:
			undecided = true
		}
	}
	return mine, undecided
}

// orphans is the living children of the keeper that no attempt leads; zombies
// among them are reaped. The caller holds mu.
func (k *keeper) orphans() []process {
	pids, err := children()
	if err != nil {
		return nil // nothing can be seen, so nothing can be ended; the next look may
	}
	var list []process
	for _, pid := range pids {
		if k.leaders[pid] != nil {
			continue // its exit is its own attempt's to take
		}
		p, err := look(pid)
		if err != nil {
			continue
		}
		if p.zombie {
			k.reapStray(p)
			continue
		}
		list = append(list, p)
	}
	return list
}

// reapStray takes a dead orphan away, and counts it when it died of our asking
// its attempt's group to end.
func (k *keeper) reapStray(p process) {
	if p.ppid != os.Getpid() {
		return // not ours to reap
	}
	var status syscall.WaitStatus
	got, err := syscall.Wait4(p.pid, &status, syscall.WNOHANG, nil)
	if err != nil || got != p.pid || !status.Signaled() {
		return
	}
	for _, a := range k.live {
		if a.ending && a.groups[p.pgid] && (status.Signal() == syscall.SIGTERM || status.Signal() == syscall.SIGKILL) {
			a.strays[p.pid] = true
		}
	}
}

// reapSoon sees to it that dead orphans are taken away while anything runs: a
// step that forks for hours would fill the process table. The caller holds mu.
func (k *keeper) reapSoon() {
	if k.reaping || Containment() == LevelGroup {
		return
	}
	k.reaping = true
	time.AfterFunc(reapEvery, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.reaping = false
		if len(k.live) == 0 {
			return // the end of the last one looked at them all
		}
		if zombies() {
			_ = k.orphans() // the living ones are looked at when their step ends
		}
		k.reapSoon()
	})
}

// ownerOf is the attempt whose group, session, mark or pipe the orphan carries;
// known is false when its marks cannot be read. The caller holds mu.
func (k *keeper) ownerOf(p process) (owner *attempt, known bool) {
	for _, a := range k.live {
		if a.groups[p.pgid] || a.groups[p.sid] {
			return a, true
		}
	}
	env, err := environ(p.pid)
	if err != nil || len(env) == 0 {
		return nil, false
	}
	key, _ := variable(env, keyVar)
	if a := k.live[belay.Key(key)]; a != nil {
		return a, true
	}
	for _, a := range k.live {
		if a.holdsPipe(p.pid) {
			return a, true
		}
	}
	return nil, true
}

// holdsPipe tells whether the process has an end of the attempt's streams.
func (a *attempt) holdsPipe(pid int) bool {
	for _, r := range a.pipes {
		st, err := r.Stat()
		if err != nil {
			continue // closed at its end: nobody holds it
		}
		sys, ok := st.Sys().(*syscall.Stat_t)
		if ok && hasStream(pid, uint64(sys.Ino)) {
			return true
		}
	}
	return false
}

// claim remembers the group and session of an orphan that is known to be the
// attempt's: its companions may have lost their marks. The caller holds mu.
func (k *keeper) claim(a *attempt, p process) {
	for _, id := range []int{p.pgid, p.sid} {
		if id > 1 && id != os.Getpid() && k.leaders[id] == nil {
			a.groups[id] = true
		}
	}
}

func (k *keeper) noteStray(p process) {
	line := strayLine{Unattributed: Identity{Pid: p.pid, Start: p.start, Boot: k.boot}}
	_ = k.ledger.add(line, false) // for people; nothing decides on it
}

// clearRest ends what is left below the keeper when it leaves.
func (k *keeper) clearRest() {
	if noChildren() || Containment() == LevelGroup {
		return
	}
	h := newHunt(afterGood)
	for {
		k.mu.Lock()
		rest := k.orphans()
		for _, p := range rest {
			if _, known := h.seen[p.pid]; !known {
				k.noteStray(p)
			}
		}
		k.mu.Unlock()
		prey := k.withBelow(rest)
		if len(prey) == 0 && noChildren() || !h.round(prey) {
			return
		}
		if h.kills() {
			k.chase()
		}
	}
}
