package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// A line of any length and with anything in it takes a bounded time: whoever
// watches the clock waits for it.
//
// promise: F2
func TestLongLinesCostLittle(t *testing.T) {
	t.Parallel()
	line := []byte(strings.Repeat("\x1b[31ma\x1b[0m", 8<<20/10))
	for _, kind := range Kinds() {
		ad, ok := New(kind)
		if !ok {
			continue
		}
		r := ad.Reader()
		began := time.Now()
		r.Stderr(line)
		r.Line(line)
		r.End(Exit{Code: 1, At: noon})
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: %s", kind, took)
		}
	}
	if got := plain(string(line)); got != strings.Repeat("a", 8<<20/10) {
		t.Errorf("%d bytes are left", len(got))
	}
	if got := plain("a\x1b[1;31mb\x1b[0mc\x1b["); got != "abc" {
		t.Errorf("%q", got)
	}
}

// A model that thinks after a retry is not one that only retries.
func TestThinkingAfterARetry(t *testing.T) {
	t.Parallel()
	for kind, lines := range map[Kind][]string{
		Claude: {
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`,
			`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"thinking"}}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}}`,
		},
		Qwen:     {`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"thinking":"hm"}}}`},
		Codex:    {`{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}`},
		Copilot:  {`{"type":"assistant.reasoning_delta","data":{"deltaContent":"hm"}}`},
		OpenCode: {`{"type":"reasoning","sessionID":"s","part":{"text":"hm"}}`},
	} {
		for _, line := range lines {
			ad, _ := New(kind)
			s := ad.Reader().Line([]byte(line))
			if len(s) != 1 || s[0].Kind != SignModel {
				t.Errorf("%s: %s: %+v", kind, line, s)
			}
		}
	}
	if s := (&claudeReader{}).Line([]byte(`{"type":"stream_event","event":{"type":"ping"}}`)); s[0].Kind != SignLife {
		t.Errorf("%+v", s)
	}
}

// The cause of a crash is what happened, and not a register at the end of the dump.
func TestCauseOfACrash(t *testing.T) {
	t.Parallel()
	dump := []string{"starting", "SIGSEGV: segmentation violation", "PC=0x4757c1 m=0 sigcode=0", "goroutine 1 gp=0xc0000061c0 m=0 mp=0x1:"}
	for i := range 60 {
		dump = append(dump, fmt.Sprintf("main.f%d(0x1, 0x2)", i), "\t/src/main.go:12 +0x1d")
	}
	dump = append(dump, "rax    0x0", "gs     0x0")
	for want, lines := range map[string][]string{
		"SIGSEGV: segmentation violation":        dump,
		"TypeError: x is not a function: y":      {"TypeError: x is not a function: y", "    at run (/a/b.js:1:2)", "", "Node.js v20.20.0"},
		"it did not work":                        {"Error: early: trouble", "it did not work"},
		"panic: runtime error: index out of 3":   {"panic: runtime error: index out of 3", "", "goroutine 1 [running]:", "main.main()", "\t/src/main.go:5 +0x1d", "exit status 2"},
		"gs     0x0":                             {"gs     0x0"},
		"ValueError: bad: 3":                     {"Traceback (most recent call last):", "ValueError: bad: 3"},
		"Segmentation fault (core dumped)":       {"Segmentation fault (core dumped)"},
		"thread 'main' panicked at src/main.rs:": {"thread 'main' panicked at src/main.rs:", "at core::panicking"},
	} {
		for _, kind := range []Kind{Command, Claude, Codex, Copilot, Scripted} {
			ad, _ := New(kind)
			r := ad.Reader()
			for _, l := range lines {
				r.Stderr([]byte(l))
			}
			if got := r.End(Exit{Code: 2, At: noon}); got.Cause != want {
				t.Errorf("%s: %q, want %q", kind, got.Cause, want)
			}
		}
	}
}

// A session id that no CLI would give is none.
func TestEndlessSession(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Claude, Codex, Gemini, OpenCode} {
		id := strings.Repeat("s", 1<<20)
		r := fold(t, kind, 0, fmt.Sprintf(`{"type":"system","subtype":"init","session_id":%q,"sessionID":%q}`, id, id),
			fmt.Sprintf(`{"type":"thread.started","thread_id":%q}`, id), fmt.Sprintf(`{"type":"init","session_id":%q}`, id))
		if r.Session != "" {
			t.Errorf("%s: %d bytes", kind, len(r.Session))
		}
	}
}

// Many open calls with long commands are not all held.
func TestHeldCommandsAreBounded(t *testing.T) {
	t.Parallel()
	var b book
	command := "go test " + strings.Repeat("x", 60<<10)
	masked := 0
	for i := range maxOpen {
		b.begin(fmt.Sprint(i), belay.ToolCall{Name: "Bash", Command: command})
	}
	if b.held > maxHeld {
		t.Fatalf("%d bytes", b.held)
	}
	for i := range maxOpen {
		s := b.done(fmt.Sprint(i), belay.ToolCall{})
		if c := s[0].Tool; c.Masked {
			masked++
		} else if c.Command != command {
			t.Fatalf("call %d: %d bytes of its command", i, len(c.Command))
		}
	}
	if b.held != 0 || masked == 0 || masked == maxOpen {
		t.Fatalf("%d bytes are held, %d calls masked", b.held, masked)
	}
}
