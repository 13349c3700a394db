package proc

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// BenchmarkForkExec is the floor: fork, exec and wait, nothing else.
func BenchmarkForkExec(b *testing.B) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		b.Fatal(err)
	}
	env := syscall.Environ()
	for b.Loop() {
		pid, err := syscall.ForkExec(bash, []string{"bash", "-c", "true"}, &syscall.ProcAttr{Env: env})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSpawn is the same step through a keeper, one after the other.
func BenchmarkSpawn(b *testing.B) {
	r := newRig(b)
	k, _ := r.attach()
	n := 0
	for b.Loop() {
		n++
		s := r.bash("a"+itoa(n), `true`)
		r.spawn(k, s)
		if e := <-k.Events(); e.Exit == nil || e.Exit.Code != 0 {
			b.Fatalf("%+v", e)
		}
	}
	b.StopTimer()
	r.close(k)
}

// BenchmarkSpawnDeadline adds what most steps have: a deadline and some output.
func BenchmarkSpawnDeadline(b *testing.B) {
	r := newRig(b)
	k, _ := r.attach()
	n := 0
	for b.Loop() {
		n++
		s := r.bash("a"+itoa(n), `echo value`)
		s.Deadline, s.Out = time.Minute, r.file("out")
		r.spawn(k, s)
		if e := <-k.Events(); e.Exit == nil || string(e.Exit.OutInline) != "value\n" {
			b.Fatalf("%+v", e)
		}
	}
	b.StopTimer()
	r.close(k)
}
