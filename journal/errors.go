package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/proc"
)

// Refused says that a place on disk cannot be trusted or used as it is.
type Refused struct {
	Path string
	Why  string
	Err  error // nil when nothing but the look of the place speaks against it
}

func (e *Refused) Error() string { return withCause(e.Path+" "+e.Why, e.Err) }
func (e *Refused) Unwrap() error { return e.Err }

// Damaged says that a journal is not what was written. Nothing was changed.
type Damaged struct {
	Path string
	Seq  int64 // the record at which it shows; 0 when the whole file is meant
	Why  string
	Err  error
}

func (e *Damaged) Error() string {
	if e.Seq == 0 {
		return withCause(e.Path+": "+e.Why, e.Err)
	}
	return withCause(fmt.Sprintf("%s: record %d: %s", e.Path, e.Seq, e.Why), e.Err)
}
func (e *Damaged) Unwrap() error { return e.Err }

// TooNew says that a file was written by a newer Belay.
type TooNew struct {
	Path       string
	Have, Know int // the file's schema number and the highest known one
}

func (e *TooNew) Error() string {
	return fmt.Sprintf("%s has schema %d, this belay knows %d", e.Path, e.Have, e.Know)
}

// Busy says that another process drives the run. The kernel says that there is
// one; who it is comes from a note inside the lock and is for people only.
type Busy struct {
	Run    belay.RunID
	Holder proc.Identity
}

func (e *Busy) Error() string {
	if e.Holder.Pid == 0 {
		return fmt.Sprintf("run %s is driven by another process", e.Run)
	}
	return fmt.Sprintf("run %s is driven by process %d", e.Run, e.Holder.Pid)
}

// ErrExists says that the wanted id is taken.
var ErrExists = errors.New("a run with this id exists")

// Unknown says that there is no such run.
type Unknown struct{ ID string }

func (e *Unknown) Error() string { return fmt.Sprintf("no run %q", e.ID) }

// Ambiguous says that a prefix names several runs.
type Ambiguous struct {
	Prefix string
	IDs    []belay.RunID
}

// fewRuns is how many runs an error names.
const fewRuns = 6

func (e *Ambiguous) Error() string {
	var names []string
	for _, id := range e.IDs[:min(len(e.IDs), fewRuns)] {
		names = append(names, string(id))
	}
	text := fmt.Sprintf("%q names several runs: %s", e.Prefix, strings.Join(names, ", "))
	if more := len(e.IDs) - fewRuns; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Full says that the disk, a quota or a size limit has no room left.
type Full struct {
	Path string
	Err  error
}

func (e *Full) Error() string { return withCause("no room for "+e.Path, e.Err) }
func (e *Full) Unwrap() error { return e.Err }

// Unwritten says that something could not be made durable, for another reason
// than room.
type Unwritten struct {
	Path string
	Err  error
}

func (e *Unwritten) Error() string { return withCause("write "+e.Path, e.Err) }
func (e *Unwritten) Unwrap() error { return e.Err }

// Stale says that an epoch is lower than one that the journal has seen.
type Stale struct{ Have, Want int64 }

func (e *Stale) Error() string {
	return fmt.Sprintf("epoch %d is stale: the journal is at %d", e.Have, e.Want)
}

func withCause(text string, err error) string {
	if err == nil {
		return text
	}
	return text + ": " + err.Error()
}

func refused(op, path, why, hint string, err error) error {
	return exit.New(exit.Infra, op, &Refused{Path: path, Why: why, Err: err}, hint)
}

func damaged(path string, seq int64, why string, err error) error {
	return exit.New(exit.Damaged, "read journal",
		&Damaged{Path: path, Seq: seq, Why: why, Err: err},
		"nothing was changed; keep the folder "+path+" is in, and restore it from a copy if there is one")
}

// unwritten types an error of a write by its cause.
func unwritten(op, path string, err error) error {
	if isFull(err) {
		then := "resume the run"
		if filepath.Base(path) == indexName { // also of those who only look
			then = "type the same again"
		}
		return exit.New(exit.Infra, op, &Full{Path: path, Err: err},
			"free space on "+filepath.Dir(path)+" (or raise the quota or file size limit), then "+then)
	}
	return exit.New(exit.Infra, op, &Unwritten{Path: path, Err: err},
		"check the disk and the directory of "+path+", then resume the run")
}

func isFull(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, unix.ENOSPC) ||
		errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// isCorrupt tells errors that speak about the content of a database file from
// those that speak about the machine.
func isCorrupt(err error) bool {
	return errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) ||
		errors.Is(err, sqlite3.IOERR_SHORT_READ) || errors.Is(err, sqlite3.IOERR_CORRUPTFS) ||
		errors.Is(err, sqlite3.ERROR) || errors.Is(err, sqlite3.MISMATCH)
}
