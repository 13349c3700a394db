package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// fold reads lines of stdout, with an exit code.
func fold(t *testing.T, kind Kind, code int, stdout ...string) belay.AgentResult {
	t.Helper()
	a, ok := New(kind)
	if !ok {
		t.Fatalf("no adapter for %s", kind)
	}
	r := a.Reader()
	for _, l := range stdout {
		r.Line([]byte(l))
	}
	return r.End(Exit{Code: code, At: noon})
}

var noon = time.Date(2026, 9, 20, 12, 0, 0, 0, time.UTC)

func TestTimesToTryAgain(t *testing.T) {
	t.Parallel()
	day := func(y int, m time.Month, d, h, min int) time.Time { return time.Date(y, m, d, h, min, 0, 0, time.UTC) }
	for s, want := range map[string]any{
		"You’ve hit your usage limit. Upgrade to Pro or try again at Sep 21st, 2026 2:13 PM.": day(2026, 9, 21, 14, 13),
		"You've hit your usage limit. Try again at 2:13 PM.":                                  day(2026, 9, 20, 14, 13),
		"You've hit your session limit · resets 3pm (America/New_York)":                       day(2026, 9, 20, 15, 0),
		"You've hit your session limit · resets 10:30am":                                      day(2026, 9, 21, 10, 30),
		"You've hit your weekly limit · resets Oct 7, 9am (UTC)":                              day(2026, 10, 7, 9, 0),
		"You've hit your weekly limit · resets Jan 2 at 12am":                                 day(2027, 1, 2, 0, 0),
		"Claude AI usage limit reached|1790000000":                                            time.Unix(1790000000, 0),
		"limit; resets at 2026-09-20T18:00:00Z":                                               day(2026, 9, 20, 18, 0),
		"Rate limit reached. Please try again in 3m":                                          3 * time.Minute,
		"Rate limit reached. Please try again in 1.5s. Visit the site.":                       1500 * time.Millisecond,
		"Please try again in 2 days 3 hours and 4 minutes.":                                   51*time.Hour + 4*time.Minute,
		"rate limited\nSuggested retry after 3600s.":                                          time.Hour,
		"Retrying after 5764ms...":                                                            5764 * time.Millisecond,
		"resets in 90 minutes":                                                                90 * time.Minute,
		"try again in 99999 days":                                                             nil,
		"Claude AI usage limit reached|9999999999":                                            nil,
		"the test resets 3 counters":                                                          nil,
		"try again later":                                                                     nil,
		"retry after the fix":                                                                 nil,
		"resets 25:00":                                                                        nil,
	} {
		var got any
		if d := waitIn(s); d > 0 {
			got = d
		} else if at := resetIn(s, noon); !at.IsZero() {
			got = at
		}
		if w, ok := want.(time.Time); ok {
			if g, ok := got.(time.Time); !ok || !g.Equal(w) {
				t.Errorf("%q: got %v, want %v", s, got, want)
			}
		} else if got != want {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	}
}

func TestUsageLimitsAreQuotaWithATime(t *testing.T) {
	t.Parallel()
	r := fold(t, Codex, 1, `{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again at Sep 21st, 2026 2:13 PM."}}`)
	if r.Class != belay.ClassQuota || !r.Reset.Equal(time.Date(2026, 9, 21, 14, 13, 0, 0, time.UTC)) {
		t.Errorf("codex: %+v", r)
	}
	r = fold(t, Claude, 1,
		`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1790000000}}`,
		`{"type":"assistant","error":"rate_limit","message":{"model":"<synthetic>"}}`,
		`{"type":"result","is_error":true,"api_error_status":429,"terminal_reason":"api_error","result":"You've hit your session limit · resets 3pm"}`)
	if r.Class != belay.ClassQuota || r.Status != 429 || r.Reset.Unix() != 1790000000 {
		t.Errorf("claude: %+v", r)
	}
}

// promise: H3
func TestASubtypeIsNotBelieved(t *testing.T) {
	t.Parallel()
	if r := fold(t, Claude, 1, `{"type":"result","subtype":"success","is_error":true,"result":"x"}`); !r.Error || r.Class != belay.ClassUnknown {
		t.Errorf("an error that calls itself a success: %+v", r)
	}
	if r := fold(t, Claude, 0, `{"type":"result","subtype":"error_during_execution","is_error":false,"result":"x","stop_reason":"end_turn"}`); r.Error {
		t.Errorf("a success that calls itself an error: %+v", r)
	}
}

func TestExitCodesOfGemini(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		class  belay.Class
		status int
	}{
		41: {belay.ClassAuth, 0}, 42: {belay.ClassInvalidInput, 0}, 44: {belay.ClassInfrastructure, 0}, 52: {belay.ClassInvalidInput, 0},
		53: {belay.ClassTurnLimit, 0}, 54: {belay.ClassInfrastructure, 0}, 55: {belay.ClassInvalidInput, 0}, 130: {belay.ClassCancelled, 0},
		144: {belay.ClassInvalidInput, 400}, 145: {belay.ClassAuth, 401}, 147: {belay.ClassAuth, 403}, 148: {belay.ClassInvalidInput, 404},
		173: {belay.ClassRateLimit, 429}, 244: {belay.ClassTransient, 500}, 247: {belay.ClassTransient, 503}, 1: {belay.ClassUnknown, 0},
	} {
		if r := fold(t, Gemini, code); r.Class != want.class || r.Status != want.status || r.Final {
			t.Errorf("exit %d: class %q status %d", code, r.Class, r.Status)
		}
	}
}

func TestDenialsOfCodexAndOldClaude(t *testing.T) {
	t.Parallel()
	r := fold(t, Codex, 0,
		`{"type":"item.started","item":{"id":"i","type":"command_execution","command":"/bin/bash -lc 'rm x'","status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"/bin/bash -lc 'rm x'","exit_code":null,"status":"declined"}}`,
		`{"type":"item.completed","item":{"id":"p","type":"file_change","changes":[{"path":"a.go","kind":"add"},{"path":"b.go","kind":"update"}],"status":"completed"}}`)
	if len(r.Denied) != 1 || !r.Tools[0].Denied || r.Tools[0].Command != "rm x" {
		t.Errorf("codex: %+v", r)
	}
	if r.ToolCount != 3 || r.Tools[1].Path != "a.go" || r.Tools[2].Path != "b.go" || r.Tools[1].Denied {
		t.Errorf("codex, a patch: %+v", r.Tools)
	}
	r = fold(t, Claude, 0,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Permission to use Bash has been denied because of a rule."}]}}`)
	if len(r.Denied) != 1 || !r.Tools[0].Denied {
		t.Errorf("claude: %+v", r)
	}
}

// A call that failed, and that the last record lists as refused, was refused: it
// is told once more.
//
// promise: H3
func TestDenialsThatAreToldLast(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Claude, Qwen} {
		a, _ := New(kind)
		r := a.Reader()
		var denied []string
		for _, line := range []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t0","name":"Bash","input":{"command":"rm a"}},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"rm b"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t0","is_error":true,"content":"This command requires approval"},{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"cannot"}]}}`,
			`{"type":"result","subtype":"success","is_error":false,"result":"Done.","permission_denials":[{"tool_name":"Bash","tool_use_id":"t0"},{"tool_name":"Bash","tool_use_id":"t9"},{"tool_name":"Bash"}]}`,
		} {
			for _, s := range r.Line([]byte(line)) {
				if s.Kind == SignDone && s.Tool.Denied {
					denied = append(denied, s.ID)
				}
			}
		}
		res := r.End(Exit{At: noon})
		if !slices.Equal(denied, []string{"t0"}) || !res.Tools[0].Denied || res.Tools[1].Denied || len(res.Tools) != 2 || !slices.Equal(res.Denied, []string{"Bash"}) || !res.Final {
			t.Errorf("%s: told %q, kept %+v, %q", kind, denied, res.Tools, res.Denied)
		}
	}
}

func TestUnwrappedCommands(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`/bin/bash -lc 'go test ./...'`:       "go test ./...",
		`bash -lc "echo \"a\" \$B"`:           `echo "a" $B`,
		`/bin/bash -lc 'echo '\''x'\'''`:      "echo 'x'",
		`/usr/bin/zsh -c ls`:                  "ls",
		"/bin/bash -lc 'cd x\ngo test ./...'": "cd x\ngo test ./...",
		`git status`:                          "git status",
		`/bin/bash script.sh`:                 "/bin/bash script.sh",
		// a command with both kinds of quotes, or with one and a sign that
		// double quotes do not hold, is told in pieces
		"/bin/bash -lc \"cat > notes.md <<'EOF'\nUse \"'`make` here.\nEOF'": "cat > notes.md <<'EOF'\nUse `make` here.\nEOF",
		`/bin/bash -lc 'go test ./... 2>&1 | grep '"'"'^ok'"'"`:             "go test ./... 2>&1 | grep '^ok'",
		`/bin/bash -lc 'gh pr create --title '"'Fix "'$x'"' --body done"`:   "gh pr create --title 'Fix $x' --body done",
		`/bin/bash -lc 'cat $HOME/x '"'a.txt'"`:                             "cat $HOME/x 'a.txt'",
		`/bin/bash -lc "sed -i 's/a\\/b/' x"`:                               `sed -i 's/a\/b/' x`,
		`'/opt/my shells/bash' -c ls`:                                       "ls",
		`/bin/bash -lc '' `:                                                 "",
		`/bin/bash -lc 'echo $0' "a b"`:                                     `/bin/bash -lc 'echo $0' "a b"`, // what it is given beside is a part of it
		`bash -c ls | tee x`:                                                "bash -c ls | tee x",
		`bash -c ls>x`:                                                      "bash -c ls>x",
		`bash -lc 'never ends`:                                              `bash -lc 'never ends`,
		`bash -lc "never ends`:                                              `bash -lc "never ends`,
		`bash -lc never\`:                                                   `bash -lc never\`,
	} {
		if got := unwrapped(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestWhatAReaderKeepsIsBounded(t *testing.T) {
	t.Parallel()
	a, _ := New(Codex)
	r := a.Reader()
	for i := range 1000 {
		r.Line(fmt.Appendf(nil, `{"type":"item.completed","item":{"id":"i%d","type":"command_execution","command":"c%d","exit_code":0}}`, i, i))
	}
	for range 100 {
		r.Stderr([]byte(strings.Repeat("e", 10000)))
	}
	res := r.End(Exit{Code: 1, At: noon})
	if res.ToolCount != 1000 || len(res.Tools) != 100 || res.Tools[49].Command != "c49" || res.Tools[50].Command != "c950" || res.Tools[99].Command != "c999" {
		t.Errorf("%d calls, %d kept: %q … %q", res.ToolCount, len(res.Tools), res.Tools[49].Command, res.Tools[50].Command)
	}
	if len(res.Cause) > maxCause {
		t.Errorf("cause of %d bytes", len(res.Cause))
	}

	a, _ = New(Command)
	r = a.Reader()
	chunk := []byte(strings.Repeat("ä", 1<<19))
	for range 20 {
		r.Line(chunk)
	}
	res = r.End(Exit{})
	if want := int64(20*len(chunk) + 19); res.TextSize != want || len(res.Text) > maxShown || len(res.Text) < maxShown-4 || !strings.HasSuffix(res.Text, "ä") {
		t.Errorf("text of %d bytes of %d, want %d", len(res.Text), res.TextSize, want)
	}
}

func TestACommandIsItsOutputAndItsExit(t *testing.T) {
	t.Parallel()
	if r := fold(t, Command, 0, "first", "", "last"); r.Text != "first\n\nlast" || !r.Final || r.Error {
		t.Errorf("success: %+v", r)
	}
	if r := fold(t, Command, 3, "x"); !r.Final || !r.Error || r.Class != belay.ClassUnknown {
		t.Errorf("failure: %+v", r)
	}
	a, _ := New(Command)
	if r := a.Reader().End(Exit{Code: -1, Signal: 9}); r.Final {
		t.Errorf("killed: %+v", r)
	}
}

func TestTheScriptedAgentIsReadAsItWrites(t *testing.T) {
	t.Parallel()
	seven := 7
	var out []string
	for _, rec := range []ScriptedRecord{
		{Type: ScriptedStart, Session: "s1", Model: "m"},
		{Type: ScriptedText, Text: "working"},
		{Type: ScriptedTool, ID: "1", Tool: &belay.ToolCall{Name: "Bash", Command: "make"}},
		{Type: ScriptedDone, ID: "1", Tool: &belay.ToolCall{Exit: &seven}},
		{Type: ScriptedTool, ID: "2", Tool: &belay.ToolCall{Name: "Write"}},
		{Type: ScriptedDone, ID: "2", Tool: &belay.ToolCall{Name: "Write", Denied: true}},
		{Type: ScriptedRetry, Error: &ScriptedFault{Class: belay.ClassTransient, Status: 529}},
		{Type: ScriptedUsage, Usage: &belay.Usage{Input: 10, Output: 5, MicroUSD: 7}},
		{Type: ScriptedUsage, Usage: &belay.Usage{Input: 1}},
		{Type: ScriptedFinal, Text: "done", Stop: belay.StopError, Error: &ScriptedFault{Class: belay.ClassRateLimit, Status: 429, RetryAfterMS: 1500, Text: "slow down"}},
	} {
		b, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	r := fold(t, Scripted, 1, out...)
	if r.Session != "s1" || r.Text != "done" || !r.Final || !r.Error || r.Class != belay.ClassRateLimit || r.Status != 429 || r.RetryAfter != 1500*time.Millisecond {
		t.Errorf("%+v", r)
	}
	if r.Retries != 1 || r.Usage != (belay.Usage{Input: 11, Output: 5, MicroUSD: 7}) || len(r.Denied) != 1 {
		t.Errorf("%+v", r)
	}
	if len(r.Tools) != 2 || r.Tools[0].Command != "make" || *r.Tools[0].Exit != 7 || !r.Tools[0].Failed || r.Tools[0].Open {
		t.Errorf("%+v", r.Tools)
	}
}

// A retry that was announced is what stopped a run that had no end; work after
// it takes the blame away.
func TestThePendingFaultIsTheLastOne(t *testing.T) {
	t.Parallel()
	retry := `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"retry_delay_ms":4000,"error_status":429,"error":"rate_limit"}`
	if r := fold(t, Claude, 1, retry); r.Class != belay.ClassRateLimit || r.RetryAfter != 4*time.Second || r.Error {
		t.Errorf("while it waits: %+v", r)
	}
	text := `{"type":"assistant","message":{"content":[{"type":"text","text":"on we go"}]}}`
	if r := fold(t, Claude, 0, retry, text); r.Class != belay.ClassNone || r.RetryAfter != 0 {
		t.Errorf("when it went on: %+v", r)
	}
	a, _ := New(Claude)
	if s := a.Reader().Line([]byte(retry)); len(s) != 1 || s[0].Kind != SignRetry || s[0].Wait != 4*time.Second {
		t.Errorf("sign: %+v", s)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"2.1.325 (Claude Code)\n":                           "2.1.325",
		"codex-cli 0.166.0\n":                               "0.166.0",
		"GitHub Copilot CLI 1.0.102.\nRun update to update": "1.0.102",
		"\x1b[1m1.18.33\x1b[0m\n":                           "1.18.33",
		"codex-cli 0.167.0-alpha.2":                         "0.167.0-alpha.2",
		"command not found":                                 "",
		"gemini needs node 20":                              "",
	} {
		if got := ParseVersion(Claude, out); got != want {
			t.Errorf("%q: got %q, want %q", out, got, want)
		}
	}
	for _, k := range recorded() {
		if len(Known(k).Programs) == 0 || len(VersionArgs(k)) == 0 || len(Known(k).Quirks) == 0 || len(Known(k).Login.Env) == 0 || Known(k).Login.Cure == "" {
			t.Errorf("%s: the doctor knows too little", k)
		}
		for _, f := range Known(k).Login.Files {
			if strings.HasPrefix(f, "/") {
				t.Errorf("%s: %s is not relative to the home folder", k, f)
			}
		}
	}
}
