package proc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// What a dead keeper's log says of a key.
// promise: K2
// promise: K4
func TestFound(t *testing.T) {
	t.Parallel()
	const k1 = `{"keeper":{"pid":7,"start":8,"boot":"one"},"epoch":1}` + "\n"
	const k2 = `{"keeper":{"pid":7,"start":8,"boot":"two"},"epoch":2}` + "\n"
	const birth = `{"birth":"k:a.1"}` + "\n"
	const exit = `{"exit":{"key":"k:a.1","began":true,"code":5}}` + "\n"
	tests := []struct {
		name, log, boot string
		want            fault.Found
	}{
		{"no log", "", "one", fault.Lost},
		{"no keeper line", birth[:5], "one", fault.Lost},
		{"never seen", k1, "one", fault.Unborn},
		{"never seen, rebooted", k1, "two", fault.Lost},
		{"born", k1 + birth, "one", fault.Lost},
		{"born, rebooted", k1 + birth, "two", fault.Lost},
		{"ended", k1 + birth + exit, "one", fault.Harvested},
		{"ended, rebooted", k1 + birth + exit, "two", fault.Harvested},
		{"torn birth", k1 + birth[:len(birth)-1], "one", fault.Unborn},
		{"torn exit", k1 + birth + exit[:20], "one", fault.Lost},
		{"torn exit, then more", k1 + birth + exit[:20] + "\n" + k1, "one", fault.Lost},
		{"another key", k1 + strings.ReplaceAll(birth+exit, ":a.1", ":a.11"), "one", fault.Unborn},
		{"a later keeper", k1 + birth + k2, "two", fault.Lost},
		{"never seen, later keeper", k1 + k2, "two", fault.Unborn},
		{"concluded lost", k1 + `{"lost":"k:a.1"}` + "\n" + k2, "two", fault.Lost},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		if tt.log != "" {
			if err := os.WriteFile(filepath.Join(dir, ledgerName), []byte(tt.log), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b, err := readBook(dir, []belay.Key{"k:a.1"})
		if err != nil {
			t.Fatal(err)
		}
		got := b.found("k:a.1", tt.boot)
		if got.Found != tt.want || (got.Exit != nil) != (tt.want == fault.Harvested) || got.Exit != nil && got.Exit.Code != 5 {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// A torn line does not swallow the next one.
func TestLedgerAfterATornLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ledgerName), []byte(`{"exit":{"key":"k:`), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := openLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(exitLine{Exit: &Exit{Key: "k:a.1", Code: 4}})
	if err != nil {
		t.Fatal(err)
	}
	at, err := l.addRaw(line, true)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := l.exitAt(at, len(line)); err != nil || e.Code != 4 {
		t.Errorf("read back: %+v %v", e, err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	b, err := readBook(dir, []belay.Key{"k:a.1"})
	if err != nil || b.exits["k:a.1"] == nil {
		t.Errorf("%+v %v", b, err)
	}
}

func TestQuotedKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := openLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	keys := []belay.Key{`k:"<&>\.1`, "k:ä\n.1", `k:\`, "k:plain.1"}
	for _, key := range keys {
		if err := l.add(birthLine{Birth: key}, false); err != nil {
			t.Fatal(err)
		}
		if err := l.add(exitLine{Exit: &Exit{Key: key, Code: 1, Tail: make([]byte, 300<<10)}}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	b, err := readBook(dir, keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !b.born[key] || b.exits[key] == nil || b.exits[key].Key != key {
			t.Errorf("%q was not found", key)
		}
	}
}

// The log of a long run is read in a moment.
func TestBigLogIsReadFast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var text strings.Builder
	for i := range 10000 {
		e := Exit{Key: belay.Key("k:s" + strconv.Itoa(i) + ".1"), Began: true, Tail: make([]byte, 1000), Started: time.Unix(1, 0), Ended: time.Unix(2, 0)}
		line, err := json.Marshal(exitLine{Exit: &e})
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(`{"birth":"` + string(e.Key) + "\"}\n" + string(line) + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, ledgerName), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	best := time.Hour // of several: a machine that stands still stands still for one of them
	for range 5 {
		began := time.Now()
		b, err := readBook(dir, []belay.Key{"k:s9999.1", "k:none.1"})
		best = min(best, time.Since(began))
		if err != nil || b.exits["k:s9999.1"] == nil || len(b.exits) != 1 {
			t.Errorf("%d exits, %v", len(b.exits), err)
		}
	}
	if best > 500*time.Millisecond { // it takes about 10
		t.Errorf("%d bytes took %s", text.Len(), best)
	}
	t.Logf("%d bytes in %s", text.Len(), best)
}
