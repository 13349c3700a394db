//go:build linux

package supervise

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

// server is an agent of the protocol, written with the library's other half.
type server struct {
	mode  string
	dir   string
	conn  *acp.AgentSideConnection
	again string // the session that was loaded
}

func acpMain(mode string) int {
	if strings.HasPrefix(mode, "raw") {
		return rawMain(mode)
	}
	s := &server{mode: mode}
	in := gate{make(chan struct{})}
	s.conn = acp.NewAgentSideConnection(s, os.Stdout, in)
	close(in.open)
	<-s.conn.Done()
	if mode == "stays" {
		<-time.After(time.Hour) // with nothing to come a program without cgo would call itself deadlocked
	}
	return 0
}

// gate is stdin that nobody reads before it is open: the connection would answer
// before it is known to whom it belongs.
type gate struct{ open chan struct{} }

func (g gate) Read(p []byte) (int, error) {
	<-g.open
	return os.Stdin.Read(p)
}

func (s *server) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	fmt.Fprintln(os.Stderr, "a log line")
	return acp.InitializeResponse{
		ProtocolVersion:   acp.ProtocolVersionNumber,
		AgentCapabilities: acp.AgentCapabilities{LoadSession: s.mode != "forgets"},
	}, nil
}

func (s *server) NewSession(_ context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	s.dir = p.Cwd
	if s.mode == "auth" {
		return acp.NewSessionResponse{}, acp.NewAuthRequired(nil)
	}
	return acp.NewSessionResponse{SessionId: "acp-1"}, nil
}

func (s *server) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	s.dir, s.again = p.Cwd, string(p.SessionId)
	s.say(ctx, p.SessionId, "what was said long ago")
	return acp.LoadSessionResponse{}, nil
}

func (s *server) say(ctx context.Context, id acp.SessionId, text string) {
	_ = s.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: id, Update: acp.UpdateAgentMessageText(text)}) // one that is gone does not read it
}

func (s *server) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	id, asked := p.SessionId, p.Prompt[0].Text.Text
	end := acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Usage: &acp.Usage{InputTokens: 7, OutputTokens: 3}}
	switch s.mode {
	case "text", "stays":
		s.say(ctx, id, "you said: ")
		s.say(ctx, id, asked)
	case "tool", "ask":
		return end, s.work(ctx, id)
	case "hangs", "forgets":
		first := filepath.Join(s.dir, "first")
		if _, err := os.Stat(first); err == nil {
			s.say(ctx, id, "session "+s.again+", told: "+asked)
			return end, nil
		}
		if err := os.WriteFile(first, nil, 0o600); err != nil {
			return end, err
		}
		s.say(ctx, id, "thinking")
		select {}
	case "crash":
		s.say(ctx, id, "oh")
		os.Exit(9)
	case "noise", "requests":
		line := `{"jsonrpc":"2.0","method":"_x/log","params":{"a":1}}`
		if s.mode == "requests" {
			line = `{"jsonrpc":"2.0","id":"x","method":"session/update","params":3}`
		}
		w := bufio.NewWriterSize(os.Stdout, 1<<20)
		for range 100_000 {
			_, _ = w.WriteString(line + "\n") // one that is gone does not read it
		}
		_ = w.Flush() // one that is gone does not read it
		select {}
	case "flood":
		for range 20_000 {
			s.say(ctx, id, "word ")
		}
	case "refusal", "max_tokens", "max_turn_requests", "cancelled":
		end.StopReason = acp.StopReason(s.mode)
		s.say(ctx, id, "so far")
	}
	return end, nil
}

// work is a tool that needs permission, and a command that fails.
func (s *server) work(ctx context.Context, id acp.SessionId) error {
	s.say(ctx, id, "I will write.")
	path := filepath.Join(s.dir, "made.txt")
	up := func(u acp.SessionUpdate) {
		_ = s.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: id, Update: u}) // one that is gone does not read it
	}
	up(acp.StartEditToolCall("t1", "Write made.txt", path, "x"))
	options := []acp.PermissionOption{
		{Kind: acp.PermissionOptionKindRejectOnce, Name: "No", OptionId: "no"},
		{Kind: acp.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"},
	}
	answer, err := s.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: id, Options: options, ToolCall: acp.ToolCallUpdate{ToolCallId: "t1", Kind: acp.Ptr(acp.ToolKindEdit), Title: acp.Ptr("Write made.txt")},
	})
	if err != nil {
		return err
	}
	if answer.Outcome.Selected == nil || answer.Outcome.Selected.OptionId != "yes" {
		up(acp.UpdateToolCall("t1", acp.WithUpdateStatus(acp.ToolCallStatusFailed)))
		s.say(ctx, id, "I may not.")
		return nil
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		return err
	}
	up(acp.UpdateToolCall("t1", acp.WithUpdateStatus(acp.ToolCallStatusCompleted)))
	up(acp.StartToolCall("t2", "Run the tests", acp.WithStartKind(acp.ToolKindExecute), acp.WithStartRawInput(map[string]any{"command": "go test ./..."})))
	up(acp.UpdateToolCall("t2", acp.WithUpdateStatus(acp.ToolCallStatusCompleted), acp.WithUpdateRawOutput(map[string]any{"exit_code": 2})))
	s.say(ctx, id, "It is written.")
	return nil
}

var errNotHere = errors.New("not here")

func (s *server) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, errNotHere
}
func (s *server) Cancel(context.Context, acp.CancelNotification) error { return nil }
func (s *server) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, errNotHere
}
func (s *server) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, errNotHere
}
func (s *server) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, errNotHere
}
func (s *server) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, errNotHere
}
func (s *server) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, errNotHere
}

// acp makes the rig one of an agent of the protocol.
func (r *rig) acp(mode string) *rig {
	r.order.Kind, r.order.Program, r.order.Args = agent.ACP, []string{os.Args[0]}, []string{mode}
	r.order.Env = []string{roleVar + "=acp"}
	r.order.Access = agent.AccessEdit
	return r
}

func TestACPText(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"text", "stays"} { // one that ignores the end of its input is ended
		d := newRig(t).acp(mode).run()
		if d.code != 0 || d.out != "you said: do the work" || d.Result.Session != "acp-1" || d.Result.Stop != belay.StopDone {
			t.Fatalf("%s: exit %d, said %q, %+v\n%s", mode, d.code, d.out, d.Result, d.talk)
		}
		if d.Result.Usage.Input != 7 || d.Ended != effect.EndedItself || !strings.Contains(d.talk, "a log line") {
			t.Fatalf("%s: ended %q, %+v", mode, d.Ended, d.Result)
		}
	}
}

func TestACPTool(t *testing.T) {
	t.Parallel()
	d := newRig(t).acp("tool").run()
	if d.code != 0 || d.out != "It is written." || d.Evidence.After.Tree != "made.txt" || len(d.Result.Denied) != 0 {
		t.Fatalf("exit %d, said %q, evidence %+v, denied %q", d.code, d.out, d.Evidence, d.Result.Denied)
	}
	if len(d.Result.Tools) != 2 || d.Result.ToolCount != 2 {
		t.Fatalf("tools %+v", d.Result.Tools)
	}
	edit, run := d.Result.Tools[0], d.Result.Tools[1]
	if edit.Name != "edit" || filepath.Base(edit.Path) != "made.txt" || edit.Failed ||
		run.Command != "go test ./..." || run.Exit == nil || *run.Exit != 2 || !run.Failed {
		t.Fatalf("tools %+v", d.Result.Tools)
	}
}

func TestACPDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t).acp("ask")
	r.order.Access = agent.AccessRead
	d := r.run()
	if d.out != "I may not." || d.Evidence.After.Tree != "" || len(d.Result.Denied) != 1 || d.Result.Denied[0] != "edit" {
		t.Fatalf("said %q, evidence %+v, denied %q", d.out, d.Evidence, d.Result.Denied)
	}
	if len(d.Result.Tools) != 1 || !d.Result.Tools[0].Denied || !d.Result.Tools[0].Failed {
		t.Fatalf("tools %+v", d.Result.Tools)
	}
}

func TestACPHang(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"hangs":   "session acp-1, told: go on: ",           // its session is loaded; old talk is no answer
		"forgets": "session , told: do the work\n\ngo on: ", // all is said again
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			patiently(t, 700*time.Millisecond, func(window time.Duration) error {
				r := newRig(t).acp(mode)
				r.order.Windows.Silence = window
				if d := r.run(); d.code != 0 || !strings.HasPrefix(d.out, want) || d.Resumes != 1 {
					return fmt.Errorf("exit %d, said %q, resumes %d, notes %q", d.code, d.out, d.Resumes, d.told())
				}
				return nil
			})
		})
		t.Run(mode+" for good", func(t *testing.T) {
			t.Parallel()
			r := newRig(t).acp(mode)
			r.order.Windows.Silence, r.order.Resumes = 700*time.Millisecond, -1
			if d := r.run(); d.code != 1 || d.Ended != effect.EndedSilence || d.Result.Final {
				t.Errorf("exit %d, ended %q", d.code, d.Ended)
			}
		})
	}
}

func TestACPCrash(t *testing.T) {
	t.Parallel()
	d := newRig(t).acp("crash").run()
	if d.code != 1 || d.Result.Exit != 9 || d.Result.Final || !d.Result.Error || d.Result.Cause == "" || d.Ended != effect.EndedItself {
		t.Fatalf("exit %d, ended %q, %+v", d.code, d.Ended, d.Result)
	}
	if d := newRig(t).acp("auth").run(); d.code != 1 || d.Result.Class != belay.ClassAuth {
		t.Fatalf("not logged in: exit %d, %+v", d.code, d.Result)
	}
}

func TestACPStops(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]belay.StopReason{
		"refusal": belay.StopRefused, "max_tokens": belay.StopTruncated,
		"max_turn_requests": belay.StopLimit, "cancelled": belay.StopError,
	} {
		d := newRig(t).acp(mode).run()
		if d.Result.Stop != want || !d.Result.Final || d.out != "so far" {
			t.Errorf("%s: stop %q, %+v", mode, d.Result.Stop, d.Result)
		}
		if mode != "refusal" && (d.code != 1 || !d.Result.Error || d.Result.Cause == "") { // a refusal is judged by its stop
			t.Errorf("%s: exit %d, %+v", mode, d.code, d.Result)
		}
	}
}

// Updates that come faster than they are handled are no reason to hang up.
func TestACPFlood(t *testing.T) {
	t.Parallel()
	c := newConversation(Order{Dir: t.TempDir()}, "flood me", "", "flood me")
	slow := time.After(300 * time.Millisecond)
	var once sync.Once
	c.tell = func(s agent.Sign) {
		if s.Kind == agent.SignText {
			once.Do(func() { <-slow })
		}
	}
	asked, ask := io.Pipe()
	told, tell := io.Pipe()
	s := &server{mode: "flood"}
	s.conn = acp.NewAgentSideConnection(s, tell, asked)
	var listens sync.WaitGroup
	listens.Go(func() {
		in := bufio.NewScanner(told)
		for in.Scan() {
			c.line(in.Bytes(), false)
		}
	})
	c.speak(ask)
	c.hush()
	_ = tell.Close() // it has no error to give
	listens.Wait()
	if r := c.end(agent.Exit{}); !r.Final || r.TextSize != 20_000*int64(len("word ")) {
		t.Fatalf("final %v, %d bytes, %s", r.Final, r.TextSize, r.Cause)
	}
}

// What nobody follows, in any number, keeps neither the clock nor the report
// from their work.
//
// promise: F2
func TestACPNoise(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"noise", "requests"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t).acp(mode)
			r.order.Windows.Timeout = 3 * time.Second
			began := time.Now()
			d := r.run()
			if took := time.Since(began); took > 45*time.Second || d.Ended != effect.EndedDeadline || d.code != 1 {
				t.Errorf("took %s, ended %q, exit %d, %+v", took, d.Ended, d.code, d.Result)
			}
		})
	}
}

// A connection that is over takes no more lines, and does not make them wait.
func TestACPLinesAfterTheEnd(t *testing.T) {
	t.Parallel()
	c := newConversation(Order{Dir: t.TempDir()}, "x", "", "x")
	c.tell = func(agent.Sign) {}
	asked, ask := io.Pipe()
	_ = asked.Close() // it does not listen: the first request fails
	c.speak(ask)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3000 {
			c.line([]byte(`{"jsonrpc":"2.0","id":7,"result":{}}`), false)
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("a line waits for nobody")
		c.hush()
		<-done
	}
}

// What is told of tokens in a place of its own counts; what is no number does not.
func TestACPQuota(t *testing.T) {
	t.Parallel()
	count := func(in, out any) map[string]any {
		return map[string]any{"quota": map[string]any{"token_count": map[string]any{"input_tokens": in, "output_tokens": out}}}
	}
	for _, c := range []struct {
		meta    map[string]any
		in, out int64
	}{
		{count(2000.0, 100.0), 2000, 100},
		{count("many", -1.0), 0, 0},
		{count(1e300, 5.0), 0, 5},
		{map[string]any{"quota": 7}, 0, 0},
		{nil, 0, 0},
	} {
		var k talk
		k.answer(acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Meta: c.meta})
		if u := k.result.Usage; u.Input != c.in || u.Output != c.out {
			t.Errorf("%v: %+v", c.meta, u)
		}
	}
}
