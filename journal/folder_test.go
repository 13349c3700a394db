package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

func TestFileNames(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"k3f9q:build.1":           "k3f9q=build.1.log",
		"k3f9q/build.2:test.1":    "k3f9q+build.2=test.1.log",
		"k3f9q:build@verify.1":    "k3f9q=build@verify.1.log",
		"k3f9q:Build.1":           "k3f9q=Build.1~",
		"k3f9q:a b.1":             "k3f9q=a_b.1~",
		"../../etc/passwd":        "+..+etc+passwd~",
		"":                        "~",
		".":                       "~",
		"k=:a":                    "k_=a~",
		"ü\x00\n":                 "____~",
		strings.Repeat("x", 1000): strings.Repeat("x", 160) + "~",
		"-rf":                     "rf~",
	} {
		got := fileName(key, ".log")
		if !strings.HasPrefix(got, want) || len(got) > 250 || got != filepath.Base(got) {
			t.Errorf("%q is %q, want %q", key, got, want)
		}
	}
}

// No two keys share a file, even where upper and lower case are the same.
func TestFileNamesDiffer(t *testing.T) {
	t.Parallel()
	keys := []string{
		"k:a.1", "k/a.1", "k=a.1", "k+a.1", "k_a.1", "K:a.1", "k:A.1", "k:a.11", "k:a_1", "k:a 1", "k:a\x001",
		"k:a.1~", "~", "", ".", "..", strings.Repeat("x", 201), strings.Repeat("x", 202), strings.Repeat("X", 201),
	}
	seen := map[string]string{}
	for _, k := range keys {
		name := strings.ToLower(fileName(k, ""))
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q are both %q", k, other, name)
		}
		seen[name] = k
	}
}

func TestPathsAreInTheFolder(t *testing.T) {
	t.Parallel()
	f := Folder("/s/runs/k3f9q")
	for got, want := range map[string]string{
		f.LogPath("k3f9q:b.1"): "/s/runs/k3f9q/logs/k3f9q=b.1.log",
		f.OutPath("k3f9q:b.1"): "/s/runs/k3f9q/blobs/k3f9q=b.1.out",
		f.KeeperLog():          "/s/runs/k3f9q/keeper.log",
		f.KeeperLock():         "/s/runs/k3f9q/keeper.lock",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := newState(t)
	if got, want := s.Socket("k3f9q/build.1"), filepath.Join(s.Dir(), "sock", "k3f9q"); got != want {
		t.Errorf("socket %q, want %q", got, want)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 1)
	big := bytes.Repeat([]byte("0123456789"), 10_000)
	v, err := r.PutBlob(big)
	must(t, err)
	again, err := r.PutBlob(big)
	must(t, err)
	if v.Inline() || v.Size != int64(len(big)) || len(v.Sha) != 64 || again.Sha != v.Sha {
		t.Errorf("put %+v, then %+v", v, again)
	}
	got, err := r.ReadBlob(v.Sha, v.Size)
	if err != nil || !bytes.Equal(got, big) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	var tooBig *TooBig
	if _, err := r.ReadBlob(v.Sha, v.Size-1); !errors.As(err, &tooBig) || tooBig.Size != v.Size {
		t.Errorf("over the limit: %v", err)
	}
	for _, bad := range []string{"", "../../../index.db", strings.Repeat("z", 64), v.Sha[:62]} {
		if _, err := r.ReadBlob(bad, 10); err == nil {
			t.Errorf("read %q", bad)
		}
	}
	must(t, os.WriteFile(r.BlobPath(v.Sha), append(big[1:], 'x'), 0o600))
	if _, err := r.ReadBlob(v.Sha, v.Size); exit.Code(err) != exit.Damaged {
		t.Errorf("a changed value: %v", err)
	}
	must(t, os.Remove(r.BlobPath(v.Sha)))
	if _, err := r.ReadBlob(v.Sha, v.Size); exit.Code(err) != exit.Damaged {
		t.Errorf("a missing value: %v", err)
	}
	left, err := filepath.Glob(r.in(blobsName) + "/.new-*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMailbox(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 1)
	none, bad, err := r.Inbox()
	if len(none)+len(bad) > 0 || err != nil {
		t.Fatalf("a new mailbox: %v, %v, %v", none, bad, err)
	}
	var ids []string
	for _, ask := range []event.RequestKind{event.RequestStop, event.RequestCancel, event.RequestAnswer} {
		req, err := s.Put(event.Request{Run: r.ID.Child("build", 1), By: "me", Ask: ask, Why: "\"quoted\"\n"})
		must(t, err)
		ids = append(ids, req.ID)
	}
	same := time.Now()
	for _, id := range ids { // at the same time: the ids decide
		must(t, os.Chtimes(r.request(id), same, same))
	}
	reqs, bad, err := r.Inbox()
	must(t, err)
	if len(reqs) != 3 || len(bad) > 0 || reqs[0].Ask != event.RequestStop || reqs[2].Ask != event.RequestAnswer || reqs[1].Why != "\"quoted\"\n" {
		t.Errorf("%+v, %v", reqs, bad)
	}
	must(t, os.Chtimes(r.request(ids[0]), same, same.Add(time.Second)))
	if reqs, _, err = r.Inbox(); err != nil || reqs[2].ID != ids[0] {
		t.Errorf("the last to come is %+v, %v", reqs[2], err)
	}
	must(t, r.Remove(ids[1], ids[1], "never-was"))
	if reqs, _, err = r.Inbox(); err != nil || len(reqs) != 2 {
		t.Errorf("after a removal: %+v, %v", reqs, err)
	}
	if err := r.Remove("../lock"); err == nil {
		t.Error("a path was taken for a request")
	}
	for _, id := range []string{"../x", "a/b", "A", strings.Repeat("x", 65)} {
		if _, err := s.Put(event.Request{ID: id, Run: r.ID}); exit.Code(err) != exit.Usage {
			t.Errorf("request id %q: %v", id, err)
		}
	}
	var unknown *Unknown
	if _, err := s.Put(event.Request{Run: "nosuch"}); !errors.As(err, &unknown) {
		t.Errorf("a request to no run: %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 1)
	good, err := s.Put(event.Request{Run: r.ID, Ask: event.RequestStop})
	must(t, err)
	in := r.in(inName)
	must(t, os.WriteFile(filepath.Join(in, "half.json"), []byte(`{"id":"ha`), 0o600))
	must(t, os.WriteFile(filepath.Join(in, "other.json"), []byte(`{"id":"another"}`), 0o600))
	must(t, os.WriteFile(filepath.Join(in, "huge.json"), bytes.Repeat([]byte(" "), maxRequest+1), 0o600))
	must(t, os.Symlink("/etc/passwd", filepath.Join(in, "link.json")))
	must(t, os.Mkdir(filepath.Join(in, "dir.json"), 0o700))
	must(t, unix.Mkfifo(filepath.Join(in, "pipe.json"), 0o600)) // must not be waited for
	must(t, os.WriteFile(filepath.Join(in, ".new-1"), []byte("being written"), 0o600))
	reqs, bad, err := r.Inbox()
	if err != nil || len(reqs) != 1 || reqs[0] != good {
		t.Errorf("requests %+v, %v", reqs, err)
	}
	if len(bad) != 6 {
		t.Errorf("%d bad ones: %v", len(bad), bad)
	}
	for _, b := range bad {
		if filepath.Dir(b.Path) != filepath.Join(in, badName) || !exists(b.Path) || b.Why == nil {
			t.Errorf("set aside as %+v", b)
		}
	}
	if reqs, bad, err = r.Inbox(); len(reqs) != 1 || len(bad) != 0 || err != nil {
		t.Errorf("the second look: %v, %v, %v", reqs, bad, err)
	}
}

// A parked run is quiet when its driver said so with the last record: not while
// its journal is open, and not when something was written since.
func TestQuiet(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 2)
	quiet := func() bool { return s.Quiet(Summary{ID: r.ID, Status: belay.Parked, Beat: readBeat(r.Folder)}) }
	r.Beat(Sign{Phase: string(belay.Parked), Quiet: true})
	if quiet() {
		t.Error("quiet while a driver has the journal open")
	}
	must(t, r.Close())
	if !quiet() {
		t.Error("not quiet when its driver has left")
	}
	if s.Quiet(Summary{ID: r.ID, Status: belay.Running, Beat: readBeat(r.Folder)}) {
		t.Error("quiet although it is not listed as parked")
	}
	again, err := s.Open(r.ID)
	must(t, err)
	_, err = again.Load()
	must(t, err)
	_, err = again.Append([]event.Record{{Run: r.ID, Event: event.RunAttached{}}})
	must(t, err)
	must(t, again.Close())
	if quiet() {
		t.Error("quiet although something was written since")
	}
}

func TestBeat(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 3)
	r.Beat(Sign{Phase: strings.Repeat("long ", 100), Done: 1 << 62, Until: time.Now(), Allowed: time.Now(), Tried: maxTried + 1, Micros: 1 << 62, Redone: 1 << 62, Quiet: true, Untold: true})
	b := readBeat(r.Folder)
	if b.Seq != 3 || b.Done != 1<<62 || b.Micros != 1<<62 || len(b.Phase) != maxPhase || b.Driver() != s.self || b.At.IsZero() {
		t.Errorf("beat %+v", b)
	}
	line, err := os.ReadFile(r.in(beatName))
	must(t, err)
	if len(line) != beatSize {
		t.Errorf("%d bytes", len(line))
	}
	for i := range line { // a torn or spoiled one remembers nothing
		bad := bytes.Clone(line)
		bad[i] ^= 4
		if got, ok := decodeBeat(bad); ok {
			t.Fatalf("byte %d was changed and it reads %+v", i, got)
		}
	}
	must(t, os.Truncate(r.in(beatName), 100))
	if got := readBeat(r.Folder); got != (Beat{}) {
		t.Errorf("half a beat is %+v", got)
	}
}

// Who closes a run leaves a beat that remembers its last record.
func TestCloseRemembersTheEnd(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 2)
	_, err := r.Append([]event.Record{nth(r.ID, 1)})
	must(t, err)
	must(t, r.Close())
	if b := readBeat(r.Folder); b.Seq != 3 || b.Phase != "test" || b.Done != 2 {
		t.Errorf("beat %+v", b)
	}
}
