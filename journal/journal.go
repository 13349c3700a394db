// Package journal keeps the facts of runs on disk: a state directory with one
// folder per root run, in it an append-only, hash-chained SQLite file, a lock
// that the kernel holds for the one driver, a beat, a mailbox, logs and blobs;
// and beside the folders a small shared index of runs, sessions and caps, and the
// archives of runs that can only be looked at.
//
// What Append acknowledged survives the death of the process and of the
// machine; what was changed, cut or swapped is found at Load.
//
// It refuses a directory that is shared, foreign, a link or on a network file
// system, and a second driver. It repairs no journal and overwrites no damaged
// one, guesses no death from age, and never decides what a fact means.
package journal

import (
	"path/filepath"

	"github.com/belay-run/belay"
)

// The names of what lies in a state directory and in a run's folder.
const (
	indexName   = "index.db"
	runsName    = "runs"
	sockName    = "sock"
	journalName = "journal.db"
	lockName    = "lock"
	beatName    = "beat"
	inName      = "in"
	badName     = "bad"
	logsName    = "logs"
	blobsName   = "blobs"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Folder is the folder of one root run. A copy of it, wherever it lies, is the
// whole story of that run.
type Folder string

// Journal is the path of the records.
func (f Folder) Journal() string { return f.in(journalName) }

// KeeperLog is the path of what the keeper writes down.
func (f Folder) KeeperLog() string { return f.in("keeper.log") }

// KeeperLock is the path of the file that a living keeper holds.
func (f Folder) KeeperLock() string { return f.in("keeper.lock") }

// Logs is where the output of attempts is kept.
func (f Folder) Logs() string { return f.in(logsName) }

// LogPath is the file that holds what the attempt printed.
func (f Folder) LogPath(key belay.Key) string {
	return filepath.Join(f.Logs(), fileName(string(key), ".log"))
}

// OutPath is the file that holds the attempt's standard output as a value.
func (f Folder) OutPath(key belay.Key) string {
	return filepath.Join(f.in(blobsName), fileName(string(key), ".out"))
}

func (f Folder) in(name string) string { return filepath.Join(string(f), name) }
