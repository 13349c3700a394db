package proc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/fault"
)

// memory is the peak of a process, in KiB.
func memory(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile("/proc/" + itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no peak in status")
	return 0
}

// A flood, and one line that is as long, cost neither memory nor disk. Both are more
// than the keeper may grow by; with BELAY_SWEEPS=all they are longer.
func TestLongFlood(t *testing.T) {
	scratch.Long(t)
	r := newRig(t)
	k, _ := r.attach()
	times := 1
	if os.Getenv("BELAY_SWEEPS") == "all" {
		times = 3
	}
	tests := []struct {
		name, script string
		size         int64
	}{
		{"flood", `head -c ` + itoa(times*100) + `M /dev/zero`, int64(times) * 100 << 20},
		{"line", `head -c ` + itoa(times*100) + `M /dev/zero | tr '\0' x`, int64(times) * 100 << 20},
	}
	for _, tt := range tests {
		s := r.bash(tt.name, tt.script)
		s.Out, s.MaxLog, s.MaxOut = r.file(tt.name+".out"), 8<<20, 1<<20
		e := r.do(k, s)
		if e.Code != 0 || e.LogSize != tt.size || e.LogKept > 8<<20 || e.LogKept < 7<<20 || e.Fault != fault.Output {
			t.Errorf("%s: size %d kept %d fault %s", tt.name, e.LogSize, e.LogKept, e.Fault)
		}
		if !utf8.Valid(e.Tail) || len(e.Tail) > maxTail {
			t.Errorf("%s: tail of %d bytes", tt.name, len(e.Tail))
		}
		if _, err := os.Stat(s.Out); !os.IsNotExist(err) {
			t.Errorf("%s: an output over its limit is kept: %v", tt.name, err)
		}
		var disk int64
		files, err := filepath.Glob(r.file(tt.name + ".*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			st, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			disk += st.Size()
		}
		if disk > 9<<20 {
			t.Errorf("%s: %d bytes on disk", tt.name, disk)
		}
	}
	if peak := memory(t, k.pid); peak > 48<<10 {
		t.Errorf("the keeper grew to %d KiB", peak)
	}
	r.close(k)
}

func TestBinaryOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	blob := make([]byte, 10000)
	for i := range blob {
		blob[i] = byte(i * 7)
	}
	if err := os.WriteFile(r.file("blob"), blob, 0o600); err != nil {
		t.Fatal(err)
	}
	k, _ := r.attach()
	s := r.bash("a", `cat blob`)
	s.Out = r.file("a.out")
	e := r.do(k, s)
	sum := sha256.Sum256(blob)
	if e.LogSha != hex.EncodeToString(sum[:]) || !bytes.Equal(e.OutInline, blob) || r.text("a.log") != string(blob) {
		t.Errorf("bytes were changed: %d", e.LogSize)
	}
	if !utf8.Valid(e.Tail) || len(e.Tail) == 0 || len(e.Tail) > maxTail {
		t.Errorf("tail of %d bytes", len(e.Tail))
	}
	r.close(k)
}

func TestParallelChildrenNeedNoThreads(t *testing.T) {
	r := newRig(t)
	if err := syscall.Mkfifo(r.file("go"), 0o600); err != nil {
		t.Fatal(err)
	}
	start, err := os.OpenFile(r.file("go"), os.O_RDWR, 0) // both ends: nobody waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = start.Close() }() // both ends are ours
	k, _ := r.attach()
	for i := range 100 {
		r.spawn(k, r.bash("p"+itoa(i), `read <go; exit `+itoa(i)))
	}
	r.wait("all are born", func() bool { return strings.Count(r.text(ledgerName), `"pid"`) >= 100 })
	tasks, err := os.ReadDir("/proc/" + itoa(k.pid) + "/task")
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks) > 32 {
		t.Errorf("%d threads for 100 children", len(tasks))
	}
	if _, err := start.WriteString(strings.Repeat("\n", 100)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		ev := <-k.Events()
		if ev.Exit == nil {
			t.Fatal(ev.Gone)
		}
		if want := r.key("p" + itoa(ev.Exit.Code)); ev.Exit.Key != want {
			t.Errorf("%s has the code of %s", ev.Exit.Key, want)
		}
	}
	t.Logf("%d threads, peak %d KiB", len(tasks), memory(t, k.pid))
	r.close(k)
}
