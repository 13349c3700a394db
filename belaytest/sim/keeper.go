package sim

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

// syncAfter is the life from which on an exit is synced.
const syncAfter = time.Second

// keeperGrace is how long a process without a deadline may go on without a driver.
const keeperGrace = 6 * time.Hour

// line is a line of the keeper's log.
type line struct {
	kind   string // keeper, birth, exit, lost
	key    belay.Key
	exit   *ending
	boot   int
	synced bool
}

// keeper is the fake of the process that holds the others. It outlives the
// driver; its log outlives it.
type keeper struct {
	w      *world
	epoch  int64
	driver *driver
	live   map[belay.Key]*process
	done   map[belay.Key]*ending
	alone  *happening
}

func (w *world) newKeeper() *keeper {
	k := &keeper{w: w, live: map[belay.Key]*process{}, done: map[belay.Key]*ending{}}
	w.keeper = k
	return k
}

func (w *world) write(l line) {
	l.boot = w.boot
	w.ledger = append(w.ledger, l)
}

// state is what became of an attempt that was open when a driver attached.
type state struct {
	found fault.Found
	exit  *ending
}

// lookUp says what the log tells about an attempt that no living keeper knows.
func (w *world) lookUp(key belay.Key) state {
	kept, boot, born := false, 0, false
	for _, l := range w.ledger {
		switch {
		case l.kind == "keeper":
			kept, boot = true, l.boot
		case l.key != key:
		case l.kind == "exit":
			return state{fault.Harvested, l.exit}
		default: // a birth, or lost before
			born = true
		}
	}
	if born || kept && boot != w.boot {
		return state{found: fault.Lost}
	}
	return state{found: fault.Unborn}
}

// sweep ends what dead keepers left behind and writes down what is lost, so
// that a later look at the log says the same.
func (w *world) sweep(open []belay.Key) {
	for len(w.procs) > 0 {
		w.say("  swept %s", w.procs[0].job.Key)
		w.procs[0].vanish()
	}
	for _, key := range open {
		if w.lookUp(key).found == fault.Lost {
			w.write(line{kind: "lost", key: key, synced: true})
		}
	}
}

// hello makes d the driver, unless its epoch is behind.
func (k *keeper) hello(d *driver, epoch int64, open []belay.Key) {
	if k.w.keeper != k || !d.alive {
		return
	}
	if epoch < k.epoch {
		k.w.violate("one driver", "a keeper of epoch %d was greeted by a driver of epoch %d", k.epoch, epoch)
		return
	}
	k.epoch, k.driver = epoch, d
	k.w.write(line{kind: "keeper", synced: len(k.w.ledger) == 0})
	k.w.agenda.remove(k.alone)
	states := make([]state, len(open))
	for i, key := range open {
		switch e := k.done[key]; {
		case e != nil:
			states[i] = state{fault.Harvested, e}
		case k.live[key] != nil:
			states[i] = state{found: fault.Adopted}
		default:
			states[i] = k.w.lookUp(key)
		}
	}
	k.w.after(k.w.chaos.lag(lagMessage), &happening{
		what: fmt.Sprintf("held %d", epoch), lane: fmt.Sprintf("held %d", epoch), from: k,
		do: func() { d.held(open, states) },
	})
}

// spawn is the only door for births.
func (k *keeper) spawn(d *driver, epoch int64, j effect.Job) {
	if k.w.keeper != k {
		return
	}
	if stale := d != k.driver || epoch != k.epoch; stale {
		k.w.stats.Fenced++
		if k.w.bug != NoFence {
			k.w.say("  refused %s of epoch %d", j.Key, epoch)
			return
		}
	}
	if k.live[j.Key] != nil {
		return
	}
	if e := k.done[j.Key]; e != nil {
		k.send(e)
		return
	}
	k.birth(j)
}

func (k *keeper) birth(j effect.Job) {
	w := k.w
	w.write(line{kind: "birth", key: j.Key, synced: j.Once})
	p := &process{w: w, job: j, keeper: k, born: w.now, alive: true}
	w.say("  born %s", j.Key)
	w.stats.Births++
	if w.truth.birth(j); w.broken != nil {
		return
	}
	p.prog = w.chaos.behave(w, j)
	k.live[j.Key] = p
	w.procs = append(w.procs, p)
	w.truth.crowd(len(w.procs))
	if j.Timeout > 0 {
		p.pending = append(p.pending, w.after(j.Timeout, &happening{what: "deadline of " + string(j.Key), do: func() {
			if p.alive && p.keeper == w.keeper {
				w.stats.Deadlines++
				p.kill(fault.KilledDeadline)
			}
		}}))
	}
	p.goOn()
}

// exited writes an exit down, then tells the driver of the moment.
func (k *keeper) exited(p *process, e *ending) {
	k.w.write(line{kind: "exit", key: e.key, exit: e, synced: p.job.Once || e.ended.Sub(e.started) > syncAfter})
	k.done[e.key] = e
	delete(k.live, e.key)
	k.send(e)
	k.leaveIfIdle()
}

func (k *keeper) send(e *ending) {
	d := k.driver
	if d == nil {
		return
	}
	k.w.after(k.w.chaos.lag(lagMessage), &happening{
		what: "exit of " + string(e.key), lane: "k>d " + string(e.key), from: k, do: func() { d.exited(e) },
	})
}

// signal ends one attempt.
func (k *keeper) signal(d *driver, key belay.Key, why fault.KilledBy) {
	if k.w.keeper != k || d != k.driver {
		return
	}
	k.w.truth.signal(key, why)
	if p := k.live[key]; p != nil {
		p.kill(why)
	}
}

// hungUp notes that a driver is gone.
func (k *keeper) hungUp(d *driver) {
	if k.w.keeper != k || k.driver != d {
		return
	}
	k.driver = nil
	if k.leaveIfIdle(); k.w.keeper != k {
		return
	}
	k.alone = k.w.after(keeperGrace, &happening{what: "keeper's grace is over", do: func() {
		if k.w.keeper != k || k.driver != nil {
			return
		}
		for _, p := range k.w.procs {
			if p.keeper == k && p.job.Timeout == 0 {
				p.kill(fault.KilledGrace)
			}
		}
	}})
}

// leaveIfIdle ends the keeper when there is no driver and nothing runs.
func (k *keeper) leaveIfIdle() {
	if k.driver == nil && len(k.live) == 0 && k.w.keeper == k {
		k.w.say("  keeper leaves")
		k.gone()
	}
}

// crash ends the keeper and nothing else: its processes go on unseen.
func (k *keeper) crash() {
	k.w.stats.KeeperCrashes++
	k.w.say("keeper dies")
	k.gone()
}

// gone tells a driver that talks to it, after all that it said before.
func (k *keeper) gone() {
	k.w.keeper = nil
	k.w.agenda.remove(k.alone)
	d := k.w.driver
	if d == nil || d.keeper != k {
		return
	}
	k.w.after(k.w.chaos.lag(lagMessage), &happening{what: "keeper is gone", after: k, do: func() { d.keeperDied(k) }})
}
