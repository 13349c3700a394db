//go:build linux

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Three watches: one leads. When it is killed another leads at its next look; when that
// one is stopped by a signal the third takes over. Let go on, the second one stands by:
// one leads, whoever that is.
//
// promise: W13
func TestWatchRelief(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 0, 0)
	var talk [3]string
	for i := range talk {
		talk[i] = filepath.Join(c.dir, "talk"+string(rune('0'+i)))
		f, err := os.Create(talk[i])
		if err != nil {
			t.Fatal(err)
		}
		cmd := c.command("watch", "--poll", "50ms", "--window", "0")
		cmd.Stderr = f
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = f.Close() // it has its own
		c.busy = append(c.busy, cmd)
	}
	first := c.leader(0)
	_ = syscall.Kill(first, syscall.SIGKILL) // it is there: it leads
	killed := time.Now()
	second := c.leader(first)
	t.Logf("another leads %s after the death of the first", time.Since(killed).Round(time.Millisecond))
	_ = syscall.Kill(second, syscall.SIGSTOP) // so is this one
	third := c.leader(first, second)
	_ = syscall.Kill(second, syscall.SIGCONT) // it is there: it was stopped a moment ago
	for end := time.Now().Add(20 * time.Second); ; c.wait(20 * time.Millisecond) {
		said := ""
		for _, name := range talk {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			said += string(text)
		}
		if strings.Count(said, "this one took over") == 1 && strings.Contains(said, "another watch took over while this one was stopped") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the watch that was let go on does not stand by:\n%s", said)
		}
	}
	if is := c.leader(first, second); is != third {
		t.Errorf("process %d leads, and %d took over", is, third)
	}
}

// leader waits for a watch to lead that is none of those.
func (c *crowd) leader(but ...int) int {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); c.wait(5 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(c.dir, "state", "watch.lock"))
		var is struct{ Pid int }
		if err != nil || json.Unmarshal(text, &is) != nil {
			continue
		}
		old := false
		for _, pid := range but {
			old = old || pid == is.Pid
		}
		if !old && is.Pid != 0 {
			return is.Pid
		}
	}
	c.t.Fatalf("no watch leads but %v", but)
	return 0
}
