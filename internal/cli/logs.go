package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/story"
)

// followEvery is how often a followed log is looked at.
const followEvery = 100 * time.Millisecond

type logOptions struct {
	follow bool
	json   bool
	raw    bool // agents as they are
}

func (a *app) logsCommand() *cobra.Command {
	var o logOptions
	cmd := command("logs RUN [STEP]", "print the output of steps", 1, 2,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			read := a.readFiles
			if o.follow { // what is missing comes while it is followed
				read = a.read
			}
			return read(args[0], func(s *runView) error { return a.logs(ctx, s, args[1:], o) })
		})
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on until the run is not running any more")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line of text")
	cmd.Flags().BoolVar(&o.raw, "raw", false, "print the records of an agent's program as it wrote them")
	cmd.ValidArgsFunction = a.completeStep
	return cmd
}

func (a *app) logs(ctx context.Context, s *runView, step []string, o logOptions) (err error) {
	o.follow = o.follow && s.lies == nil // nothing comes any more
	r := &reading{app: a, run: s, names: tui.NewNames(s.Tree), more: o.follow && len(step) == 0, json: o.json, raw: o.raw}
	if len(step) > 0 {
		if r.only, err = s.part(belay.Path(step[0])); err != nil {
			return err
		}
	}
	defer r.close()
	r.take()
	if !o.follow {
		r.over = true
		return r.pump()
	}
	ctx, at := attend(ctx, nil)
	defer func() { _ = at.stop() }() // the context says which signal it was
	if err := r.pump(); err != nil {
		return err
	}
	from, err := a.bringer(s)
	if err != nil {
		return err
	}
	defer closing(&err, "close state", from.close)
	if err := r.follow(ctx, from); err != nil {
		return err
	}
	if from != nil {
		from.bring(ctx, s.Seq) // the last text may have come after the last look
	}
	r.over = true
	return r.pump()
}

// reading prints the logs of attempts in the order in which they began.
type reading struct {
	*app
	run    *runView
	names  *tui.Names
	only   part // its Path is "" for all steps
	open   []*source
	taken  int     // attempts that were looked at
	logs   int     // and of them those that are printed
	more   bool    // other attempts may come
	over   bool    // nothing more will be looked at
	json   bool    // each line of text is an object
	raw    bool    // what agents printed is not made readable
	shown  *source // whose text was printed last
	strict *answer // before a terminal
}

// source is the log of one attempt.
type source struct {
	name  string
	line  logLine // as --json prints it, without its text
	begun []byte  // the beginning of a line whose end is not there yet
	log   *proc.LogReader
	of    *story.Attempt
	to    io.Writer   // made at the first text
	tale  *transcript // of an agent
}

// logLine is a line of a log as --json prints it.
type logLine struct {
	Run     belay.RunID `json:"run"`
	Step    belay.Path  `json:"step"`
	Attempt int         `json:"attempt"`
	Role    belay.Role  `json:"role"`
	Text    string      `json:"text"`
}

// take looks at the attempts that began since the last time.
func (r *reading) take() {
	for _, a := range r.run.Attempts[r.taken:] {
		r.taken++
		r.add(a)
	}
}

func (r *reading) add(a *story.Attempt) {
	wanted := r.only.Path == "" || r.only.has(a)
	if a.Child != "" || !a.Run.Under(r.run.id) || !wanted {
		return
	}
	if minor := r.only.Path == "" && !r.verbose && !r.json && r.run.Minor(a.Place); minor && (a.Verdict == nil || a.Verdict.OK) {
		return // -v has it, and so has its own name
	}
	name := r.names.Of(a.Place)
	if a.N > 1 {
		name += fmt.Sprintf(", attempt %d", a.N)
	}
	if a.Role != belay.RoleMain {
		name += ", " + string(a.Role)
	}
	r.logs++
	r.open = append(r.open, &source{
		name: name, line: logLine{Run: a.Run, Step: a.Path, Attempt: a.N, Role: a.Role},
		log: proc.FollowLog(r.run.view.LogPath(a.Key)), of: a,
	})
}

// pump prints what there is to be read now. What has ended is closed before the
// next is opened: a run may have more attempts than a process may have files.
func (r *reading) pump() error {
	var keep []*source
	for _, s := range r.open {
		if _, err := io.Copy(&spout{r, s}, s.log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read log of %s: %w", s.name, err)
		}
		if !s.of.Over() && !r.over {
			keep = append(keep, s)
			continue
		}
		if s.tale != nil {
			if err := s.tale.close(); err != nil {
				return err
			}
		}
		if len(s.begun) > 0 {
			r.text(s, s.begun)
		}
		if err := s.log.Close(); err != nil {
			return fmt.Errorf("close log of %s: %w", s.name, err)
		}
	}
	r.open = keep
	return nil
}

// spout takes the text of a log to where it is printed. Which way that is can be
// told only when there is text: then the order of an agent's attempt is there.
type spout struct {
	*reading
	from *source
}

func (d *spout) Write(p []byte) (int, error) {
	s := d.from
	if s.to == nil {
		s.to = &headed{d.reading, s}
		if d.json {
			s.to = &lined{d.reading, s}
		}
		if s.of.Agent != "" && !d.raw {
			s.tale = newTranscript(s.to, kindOf(d.run.view, s.of.Key, s.of.Agent))
		}
		if s.tale != nil {
			s.to = s.tale
		}
	}
	return s.to.Write(p)
}

// lined prints each line of a log as an object.
type lined struct {
	*reading
	from *source
}

func (l *lined) Write(p []byte) (int, error) {
	s := l.from
	s.begun = append(s.begun, p...)
	for {
		i := bytes.IndexByte(s.begun, '\n')
		if i < 0 {
			return len(p), l.out.err
		}
		l.text(s, s.begun[:i])
		s.begun = s.begun[i+1:]
	}
}

func (r *reading) text(s *source, line []byte) {
	l := s.line
	l.Text = string(line)
	r.object(l)
}

// headed says on stderr whose text follows, when that changes.
type headed struct {
	*reading
	from *source
}

func (h *headed) Write(p []byte) (int, error) {
	if h.shown != h.from {
		if (h.more || h.logs > 1) && !h.quiet {
			fmt.Fprintf(h.std.Err, "== %s\n", h.from.name)
		}
		h.shown = h.from
	}
	if d, ok := h.std.Out.(*readable.Door); ok && h.strict == nil {
		h.strict = &answer{w: d.Strict()} // all that follows is text from outside
	}
	if h.strict == nil {
		return h.out.Write(p) // a file or a pipe gets the bytes as they are
	}
	n, err := h.strict.Write(p)
	h.out.err = h.strict.err
	return n, err
}

// follow goes on with new records and new text until the run rests, its driver
// is gone, or somebody asks to stop. What a run does that is driven elsewhere is
// brought here meanwhile, and its text is printed when that was done.
func (r *reading) follow(ctx context.Context, from *bringer) error {
	for r.run.Status == belay.Running || r.run.Status == belay.Parked {
		alive := from != nil || r.alive()
		step, cancel := context.WithTimeoutCause(ctx, followEvery, errNoReply)
		err := r.run.view.Follow(step, r.run.Seq, followEvery/2, func(recs []event.Record) error {
			r.run.Add(recs...)
			r.take()
			return errHeard
		})
		cancel()
		if from == nil || from.look(ctx, r.run.Seq) {
			if err := r.pump(); err != nil {
				return err
			}
		}
		var s *Signalled
		switch {
		case errors.As(context.Cause(ctx), &s):
			return exit.New(s.ExitCode(), "follow logs", s, "")
		case !errors.Is(err, errNoReply) && !errors.Is(err, errHeard):
			return err
		case !alive && r.run.Status == belay.Running && errors.Is(err, errNoReply):
			a := r.app
			a.say("nobody drives run %s any more; go on with %s resume %s", r.run.id.Root(), a.name(), r.run.id.Root())
			return nil
		}
	}
	return nil
}

// alive tells whether the process that wrote the last beat is there.
func (r *reading) alive() bool {
	return r.run.view.Beat().Driver().Alive()
}

func (r *reading) close() {
	for _, s := range r.open {
		_ = s.log.Close() // opened for reading: nothing can be lost
	}
}

// driverOf is the process that an attach names.
func driverOf(e event.RunAttached) proc.Identity {
	return proc.Identity{Pid: e.Pid, Start: e.Start, Boot: e.Boot}
}
