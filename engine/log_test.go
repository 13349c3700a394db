package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/redact"
)

func logIn(t *testing.T, dir string) *RunLog {
	t.Helper()
	l := &RunLog{run: &Open{run: &journal.Run{Folder: journal.Folder(dir)}}, hide: redact.New([]string{"5uper5ecret-value"})}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 7e6, time.FixedZone("", 3600))

// promise: R13, A10
func TestRunLogIsAddedTo(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"one", "two of 5uper5ecret-value\n2026-01-01T00:00:00.000Z INFO forged\n"} {
		l := logIn(t, dir)
		if err := l.Add(noon, "INFO", text); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "belay.log")
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "2026-01-02T11:00:00.007Z INFO one\n2026-01-02T11:00:00.007Z INFO two of "; !strings.HasPrefix(string(got), want) {
		t.Errorf("got\n%s", got)
	}
	if !strings.HasSuffix(string(got), "\n    2026-01-01T00:00:00.000Z INFO forged\n") {
		t.Errorf("a text can look like an entry:\n%s", got)
	}
	if strings.Contains(string(got), "5uper5ecret") {
		t.Errorf("the secret is in it:\n%s", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestRunLogHasABound(t *testing.T) {
	dir := t.TempDir()
	l := logIn(t, dir)
	text := strings.Repeat("x", 2*maxLogText)
	for range maxRunLog/maxLogText + 10 {
		if err := l.Add(noon, "INFO", text); err != nil {
			t.Fatal(err)
		}
	}
	again := logIn(t, dir) // as a later driver
	if err := again.Add(noon, "INFO", text); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "belay.log"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > maxRunLog+200 || strings.Count(string(got), logFull) > 2 || !strings.HasSuffix(string(got), logFull+"\n") {
		t.Errorf("%d bytes, said %d times that it is full", len(got), strings.Count(string(got), logFull))
	}
}

func TestRunLogDoesNotFollowALink(t *testing.T) {
	dir, target := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(target, filepath.Join(dir, "belay.log")); err != nil {
		t.Fatal(err)
	}
	if err := logIn(t, dir).Add(noon, "INFO", "x"); err == nil {
		t.Error("it was written")
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("the other file was made")
	}
}

// What is newer than the log and not in it was missed; what is in it was not.
func TestRunLogKnowsWhatItMissed(t *testing.T) {
	l := logIn(t, t.TempDir())
	if !l.Missed(noon, "INFO", "one") {
		t.Error("an entry is in a log that is not there")
	}
	for _, text := range []string{"one", "two\nlines"} {
		if err := l.Add(noon, "INFO", text); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]bool{"one": false, "two\nlines": false, "three": true} {
		if got := l.Missed(noon, "INFO", text); got != want {
			t.Errorf("%q missed: %v", text, got)
		}
	}
	if l.Missed(noon.Add(-time.Second), "INFO", "older") || !l.Missed(noon.Add(time.Second), "INFO", "one") {
		t.Error("the time does not count")
	}
}
