// Package step turns one Job into a process to be started and a process's end
// into an Observation. It keeps no state and judges nothing.
package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/recipe"
)

const (
	// maxEnvValue is the size up to which a value is handed over in the
	// environment; the kernel takes at most 128 KiB for one string.
	maxEnvValue = 96 << 10
	// maxEnvBig is how much of big values the environment takes in all.
	maxEnvBig = 512 << 10
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
	Kind belay.Fault
	Err  error
}

func (f *Fault) Error() string { return f.Err.Error() }
func (f *Fault) Unwrap() error { return f.Err }

// Prepare makes the process of a job. The script is data to bash; values reach
// it in the environment only.
func Prepare(j belay.Job, files Files, lim Limits, mask []string) (proc.Spawn, error) {
	argv, err := argv(j, files)
	if err != nil {
		return proc.Spawn{}, err
	}
	env, err := environment(j, files)
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

func argv(j belay.Job, files Files) ([]string, error) {
	args := []string{"bash"}
	if j.Shell != belay.ShellPlain {
		args = append(args, "-euo", "pipefail")
	}
	if strings.IndexByte(j.Script, 0) >= 0 {
		return nil, &Fault{belay.FaultInput, errors.New("the script has a NUL byte")}
	}
	if len(j.Script) <= maxArgScript {
		return append(args, "-c", j.Script), nil
	}
	v, err := files.PutBlob([]byte(j.Script))
	if err != nil {
		return nil, &Fault{belay.FaultDisk, fmt.Errorf("keep the script: %w", err)}
	}
	return append(args, files.BlobPath(v.Sha)), nil
}

// environment is what the step gets on top of the run's environment.
func environment(j belay.Job, files Files) ([]string, error) {
	env := make([]string, 0, 2*len(j.Vars)+len(j.Env)+3)
	names := make([]string, 0, len(j.Vars))
	for n := range j.Vars {
		names = append(names, n)
	}
	slices.Sort(names)
	room := int64(maxEnvBig)
	for _, n := range names {
		v := j.Vars[n]
		long, short := recipe.EnvNames(n)
		suffix, text := "", ""
		if v.Inline() {
			text = Plain(v.JSON)
		} else if v.Size <= min(room, maxEnvValue) {
			b, err := os.ReadFile(files.BlobPath(v.Sha))
			if err != nil {
				return nil, &Fault{belay.FaultInput, fmt.Errorf("read the value of %s: %w", n, err)}
			}
			text = string(bytes.TrimSpace(b))
			room -= v.Size
		} else {
			suffix, text = "_FILE", files.BlobPath(v.Sha)
		}
		if strings.IndexByte(text, 0) >= 0 {
			if v.Inline() || mentions(j.Script, long) || short != "" && mentions(j.Script, short) {
				return nil, &Fault{belay.FaultInput, fmt.Errorf("the value of %s has a NUL byte and cannot be in an environment; read the file $%s_FILE", n, long)}
			}
			suffix, text = "_FILE", files.BlobPath(v.Sha)
		}
		env = append(env, long+suffix+"="+text)
		if short != "" {
			env = append(env, short+suffix+"="+text)
		}
	}
	for _, n := range sortedKeys(j.Env) {
		env = append(env, n+"="+j.Env[n])
	}
	return append(env, "BELAY_STEP="+string(j.Path), "BELAY_ATTEMPT="+strconv.Itoa(j.Attempt)), nil
}

// mentions tells whether a word stands in a script by itself.
func mentions(script, word string) bool {
	part := func(b byte) bool {
		return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	for from := 0; ; {
		i := strings.Index(script[from:], word)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(word)
		if (at == 0 || !part(script[at-1])) && (end == len(script) || !part(script[end])) {
			return true
		}
		from = end
	}
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Plain is how a value looks to a shell: a string as it is, null as nothing,
// everything else as compact JSON.
func Plain(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Blobs is what Observe needs to give a captured output its place.
type Blobs interface {
	AdoptBlob(path, sha string, size int64) (belay.Value, error)
	PutBlob([]byte) (belay.Value, error)
	OutPath(belay.Key) string
}

// Observe turns the end of a process into facts.
func Observe(j belay.Job, e proc.Exit, blobs Blobs) belay.Observation {
	o := belay.Observation{
		Began: e.Began, Exit: e.Code, Signal: e.Signal, KilledBy: e.KilledBy, Fault: e.Fault, Detail: e.Detail,
		Started: e.Started, Ended: e.Ended, LogSize: e.LogSize, LogSha: e.LogSha, LogKept: e.LogKept,
		Tail: string(e.Tail), CPU: e.CPUUS, RSS: e.RSSKB, Strays: e.Strays,
	}
	if o.LogKept == o.LogSize {
		o.LogKept = 0 // all of it: not worth a field
	}
	if !j.Output || e.Fault == belay.FaultOutput {
		return o
	}
	v, err := output(j, e, blobs)
	if err != nil {
		o.Fault, o.Detail = belay.FaultDisk, "keep the output: "+err.Error()
		return o
	}
	o.Output = &v
	return o
}

// output is the value that stdout stands for: trimmed text in the record, or a
// blob when it is big or not text.
func output(j belay.Job, e proc.Exit, blobs Blobs) (belay.Value, error) {
	if e.OutSize > belay.MaxInline {
		return blobs.AdoptBlob(blobs.OutPath(j.Key), e.OutSha, e.OutSize)
	}
	if !utf8.Valid(e.OutInline) || bytes.IndexByte(e.OutInline, 0) >= 0 {
		return blobs.PutBlob(e.OutInline)
	}
	return belay.Text(string(bytes.TrimSpace(e.OutInline))), nil
}

// Unstarted is the observation of a job that could not be handed over.
func Unstarted(err error, now time.Time) belay.Observation {
	o := belay.Observation{Fault: belay.FaultInput, Detail: err.Error(), Exit: -1, Started: now, Ended: now}
	var f *Fault
	if errors.As(err, &f) {
		o.Fault = f.Kind
	}
	return o
}
