package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/output"
)

const (
	keepHead = 64 << 10 // of what a command prints, for its summary
	keepTail = 1 << 20
	maxLast  = 200 // characters of a last line
)

// Streams is where a check prints.
type Streams struct{ Out, Err io.Writer }

// Run makes a check and leaves its report. Whether what was seen is enough is for
// the verdict to say.
func Run(ctx context.Context, o Order, env []string, to Streams) (r effect.CheckReport, err error) {
	switch {
	case o.PR != nil:
		pr := askForge(ctx, o, env)
		r.PR = &pr
	case o.Tests != nil:
		r.Dir = o.Dir
		r.Tests = runTests(ctx, o, env, to)
	default:
		return r, errors.New("the order of a check asks for nothing")
	}
	return r, writeReport(o.Report, r)
}

// runTests runs what was found at the start of the run, or what is found now.
func runTests(ctx context.Context, o Order, env []string, to Streams) []effect.TestRun {
	path := variable(env, "PATH")
	frozen := moved(*o.Tests, o.Dir)
	plan, late := frozen, false
	if len(plan.Commands) == 0 {
		plan, late = Find(o.Dir, Top(o.Dir, o.Run), path), true
	}
	var runs []effect.TestRun
	for _, c := range plan.Commands {
		t := look(c, filepath.Join(plan.Top, c.Dir), path)
		t.Late = t.Late || late
		if t.Swapped == "" && t.Missing == "" {
			_, _ = fmt.Fprintf(to.Out, "$ %s   # found in %s\n", t.Command, t.From) // the log is for people
			start(ctx, c, &t, env, to)
		}
		runs = append(runs, t)
	}
	if len(runs) == 0 {
		_, _ = fmt.Fprintf(to.Err, "belay: no test command was found from %s up to %s\n", o.Dir, plan.Top) // as above
	}
	return runs
}

// moved is a plan for the same directory in another working tree: that of a step
// which is isolated.
func moved(p effect.TestPlan, dir string) effect.TestPlan {
	rel, err := filepath.Rel(p.Top, p.Dir)
	if p.Dir == dir || err != nil || rel != "." && !strings.HasSuffix(dir, string(filepath.Separator)+rel) {
		return p
	}
	top := dir
	if rel != "." {
		top = strings.TrimSuffix(dir, string(filepath.Separator)+rel)
	}
	q := effect.TestPlan{Dir: dir, Top: top, Commands: slices.Clone(p.Commands)}
	for i := range q.Commands {
		at := &q.Commands[i].Program
		if in, err := filepath.Rel(p.Top, at.Path); err == nil && at.Path != "" && below(p.Top, at.Path) {
			at.Path = filepath.Join(top, in)
		}
	}
	return q
}

// look compares a command with what is there now.
func look(c effect.TestCommand, dir, path string) effect.TestRun {
	t := effect.TestRun{Command: title(c.Args), Dir: dir, From: c.From, Counts: c.Counts}
	l := level{dir}
	for _, k := range kinds {
		if f, ok := k.find(l); k.name == c.Kind && ok {
			t.Counts = t.Counts || f.counts
		}
	}
	for _, f := range c.Files {
		if l.sum(f.Path) != f {
			t.Changed = append(t.Changed, f.Path)
		}
	}
	for _, was := range append([]effect.Program{c.Program}, c.Needs...) {
		is := program(was.Name, dir, path)
		switch {
		case was.Path == "" && is.Path == "" && was.Name == c.Program.Name:
			t.Missing = was.Name
		case was.Path == "" && is.Path != "":
			t.Late = true
		case was.Path != "" && (is.Path == "" || is.Path != was.Path || is.Sum != was.Sum):
			t.Swapped = was.Path
		}
	}
	return t
}

// start runs a command and takes down how it ended.
func start(ctx context.Context, c effect.TestCommand, t *effect.TestRun, env []string, to Streams) {
	at := c.Program.Path
	if at == "" { // it came with the work
		at = program(c.Program.Name, t.Dir, variable(env, "PATH")).Path
	}
	args, kept, golang := c.Args, &extract{to: to.Out}, (*goTests)(nil)
	var out io.Writer = kept
	if c.Kind == "go" {
		golang = &goTests{to: kept}
		args, out = goArgs(args), golang
	}
	t.Idle = c.Kind == "make" && idle(ctx, at, t.Dir, env)
	cmd := command(ctx, at, t.Dir, env, args[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		t.Exit = exit.ExitCode()
	default:
		t.Exit = -1
		_, _ = fmt.Fprintf(to.Err, "belay: %v\n", err) // the log is for people
	}
	if golang != nil {
		t.Tally, t.Last = golang.count(t.Exit != 0), lastLine(kept.String())
		return
	}
	text := kept.String()
	t.Tally, t.Last = agent.TallyOf(text), lastLine(text)
	if t.Idle = t.Idle && t.Exit == 0; t.Idle {
		t.Tally = &belay.Tally{None: true}
	}
}

func command(ctx context.Context, program, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(env), "PWD="+dir)
	return cmd
}

// idle tells whether make would run nothing for the tests: their target is no
// phony one, and a file or folder of that name is there. Its words for that
// depend on the language; -q does not.
func idle(ctx context.Context, program, dir string, env []string) bool {
	return command(ctx, program, dir, env, "-q", "test").Run() == nil
}

func lastLine(text string) string {
	return output.LastLine(strings.ToValidUTF8(text, "\uFFFD"), maxLast)
}

// extract hands everything on, and keeps the beginning and the end.
type extract struct {
	to         io.Writer
	head, tail []byte
}

func (e *extract) Write(b []byte) (int, error) {
	n, err := e.to.Write(b)
	got := b[:n]
	if room := keepHead - len(e.head); room > 0 {
		e.head = append(e.head, got[:min(room, len(got))]...)
		got = got[min(room, len(got)):]
	}
	e.tail = append(e.tail, got...)
	if len(e.tail) > 2*keepTail {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-keepTail:]...)
	}
	return n, err
}

func (e *extract) String() string { return string(e.head) + string(e.tail) }

// variable is the value of a variable; the last one counts, as for a program.
func variable(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			value = v
		}
	}
	return value
}
