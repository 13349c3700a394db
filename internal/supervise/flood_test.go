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

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/effect"
)

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

const mib = 1 << 20

// Output of any size and any bytes passes; the memory does not grow with it.
func TestLongFlood(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		size    int64
		lines   int // that reached the reader
		long    int // that did not
	}{
		"records":       {"", 128 * mib, 0, 0},
		"short lines":   {"yes 0123456789 | head -c 16M", 16 * mib, 16 * mib / 11, 0},
		"invalid UTF-8": {`head -c 8M /dev/zero | tr '\0' '\377'; printf '\n\xff\xfe\n\xc3('`, 8*mib + 6, 3, 0},
		"a long line":   {"head -c 40M /dev/zero | tr '\\0' x; echo; echo end", 40*mib + 5, 1, 1},
		"no line end":   {"head -c 100M /dev/zero", 100 * mib, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.command == "" {
				r.script(fmt.Sprintf("- flood: %d\n- answer: dry again\n", c.size))
			} else {
				r.command(c.command)
			}
			var out bytes.Buffer
			var talk counter
			cmd := r.start(&out, &talk)
			d := r.wait(cmd, &out, &bytes.Buffer{})
			if d.code != 0 || talk.n < c.size || talk.n > c.size+mib || d.Result.Bad != c.long {
				t.Fatalf("exit %d, %d of %d bytes, %d too long, ended %q", d.code, talk.n, c.size, d.Result.Bad, d.Ended)
			}
			if c.command == "" {
				if d.out != "dry again" {
					t.Errorf("it said %.100q", d.out)
				}
			} else if n := d.Result.ToolCount; n < c.lines || n > c.lines+1 {
				t.Errorf("%d lines reached the reader, want %d", n, c.lines)
			}
			if kib := r.memory(); kib > memoryTimes*100<<10 {
				t.Errorf("it took %d KiB of memory", kib)
			}
		})
	}
}

// A pipe that somebody outside the tree holds is not waited for.
func TestHeldPipe(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	fifo := filepath.Join(r.order.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	held, ready := make(chan *os.File, 1), filepath.Join(r.order.Dir, "held")
	go func() {
		f, err := os.OpenFile(fifo, os.O_RDONLY, 0) // until the agent writes its pid
		if err != nil {
			held <- nil
			return
		}
		defer f.Close()
		b := make([]byte, 32)
		n, err := f.Read(b)
		if err != nil {
			held <- nil
			return
		}
		out, err := os.OpenFile("/proc/"+strings.TrimSpace(string(b[:n]))+"/fd/1", os.O_WRONLY, 0)
		if err == nil {
			err = os.WriteFile(ready, nil, 0o600)
		}
		if err != nil {
			out = nil
		}
		held <- out
	}()
	r.command("pid=$$; (echo $pid > fifo); until [ -e held ]; do sleep 0.01; done; echo last words")
	at := time.Now()
	d := r.run()
	f := <-held
	if f == nil {
		t.Fatal("the pipe could not be held")
	}
	defer f.Close()
	if took := time.Since(at); d.code != 0 || d.out != "last words" || took > 40*time.Second || took < drainFor {
		t.Fatalf("exit %d, said %q, after %s", d.code, d.out, took)
	}
}

// A prompt that is not read does not hold anything up.
func TestUnreadPrompt(t *testing.T) {
	t.Parallel()
	r := newRig(t).command("echo no need to read")
	if err := os.WriteFile(r.order.Prompt, bytes.Repeat([]byte("word "), mib), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := r.run(); d.code != 0 || d.out != "no need to read" {
		t.Fatalf("exit %d, said %q", d.code, d.out)
	}
	r.command("wc -c")
	if d := r.run(); d.code != 0 || strings.TrimSpace(d.out) != fmt.Sprint(5*mib) {
		t.Fatalf("exit %d, it read %q", d.code, d.out)
	}
	r.command("exec sleep 600")
	r.order.Windows.Timeout = 300 * time.Millisecond
	if d := r.run(); d.Ended != effect.EndedDeadline {
		t.Fatalf("ended %q", d.Ended)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	text := "one\r\n\ntoo long a line\nfour\nthis is too long as well\nlast"
	for _, size := range []int{1, 2, 3, 7, 100} {
		var got, past []string
		l := lines{max: 6, past: func(head []byte) { past = append(past, string(head[:3])) }}
		each := func(b []byte) { got = append(got, string(b)) }
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			l.feed(rest[:min(size, len(rest))], each)
		}
		l.end(each)
		if strings.Join(got, "|") != "one||four|last" || l.long != 2 || strings.Join(past, "|") != "too|thi" {
			t.Errorf("in pieces of %d: %q, %d too long: %q", size, got, l.long, past)
		}
	}
}

// A long answer of a CLI with records is whole up to the limit, and is not
// passed on in part beyond it; the memory is bounded both times.
// promise: H3
func TestLongAnswer(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for name, c := range map[string]struct {
		size, most int64
		cut        string
	}{
		"up to the limit":    {16 * mib, 0, ""},
		"over it":            {16*mib + 1, 0, "the answer has 16777217 bytes, over 16777216"},
		"over the one set":   {mib, mib - 1, "the answer has 1048576 bytes, over 1048575"},
		"no more can be set": {16*mib + 1, 64 * mib, "the answer has 16777217 bytes, over 16777216"},
		"past any record":    {28 * mib, 0, "a line of the answer has more than 25165824 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.command(fmt.Sprintf(`says() { printf '%%s' "$1"; head -c %d /dev/zero | tr '\0' a; echo "$2"; }
				says '{"type":"assistant","message":{"content":[{"type":"text","text":"' '"}]}}'
				says '{"type":"result","result":"' '"}'`, c.size))
			r.order.Kind, r.order.Access, r.order.Most = agent.Claude, agent.AccessEdit, c.most
			var out bytes.Buffer
			var talk counter
			d := r.wait(r.start(&out, &talk), &out, &bytes.Buffer{})
			size, code := c.size, 0
			if c.cut != "" {
				size, code = 0, 1
			}
			if d.code != code || d.Result.Cut != c.cut || int64(len(d.out)) != size || talk.n < 2*c.size {
				t.Errorf("exit %d, %d bytes of %d, cut %q, cause %q", d.code, len(d.out), talk.n, d.Result.Cut, d.Result.Cause)
			}
			if kib := r.memory(); kib > memoryTimes*100<<10 {
				t.Errorf("it took %d KiB of memory", kib)
			}
		})
	}
}
