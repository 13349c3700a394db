// Package recheck runs a check again that a run has on record: the same script or
// tests, with the same values, in the place where it ran. It writes nothing into
// the folder of the run.
package recheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/verdict"
)

// Lab is what checks are run with.
type Lab struct {
	Env  []string                // of the run's steps
	Self []string                // how belay is started
	Run  string                  // the directory of the run
	Blob func(sha string) string // the file of a big value
	Mask []string                // values that nobody may see
}

// Result is how a check ended.
type Result struct {
	Passed bool
	Ran    bool // it could be run, and came to its end or its time was over
	Text   string
	Took   time.Duration
}

const (
	keepTail  = 8 << 10
	pipeDelay = 2 * time.Second
	within    = 10 * time.Minute // where a job has no time of its own
)

// Do runs the check of a job, in the job's directory, within the job's time.
func (l Lab) Do(ctx context.Context, j effect.Job) Result {
	if info, err := os.Stat(j.Dir); err != nil || !info.IsDir() {
		return Result{Text: "the place where it ran is gone: " + j.Dir}
	}
	dir, err := os.MkdirTemp("", "belay-recheck-")
	if err != nil {
		return Result{Text: err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is below the folder for temporary files
	files := scratch{dir, l.Blob}
	spawn, err := l.prepare(j, files)
	if err != nil {
		return Result{Text: err.Error()}
	}
	limit := j.Timeout
	if limit <= 0 {
		limit = within
	}
	begun := time.Now()
	code, tail, err := l.run(ctx, spawn, limit)
	r := Result{Ran: true, Took: time.Since(begun)}
	switch {
	case ctx.Err() != nil:
		return Result{Text: "it was interrupted", Took: r.Took}
	case errors.Is(err, context.DeadlineExceeded):
		r.Text = "it did not end within " + limit.String()
	case err != nil:
		return Result{Text: err.Error(), Took: r.Took}
	case j.Check != nil:
		l.report(&r, code, files.LogPath(j.Key))
	case code != 0:
		r.Text = strings.TrimSuffix(fmt.Sprintf("verify: exit %d: %s", code, lastLine(tail)), ": ")
	default:
		r.Passed, r.Text = true, "verify: exit 0"
	}
	r.Text = redact.New(l.Mask).String(r.Text)
	return r
}

// Command runs a command of bash in a directory: the check of a criterion.
func (l Lab) Command(ctx context.Context, command, dir string) Result {
	begun := time.Now()
	code, tail, err := l.run(ctx, proc.Spawn{Argv: []string{"bash", "-c", command}, Dir: dir}, within)
	r := Result{Ran: true, Took: time.Since(begun)}
	switch {
	case ctx.Err() != nil:
		return Result{Text: "it was interrupted", Took: r.Took}
	case errors.Is(err, context.DeadlineExceeded):
		r.Text = "it did not end within " + within.String()
	case err != nil:
		return Result{Text: err.Error(), Took: r.Took}
	case code != 0:
		r.Text = strings.TrimSuffix(fmt.Sprintf("exit %d: %s", code, lastLine(tail)), ": ")
	default:
		r.Passed, r.Text = true, "exit 0"
	}
	r.Text = redact.New(l.Mask).String(r.Text)
	return r
}

// prepare makes the process of a check.
func (l Lab) prepare(j effect.Job, files scratch) (proc.Spawn, error) {
	if j.Check != nil {
		return step.PrepareCheck(j, files, step.Limits{}, l.Mask, l.Self, l.Run)
	}
	return step.Prepare(j, files, step.Limits{}, l.Mask)
}

// report reads what a check of Belay's own has seen.
func (l Lab) report(r *Result, code int, log string) {
	seen, err := check.ReadReport(filepath.Join(strings.TrimSuffix(log, ".log")+".check", "report.json"))
	if err != nil {
		r.Ran, r.Text = false, err.Error()
		return
	}
	if f := verdict.Shortfall(seen); f != nil {
		r.Text = f.Cause
		r.Ran = f.Kind != belay.Infrastructure // a program is missing, or nobody answered: that says nothing about the work
		return
	}
	r.Passed = code == 0
	r.Text = strings.Join(verdict.CheckedFor(effect.Observation{Check: &seen}), "; ")
}

// run starts a process in a session of its own, and ends all of it when its time
// is over.
func (l Lab) run(ctx context.Context, s proc.Spawn, limit time.Duration) (code int, tail string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out end
	cmd := exec.CommandContext(ctx, s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, slices.Concat(l.Env, s.Env, []string{"PWD=" + s.Dir})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = proc.Capture(cmd, pipeDelay, &out, nil)
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left running, if anything
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return -1, out.String(), ctx.Err()
	case errors.As(err, &exit):
		return exit.ExitCode(), out.String(), nil
	}
	return 0, out.String(), err
}

// end keeps the end of what is written to it.
type end struct{ bytes.Buffer }

func (e *end) Write(p []byte) (int, error) {
	_, _ = e.Buffer.Write(p) // a buffer has no errors
	if over := e.Len() - keepTail; over > 0 {
		e.Next(over)
	}
	return len(p), nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// scratch is a place for the files of one check.
type scratch struct {
	dir  string
	blob func(sha string) string
}

func (s scratch) LogPath(belay.Key) string { return filepath.Join(s.dir, "check.log") }
func (s scratch) OutPath(belay.Key) string { return filepath.Join(s.dir, "check.out") }

// BlobPath is the file of a value: one of the run's, or one that was put here.
func (s scratch) BlobPath(sha string) string {
	own := filepath.Join(s.dir, sha)
	if _, err := os.Lstat(own); err == nil {
		return own
	}
	return s.blob(sha)
}

// PutBlob keeps a big script.
func (s scratch) PutBlob(b []byte) (belay.Value, error) {
	const name = "script"
	return belay.Value{Sha: name, Size: int64(len(b))}, os.WriteFile(filepath.Join(s.dir, name), b, 0o600)
}
