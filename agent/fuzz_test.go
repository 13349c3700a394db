package agent

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// fuzz feeds any bytes to a reader: it must not panic, and what it keeps must
// stay within its limits and be whole characters where the input was.
func fuzz(f *testing.F, kind Kind) {
	f.Helper()
	n := 0
	for _, c := range captures(f) {
		if c.kind == kind && n < 40 {
			n++
			f.Add(bytes.Join(c.stdout, []byte("\n")), bytes.Join(c.stderr, []byte("\n")), c.exit.Code)
		}
	}
	f.Add([]byte(`{"type":"result","usage":{"input_tokens":1e300},"total_cost_usd":-1}`), []byte("\x1b["), 255)
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, code int) {
		a, _ := New(kind)
		r := a.Reader()
		for _, l := range bytes.Split(stdout, []byte("\n")) {
			for _, s := range r.Line(l) {
				if s.Kind == "" {
					t.Fatalf("a sign without a kind: %+v", s)
				}
			}
		}
		for _, l := range bytes.Split(stderr, []byte("\n")) {
			r.Stderr(l)
		}
		res := r.End(Exit{Code: code, At: noon})
		if len(res.Tools) > maxHead+maxTail || len(res.Cause) > maxCause || len(res.Denied) > maxDenied || len(res.Text) > MaxAnswer {
			t.Fatalf("kept too much: %d tools, cause of %d, text of %d", len(res.Tools), len(res.Cause), len(res.Text))
		}
		if res.RetryAfter < 0 || res.Retries < 0 || res.Usage.MicroUSD < 0 || res.Status != 0 && (res.Status < 100 || res.Status > 599) {
			t.Fatalf("impossible numbers: %+v", res)
		}
		if utf8.Valid(stdout) && !utf8.ValidString(res.Text) {
			t.Fatalf("broken text %q", res.Text)
		}
	})
}

func FuzzClaude(f *testing.F)   { fuzz(f, Claude) }
func FuzzCodex(f *testing.F)    { fuzz(f, Codex) }
func FuzzGemini(f *testing.F)   { fuzz(f, Gemini) }
func FuzzCopilot(f *testing.F)  { fuzz(f, Copilot) }
func FuzzOpenCode(f *testing.F) { fuzz(f, OpenCode) }
func FuzzQwen(f *testing.F)     { fuzz(f, Qwen) }
func FuzzCommand(f *testing.F)  { fuzz(f, Command) }
func FuzzScripted(f *testing.F) { fuzz(f, Scripted) }
