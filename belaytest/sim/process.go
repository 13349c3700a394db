package sim

import (
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

// killGrace is how long a process may go on after a polite request to end.
const killGrace = 5 * time.Second

// program is what a process does: acts with pauses before them.
type program struct {
	acts     []act
	code     int           // what it will exit with, where that is known
	stubborn time.Duration // how long it goes on after it was asked to end
}

// act is one thing a process does; over tells that it exits with the code.
type act struct {
	pause time.Duration
	do    func(p *process) (code int, over bool)
}

// process is a fake process.
type process struct {
	w       *world
	job     effect.Job
	keeper  *keeper // the one that started it, dead or alive
	prog    program
	born    time.Time
	next    int
	pending []*happening
	why     fault.KilledBy
	alive   bool
	out     string
	out64   *belay.Value // a big output
}

// ending is what a keeper knows about an end.
type ending struct {
	key      belay.Key
	began    bool
	code     int
	signal   int
	killedBy fault.KilledBy
	started  time.Time
	ended    time.Time
	output   *belay.Value
}

func (p *process) later(d time.Duration, what string, do func()) {
	h := p.w.after(d, &happening{what: what + " " + string(p.job.Key), lane: "p " + string(p.job.Key), do: do})
	p.pending = append(p.pending, h)
}

// goOn does the acts up to the next pause.
func (p *process) goOn() {
	for p.next < len(p.prog.acts) {
		a := p.prog.acts[p.next]
		if a.pause > 0 && p.pause(a.pause) {
			return
		}
		p.next++
		if code, over := a.do(p); over {
			p.end(code, 0)
			return
		}
	}
	p.end(0, 0)
}

// pause waits before the next act.
func (p *process) pause(d time.Duration) bool {
	p.prog.acts[p.next].pause = 0
	p.later(d, "work of", p.goOn)
	return true
}

// kill asks it to end, and ends it when it does not.
func (p *process) kill(why fault.KilledBy) {
	if !p.alive || p.why != fault.KilledNot {
		return
	}
	p.why = why
	signal := 15
	if p.prog.stubborn > killGrace {
		signal = 9
	}
	h := p.w.after(min(p.prog.stubborn, killGrace), &happening{
		what: "killed " + string(p.job.Key), do: func() { p.end(128+signal, signal) },
	})
	p.pending = append(p.pending, h)
}

// vanish ends it without a trace: its end is seen by nobody.
func (p *process) vanish() {
	p.alive = false
	for _, h := range p.pending {
		p.w.agenda.remove(h)
	}
	p.w.procs = slices.DeleteFunc(p.w.procs, func(o *process) bool { return o == p })
}

func (p *process) end(code, signal int) {
	if !p.alive {
		return
	}
	p.vanish()
	e := &ending{
		key: p.job.Key, began: true, code: code, signal: signal, killedBy: p.why, started: p.born, ended: p.w.now,
	}
	if p.job.Output {
		v := p.w.text(p.out)
		e.output = &v
		if p.out64 != nil {
			e.output = p.out64
		}
	}
	p.w.truth.exited(e)
	p.w.say("  exit %s code %d signal %d by %q", e.key, code, signal, p.why)
	if p.keeper == p.w.keeper {
		p.keeper.exited(p, e)
	}
}
