//go:build linux

package supervise

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

func TestSuccess(t *testing.T) {
	t.Parallel()
	r := newRig(t).script("- say: I look\n- write: {path: made.txt, text: x}\n- run: exit 3\n- tokens: {input: 10, output: 5}\n- answer: all done\n")
	r.order.Session = "preset-1"
	d := r.run()
	if d.code != 0 || d.out != "all done" || d.Ended != effect.EndedItself || !d.Result.Final {
		t.Fatalf("exit %d, said %q, ended %q, result %+v\n%s", d.code, d.out, d.Ended, d.Result, d.talk)
	}
	if d.Result.Session != "preset-1" || d.Result.Usage.Input != 10 || d.Result.ToolCount != 2 || d.Level != 1 {
		t.Fatalf("report %+v", d.AgentReport)
	}
	if d.Evidence.Before.Tree != "" || d.Evidence.After.Tree != "made.txt" || d.Evidence.Files != 2 {
		t.Fatalf("evidence %+v", d.Evidence)
	}
	if !strings.Contains(d.talk, `"type":"final"`) {
		t.Fatalf("the raw stream is missing: %q", d.talk)
	}
	notes, end, err := ReadNotes(r.order.Notes, 0)
	if err != nil || len(notes) != 2 || notes[0].What != effect.NoteBase || notes[0].Base == nil || notes[1].Text != "preset-1" {
		t.Fatalf("notes %+v, %v", notes, err)
	}
	if more, _, err := ReadNotes(r.order.Notes, end); err != nil || len(more) != 0 {
		t.Fatalf("notes after the end: %+v, %v", more, err)
	}
	if st, err := os.Stat(r.order.Report); err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("report: %v, %v", st.Mode(), err)
	}
}

// promise: F2
func TestHangThenResume(t *testing.T) {
	t.Parallel()
	patiently(t, 700*time.Millisecond, func(window time.Duration) error {
		r := newRig(t).script("attempts:\n- [say: I begin, run: 'true', hang: true]\n- [write: {path: made.txt, text: x}, answer: done after all]\n")
		r.order.Windows.Silence = window // the second process must keep within it
		d := r.run()
		if d.code != 0 || d.out != "done after all" || d.Ended != effect.EndedItself || d.Resumes != 1 {
			return fmt.Errorf("exit %d, said %q, ended %q, resumes %d, notes %q\n%s", d.code, d.out, d.Ended, d.Resumes, d.told(), d.talk)
		}
		if d.told() != "base session quiet interrupt resume" || d.Result.ToolCount != 2 || len(d.Result.Tools) != 2 {
			return fmt.Errorf("notes %q, tools %+v", d.told(), d.Result.Tools)
		}
		if d.Notes[1].Text != d.Notes[4].Text || d.Result.Session != d.Notes[1].Text {
			return fmt.Errorf("another session was gone on with: %+v", d.Notes)
		}
		return nil
	})
}

// promise: F2
func TestHangTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t).script("- ignore_term\n- say: I begin\n- hang: true\n")
	r.order.Windows.Silence = 300 * time.Millisecond
	d := r.run()
	if d.code != 1 || d.Ended != effect.EndedSilence || d.Resumes != 1 || d.Result.Final || d.Result.Signal != int(syscall.SIGKILL) {
		t.Fatalf("exit %d, ended %q, resumes %d, result %+v", d.code, d.Ended, d.Resumes, d.Result)
	}
	if d.told() != "base session quiet interrupt resume quiet kill" {
		t.Fatalf("notes %q", d.told())
	}
}

func TestEveryWindow(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	for name, c := range map[string]struct {
		script  string
		windows Windows
		want    effect.EndedBy
	}{
		"timeout": {"- say: x\n- hang\n", Windows{Timeout: short}, effect.EndedDeadline},
		"tool":    {"- run: sleep 600\n", Windows{Tool: short, Silence: time.Minute}, effect.EndedTool},
		"babble":  {"- say: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n- say: x\n- hang\n", Windows{BabbleChars: 20}, effect.EndedBabble},
		"retries": {"- retry: 3\n- hang\n", Windows{Retries: short}, effect.EndedRetries},
		"linger":  {"- answer: ready\n- hang\n", Windows{Linger: short}, effect.EndedSilence},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t).script(c.script)
			r.order.Resumes = -1
			c.windows.Gentle = short
			r.order.Windows = c.windows
			if d := r.run(); d.code != 1 || d.Ended != c.want || !strings.HasSuffix(d.told(), "kill") && !strings.HasSuffix(d.told(), "kill kill") {
				t.Fatalf("exit %d, ended %q, notes %q", d.code, d.Ended, d.told())
			}
		})
	}
	t.Run("first", func(t *testing.T) {
		t.Parallel()
		r := newRig(t).command("sleep 600")
		r.order.Windows.First = short
		if d := r.run(); d.code != 1 || d.Ended != effect.EndedFirst {
			t.Fatalf("exit %d, ended %q", d.code, d.Ended)
		}
	})
}

// Told to end, it has a few seconds; the report is there in time.
func TestToldToEnd(t *testing.T) {
	t.Parallel()
	best := time.Hour // a machine that stands still stands still for one of them
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		r := newRig(t).script("- write: {path: made.txt, text: x}\n- ignore_term\n- fork: {how: setsid, pid: ../child.pid}\n- hang\n")
		var out, talk bytes.Buffer
		cmd := r.start(&out, &talk)
		child := filepath.Join(r.order.Dir, "../child.pid")
		until(t, "its child is there", func() bool { return there(child) })
		at := time.Now()
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		d := r.wait(cmd, &out, &talk)
		if d.code != 1 || d.Ended != effect.EndedSignal || d.Evidence.After.Tree != "made.txt" {
			t.Fatalf("%s: exit %d, ended %q, evidence %+v", sig, d.code, d.Ended, d.Evidence)
		}
		best = min(best, time.Since(at))
		if all, living := alive(t, child); all != 1 || living != 0 {
			t.Fatalf("%s: %d of %d children live", sig, living, all)
		}
	}
	if best > 4500*time.Millisecond {
		t.Errorf("it took %s", best)
	}
}

func TestNotInstalled(t *testing.T) {
	t.Parallel()
	r := newRig(t).script("- answer: x\n")
	r.order.Kind, r.order.Name, r.order.Program = agent.Command, "mytool", []string{"no-such-program-here"}
	d := r.run()
	if d.code != 1 || d.Result.Class != belay.ClassInfrastructure || !d.Result.Error || d.Result.Exit != -1 ||
		!strings.Contains(d.Result.Cause, "mytool is not installed") || !strings.Contains(d.Result.Cause, "no-such-program-here") {
		t.Fatalf("exit %d, result %+v", d.code, d.Result)
	}
	for _, k := range agent.Kinds() {
		if cure(k) == "" {
			t.Errorf("no cure for %s", k)
		}
	}
}

// Whatever is missing, there is a report.
func TestAlwaysAReport(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Order){
		"prompt": func(o *Order) { o.Prompt += ".gone" },
		"kind":   func(o *Order) { o.Kind = "no such kind" },
		"script": func(o *Order) { o.Script = "" },
		"dir":    func(o *Order) { o.Dir += ".gone" },
	} {
		r := newRig(t).script("- answer: x\n")
		order := r.order
		spoil(&r.order)
		var out, talk bytes.Buffer
		dir := r.order.Dir
		r.order.Dir = order.Dir
		path := filepath.Join(filepath.Dir(order.Dir), "order.json")
		r.order.Dir = dir
		if err := r.order.Write(path); err != nil {
			t.Fatal(err)
		}
		d := r.wait(r.start(&out, &talk), &out, &talk)
		if d.code != 1 || d.Result.Class != belay.ClassInfrastructure || d.Result.Cause == "" {
			t.Errorf("%s: exit %d, result %+v", name, d.code, d.Result)
		}
	}
}

// A failed run, in the ways in which it can say so.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		ok     func(done) bool
	}{
		"an error":   {"- error: {class: auth, status: 401}\n", func(d done) bool { return d.Result.Class == belay.ClassAuth && d.Result.Status == 401 }},
		"an exit":    {"- answer: x\n- exit: 7\n", func(d done) bool { return d.Result.Exit == 7 && d.Result.Final }},
		"a signal":   {"- answer: x\n- signal: KILL\n", func(d done) bool { return d.Result.Signal == 9 }},
		"no final":   {"- say: x\n- no_final\n", func(d done) bool { return d.Result.Exit == 0 && !d.Result.Final }},
		"bad script": {"- oops\n", func(d done) bool { return d.Result.Exit == 65 && strings.Contains(d.talk, "line 1") }},
	} {
		for _, contain := range []Containment{ContainSubreaper, ContainAuto} {
			r := newRig(t).script(c.script)
			r.order.Contain = contain
			if d := r.run(); d.code != 1 || d.Ended != effect.EndedItself || !c.ok(d) {
				t.Errorf("%s at level %d: exit %d, ended %q, result %+v, said %s", name, d.Level, d.code, d.Ended, d.Result, d.talk)
			}
		}
	}
}

// The value of a secret is in neither of the files.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	const value = "correct-horse\"battery"
	r := newRig(t).script("- retry: 1\n- error: {class: auth, text: 'bad key correct-horse\"battery'}\n")
	r.order.Secrets = []string{"MY_THING"}
	r.order.Session = "s-" + value
	r.env = []string{"MY_THING=" + value}
	d := r.run()
	if d.Result.Cause == "" || !strings.Contains(d.Result.Cause, "[REDACTED]") {
		t.Fatalf("cause %q", d.Result.Cause)
	}
	for _, path := range []string{r.order.Report, r.order.Notes} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("correct-horse")) || !bytes.Contains(b, []byte("REDACTED")) {
			t.Errorf("%s: %s", path, b)
		}
	}
}

// It is asked to end before it is made to.
func TestGently(t *testing.T) {
	t.Parallel()
	for _, contain := range []Containment{ContainSubreaper, ContainAuto} {
		t.Run(string(contain), func(t *testing.T) {
			t.Parallel()
			patiently(t, time.Second, func(window time.Duration) error {
				r := newRig(t).command("trap 'touch tidied; exit 0' TERM; echo up; while :; do sleep 0.02; done")
				r.order.Contain = contain
				r.order.Windows.Timeout, r.order.Windows.Gentle = window, 30*time.Second
				if d := r.run(); d.Ended != effect.EndedDeadline || d.Evidence.After.Tree != "tidied" {
					return fmt.Errorf("level %d: ended %q, evidence %+v", d.Level, d.Ended, d.Evidence)
				}
				return nil
			})
		})
	}
}
