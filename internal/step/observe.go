package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/output"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/redact"
)

// Blobs is what Observe needs to give results their places.
type Blobs interface {
	AdoptBlob(path, sha string, size int64) (belay.Value, error)
	PutBlob([]byte) (belay.Value, error)
	OutPath(belay.Key) string
	LogPath(belay.Key) string
	BlobPath(sha string) string
}

// Observe turns the end of a process into facts, and what it left into values.
func Observe(j effect.Job, e proc.Exit, blobs Blobs, lim Limits, mask []string) effect.Observation {
	o := effect.Observation{
		Began: e.Began, Exit: e.Code, Signal: e.Signal, KilledBy: e.KilledBy, Fault: e.Fault, Detail: e.Detail,
		Started: e.Started, Ended: e.Ended, LogSize: e.LogSize, LogSha: e.LogSha, LogKept: e.LogKept,
		Tail: string(e.Tail), CPU: e.CPUUS, RSS: e.RSSKB, Strays: e.Strays,
	}
	if o.LogKept == o.LogSize {
		o.LogKept = 0 // all of it: not worth a field
	}
	if j.Role == belay.RoleVerify {
		o.Tally = agent.TallyOf(o.Tail)
	}
	if j.Check != nil {
		if r, err := check.ReadReport(checkReport(blobs, j.Key)); err == nil { // without one the exit says that it did not pass
			o.Check, o.Tally = &r, nil
		}
	}
	if j.Role == belay.RoleMerge {
		o.Merge = merged(blobs, j.Key)
	}
	if j.Agent != nil {
		reported(&o, j.Key, blobs)
	}
	if e.Code == cannotExecute {
		o.Big = bigRead(j)
	}
	w := &results{job: j, exit: e, blobs: blobs, most: lim.MaxOut, mask: mask, to: &o}
	if err := w.collect(); err != nil && o.Fault == fault.None {
		o.Fault, o.Detail = fault.Disk, "keep the output: "+err.Error()
		var f *Fault
		if errors.As(err, &f) {
			o.Fault, o.Detail = f.Kind, f.Error()
		}
	}
	return o
}

// cannotExecute is the exit of a shell that found a program and could not start
// it: no permission, or an argument list that is too long.
const cannotExecute = 126

// bigRead are the variables that a script reads and no argument can hold.
func bigRead(j effect.Job) []string {
	words := wordsOf(j.Script)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(j.Vars)) {
		v := j.Vars[name]
		if max(v.Size, int64(len(v.JSON))) <= maxEnvValue {
			continue
		}
		long, short := recipe.EnvNames(name)
		read := words[long] || words[short]
		for _, arg := range j.Args {
			read = read || v.Sha != "" && arg.Sha == v.Sha || v.Sha == "" && bytes.Equal(arg.JSON, v.JSON)
		}
		if read {
			names = append(names, name)
		}
	}
	return names
}

// results collects what an attempt produced.
type results struct {
	job    effect.Job
	exit   proc.Exit
	blobs  Blobs
	most   int64
	mask   []string
	to     *effect.Observation
	text   []byte          // stdout, trimmed
	mended bool            // it had bytes that are no text
	found  json.RawMessage // the JSON in it, nil when there is none
}

// good tells whether the attempt ended well, so that its results must be there.
func (w *results) good() bool {
	e := w.exit
	return e.Began && e.Code == 0 && e.Signal == 0 && e.Fault == fault.None && e.KilledBy == fault.KilledNot
}

func (w *results) collect() error {
	if w.job.Output && w.exit.Fault != fault.Output {
		if err := w.stdout(); err != nil {
			return err
		}
	}
	if !w.good() {
		return nil
	}
	for _, spec := range w.job.Outputs {
		v, err := w.result(spec)
		if err != nil {
			return err
		}
		if w.to.Outputs == nil {
			w.to.Outputs = map[string]belay.Value{}
		}
		w.to.Outputs[spec.Name] = v
	}
	return nil
}

// stdout makes what was printed a value: JSON when it is, or must be, or text.
func (w *results) stdout() error {
	raw, err := w.printed()
	if err != nil {
		return err
	}
	if w.exit.Hidden {
		w.to.Hidden = append(w.to.Hidden, effect.Stdout)
	}
	w.text = bytes.TrimSpace(raw)
	if w.job.Agent != nil && !utf8.Valid(w.text) { // an answer is text, whatever bytes are in it
		w.text, w.mended = bytes.ToValidUTF8(w.text, []byte("\uFFFD")), true
	}
	v, err := w.typed(raw)
	if err != nil {
		return err
	}
	w.to.Output = &v
	return nil
}

// printed is the whole of stdout.
func (w *results) printed() ([]byte, error) {
	if w.exit.OutSize <= belay.MaxInline {
		return w.exit.OutInline, nil
	}
	b, err := os.ReadFile(w.blobs.OutPath(w.job.Key))
	if errors.Is(err, fs.ErrNotExist) { // taken over before a crash
		b, err = os.ReadFile(w.blobs.BlobPath(w.exit.OutSha))
	}
	return b, err
}

// typed is the value of stdout by the rules of the job.
func (w *results) typed(raw []byte) (belay.Value, error) {
	if w.job.JSON != effect.JSONAuto && len(w.text) > 0 || w.job.JSON == effect.JSONRequired {
		found, fit := w.json()
		if fit == output.Fits {
			w.found = found
			return keep(found, w.blobs)
		}
		if w.good() && w.job.JSON == effect.JSONRequired {
			return belay.Value{}, &Fault{fault.JSON, errors.New("the output had to be JSON, and " + w.lacks(fit))}
		}
		w.to.Degraded = w.good()
		return w.plain(raw, false)
	}
	return w.plain(raw, true)
}

// json is the JSON in what was printed. Of a form that an agent was asked for there is one
// answer.
func (w *results) json() (json.RawMessage, output.Fit) {
	if w.job.Agent != nil && len(w.job.Form()) > 0 {
		raw, fit := output.Formed(string(w.text), w.job.Keys...)
		if fit == output.Fits && output.Blank(raw, w.job.Keys...) {
			fit = output.Lacks
		}
		return raw, fit
	}
	if found, ok := output.Extract(string(w.text)); ok {
		return found, output.Fits
	}
	return nil, output.Lacks
}

// lacks says what is wrong with what was printed.
func (w *results) lacks(fit output.Fit) string {
	switch {
	case fit == output.Differs:
		return "there are several values in it that differ"
	case len(w.job.Keys) > 0:
		return "there is none with " + strings.Join(w.job.Keys, ", ") + " in it"
	}
	return "there is none in it"
}

// plain keeps the trimmed text; a big one that needs no trimming is taken over
// as the file that it is.
func (w *results) plain(raw []byte, guess bool) (belay.Value, error) {
	if !w.mended && len(w.text) == len(raw) && w.exit.OutSize > belay.MaxInline {
		return w.blobs.AdoptBlob(w.blobs.OutPath(w.job.Key), w.exit.OutSha, w.exit.OutSize)
	}
	return value(w.text, guess, w.blobs)
}

// value is what a text stands for: JSON in the record when the whole of it is,
// else text in the record, or a blob when it is big or not text.
func value(text []byte, guess bool, blobs Blobs) (belay.Value, error) {
	switch {
	case len(text) > belay.MaxInline, !utf8.Valid(text), bytes.IndexByte(text, 0) >= 0:
		return blobs.PutBlob(text)
	case guess:
		return belay.Value{JSON: output.Typed(string(text))}, nil
	}
	return belay.Text(string(text)), nil
}

// keep is the value of JSON that was found.
func keep(raw json.RawMessage, blobs Blobs) (belay.Value, error) {
	if len(raw) > belay.MaxInline {
		return blobs.PutBlob([]byte(Plain(raw)))
	}
	return belay.Value{JSON: raw}, nil
}

// result is one of the results beyond stdout.
func (w *results) result(spec effect.OutputSpec) (belay.Value, error) {
	if spec.File != "" {
		return w.file(spec)
	}
	if w.found == nil {
		found, fit := w.json()
		if fit == output.Differs {
			return belay.Value{}, missing("output %s: %s", spec.Name, w.lacks(fit))
		}
		w.found = found // without any the walk below says so
	}
	raw, ok := walk(w.found, spec.Path)
	if !ok {
		return belay.Value{}, missing("output %s: there is no %s in what the step printed", spec.Name, spec.Path)
	}
	// Something was hidden in what was printed; here, if its mark is.
	if slices.Contains(w.to.Hidden, effect.Stdout) && bytes.Contains(raw, []byte(redact.Replacement)) {
		w.to.Hidden = append(w.to.Hidden, spec.Name)
	}
	return keep(raw, w.blobs)
}

func missing(format string, args ...any) error {
	return &Fault{fault.Result, fmt.Errorf(format, args...)}
}

// file reads a result that the step wrote to a file.
func (w *results) file(spec effect.OutputSpec) (belay.Value, error) {
	f, err := openWithin(w.job.Dir, spec.File)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return belay.Value{}, missing("output %s: the step left no file %s", spec.Name, spec.File)
	case errors.Is(err, errNoFile):
		return belay.Value{}, missing("output %s: %s is not a file", spec.Name, spec.File)
	case errors.Is(err, errOutside):
		return belay.Value{}, missing("output %s: %s leads out of the tree %s", spec.Name, spec.File, topOf(w.job.Dir))
	case err != nil:
		return belay.Value{}, missing("output %s: %v", spec.Name, err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	b, err := io.ReadAll(io.LimitReader(f, w.limit()+1))
	if err != nil {
		return belay.Value{}, missing("output %s: %v", spec.Name, err)
	}
	if int64(len(b)) > w.limit() {
		return belay.Value{}, missing("output %s: the file %s has more than %d bytes", spec.Name, spec.File, w.limit())
	}
	b, hid := redact.New(w.mask).Hide(b)
	if hid {
		w.to.Hidden = append(w.to.Hidden, spec.Name)
	}
	return value(bytes.TrimSpace(b), true, w.blobs)
}

func (w *results) limit() int64 {
	if w.most > 0 {
		return w.most
	}
	return proc.DefaultMaxOut
}
