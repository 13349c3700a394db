package supervise

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/redact"
)

const (
	evidencePatience = 2 * time.Minute
	toldEvidence     = 5 * time.Second // when we were told to end: with all the rest less than the keeper waits
	softMemory       = 48 << 20
	fastest, slowest = 5 * time.Millisecond, time.Second
	latest           = 4 // paces: a look at the clock that comes later than that came after a standstill
)

// Streams are where the attendant talks to.
type Streams struct {
	Out io.Writer // the final text
	Err io.Writer // all that the CLI prints, as it is
}

// Watcher sees what an agent left behind.
type Watcher interface {
	Before(ctx context.Context) (belay.TreeState, error)
	After(ctx context.Context, base belay.TreeState, tools []belay.ToolCall) belay.Evidence
}

// parts are what an attendant is put together from.
type parts struct {
	adapter agent.Adapter           // nil for ACP
	watcher Watcher                 // evidence
	goOn    func(cut string) string // the prompt for a session that was cut off and goes on
	permit  Permit                  // nil = nobody has to be asked
}

// attendant looks after one attempt.
type attendant struct {
	order   Order
	parts   parts
	traits  agent.Traits
	windows Windows
	streams Streams
	hide    *redact.Redactor
	notes   *notebook
	raw     *tap
	watch   *watch
	witness Witness
	level   proc.Level
	prompt  string // the whole of it

	program string
	session string
	strays  int
}

// Run does what the order says and writes the report, whatever happens. The
// code is for show: 0 when the agent ended by itself and says that all is well.
func Run(ctx context.Context, o Order, s Streams, p Permit) (int, error) {
	adapter, _ := agent.New(o.Kind) // one that is not there is told in the report
	return attend(ctx, o, s, parts{
		adapter: adapter,
		watcher: newEyes(o),
		permit:  p,
		goOn: func(cut string) string {
			return agent.Compose(agent.Brief{Expect: o.Expect, Cut: cut, Resumed: true, Closes: o.Closes, JSON: o.JSON != effect.JSONAuto})
		},
	})
}

// attend is Attend with other parts.
func attend(ctx context.Context, o Order, s Streams, p parts) (int, error) {
	if err := o.check(); err != nil {
		return 1, fmt.Errorf("attend: %w", err)
	}
	debug.SetMemoryLimit(softMemory) // the process is ours alone; it may be one of many
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	broken := make(chan os.Signal, 1) // a reader that is gone must not end us before the report
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)

	a := &attendant{
		order: o, parts: p, streams: s, windows: o.Windows.orDefault(), traits: traitsOf(o, p),
		hide: redact.New(redact.FromEnv(os.Environ(), o.Secrets)), raw: &tap{w: s.Err},
	}
	a.witness.Hide = a.hide.String
	a.notes = openNotebook(o.Notes, a.hide)
	r := a.run(ctx)
	r.Notes, r.Lost = a.notes.close()
	failpoint.Hit("attend.before_report")
	if err := writeReport(o.Report, r, a.hide); err != nil {
		return 1, err
	}
	failpoint.Hit("attend.after_report")
	if r.Result.Cut != "" {
		return 1, nil // a part of an answer must not be taken for one
	}
	if _, err := io.WriteString(s.Out, r.Result.Text); err != nil {
		return 1, fmt.Errorf("print the final text: %w", err)
	}
	if !a.well(r) {
		return 1, nil
	}
	return 0, nil
}

func traitsOf(o Order, p parts) agent.Traits {
	if o.Kind == agent.ACP {
		return agent.Traits{Resumes: true, Streams: true, Final: true, Interrupt: agent.StopTerm}
	}
	if p.adapter == nil {
		return agent.Traits{}
	}
	return p.adapter.Traits()
}

// well tells whether the run says of itself that it went well.
func (a *attendant) well(r effect.AgentReport) bool {
	return r.Ended == effect.EndedItself && r.Result.Cut == "" && (a.answered(r.Result) || r.Result.Exit == 0 && r.Result.Signal == 0) &&
		!r.Result.Error && (r.Result.Final || !a.traits.Final)
}

// answered tells whether a server gave its answer. How it left after that is
// written down, and says nothing about the work: it was told to go.
func (a *attendant) answered(r belay.AgentResult) bool {
	return a.order.Kind == agent.ACP && r.Final
}

// run is the whole attempt but for the writing of the report.
func (a *attendant) run(ctx context.Context) (r effect.AgentReport) {
	r = effect.AgentReport{Name: a.order.Name, Access: string(a.order.Access)}
	defer func() { a.fill(&r) }()
	if err := a.open(ctx); err != nil {
		r.Result = unstarted(a.order, err)
		return r
	}
	failpoint.Hit("attend.before_base")
	base, err := a.before(ctx)
	if err != nil {
		r.Evidence.Error = err.Error()
	}
	a.notes.add(effect.NoteBase, base.Tree, &base)
	failpoint.Hit("attend.after_base")
	a.watch = newWatch(a.windows, a.traits, a.order.Session != "" && a.traits.Presets, a.order.resumes(), time.Now())
	a.watch.most = a.order.most()
	prompt, resume := a.prompt, a.order.Resume
	if id := firstOf(resume, a.order.Session); id != "" && (resume != "" || a.traits.Presets) {
		a.know(id)
	}
	for {
		e := a.play(ctx, prompt, resume)
		if e.err != nil {
			r.Result = follow(r.Result, unstarted(a.order, e.err))
			break
		}
		if fresh, ok := a.stranger(e, resume, r.Fresh); ok && a.another(r) {
			r.Fresh, r.Result.Usage = true, r.Result.Usage.Add(e.result.Usage)
			prompt, resume = fresh, ""
			continue
		}
		r.Result, r.Ended = follow(r.Result, e.result), e.ended
		if !e.again || !a.another(r) {
			break
		}
		r.Resumes++
		resume = firstOf(r.Result.Session, a.session)
		a.notes.add(effect.NoteResume, resume, nil)
		prompt = a.parts.goOn(e.why)
	}
	a.wantJSON(ctx, &r)
	var all []belay.ToolCall
	r.Result.Tools, all = a.witness.Calls(r.Result)
	r.Evidence = a.after(ctx, base, all, r.Evidence.Error)
	return r
}

// fill adds what is known at the end however it came.
func (a *attendant) fill(r *effect.AgentReport) {
	r.Program, r.Level, r.Strays = a.program, int(a.level), a.strays
	if r.Result.Session == "" {
		r.Result.Session = a.session
	}
	if r.Result.TextSize == 0 {
		r.Result.TextSize = int64(len(r.Result.Text))
	}
	if r.Result.TextSize > int64(len(r.Result.Text)) { // it was cut, perhaps in the middle of a secret
		text := a.hide.String(r.Result.Text)
		r.Result.Text = cut(text, max(0, len(text)-keptBack))
	}
	if a.order.Closes && r.Result.Cut == "" && r.Result.TextSize <= int64(len(r.Result.Text)) {
		rest, c := agent.Close(r.Result.Text)
		if r.Result.Closing = agent.Closed(c, a.hide.String); rest != r.Result.Text {
			r.Result.Text, r.Result.TextSize, r.Result.Excerpt = rest, int64(len(rest)), ""
		}
	}
	if r.Result.Excerpt == "" {
		r.Result.Excerpt = excerpt(r.Result.Text, a.hide.String)
		r.Result.GaveUp = agent.Unrecoverable(r.Result.Text)
	}
	r.Result.Cause = agent.Short(r.Result.Cause, maxCause, a.hide.String)
}

// open makes ready what every turn needs.
func (a *attendant) open(ctx context.Context) error {
	if a.parts.adapter == nil && a.order.Kind != agent.ACP {
		return fmt.Errorf("there is no agent of the kind %q", a.order.Kind)
	}
	prompt, err := readBounded(a.order.Prompt, maxPrompt)
	if err != nil {
		return fmt.Errorf("read prompt: %w", err)
	}
	a.prompt = string(prompt)
	if err := os.MkdirAll(a.order.Home, 0o700); err != nil {
		return fmt.Errorf("make home: %w", err)
	}
	a.level = a.contain(ctx)
	return nil
}

// contain takes the best containment that was asked for and can be had.
func (a *attendant) contain(ctx context.Context) proc.Level {
	if err := proc.BecomeSubreaper(); err != nil {
		a.notes.add(effect.NoteQuiet, "containment: "+err.Error(), nil)
		return proc.LevelGroup
	}
	level := proc.Containment()
	switch a.order.Contain {
	case ContainSubreaper:
		return level
	case ContainAuto:
		if len(a.order.Init) == 0 || proc.ProbeNamespace(ctx, a.order.Init) != nil { // the level is told, that is enough
			return level
		}
	case ContainNamespace:
		if err := proc.ProbeNamespace(ctx, a.order.Init); err != nil {
			a.notes.add(effect.NoteQuiet, "containment: "+err.Error(), nil)
			return level
		}
	}
	return proc.LevelNamespace
}

// know notes a session once.
func (a *attendant) know(session string) {
	if session != a.session {
		a.session = session
		a.notes.add(effect.NoteSession, session, nil)
	}
}

// before is what the work is measured against.
func (a *attendant) before(ctx context.Context) (belay.TreeState, error) {
	if a.order.Base != nil {
		return *a.order.Base, nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.lookTime())
	defer cancel()
	p, err := a.parts.watcher.Before(ctx)
	if err != nil && p.Error == "" {
		p.Error = err.Error()
	}
	return p, err
}

// lookTime bounds one look at the tree: a filter of the repository may hang, and a
// step that has little time must not spend minutes on it.
func (a *attendant) lookTime() time.Duration { return min(evidencePatience, a.windows.Timeout) }

// after is what is there now. When we were told to end there is little time.
func (a *attendant) after(ctx context.Context, base belay.TreeState, calls []belay.ToolCall, before string) belay.Evidence {
	patience := a.lookTime()
	if ctx.Err() != nil {
		patience = toldEvidence
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	e := a.parts.watcher.After(ctx, base, calls)
	if e.Error == "" {
		e.Error = before
	}
	return e
}

// pace is how often the clock is looked at: often enough for the shortest window.
func (a *attendant) pace() time.Duration {
	w := a.windows
	shortest := min(w.First, w.Silence, w.Tool, w.Babble, w.Retries, w.Linger, w.Timeout)
	return min(max(shortest/20, fastest), slowest)
}

// tap is our stderr, shared by both streams of the CLI. When nobody reads it
// any more the agent goes on: its work counts, not its talk.
type tap struct {
	mu   sync.Mutex
	w    io.Writer
	gone bool
}

func (t *tap) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(b) == 0 || t.gone {
		return
	}
	if _, err := t.w.Write(b); err != nil {
		t.gone = true
	}
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
