//go:build linux

package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/exit"
)

// A watch that is started again and again, as by cron, while nothing can be written: people
// are told once. Where that is not remembered either, each notice has the same id and the
// same text, so that who gets it can tell.
//
// promise: W6
func TestWatchOnceWithAFullDisk(t *testing.T) {
	t.Parallel()
	f := newFullDisk(t)
	f.leave("w0")
	f.fill()
	for range 5 {
		f.looks()
	}
	if len(f.told) != 1 {
		t.Fatalf("told %d times in 5 looks, want once:\n%s", len(f.told), strings.Join(f.taken(), "\n"))
	}
	first := f.taken()[0]
	if err := os.RemoveAll(f.memory); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.memory, 0o700); err != nil {
		t.Fatal(err)
	}
	f.looks()
	again := f.taken()
	if len(again) != 1 || again[0] != first {
		t.Errorf("another notice where nothing is remembered:\n%s\n%s", strings.Join(again, "\n"), first)
	}
	if strings.Contains(first, ".room-") {
		t.Errorf("the name of a file that is another at each look: %s", first)
	}
}

// A receiver that refuses the one notice about a full disk gets it again at the next look.
func TestWatchOnceWithAFullDiskAndNobodyToTell(t *testing.T) {
	t.Parallel()
	f := newFullDisk(t)
	f.leave("w0")
	f.fill()
	f.refuse = true
	f.looks()
	f.refuse = false
	for range 3 {
		f.looks()
	}
	if n := len(f.told); n != 2 {
		t.Errorf("a notice that was refused once arrived %d times, want 2", n)
	}
}

// fullDisk is a state directory that has a small disk of its own, and a receiver of notices.
type fullDisk struct {
	*crowd
	memory string // the directory of the login that is in memory
	told   chan string
	refuse bool
}

func newFullDisk(t *testing.T) *fullDisk {
	t.Helper()
	f := &fullDisk{crowd: newCrowd(t, 1, 10), memory: t.TempDir(), told: make(chan string, 100)}
	if !(exitBench{f.dir}).smallDisk(t) {
		t.Skip("a full disk needs a disk of its own")
	}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body) // what is missing is not found
		_, reason, _ := strings.Cut(string(body), `"reason":`)
		f.told <- req.Header.Get("webhook-id") + " " + reason
		if f.refuse {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(hook.Close)
	f.env = []string{
		"BELAY_WEBHOOK_SECRET=" + stormSecret, "BELAY_NOTIFY_WEBHOOK=" + hook.URL, "BELAY_NOTIFY_ON=stalled", "XDG_RUNTIME_DIR=" + f.memory,
	}
	return f
}

// fill leaves no room on the disk.
func (f *fullDisk) fill() {
	f.t.Helper()
	ballast, err := os.Create(filepath.Join(f.dir, "state", "ballast"))
	if err != nil {
		f.t.Fatal(err)
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 4<<10))
	}
	_ = ballast.Close() // it is full, as it shall be
}

// looks starts a watch that looks once and has to call a person.
func (f *fullDisk) looks() {
	f.t.Helper()
	out, err := f.command("watch", "--once", "--poll", "1ms").CombinedOutput()
	if code := codeOf(err); code != exit.Held || strings.Contains(string(out), "people could not be told") {
		f.t.Errorf("exit %d, want 11, and no word that people were not told\n%s", code, out)
	}
}

// taken are the notices that came since it was asked last.
func (f *fullDisk) taken() (list []string) {
	for len(f.told) > 0 {
		list = append(list, <-f.told)
	}
	return list
}

// What is named on a full disk helps: a run that never began is started again, and one that
// died is resumed when there is room. A driver that could write nothing has stopped nothing.
//
// promise: X
func TestWhatToTypeOnAFullDisk(t *testing.T) {
	t.Parallel()
	f := newFullDisk(t)
	f.leave("w0")
	f.fill()
	room := "free space on " + filepath.Join(f.dir, "state")
	for _, tt := range []struct {
		args []string
		code int
		want []string
		not  string
	}{
		{[]string{"run", "r.yaml", "--id", "y2"}, exit.Infra, []string{"hint: " + room, "belay run r.yaml --id y2\n"}, "resume"},
		{[]string{"run", "r.yaml", "--id", "y3", "--detach"}, exit.Infra, []string{"hint: " + room, "belay run r.yaml --id y3\n"}, "resume"},
		{[]string{"resume", "w0"}, exit.Infra, []string{"run w0 LOST after", "next: " + room + ", then belay resume w0"}, "STOPPED"},
		{[]string{"runs"}, exit.OK, []string{"w0   LOST "}, "y2"},
		{[]string{"inbox"}, exit.OK, []string{"its driver died before the run ended; first " + room}, "STOPPED"},
		{[]string{"why", "w0"}, exit.OK, []string{filepath.Join(f.dir, "state") + ","}, "STOPPED"},
	} {
		out, err := f.command(tt.args...).CombinedOutput()
		text := strings.Join(strings.Fields(string(out)), " ") + "\n" // a page is broken into lines
		for _, want := range tt.want {
			if !strings.Contains(string(out), want) && !strings.Contains(text, want) {
				t.Errorf("%v: no %q in\n%s", tt.args, want, out)
			}
		}
		if codeOf(err) != tt.code || strings.Contains(string(out), tt.not) {
			t.Errorf("%v: exit %d, want %d, and no %q in\n%s", tt.args, codeOf(err), tt.code, tt.not, out)
		}
	}
}
