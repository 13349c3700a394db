package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/worktree"
)

// Site is where the attempts of a run are made: the hand, and what runs share
// there. What it says about an attempt is the same for every driver.
type Site struct {
	Hand   *hand.Hand
	Ledger Ledger
	Now    func() time.Time
}

// Start starts the process of a job. What keeps it from starting is the end of the
// attempt, and so is the end of a job that needs no process; only when an agent
// cannot be counted it is not begun at all.
func (s Site) Start(ctx context.Context, k Keeper, j effect.Job) (ends []flow.Fact, err error) {
	if j.Call != nil {
		return []flow.Fact{s.called(j)}, nil
	}
	if j.Agent != nil {
		if err := s.Ledger.Count(j.Key); err != nil {
			return nil, err
		}
	}
	p, err := s.Hand.Prepare(ctx, j)
	if err != nil {
		return s.unstarted(j, err)
	}
	var tooBig *proc.TooBig
	if err := k.Spawn(p); errors.As(err, &tooBig) { // any other error: the connection broke, and Gone follows
		return s.unstarted(j, &step.Fault{Kind: fault.TooBig, Err: err})
	}
	return nil, nil
}

// unstarted is the end of an attempt of which nothing was started.
func (s Site) unstarted(j effect.Job, err error) ([]flow.Fact, error) {
	return []flow.Fact{endOf(j, step.Unstarted(err, s.Now()))}, s.tell(j, nil)
}

// Found is what became of an attempt that an earlier driver left. lost is how
// often its step was lost so far, by the records.
//
// One that its keeper ended because its host could be taken for lost is lost, also when
// that host is the one that finds it: others would have begun it again, and how it left
// says nothing about its step.
func (s Site) Found(job effect.Job, lost int, st proc.State) ([]flow.Fact, error) {
	facts, err := s.Hand.Notes(job) // before the attempt is closed
	if err != nil {
		return nil, err
	}
	e := event.AttemptFound{Key: job.Key, How: st.Found}
	if st.Found == fault.Harvested && st.Exit.KilledBy == fault.KilledLease {
		e.How = fault.Lost
	}
	switch e.How {
	case fault.Lost:
		n, err := s.Ledger.CountLost(job.Run, job.Path, lost)
		if err != nil {
			return nil, fmt.Errorf("count a lost attempt: %w", err)
		}
		e.Count = n
		e.Left = s.Hand.Left(job)
		if st.Exit != nil { // an agent may have reported what it used
			_, err = s.Ended(job, *st.Exit)
		} else {
			err = s.tell(job, nil)
		}
		if err != nil {
			return nil, err
		}
	case fault.Harvested:
		end, err := s.Ended(job, *st.Exit)
		return append(facts, flow.Fact{Run: job.Run, Event: e}, end), err
	case fault.Adopted, fault.Unborn:
	}
	return append(facts, flow.Fact{Run: job.Run, Event: e}), nil
}

// Ended is the end of an attempt. What an agent used is counted before it is a
// record: under its key, so that a crash between the two counts nothing twice.
func (s Site) Ended(job effect.Job, e proc.Exit) (flow.Fact, error) {
	o := s.Hand.Observe(job, e)
	if err := s.tell(job, o.Agent); err != nil {
		return flow.Fact{}, err
	}
	if o.Agent != nil {
		if err := s.Ledger.Spend(job.Key, o.Agent.Starts(), o.Agent.Result.Usage); err != nil {
			return flow.Fact{}, err
		}
	}
	return endOf(job, o), nil
}

// called is the end of a job that needs no process: it is done here and now.
func (s Site) called(job effect.Job) flow.Fact {
	began := s.Now()
	o := s.Hand.Call(job)
	o.Started, o.Ended = began, s.Now()
	return endOf(job, o)
}

func endOf(job effect.Job, o effect.Observation) flow.Fact {
	return flow.Fact{Run: job.Run, Event: event.AttemptEnded{Key: job.Key, Observation: o}}
}

// Tree asks for a working tree, and tells whether another run has it: then it is
// to be asked for again. waited is how long that lasted so far.
func (s Site) Tree(q effect.AskTree, waited time.Duration) (a effect.AnswerTree, wait bool) {
	a = effect.AnswerTree{Dir: q.Dir, Tree: worktree.Whole(q.Dir)}
	got, err := s.Ledger.TakeTree(ledger.Lease{Tree: a.Tree, Step: q.Step, Shared: q.Shared})
	switch {
	case err != nil:
		a.Error = "the working tree could not be asked for: " + err.Error()
	case got.OK:
		failpoint.Hit("engine.tree_taken")
		a.OK, a.Taken, a.Waited = true, got.Taken, waited
	case got.Never:
		a.By = got.By
		a.Error = fmt.Sprintf("run %s works in %s, and waiting for it could last for ever: this run was started inside another one, which has a working tree of its own", got.By, a.Tree)
	default:
		a.By = got.By
		return a, true
	}
	return a, false
}

// Permit asks for one more agent: the budget first, then the service that it
// calls.
func (s Site) Permit(k belay.Key, q effect.AskAgent) effect.AnswerAgent {
	if a := s.afford(k); !a.OK {
		return a
	}
	return s.gate(k, q)
}

// afford counts one more agent where all sessions of the tree see it.
func (s Site) afford(k belay.Key) effect.AnswerAgent {
	now := s.Now()
	p, err := s.Ledger.Permit(k, now)
	if err != nil {
		return effect.AnswerAgent{Error: "the budget could not be read: " + err.Error()}
	}
	const all = ", with all runs that belong to this one"
	switch p.Short(now) {
	case ledger.ShortStarts:
		return effect.AnswerAgent{Error: fmt.Sprintf("%d of %d agent starts are used%s", p.Starts-1, p.MaxStarts, all)}
	case ledger.ShortTokens:
		return effect.AnswerAgent{Error: fmt.Sprintf("%d of %d tokens are used%s", p.Tokens, p.MaxTokens, all)}
	case ledger.ShortMoney:
		return effect.AnswerAgent{Error: fmt.Sprintf("$%.2f of $%.2f are spent%s", float64(p.Micros)/1e6, float64(p.MaxMicros)/1e6, all)}
	case ledger.ShortTime:
		return effect.AnswerAgent{Error: "the time for agents was over at " + p.Until.Local().Format("2006-01-02 15:04:05 MST") + all}
	case ledger.ShortNothing:
	}
	return effect.AnswerAgent{OK: true}
}

// gate asks whether the service that an agent calls takes calls now.
func (s Site) gate(k belay.Key, q effect.AskAgent) effect.AnswerAgent {
	if q.Name == "" {
		return effect.AnswerAgent{OK: true}
	}
	g, err := s.Ledger.Allow(q.Name, k, q.Retry, s.Now())
	if err != nil {
		return effect.AnswerAgent{Error: "what is known of " + q.Name + " could not be read: " + err.Error()}
	}
	return effect.AnswerAgent{OK: g.OK, Error: g.Why, Until: g.Until, Spent: g.Spent}
}

// tell says what came of an agent's attempt to those who count for the service
// that it calls. An attempt that came to nothing is told of too: it may be the
// one that all others wait for.
func (s Site) tell(job effect.Job, r *effect.AgentReport) error {
	if job.Agent == nil {
		return nil
	}
	now := s.Now()
	return s.Ledger.Report(job.Agent.Name, job.Key, cameOf(r, now), now)
}
