// Package archive is the format of a run in one file: a compressed tar archive
// whose first entry says what it is, followed by the files of the run's folder.
// It reads files of strangers: a path that leads elsewhere, a link, too much, too
// little and another format are refused. It knows nothing of what the files mean,
// and runs nothing.
package archive

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Format is the number of the form that this package writes, and the only one
// that it reads.
const Format = 1

// Ext ends the name of an archive.
const Ext = ".belay.tar.gz"

// manifestName is the first entry.
const manifestName = "belay-run.json"

// Manifest says which run an archive holds, and how the run stood.
type Manifest struct {
	Format  int          `json:"format"`
	Run     belay.RunID  `json:"run"`
	Recipe  string       `json:"recipe"`
	Task    string       `json:"task,omitempty"`
	Dir     string       `json:"dir"`
	Status  belay.Status `json:"status"`
	Code    int          `json:"exit_code"`
	Reason  string       `json:"reason,omitempty"`
	Started time.Time    `json:"started"`
	Last    time.Time    `json:"last"` // the time of the last record
	Records int          `json:"records"`
	Made    time.Time    `json:"made"`
	Belay   string       `json:"belay"` // the version that wrote it
	Files   int          `json:"files"`
	Bytes   int64        `json:"bytes"` // of all files
}

// File is a file that goes into an archive.
type File struct {
	Name string // in the archive, with slashes
	Path string // on disk
	Size int64
	Time time.Time
}

// Limits bound what is read.
type Limits struct {
	Files int
	Bytes int64
}

// The limits where nobody set others.
const (
	MaxFiles = 100_000
	MaxBytes = 1 << 30
)

// Refused says why a file is no archive that can be read.
type Refused struct {
	Why string
	Big bool // it is more than is taken
}

func (e *Refused) Error() string { return e.Why }

func refuse(format string, args ...any) error { return &Refused{Why: fmt.Sprintf(format, args...)} }

// Kept tells whether a file of a run's folder belongs in an archive: locks and
// the side files of a database mean something only where they are, worktrees are
// git's, the home of an agent is its own, and of all of a long task nobody took out what
// is secret.
func Kept(name string) bool {
	switch name {
	case "lock", "keeper.lock", "journal.db-wal", "journal.db-shm", "journal.db-journal", "task-long.txt", manifestName:
		return false
	}
	return !Left(name)
}

// Left tells whether a folder, or what lies in it, is not looked into at all.
func Left(name string) bool {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "trees", "kept", "later", "written", "git": // worktrees, settings of git, and files of the user as rounds left them
		return true
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if path.Base(dir) == "home" && strings.HasSuffix(path.Dir(dir), ".agent") && strings.HasPrefix(dir, "logs/") {
			return true
		}
	}
	return false
}

const (
	maxName  = 1024
	maxPart  = 255
	maxDepth = 8
)

// named checks the name of an entry: it must lead into the folder, and be one
// that an archive has.
func named(name string) error {
	switch parts := strings.Split(name, "/"); {
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00"):
		return refuse("it has a file %.100q, whose path leads elsewhere", name)
	case len(name) > maxName || len(parts) > maxDepth:
		return refuse("it has a file with a path that is too long: %.100q", name)
	default:
		for _, p := range parts {
			if len(p) > maxPart {
				return refuse("it has a file with a name that is too long: %.100q", name)
			}
		}
	}
	if !Kept(name) {
		return refuse("it has a file %.100q, which no run has in its archive", name)
	}
	return nil
}
