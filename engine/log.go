package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/redact"
)

// maxRunLog bounds the log of a run, and maxLogText one entry of it.
const (
	maxRunLog  = 8 << 20
	maxLogText = 64 << 10
)

const (
	logName   = "belay.log"
	stampForm = "2006-01-02T15:04:05.000Z"
	stampSize = len(stampForm)
	logMode   = 0o600
	logFull   = "the log is full; belay history and the records have the rest"
)

// RunLog is the log of a run for people: belay.log in its folder. It repeats
// what the records say and is never read back. Secrets are hidden in it, and it
// has a bound.
type RunLog struct {
	run  *Open
	file *os.File // nil until there is something to write
	hide *redact.Redactor
	size int64
}

// Log is the log of the run, to add to it.
func (o *Open) Log() *RunLog { return &RunLog{run: o} }

func (l *RunLog) open() error {
	path := filepath.Join(string(l.run.run.Folder), logName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, logMode)
	if err != nil {
		return fmt.Errorf("open log of the run: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return fmt.Errorf("open log of the run: %w", err)
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Missed tells whether an entry is newer than the log and not in it: the driver
// died after it had written the record down, and before it could say so.
func (l *RunLog) Missed(at time.Time, level, text string) bool {
	tail := l.tail()
	last := ""
	for line := range strings.Lines(tail) {
		if !strings.HasPrefix(line, " ") {
			last = line
		}
	}
	entry := l.entry(at, level, text)
	return entry[:stampSize] >= last[:min(len(last), stampSize)] && !strings.Contains(tail, entry)
}

// tail is the end of the log, "" when there is none.
func (l *RunLog) tail() string {
	f, err := os.OpenFile(filepath.Join(string(l.run.run.Folder), logName), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	from := max(0, info.Size()-4*maxLogText)
	b := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(b, from) // what could be read of it counts
	text := string(b[:n])
	if from > 0 {
		_, text, _ = strings.Cut(text, "\n") // the first line is not whole
	}
	return text
}

// masked are the values that nobody may see of the run.
func (o *Open) masked() []string {
	return redact.FromEnv(o.environment(), slices.Concat(hand.Hidden(o.Tree.Library()), o.local.Secrets, o.Tree.Started().Secrets))
}

// Hide is a text without the secrets in it.
func (l *RunLog) Hide(text string) string {
	if l.hide == nil {
		l.hide = redact.New(l.run.masked())
	}
	text = l.hide.String(text) // before it is cut: half a secret is not known as one
	if len(text) > maxLogText {
		text = strings.ToValidUTF8(text[:maxLogText], "") + "…"
	}
	return text
}

// Add writes one entry: time, level and text. Further lines of the text are
// indented, so that no text can look like another entry.
func (l *RunLog) Add(at time.Time, level, text string) error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.size >= maxRunLog {
		return nil
	}
	entry := l.entry(at, level, text)
	if l.size+int64(len(entry)) > maxRunLog {
		entry = l.entry(at, "WARNING", logFull)
		l.size = maxRunLog
	}
	n, err := l.file.WriteString(entry)
	l.size += int64(n)
	if err != nil {
		return fmt.Errorf("write log of the run: %w", err)
	}
	return nil
}

func (l *RunLog) entry(at time.Time, level, text string) string {
	text = strings.ReplaceAll(strings.TrimRight(l.Hide(text), "\n"), "\n", "\n    ")
	return at.UTC().Format(stampForm) + " " + level + " " + text + "\n"
}

// Close closes the file.
func (l *RunLog) Close() error {
	if l.file == nil {
		return nil
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("close log of the run: %w", err)
	}
	return nil
}

// Hide is a text without the secrets that the environment shows by their names.
func (l *Local) Hide(text string) string {
	return redact.New(redact.FromEnv(l.Env, l.Secrets)).String(text)
}
