package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
)

// followEvery is how often a followed log is looked at.
const followEvery = 100 * time.Millisecond

func (a *app) logsCommand() *cobra.Command {
	var follow bool
	cmd := command("logs RUN [STEP]", "print what steps printed", 1, 2,
		func(ctx context.Context, _ *cobra.Command, args []string) error { return a.logs(ctx, args, follow) })
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run is not running any more")
	cmd.ValidArgsFunction = a.completeStep
	return cmd
}

func (a *app) logs(ctx context.Context, args []string, follow bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	s, err := tell(st, args[0])
	if err != nil {
		return err
	}
	defer closing(&err, "close journal", s.close)
	r := &reading{app: a, story: s, by: map[belay.Key]bool{}, more: follow && len(args) == 1}
	if len(args) == 2 {
		if _, err := s.step(belay.Path(args[1])); err != nil {
			return err
		}
		r.only = belay.Path(args[1])
	}
	defer r.close()
	r.take(s.recs)
	if !follow {
		return r.pump()
	}
	ctx, at := attend(ctx, nil)
	defer func() { _ = at.stop() }() // the context says which signal it was
	if err := r.pump(); err != nil {
		return err
	}
	return r.follow(ctx)
}

// reading prints the logs of attempts in the order in which they began.
type reading struct {
	*app
	story  *story
	only   belay.Path // "" = all steps
	open   []*source
	by     map[belay.Key]bool
	more   bool    // other attempts may come
	shown  *source // whose text was printed last
	status belay.Status
	last   int64
}

// source is the log of one attempt.
type source struct {
	name  string
	log   *proc.LogReader
	ended bool
	key   belay.Key
}

// take notes the attempts that records speak of.
func (r *reading) take(recs []belay.Record) {
	root := r.story.id.Root()
	for _, rec := range recs {
		r.last = rec.Seq
		switch e := rec.Event.(type) {
		case belay.AttemptStarted:
			r.add(rec.Run, e)
		case belay.AttemptEnded:
			for _, s := range r.open {
				s.ended = s.ended || s.key == e.Key
			}
		case belay.RunAttached:
			r.status = belay.Running
		case belay.RunHeld:
			r.status = belay.Held
		case belay.RunStopped:
			r.status = belay.Stopped
		case belay.RunEnded:
			if rec.Run == root {
				r.status = e.Status
			}
		}
	}
}

func (r *reading) add(run belay.RunID, e belay.AttemptStarted) {
	below := run == r.story.id || strings.HasPrefix(string(run), string(r.story.id)+"/")
	if e.Child != "" || !below || r.by[e.Key] || r.only != "" && (e.Path != r.only || run != r.story.id) {
		return
	}
	r.by[e.Key] = true
	name := fmt.Sprintf("%s %d", e.Path, e.Attempt)
	if run != r.story.id {
		name = string(run) + " " + name
	}
	if e.Role != belay.RoleMain {
		name += " " + string(e.Role)
	}
	r.open = append(r.open, &source{name: name, key: e.Key, log: proc.FollowLog(r.story.view.LogPath(e.Key))})
}

// pump prints what there is to be read now.
func (r *reading) pump() error {
	for _, s := range r.open {
		if _, err := io.Copy(&headed{r, s}, s.log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read log of %s: %w", s.name, err)
		}
	}
	keep := r.open[:0]
	for _, s := range r.open {
		if !s.ended {
			keep = append(keep, s)
			continue
		}
		if err := s.log.Close(); err != nil {
			return fmt.Errorf("close log of %s: %w", s.name, err)
		}
	}
	r.open = keep
	return nil
}

// headed says on stderr whose text follows, when that changes.
type headed struct {
	*reading
	from *source
}

func (h *headed) Write(p []byte) (int, error) {
	if h.shown != h.from {
		if (h.more || len(h.by) > 1) && !h.quiet {
			fmt.Fprintf(h.std.Err, "== %s\n", h.from.name)
		}
		h.shown = h.from
	}
	return h.out.Write(p)
}

// follow goes on with new records and new text until the run rests, its driver
// is gone, or somebody asks to stop.
func (r *reading) follow(ctx context.Context) error {
	for r.status == belay.Running {
		alive := r.alive()
		step, cancel := context.WithTimeoutCause(ctx, followEvery, errNoReply)
		err := r.story.view.Follow(step, r.last, followEvery/2, func(recs []belay.Record) error {
			r.take(recs)
			return errHeard
		})
		cancel()
		if err := r.pump(); err != nil {
			return err
		}
		var s *Signalled
		switch {
		case errors.As(context.Cause(ctx), &s):
			return belay.Exit(s.ExitCode(), "follow logs", s, "")
		case !errors.Is(err, errNoReply) && !errors.Is(err, errHeard):
			return err
		case !alive && r.status == belay.Running && errors.Is(err, errNoReply):
			a := r.app
			a.say("nobody drives run %s any more; go on with %s resume %s", r.story.id.Root(), a.name(), r.story.id.Root())
			return nil
		}
	}
	return nil
}

// alive tells whether the process that wrote the last beat is there.
func (r *reading) alive() bool {
	return r.story.view.Beat().Driver().Alive()
}

func (r *reading) close() {
	for _, s := range r.open {
		_ = s.log.Close() // opened for reading: nothing can be lost
	}
}

// driverOf is the process that an attach names.
func driverOf(e belay.RunAttached) proc.Identity {
	return proc.Identity{Pid: e.Pid, Start: e.Start, Boot: e.Boot}
}
