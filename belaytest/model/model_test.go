package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// api is one of the four, as a test calls it.
type api struct {
	name, path, whole string // path of a streamed call and of a whole one
	plain             string // a body that offers a tool to write and a shell
	after             string // the same, with the result of a tool at its end
	streams           string // put into the body for a streamed call
}

func apis() []api {
	return []api{
		{
			"anthropic", "/v1/messages", "/v1/messages",
			`{"model":"m",STREAM"tools":[{"name":"Bash"},{"name":"Write"}],"messages":[{"role":"user","content":"hi"}]}`,
			`{"model":"m",STREAM"tools":[{"name":"Write"}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[]},{"role":"user","content":[{"type":"tool_result"}]}]}`,
			`"stream":true,`,
		},
		{
			"responses", "/v1/responses", "/v1/responses",
			`{"model":"m",STREAM"tools":[{"type":"function","name":"exec_command"}],"input":[{"type":"message","role":"user"}]}`,
			`{"model":"m",STREAM"tools":[{"type":"function","name":"exec_command"}],"input":[{"type":"message","role":"user"},{"type":"function_call"},{"type":"function_call_output"}]}`,
			`"stream":true,`,
		},
		{
			"chat", "/v1/chat/completions", "/v1/chat/completions",
			`{"model":"m",STREAM"tools":[{"function":{"name":"write"}},{"function":{"name":"bash"}}],"messages":[{"role":"user"}]}`,
			`{"model":"m",STREAM"tools":[{"function":{"name":"write"}}],"messages":[{"role":"user"},{"role":"assistant"},{"role":"tool"}]}`,
			`"stream":true,`,
		},
		{
			"gemini", "/v1beta/models/m:streamGenerateContent", "/v1beta/models/m:generateContent",
			`{"tools":[{"functionDeclarations":[{"name":"write_file"},{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
			`{"tools":[{"functionDeclarations":[{"name":"write_file"}]}],"contents":[{"parts":[{"text":"hi"}]},{"parts":[{"functionResponse":{"name":"x"}}]}]}`,
			"",
		},
	}
}

func serve(t *testing.T, script Script) *Server {
	t.Helper()
	s, err := New(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// start sends a request and gives the answer with its body still to be read.
func start(ctx context.Context, s *Server, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: 20 * time.Second} // a stream that stalls is a failure, not a wait
	return client.Do(req)
}

func (a api) body(streamed bool, body string) string {
	if !streamed {
		return strings.Replace(body, "STREAM", "", 1)
	}
	return strings.Replace(body, "STREAM", a.streams, 1)
}

// post sends a request and reads the whole answer.
func post(t *testing.T, s *Server, a api, streamed bool, body string) (*http.Response, string) {
	t.Helper()
	path := a.whole
	if streamed {
		path = a.path
	}
	res, err := start(t.Context(), s, path, a.body(streamed, body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		b      Behaviour
		status [4]int // by API
		after  string
		words  [4]string
	}{
		{HTTP401, [4]int{401, 401, 401, 401}, "", [4]string{"authentication_error", "invalid_api_key", "invalid_api_key", "UNAUTHENTICATED"}},
		{HTTP403, [4]int{403, 403, 403, 403}, "", [4]string{"permission_error", "forbidden", "forbidden", "PERMISSION_DENIED"}},
		{HTTP404, [4]int{404, 404, 404, 404}, "", [4]string{"not_found_error", "model_not_found", "model_not_found", "NOT_FOUND"}},
		{HTTP429, [4]int{429, 429, 429, 429}, "2", [4]string{"rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded", `"retryDelay":"2s"`}},
		{HTTP429Long, [4]int{429, 429, 429, 429}, "3600", [4]string{"rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded", `"retryDelay":"3600s"`}},
		{Quota, [4]int{400, 429, 429, 429}, "", [4]string{"credit balance is too low", "insufficient_quota", "insufficient_quota", "PerDay"}},
		{HTTP500, [4]int{500, 500, 500, 500}, "", [4]string{"api_error", "server_error", "server_error", "INTERNAL"}},
		{HTTP529, [4]int{529, 529, 529, 503}, "", [4]string{"overloaded_error", "server_is_overloaded", "server_is_overloaded", "UNAVAILABLE"}},
		{Ctx400, [4]int{400, 400, 400, 400}, "", [4]string{"prompt is too long", "context_length_exceeded", "context_length_exceeded", "exceeds the maximum number of tokens"}},
	} {
		s := serve(t, Say(c.b))
		for i, a := range apis() {
			for _, streamed := range []bool{true, false} {
				res, text := post(t, s, a, streamed, a.plain)
				if res.StatusCode != c.status[i] || res.Header.Get("Retry-After") != c.after {
					t.Errorf("%s %s: status %d, retry-after %q", c.b, a.name, res.StatusCode, res.Header.Get("Retry-After"))
				}
				if !json.Valid([]byte(text)) {
					t.Errorf("%s %s: no JSON: %s", c.b, a.name, text)
				}
				wants(t, text, c.words[i])
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		b     Behaviour
		words [4]string // in both forms of the answer
		none  string    // in neither
	}{
		{Text, [4]string{`"stop_reason":"end_turn"`, `"status":"completed"`, `"finish_reason":"stop"`, `"finishReason":"STOP"`}, "half an"},
		{Refusal, [4]string{`"stop_reason":"refusal"`, `"type":"refusal"`, `"finish_reason":"content_filter"`, `"finishReason":"SAFETY"`}, "Done."},
		{MaxTok, [4]string{`"stop_reason":"max_tokens"`, `"reason":"max_output_tokens"`, `"finish_reason":"length"`, `"finishReason":"MAX_TOKENS"`}, "Done."},
		{Empty, [4]string{`"stop_reason":"end_turn"`, `"status":"completed"`, `"finish_reason":"stop"`, `"finishReason":"STOP"`}, "Done."},
	} {
		s := serve(t, Say(c.b))
		for i, a := range apis() {
			for _, streamed := range []bool{true, false} {
				res, text := post(t, s, a, streamed, a.plain)
				if res.StatusCode != http.StatusOK {
					t.Errorf("%s %s: status %d", c.b, a.name, res.StatusCode)
				}
				wants(t, text, c.words[i])
				if strings.Contains(text, c.none) {
					t.Errorf("%s %s has %q:\n%s", c.b, a.name, c.none, text)
				}
				if c.b == Text {
					wants(t, text, "Done.")
				}
				if streamed != strings.Contains(text, "data: ") {
					t.Errorf("%s %s: streamed %v:\n%s", c.b, a.name, streamed, text)
				}
			}
		}
	}
}

// ends is the last event of each API's stream.
var ends = map[string]string{
	"anthropic": `{"type":"message_stop"}`, "responses": `"type":"response.completed"`,
	"chat": "[DONE]", "gemini": `"finishReason":"STOP"`,
}

func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Behaviour{Text}, Text: "seven words"})
	for _, a := range apis() {
		_, text := post(t, s, a, true, a.plain)
		wants(t, text, "seven words", ends[a.name])
		for line := range strings.Lines(text) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
			if ok && data != done && !json.Valid([]byte(data)) {
				t.Errorf("%s: no JSON: %s", a.name, data)
			}
		}
	}
}

func TestToolThenAnswer(t *testing.T) {
	t.Parallel()
	for _, b := range []Behaviour{Tool, Denied} {
		s := serve(t, Script{Steps: []Behaviour{b}, File: "/w/a.txt", Content: "it's"})
		for i, a := range apis() {
			tool := []string{`"Write"`, `"exec_command"`, `"write"`, `"write_file"`}[i]
			for _, streamed := range []bool{true, false} {
				_, text := post(t, s, a, streamed, a.plain)
				wants(t, text, tool, "/w/a.txt")
				_, text = post(t, s, a, streamed, a.after)
				wants(t, text, "Done.")
				if strings.Contains(text, "/w/a.txt") {
					t.Errorf("%s asks again after the result:\n%s", a.name, text)
				}
			}
		}
	}
}

func TestToolsByOffer(t *testing.T) {
	t.Parallel()
	if c := writeFile([]string{"exec_command"}, "/w/a b", "it's"); c.args["cmd"] != `mkdir -p '/w' && printf '%s' 'it'\''s' > '/w/a b'` {
		t.Errorf("command: %v", c.args)
	}
	if c := writeFile([]string{"apply_patch"}, "a", "x\ny"); c.custom != "*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch\n" {
		t.Errorf("patch: %q", c.custom)
	}
	if c := writeFile([]string{"Read"}, "a", "x"); c != nil {
		t.Errorf("a call of nothing: %v", c)
	}
	s := serve(t, Script{Steps: []Behaviour{Background}, Command: "stay &"})
	for i, a := range apis() {
		_, text := post(t, s, a, true, a.plain)
		wants(t, text, []string{"Bash", "exec_command", "bash", "run_shell_command"}[i], `stay `)
	}
	_, text := post(t, s, apis()[0], true, `{"messages":[],"stream":true}`)
	wants(t, text, "Done.") // nothing is offered: it answers
}

func TestByNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		steps []Behaviour
		want  []int
	}{
		{[]Behaviour{Flaky529x2}, []int{529, 529, 200, 200}},
		{[]Behaviour{HTTP401, Text, HTTP500}, []int{401, 200, 500, 500}},
	} {
		s := serve(t, Script{Steps: c.steps})
		for n, want := range c.want {
			if res, _ := post(t, s, apis()[0], true, apis()[0].plain); res.StatusCode != want {
				t.Errorf("%v, call %d: status %d, want %d", c.steps, n+1, res.StatusCode, want)
			}
		}
	}
}

func TestToolThen500(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Behaviour{ToolThen500}, File: "/w/a.txt"})
	for _, a := range apis() {
		_, text := post(t, s, a, true, a.plain)
		wants(t, text, "/w/a.txt")
		if res, _ := post(t, s, a, true, a.after); res.StatusCode != 500 {
			t.Errorf("%s: status %d after the tool", a.name, res.StatusCode)
		}
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	s := serve(t, Say(Drop))
	for _, a := range apis() {
		res, err := start(t.Context(), s, a.path, a.body(true, a.plain))
		if err != nil {
			continue // the reset overtook the headers: cut all the same
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close() // it has been read
		if err == nil || strings.Contains(string(text), ends[a.name]) {
			t.Errorf("%s: not cut: %v\n%s", a.name, err, text)
		}
	}
}

func TestHangEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		s := serve(t, Say(Hang))
		got := make(chan error, 1)
		go func() {
			res, err := start(t.Context(), s, a.path, a.body(true, a.plain))
			if err == nil {
				res.Body.Close() // it has been read
			}
			got <- err
		}()
		await(t, s, 1)
		select {
		case err := <-got:
			t.Fatalf("%s: an answer before the end: %v", a.name, err)
		default:
		}
		s.Close()
		if err := <-got; err == nil {
			t.Errorf("%s: headers came", a.name)
		}
	}
}

func TestHangMid(t *testing.T) {
	t.Parallel()
	for _, a := range apis() {
		s := serve(t, Say(HangMid))
		res, err := start(t.Context(), s, a.path, a.body(true, a.plain))
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(res.Body)
		until(t, r, "half an")
		s.Close()
		rest, err := io.ReadAll(r)
		res.Body.Close() // it has been read
		if err == nil || bytes.Contains(rest, []byte(ends[a.name])) {
			t.Errorf("%s: the stream ended: %v\n%s", a.name, err, rest)
		}
	}
}

func TestForever(t *testing.T) {
	t.Parallel()
	s := serve(t, Say(Forever))
	for _, a := range apis() {
		ctx, cancel := context.WithCancel(t.Context())
		res, err := start(ctx, s, a.path, a.body(true, a.plain))
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(res.Body)
		for range 4 {
			until(t, r, "and on")
		}
		cancel()
		if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the stream ended by itself: %v", a.name, err)
		}
		res.Body.Close() // it has been read
	}
}

// until reads lines up to one that has the words.
func until(t *testing.T, r *bufio.Reader, words string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, words) {
			return
		}
		if err != nil {
			t.Fatalf("no %q: %v", words, err)
		}
	}
}

func await(t *testing.T, s *Server, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Await(ctx, n); err != nil {
		t.Fatal(err)
	}
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, Say(Text))
	a := apis()[0]
	post(t, s, a, true, `{"pad":"`+strings.Repeat("x", maxBody)+`"}`)
	for range maxRequests + 2 {
		post(t, s, a, false, a.plain)
	}
	kept, all := s.Requests()
	if len(kept) != maxRequests || all != maxRequests+3 || s.Calls() != all {
		t.Errorf("kept %d of %d, %d calls", len(kept), all, s.Calls())
	}
	if len(kept[0].Body) != maxBody || string(kept[1].Body) != a.body(false, a.plain) {
		t.Errorf("bodies of %d and %d bytes", len(kept[0].Body), len(kept[1].Body))
	}
	if kept[1].Call != 2 || kept[1].Method != http.MethodPost || kept[1].Path != a.path {
		t.Errorf("request: %d %s %s", kept[1].Call, kept[1].Method, kept[1].Path)
	}
}

func TestAsidesAreNoCalls(t *testing.T) {
	t.Parallel()
	s := serve(t, Say(HTTP500))
	for path, want := range map[string]int{
		"/v1/messages/count_tokens": 200, "/v1beta/models/m:countTokens": 200, "/v1/models": 200, "/": 200, "/else": 404,
	} {
		res, err := start(t.Context(), s, path, "{}")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close() // it has been read
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, res.StatusCode, want)
		}
	}
	if s.Calls() != 0 {
		t.Errorf("%d calls", s.Calls())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Await(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("await: %v", err)
	}
	s.Close()
	if err := s.Await(t.Context(), 1); err == nil {
		t.Error("await of a closed server")
	}
}

func TestBadScripts(t *testing.T) {
	t.Parallel()
	for _, s := range []Script{{}, {Steps: []Behaviour{Text, "nap"}}} {
		if got, err := New(s); err == nil {
			got.Close()
			t.Errorf("%v is played", s)
		}
	}
	for _, b := range Behaviours() { // each of them has an act of its own or is resolved by number
		if err := Say(b).check(); err != nil {
			t.Error(err)
		}
	}
}
