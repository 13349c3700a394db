package proc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/belay-run/belay"
)

// ledger is the keeper's log: lines of JSON, only ever appended, each with one
// write, so that what was written survives the death of any process.
type ledger struct {
	f *os.File

	mu   sync.Mutex
	end  int64
	torn bool // the last write left half a line
}

// The lines of the log; each has its telling field first.
type keeperLine struct {
	Keeper Identity `json:"keeper"`
	Epoch  int64    `json:"epoch"`
}

type birthLine struct {
	Birth belay.Key `json:"birth"`
}

type pidLine struct {
	Pid   int       `json:"pid"`
	Start uint64    `json:"start"`
	Key   belay.Key `json:"key"`
}

type exitLine struct {
	Exit *Exit `json:"exit"`
}

type lostLine struct {
	Lost belay.Key `json:"lost"`
}

type closedLine struct {
	Closed int64 `json:"closed"`
}

type strayLine struct {
	Unattributed Identity `json:"unattributed"`
}

// openLedger opens the log for appending. A new one is on disk with its name
// before it is used: a log that vanished in a power cut would read as "nothing
// was ever born".
func openLedger(dir string) (*ledger, error) {
	path := filepath.Join(dir, ledgerName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open keeper log: %w", err)
	}
	l := &ledger{f: f}
	if err := l.findEnd(); err != nil {
		_ = f.Close() // the first error is what counts
		return nil, fmt.Errorf("open keeper log: %w", err)
	}
	return l, nil
}

// findEnd looks how long the log is, and whether its last line is whole.
func (l *ledger) findEnd() error {
	end, err := l.f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return err
	}
	var last [1]byte
	if _, err := l.f.ReadAt(last[:], end-1); err != nil {
		return err
	}
	l.end, l.torn = end, last[0] != '\n'
	return nil
}

// fresh tells whether nothing was ever written.
func (l *ledger) fresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end == 0
}

// add appends one value as a line.
func (l *ledger) add(v any, sync bool) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode keeper log line: %w", err)
	}
	_, err = l.addRaw(b, sync)
	return err
}

// addRaw appends one encoded line and tells where it begins.
func (l *ledger) addRaw(b []byte, sync bool) (int64, error) {
	at, err := l.append(b)
	if err != nil {
		return 0, fmt.Errorf("write keeper log: %w", err)
	}
	if !sync {
		return at, nil
	}
	if err := dataSync(l.f); err != nil {
		return 0, fmt.Errorf("sync keeper log: %w", err)
	}
	return at, nil
}

func (l *ledger) append(b []byte) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := make([]byte, 0, len(b)+2)
	if l.torn { // half a line must not swallow this one
		line = append(line, '\n')
	}
	at := l.end + int64(len(line))
	line = append(append(line, b...), '\n')
	n, err := l.f.Write(line)
	l.end += int64(n)
	if n > 0 {
		l.torn = n < len(line)
	}
	return at, err
}

// exitAt reads back the exit that was written at the place.
func (l *ledger) exitAt(at int64, size int) (*Exit, error) {
	b := make([]byte, size)
	if _, err := l.f.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("read keeper log: %w", err)
	}
	var line exitLine
	if err := json.Unmarshal(b, &line); err != nil {
		return nil, fmt.Errorf("decode keeper log: %w", err)
	}
	return line.Exit, nil
}

func (l *ledger) close() error { return l.f.Close() }
