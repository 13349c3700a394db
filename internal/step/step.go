// Package step turns one Job into a process to be started and a process's end
// into an Observation. It keeps no state and judges nothing.
package step

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/proc"
)

const (
	// maxEnvValue is the size up to which a value is handed over in the
	// environment; the kernel takes at most 128 KiB for one string.
	maxEnvValue = 96 << 10
	// maxEnvAll is how much the values take of the environment in all; the
	// kernel has 2 MiB for it and the arguments, and the step needs some too.
	maxEnvAll = 1 << 20
	// maxArgScript is the size up to which a script is an argument; a bigger
	// one is run from a file.
	maxArgScript = 96 << 10
)

// Files is where an attempt's files lie.
type Files interface {
	LogPath(belay.Key) string
	OutPath(belay.Key) string
	BlobPath(sha string) string
	PutBlob([]byte) (belay.Value, error)
}

// Limits are the bounds of one attempt.
type Limits struct {
	MaxLog int64         // bytes of log kept
	MaxOut int64         // bytes of stdout taken as a value
	Grace  time.Duration // between TERM and KILL
}

// Fault is why a job could not even be handed over.
type Fault struct {
	Kind fault.Fault
	Err  error
}

func (f *Fault) Error() string { return f.Err.Error() }
func (f *Fault) Unwrap() error { return f.Err }

// Prepare makes the process of a job. The script is data to bash; values reach
// it in the environment, and big ones in files.
func Prepare(j effect.Job, files Files, lim Limits, mask []string) (proc.Spawn, error) {
	env, before, err := environment(j, files)
	if err != nil {
		return proc.Spawn{}, err
	}
	argv, err := argv(j, before, files)
	if err != nil {
		return proc.Spawn{}, err
	}
	s := proc.Spawn{
		Key: j.Key, Argv: argv, Env: env, Dir: j.Dir, Log: files.LogPath(j.Key),
		Deadline: j.Timeout, Grace: lim.Grace, Sync: j.Once, Mask: mask, MaxLog: lim.MaxLog, MaxOut: lim.MaxOut,
	}
	if j.Output {
		s.Out = files.OutPath(j.Key)
	}
	return s, nil
}

func argv(j effect.Job, before string, files Files) ([]string, error) {
	args := []string{"bash"}
	if j.Shell != effect.ShellPlain {
		args = append(args, "-euo", "pipefail")
	}
	if strings.IndexByte(j.Script, 0) >= 0 {
		return nil, &Fault{fault.Input, errors.New("the script has a NUL byte")}
	}
	script := before + j.Script
	if len(script) <= maxArgScript {
		return append(args, "-c", script), nil
	}
	v, err := files.PutBlob([]byte(script))
	if err != nil {
		return nil, &Fault{fault.Disk, fmt.Errorf("keep the script: %w", err)}
	}
	return append(args, files.BlobPath(v.Sha)), nil
}

// Unstarted is the observation of a job that could not be handed over.
func Unstarted(err error, now time.Time) effect.Observation {
	o := effect.Observation{Fault: fault.Input, Detail: err.Error(), Exit: -1, Started: now, Ended: now}
	var f *Fault
	if errors.As(err, &f) {
		o.Fault = f.Kind
	}
	return o
}
