package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/proc"
)

const (
	chunk     = 64 << 10
	maxResult = agent.MaxAnswer // of a file that the CLI writes its result to
)

// turn is one process of the CLI, from its start to the death of its tree.
type turn struct {
	a     *attendant
	child *child
	voice voice

	seeing sync.Mutex // the witness, who may take long; locked before mu

	mu      sync.Mutex // the watch and what follows
	long    int        // lines that were too long
	session string
	over    bool     // what comes now is too late
	late    bool     // the last look came late, and decided nothing
	urgent  chan act // what a sign asks for, at most one
}

// ending is how a turn ended.
type ending struct {
	result belay.AgentResult
	ended  effect.EndedBy
	again  bool   // it was interrupted to be gone on with
	why    string // in words
	err    error  // nothing was started

	survives bool // not even KILL ended it
}

// play runs one turn.
func (a *attendant) play(ctx context.Context, prompt, resume string) ending {
	if ctx.Err() != nil { // while the evidence was taken, or between two processes
		a.notes.add(effect.NoteKill, "we were told to end before it was started", nil)
		return ending{ended: effect.EndedSignal, result: belay.AgentResult{
			Exit: -1, Class: belay.ClassCancelled, Cause: "Belay was told to end before the agent was started"}}
	}
	v, l, err := a.prepare(prompt, resume)
	if err != nil {
		return ending{err: err}
	}
	c, err := a.start(l)
	if err != nil {
		return ending{err: err}
	}
	t := &turn{a: a, child: c, voice: v, urgent: make(chan act, 1)}
	if s, ok := v.(*conversation); ok {
		s.tell, s.stop = t.hear, t.ask
	}
	a.watch.begin(time.Now())
	var life, work, pumps sync.WaitGroup
	life.Go(c.await)
	work.Go(c.hearDeath)
	work.Go(func() { v.speak(c.stdin) })
	pumps.Go(func() { t.pump(c.stdout, false) })
	pumps.Go(func() { t.pump(c.stderr, true) })
	e := t.guard(ctx)
	t.clear(ctx)
	c.drain()
	late := time.AfterFunc(2*drainFor, v.hush) // a conversation that nobody follows any more must not hold up its pump
	pumps.Wait()
	late.Stop()
	v.hush()
	c.close()
	work.Wait()
	if c.within(context.WithoutCancel(ctx), drainFor) {
		life.Wait()
	} // else the kernel does not let go of it, and we have a report to write
	return t.finish(ctx, e, l.Results)
}

// prepare makes the command line and the files of a turn.
func (a *attendant) prepare(prompt, resume string) (voice, agent.Launch, error) {
	o := a.order
	if o.Kind == agent.ACP {
		l := agent.Launch{Argv: append(append([]string{}, o.Program...), o.Args...)}
		c := newConversation(o, prompt, resume, a.prompt)
		c.hide = a.hide.String
		return c, l, nil
	}
	l, err := a.parts.adapter.Launch(agent.Task{
		Agent: o.Agent, Dir: o.Dir, Home: o.Home, Session: o.Session, Resume: resume, Tools: o.Tools, Prompt: prompt,
	})
	if err != nil {
		return nil, l, fmt.Errorf("prepare %s: %w", o.Name, err)
	}
	for path, text := range l.Files {
		if err := put(path, text); err != nil {
			return nil, l, fmt.Errorf("prepare %s: %w", o.Name, err)
		}
	}
	beneath, err := lay(l.Defaults, environment(os.Environ(), l.Unset, l.Env, o.Env))
	if err != nil {
		return nil, l, fmt.Errorf("prepare %s: %w", o.Name, err)
	}
	l.Env = append(l.Env, beneath...)
	v := &reading{reader: a.parts.adapter.Reader()}
	agent.Conceal(v.reader, a.hide.String)
	if l.Stdin {
		v.prompt = prompt
	}
	return v, l, nil
}

// pump passes a stream on as it is, and its lines to the voice.
func (t *turn) pump(r *os.File, stderr bool) {
	cutter, out := lines{max: maxLine}, whole{to: t.a.raw}
	buf := make([]byte, chunk)
	each := func(line []byte) {
		for _, s := range t.voice.line(line, stderr) {
			t.hear(s)
		}
	}
	if !stderr {
		cutter.past = t.missed
	}
	take := func(b []byte) {
		out.write(b)
		cutter.feed(b, each)
	}
	for {
		n, err := r.Read(buf)
		take(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			proc.Rest(r, buf, take) // it was said while the agent lived, however slowly we listened
		}
		if err != nil {
			break // its end, or nobody waits for it any more
		}
	}
	out.flush()
	cutter.end(each)
	t.mu.Lock()
	t.long += cutter.long
	t.mu.Unlock()
}

// missed takes in that a line was too long to be read. Where all is answer that
// is too much of it, and nothing is left to wait for.
func (t *turn) missed(head []byte) {
	t.voice.missed(head)
	if t.a.traits.Untold {
		t.ask(t.a.watch.tooMuch())
	}
}

// hear takes in a sign: the watch first, which must know it in time.
func (t *turn) hear(s agent.Sign) {
	t.live(s)
	t.seeing.Lock()
	defer t.seeing.Unlock()
	t.mu.Lock()
	over := t.over
	t.mu.Unlock()
	if !over {
		t.a.witness.Hear(s)
	}
}

// live gives a sign to the watch, and does what it asks for.
func (t *turn) live(s agent.Sign) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	if s.Session != "" && s.Session != t.session {
		t.session = s.Session
		t.a.know(s.Session)
	}
	switch got := t.a.watch.sign(time.Now(), s); got.kind {
	case actNone:
	case actNote:
		t.a.notes.add(got.note, got.text, nil)
	case actInterrupt, actKill:
		t.ask(got)
	}
}

// ask asks for an end of the process.
func (t *turn) ask(got act) {
	select {
	case t.urgent <- got:
	default: // one is on its way
	}
}

// guard waits for the end of the process, or brings it about.
func (t *turn) guard(ctx context.Context) ending {
	pace := t.a.pace()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	looked := time.Now()
	for {
		select {
		case <-t.child.gone:
			return ending{}
		case <-ctx.Done():
			t.a.notes.add(effect.NoteKill, "we were told to end", nil)
			t.child.stop(context.WithoutCancel(ctx), agent.StopTerm, toldGrace)
			return ending{ended: effect.EndedSignal, why: "Belay was told to end it"}
		case <-t.voice.finished():
			if !t.child.within(ctx, toldGrace) {
				t.a.notes.add(effect.NoteKill, "it has no more to say, and did not leave", nil)
				t.child.stop(ctx, agent.StopTerm, toldGrace)
			}
			return ending{}
		case got := <-t.urgent:
			return t.act(ctx, got)
		case <-tick.C:
			if t.child.left() {
				return ending{} // it left before we looked, however late that was
			}
			proc.ReapOrphans(t.child.cmd.Process.Pid)
			at := time.Now()
			got := t.look(at, at.Sub(looked)-latest*pace)
			looked = at
			switch got.kind {
			case actNone:
			case actNote:
				t.a.notes.add(got.note, got.text, nil)
			case actInterrupt, actKill:
				return t.act(ctx, got)
			}
		}
	}
}

// look asks the watch. What is over the time that a look may take to come was
// nobody's: the machine stood still or was paused, and the agent with it. What
// came meanwhile, its end perhaps, is taken in before anything is decided.
func (t *turn) look(at time.Time, over time.Duration) act {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over > 0 {
		t.a.watch.stood(at, over)
	}
	if t.late = over > 0 && !t.late; t.late {
		return act{}
	}
	return t.a.watch.tick(at)
}

// act ends the process because the watch says so.
func (t *turn) act(ctx context.Context, got act) ending {
	note := effect.NoteKill
	if got.kind == actInterrupt {
		note = effect.NoteInterrupt
	}
	t.a.notes.add(note, got.text, nil)
	if !t.child.stop(ctx, t.a.traits.Interrupt, t.a.windows.Gentle) {
		t.a.notes.add(effect.NoteKill, "not even KILL ended it", nil)
	}
	return ending{ended: got.why, again: got.kind == actInterrupt, why: got.text}
}

// clear ends what the process left behind, also after a success.
func (t *turn) clear(ctx context.Context) {
	grace := strayGrace
	if ctx.Err() != nil {
		grace /= 2
	}
	n, err := proc.EndBelow(grace)
	t.a.strays += n
	switch {
	case n == 1:
		t.a.notes.add(effect.NoteKill, "1 process that was left behind", nil)
	case n > 1:
		t.a.notes.add(effect.NoteKill, fmt.Sprintf("%d processes that were left behind", n), nil)
	}
	if err != nil {
		t.a.notes.add(effect.NoteKill, err.Error(), nil)
	}
}

// finish folds what the process printed into a result.
func (t *turn) finish(ctx context.Context, e ending, files []string) ending {
	x := agent.Exit{At: time.Now(), Files: map[string][]byte{}}
	select {
	case <-t.child.gone:
		x.Code, x.Signal = t.child.exit()
	default:
		x.Code = -1
		e.survives = true
	}
	for _, path := range files {
		if b, err := readBounded(path, maxResult); err == nil { // one that was not written says nothing
			x.Files[path] = b
		}
	}
	t.seeing.Lock()
	defer t.seeing.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	e.result = t.voice.end(x)
	e.result.Bad += t.long
	e.result.Cut = t.a.cutOf(e)
	if e.result.Session == "" {
		e.result.Session = t.session
	}
	if e.survives {
		e.result.Error, e.result.Class, e.again = true, belay.ClassInfrastructure, false
		e.result.Cause = fmt.Sprintf("its process %d survives, KILL did not end it", t.child.cmd.Process.Pid)
		t.a.notes.add(effect.NoteKill, e.result.Cause, nil)
	}
	done := e.result.Final && !e.result.Error
	switch {
	case e.again && done:
		e.again, e.ended = false, effect.EndedItself // it was ready when it was interrupted
	case e.again && ctx.Err() != nil:
		e.again, e.ended = false, effect.EndedSignal
	}
	return e
}

// notThere tells whether nothing could be started because the program is missing.
func notThere(err error) (string, bool) {
	var m *missing
	if errors.As(err, &m) {
		return m.name, true
	}
	return "", false
}
