// Package demo shows Belay to somebody who has never seen it: a temporary
// repository with a small task, a real run of the real program in which each
// kind of failure happens once, and Belay itself killed in the middle. What was
// promised is looked for in the journal, in the repository and among the
// processes, never in what was printed. It uses no key and no network, touches
// no state, settings or home of its user, and leaves nothing behind.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// runID is the name of the run that is shown.
const runID belay.RunID = "ship"

// Demo is one showing.
type Demo struct {
	Self   string    // the program
	Env    []string  // of its user; what the runs get is made from it
	Out    io.Writer // the story
	Width  int       // of the terminal that it is; 0 for none
	Colour bool
	Keep   bool // the folder stays
}

// Told is what came of it.
type Told struct {
	Kind     string    `json:"kind"` // "demo"
	OK       bool      `json:"ok"`   // all that was promised was seen
	WallMS   int64     `json:"wall_ms"`
	Promises []Promise `json:"promises"`
	Kept     string    `json:"kept,omitempty"` // the folder
}

// Missing are the names of promises of which something was not seen.
func (t Told) Missing() []string {
	var names []string
	for _, p := range t.Promises {
		if !p.OK {
			names = append(names, p.Name)
		}
	}
	return names
}

// Play shows it all, and removes everything again. When ctx is cancelled, or
// nobody reads the story any more, it ends early with the reason, and removes
// everything too.
func (d Demo) Play(ctx context.Context) (told Told, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	s, err := newStage(ctx, d)
	if err != nil {
		return told, err
	}
	v := &voice{out: d.Out, width: d.Width, colour: d.Colour, lost: cancel, over: func() bool { return ctx.Err() != nil }, keep: d.Keep}
	seen, err := s.play(ctx, v)
	if errors.Is(err, errMissed) {
		v.say("The demo cannot continue: %v.", err)
		err = s.look(ctx, &seen)
	}
	if err != nil {
		return told, errors.Join(because(ctx, err), s.leave())
	}
	seen.left = s.linger()
	err = s.leave()
	told = Told{Kind: "demo", Promises: judge(seen), WallMS: time.Since(began).Milliseconds()}
	told.OK = len(told.Missing()) == 0
	if d.Keep {
		told.Kept = s.folder
	}
	return told, errors.Join(err, context.Cause(ctx))
}

// because prefers the reason why it had to end to what came of that.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// play is the show itself: what was seen of it.
func (s *stage) play(ctx context.Context, v *voice) (seen sights, err error) {
	v.say("The demo uses a repository with a failing test, two agents that play a script, and a recipe that calls others.")
	if s.keep {
		v.say("Its files are in %s and are kept.", s.folder)
	}
	d, err := s.start(v, "run", s.path("ship.yaml"), "-C", s.path("repo"), "--id", string(runID))
	if err != nil {
		return seen, err
	}
	agent, err := d.untilStarted(ctx, s.path("starts"))
	if err != nil {
		return seen, errors.Join(err, d.stop())
	}
	v.say("Belay (process %d) gets kill -9 while the agent (process %d) works.", d.pid(), agent)
	seen.killed = d.kill()
	seen.lived = alive(agent)
	v.say("Belay is dead. The agent keeps running. belay resume %s:", runID)
	if d, err = s.start(v, "resume", string(runID)); err != nil {
		return seen, err
	}
	if seen.code, err = d.goOn(ctx, s); err != nil {
		return seen, err
	}
	v.say("What happened? belay why %s:", runID)
	if d, err = s.start(v, "why", string(runID)); err != nil {
		return seen, err
	}
	if seen.why, err = d.wait(ctx); err != nil {
		return seen, err
	}
	v.say("Do its checks still pass? belay receipt %s --check (a part of what it prints):", runID)
	v.only("## Checks run again")
	if d, err = s.start(v, "receipt", string(runID), "--check"); err != nil {
		return seen, err
	}
	seen.recheck, err = d.wait(ctx)
	v.only("")
	if err != nil {
		return seen, err
	}
	return seen, s.look(ctx, &seen)
}

// told is the story of the run, as far as it is written down.
func (s *stage) told() (*story.Story, error) {
	recs, err := journal.Records(s.path("state", "runs", string(runID)))
	return story.Tell(nil, recs), err
}

// look gathers what is there after the run, outside of what it printed.
func (s *stage) look(ctx context.Context, seen *sights) error {
	told, err := s.told()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	seen.news = told.News
	if seen.starts, err = started(s.path("starts")); err != nil {
		return err
	}
	receipt, err := os.ReadFile(s.path("state", "runs", string(runID), "receipt.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // that there is none is seen by its promise
		return fmt.Errorf("read the receipt: %w", err)
	}
	seen.receipt = string(receipt)
	seen.commits = s.ask(ctx, "git", "log", "--format=%s")
	seen.dirty = s.ask(ctx, "git", "status", "--porcelain")
	seen.test = s.ask(ctx, "bash", "test.sh")
	return because(ctx, nil)
}

func (s *stage) path(parts ...string) string {
	return filepath.Join(append([]string{s.folder}, parts...)...)
}
