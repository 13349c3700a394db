//go:build linux

package supervise

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/effect"
)

// repository makes the working directory of the rig a repository with one commit.
func (r *rig) repository() *rig {
	r.t.Helper()
	r.git("init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(r.order.Dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", "-A")
	r.git("-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-q", "-m", "first")
	r.env = append(r.env, "ATTEND_TEST_REAL=1")
	return r
}

func (r *rig) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.order.Dir}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// promise: H3
func TestEvidence(t *testing.T) {
	t.Parallel()
	r := newRig(t).script("- write: {path: b.txt, text: \"x\\ny\\n\"}\n- commit: second\n- append: {path: a.txt, text: \"two\\n\"}\n- answer: done\n").repository()
	d := r.run()
	e := d.Evidence
	if d.code != 0 || e.Error != "" || e.Files != 2 || e.Added != 3 || len(e.Commits) != 1 || !e.After.Dirty {
		t.Fatalf("exit %d, evidence %+v, said %s", d.code, e, d.talk)
	}
	if e.Snapshot == "" || r.git("show", e.Snapshot+":a.txt") != "one\ntwo" {
		t.Fatalf("snapshot %q", e.Snapshot)
	}
}

// promise: H3
func TestNoWorkNoEvidence(t *testing.T) {
	t.Parallel()
	r := newRig(t).script("- hollow: I have fixed everything\n").repository()
	d := r.run()
	if e := d.Evidence; e.Error != "" || e.Before != e.After || e.Files != 0 || e.Snapshot != "" {
		t.Fatalf("evidence %+v", e)
	}
}

// What an agent did before it was ended is seen and kept, and measured against
// where an earlier attempt began when that is told.
func TestEvidenceOfACutRun(t *testing.T) {
	t.Parallel()
	r := newRig(t).script("- write: {path: b.txt, text: half}\n- hang\n").repository()
	var out, talk bytes.Buffer
	cmd := r.start(&out, &talk)
	until(t, "the file is there", func() bool {
		b, err := os.ReadFile(filepath.Join(r.order.Dir, "b.txt"))
		return err == nil && string(b) == "half"
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d := r.wait(cmd, &out, &talk)
	if d.Ended != effect.EndedSignal || d.Evidence.Files != 1 || d.Evidence.Snapshot == "" {
		t.Fatalf("ended %q, evidence %+v", d.Ended, d.Evidence)
	}
	notes, _, err := ReadNotes(r.order.Notes, 0)
	if err != nil || notes[0].Base == nil || *notes[0].Base != d.Evidence.Before {
		t.Fatalf("notes %+v, %v", notes, err)
	}
	r.order.Base, r.order.Attempt = notes[0].Base, 2
	r.script("- append: {path: b.txt, text: ' done'}\n- answer: done\n")
	r.order.Windows.Timeout = time.Minute
	if d := r.run(); d.code != 0 || d.Evidence.Files != 1 || d.Evidence.Before != *r.order.Base {
		t.Fatalf("exit %d, evidence %+v", d.code, d.Evidence)
	}
}
