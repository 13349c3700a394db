package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/journal"
)

// Other is an engine beside the local one, which a program brings along.
type Other interface {
	// Name is its name behind --engine and in BELAY_ENGINE.
	Name() string
	// Flags adds its flags. What they are set to becomes variables of the environment,
	// by Settings, so that processes that this one starts know them, too.
	Flags(*pflag.FlagSet)
	Settings() []string
	// Open reaches it. close is called at the end.
	Open(ctx context.Context, env func(string) string) (at engine.Elsewhere, close func(), err error)
	// Worker adds the flags of its worker, and gives what is that: it works until
	// ctx is done.
	Worker(*pflag.FlagSet) func(ctx context.Context, env func(string) string, local *engine.Local, say func(string)) error
}

// otherFlags adds what the other engine needs.
func (a *app) otherFlags(root *cobra.Command) {
	if a.program.Engine == nil {
		return
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.engine, "engine", "", fmt.Sprintf("who drives runs: %s or %s (BELAY_ENGINE; default %s)", config.EngineLocal, a.program.Engine.Name(), config.EngineLocal))
	a.program.Engine.Flags(flags)
	root.AddCommand(a.workerCommand())
}

// farEnviron adds the settings of the other engine to the environment: those of the file
// that it has not, and the flags, which are over both.
func (a *app) farEnviron(cfg *config.Config) {
	a.environ = slices.Concat(a.environ, cfg.Far(a.env), a.program.Engine.Settings())
}

// elsewhere is the other engine, where it was chosen; nil = this machine drives.
func (a *app) elsewhere(ctx context.Context, cfg *config.Config) (engine.Elsewhere, error) {
	name := cmp.Or(a.engine, cfg.Engine.Value)
	switch {
	case name == config.EngineLocal:
		return nil, nil
	case a.program.Engine == nil:
		return nil, exit.New(exit.Invalid, "choose the engine", fmt.Errorf("%s: this program has the local engine only, not %s", cfg.Engine.Origin, name),
			"type belay-"+name+" instead of belay, or set BELAY_ENGINE="+config.EngineLocal)
	case name != a.program.Engine.Name():
		return nil, exit.New(exit.Usage, "", fmt.Errorf("--engine %q: must be %s or %s", name, config.EngineLocal, a.program.Engine.Name()), "")
	}
	if a.far != nil {
		return a.far, nil
	}
	a.farEnviron(cfg)
	a.environ = append(a.environ, "BELAY_ENGINE="+name)
	at, end, err := a.program.Engine.Open(ctx, a.env)
	if err != nil {
		return nil, err
	}
	a.far, a.farEnd = at, end
	return at, nil
}

// refresh brings the copies of runs up to date that another engine drives: the one
// that is named, or all that may have gone on. One that a process here follows is.
func (a *app) refresh(ctx context.Context, arg string) error {
	return a.refreshing(ctx, arg, a.complain)
}

// refreshing is refresh with somebody who is told which runs could not be brought.
func (a *app) refreshing(ctx context.Context, arg string, tell func(error)) error {
	cfg, err := config.Load(a.environ)
	if err != nil && a.program.Engine == nil { // to look no settings are needed
		return nil
	}
	if err != nil {
		return err
	}
	far, err := a.elsewhere(ctx, cfg)
	if far == nil || err != nil {
		return err
	}
	ws, err := a.openWith(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = ws.close() }() // what could not be fetched was said
	ids := []belay.RunID{}
	if arg != "" {
		id, err := runID(ws.state, arg)
		var unknown *journal.Unknown
		if errors.As(err, &unknown) {
			id = belay.RunID(arg).Root()
			begun, err := a.adopt(ws, id)
			if err != nil || !begun {
				return err // the command itself says that there is no such run
			}
		} else if err != nil {
			return nil //nolint:nilerr // the command itself says what is wrong with the name
		}
		ids = append(ids, id.Root())
	} else {
		sums, err := ws.state.Runs(belay.Running, belay.Held, belay.Paused)
		if err != nil {
			return err
		}
		for _, s := range sums {
			ids = append(ids, s.ID)
		}
	}
	for _, id := range ids {
		if !engine.IsElsewhere(ws.state.Folder(id)) && ws.state.Begun(id) {
			continue
		}
		seq, err := bringRecords(ws, id)
		if err == nil && arg != "" {
			_, err = a.bringFiles(ctx, id, ws.state.Folder(id), seq)
		}
		var mute *engine.Silent
		if errors.As(err, &mute) { // what the records say is there all the same
			a.silent = mute.Host
			continue
		}
		var none *journal.Unbegun
		if err != nil && !errors.As(err, &none) { // of one that began nowhere the command itself tells
			tell(fmt.Errorf("bring run %s up to date: %w", id, err))
		}
	}
	return nil
}

// bringRecords brings the records that a copy lacks, and gives the number of the last.
// Where another process has the copy, that one does; the number is 0 then.
func bringRecords(ws *workshop, id belay.RunID) (seq int64, err error) {
	open, err := ws.local.Resume(id)
	if isBusy(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return open.Copy().Seq(), errors.Join(open.Note(open.Result()), open.Close())
}

// bringFiles brings logs and big values, for a run that is looked at closely, whoever
// has its copy: a process that drives it brings records only.
func (a *app) bringFiles(ctx context.Context, id belay.RunID, f journal.Folder, seq int64) (engine.Brought, error) {
	files, ok := a.far.(interface {
		Files(ctx context.Context, id belay.RunID, f journal.Folder, seq int64) (engine.Brought, error)
	})
	if !ok {
		return engine.Brought{}, nil
	}
	return files.Files(ctx, id, f, seq)
}

// bringer brings what a run does that another engine drives, while it is followed.
type bringer struct {
	*app
	ws    *workshop
	id    belay.RunID // its root
	pause time.Duration
	next  time.Time
	said  string // what was wrong the last time
}

// How often it is looked for what is new, when something came and when nothing does.
const (
	bringSoon = 500 * time.Millisecond
	bringLate = 3 * time.Second
)

// bringer is that of a run; nil for one whose records come without it.
func (a *app) bringer(s *runView) (*bringer, error) {
	if a.far == nil || s.lies != nil || !engine.IsElsewhere(s.view.Folder) {
		return nil, nil
	}
	ws, err := a.open()
	if err != nil {
		return nil, err
	}
	return &bringer{app: a, ws: ws, id: s.id.Root(), pause: bringSoon}, nil
}

func (b *bringer) close() error {
	if b == nil {
		return nil
	}
	return b.ws.close()
}

// look brings what is new when it is time to, and tells whether it did: then the logs are
// here of all that the records up to seq tell.
func (b *bringer) look(ctx context.Context, seq int64) bool {
	if time.Now().Before(b.next) {
		return false
	}
	b.bring(ctx, seq)
	b.next = time.Now().Add(b.pause)
	return true
}

// bring brings what is new now. What is wrong is said once: the next look may be better.
func (b *bringer) bring(ctx context.Context, seq int64) {
	got, err := b.bringFiles(ctx, b.id, b.ws.state.Folder(b.id), seq)
	if got.Records {
		_, late := bringRecords(b.ws, b.id)
		err = errors.Join(err, late)
	}
	if b.pause = min(b.pause*3/2, bringLate); got.Bytes > 0 || got.Records {
		b.pause = bringSoon
	}
	if ctx.Err() != nil || err == nil {
		b.said = ""
		return
	}
	if text := err.Error(); text != b.said {
		b.said = text
		if mute := (*engine.Silent)(nil); errors.As(err, &mute) {
			b.say("%v: what comes from there is not shown until it does", mute)
			return
		}
		b.complain(fmt.Errorf("bring run %s up to date: %w", b.id, err))
	}
}

// adopt makes the copy of a run that was started from another machine, and tells whether
// there is such a run.
func (a *app) adopt(ws *workshop, id belay.RunID) (bool, error) {
	p, recs, err := a.far.Begun(id)
	if err != nil || len(recs) == 0 {
		return false, nil //nolint:nilerr // the command itself says that there is no such run
	}
	open, err := ws.local.Receive(id, p, recs, a.far.Name())
	if err == nil {
		err = open.Close()
	}
	return true, err
}

// find is the run that an argument means, for who does something to it. One that was
// started from another machine gets its copy first.
func (a *app) find(ws *workshop, arg string) (belay.RunID, error) {
	id, err := runID(ws.state, arg)
	var unknown *journal.Unknown
	if a.far == nil || !errors.As(err, &unknown) {
		return id, err
	}
	if begun, late := a.adopt(ws, belay.RunID(arg).Root()); late != nil || !begun {
		return id, errors.Join(late, err)
	}
	return runID(ws.state, arg)
}

// workerCommand works for the other engine: this machine makes the attempts of runs
// that it drives.
func (a *app) workerCommand() *cobra.Command {
	var work func(context.Context, func(string) string, *engine.Local, func(string)) error
	cmd := command("worker", "make the attempts of runs that are driven by "+a.program.Engine.Name(), 0, 0,
		func(ctx context.Context, _ *cobra.Command, _ []string) (err error) {
			cfg, err := config.Load(a.environ)
			if err != nil {
				return err
			}
			a.farEnviron(cfg)
			a.engine = config.EngineLocal
			ws, err := a.openWith(cfg)
			if err != nil {
				return err
			}
			defer closing(&err, "close state", ws.close)
			ws.local.Alone = false // it has the keepers of many runs
			ctx, at := attend(ctx, nil)
			defer at.release()
			err = work(ctx, a.env, ws.local, func(text string) { a.say("%s", text) })
			if sig := at.settle(); sig != nil && err == nil {
				return nil // it was told to end, and ended in order
			}
			return err
		})
	work = a.program.Engine.Worker(cmd.Flags())
	return cmd
}
