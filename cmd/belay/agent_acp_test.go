package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// talkerName is the name under which this test program is an agent of the
// Agent Client Protocol: talks-acp MODE.
const talkerName = "talks-acp"

// talker is an agent of the protocol, written with the library's other half.
// Its sessions are files beside the repository, as those of real agents are.
type talker struct {
	mode string
	dir  string
	conn *acp.AgentSideConnection
}

// linkTalker puts this program under that name into a folder.
func linkTalker(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(dir, talkerName))
}

// talkACP is the agent's whole life.
func talkACP(args []string) int {
	t := &talker{mode: strings.Join(args, " ")}
	in := gate{make(chan struct{})}
	t.conn = acp.NewAgentSideConnection(t, os.Stdout, in)
	close(in.open)
	<-t.conn.Done()
	return 0
}

// gate is stdin that nobody reads before it is open: the connection would answer
// before it is known to whom it belongs.
type gate struct{ open chan struct{} }

func (g gate) Read(p []byte) (int, error) {
	<-g.open
	return os.Stdin.Read(p)
}

// store is where the talk of a session is kept.
func (t *talker) store(id acp.SessionId) string {
	return filepath.Join(t.dir, "..", "session-"+string(id))
}

func (t *talker) remember(id acp.SessionId, text string) error {
	f, err := os.OpenFile(t.store(id), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, text)
	return errors.Join(err, f.Close())
}

func (t *talker) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{
		ProtocolVersion:   acp.ProtocolVersionNumber,
		AgentCapabilities: acp.AgentCapabilities{LoadSession: true},
	}, nil
}

func (t *talker) NewSession(_ context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	t.dir = p.Cwd
	if t.mode == "login" {
		return acp.NewSessionResponse{}, acp.NewAuthRequired(nil)
	}
	id := acp.SessionId(fmt.Sprintf("talk-%d", os.Getpid()))
	return acp.NewSessionResponse{SessionId: id}, t.remember(id, "new")
}

// LoadSession tells the old talk again, as the protocol asks.
func (t *talker) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	t.dir = p.Cwd
	old, err := os.ReadFile(t.store(p.SessionId))
	if err != nil || t.mode == "forgets" {
		return acp.LoadSessionResponse{}, &acp.RequestError{Code: -32002, Message: "Resource not found: " + string(p.SessionId)}
	}
	t.say(ctx, p.SessionId, "OLD TALK: "+string(old))
	return acp.LoadSessionResponse{}, t.remember(p.SessionId, "loaded")
}

func (t *talker) update(ctx context.Context, id acp.SessionId, u acp.SessionUpdate) {
	_ = t.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: id, Update: u}) // one that is gone does not read it
}

func (t *talker) say(ctx context.Context, id acp.SessionId, text string) {
	t.update(ctx, id, acp.UpdateAgentMessageText(text))
}

func (t *talker) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	id, asked := p.SessionId, p.Prompt[0].Text.Text
	if err := t.remember(id, asked); err != nil {
		return acp.PromptResponse{}, err
	}
	end := acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Usage: &acp.Usage{InputTokens: 7, OutputTokens: 3}}
	told := strings.Contains(asked, "You were interrupted") || strings.Contains(asked, "Someone began before you")
	switch t.mode {
	case "writes":
		return end, t.write(ctx, id, "It is written.")
	case "claims":
		return end, t.write(ctx, id, "")
	case "hangs", "goes on", "forgets":
		if told && t.mode != "hangs" {
			t.say(ctx, id, "The rest is written.") // and no tool before it: what is told again must not be taken for it
			return end, os.WriteFile(filepath.Join(t.dir, "made.txt"), []byte("made\n"), 0o600)
		}
		t.say(ctx, id, "I begin.")
		if err := os.WriteFile(filepath.Join(t.dir, "..", "began"), []byte("1"), 0o600); err != nil {
			return end, err
		}
		select {}
	case "crash":
		t.say(ctx, id, "I begin.")
		os.Exit(9)
	case "half a line":
		_, _ = os.Stdout.WriteString(`{"jsonrpc":"2.0","method":"session/update","params":{"sess`) // one that is gone does not read it
		os.Exit(0)
	case "429", "500", "503":
		code := map[string]int{"429": 429, "500": 500, "503": 503}[t.mode]
		return end, &acp.RequestError{Code: code, Message: "The service said no. Try again in 7 seconds."}
	case "too long":
		return end, acp.NewInternalError(map[string]any{"details": "prompt is too long: 250000 tokens > 200000 maximum"})
	case "flood":
		t.update(ctx, id, acp.StartToolCall("t1", "Build", acp.WithStartKind(acp.ToolKindExecute)))
		block := []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(strings.Repeat("0123456789abcde\n", 1024)))} // 16 KiB
		for range 10 << 6 {
			t.update(ctx, id, acp.UpdateToolCall("t1", acp.WithUpdateContent(block)))
		}
		t.update(ctx, id, acp.UpdateToolCall("t1", acp.WithUpdateStatus(acp.ToolCallStatusCompleted)))
		t.say(ctx, id, "It is built.")
	case "babbles":
		for range time.Tick(time.Millisecond) { // it goes on while it is being ended
			t.say(ctx, id, strings.Repeat("and so on ", 100))
		}
	case "refusal", "max_tokens":
		end.StopReason = acp.StopReason(t.mode)
		t.say(ctx, id, "So far.")
	}
	return end, nil
}

// write is a tool that needs permission. An agent that has no text for the end
// lies: it says that all is done, whatever it may do.
func (t *talker) write(ctx context.Context, id acp.SessionId, text string) error {
	path := filepath.Join(t.dir, "made.txt")
	t.update(ctx, id, acp.StartEditToolCall("t1", "Write made.txt", path, "made\n"))
	answer, err := t.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: id,
		Options: []acp.PermissionOption{
			{Kind: acp.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"},
			{Kind: acp.PermissionOptionKindRejectOnce, Name: "No", OptionId: "no"},
		},
		ToolCall: acp.ToolCallUpdate{ToolCallId: "t1", Kind: acp.Ptr(acp.ToolKindEdit), Title: acp.Ptr("Write made.txt")},
	})
	if err != nil {
		return err
	}
	status := acp.ToolCallStatusFailed
	if answer.Outcome.Selected != nil && answer.Outcome.Selected.OptionId == "yes" {
		if err := os.WriteFile(path, []byte("made\n"), 0o600); err != nil {
			return err
		}
		status = acp.ToolCallStatusCompleted
	}
	t.update(ctx, id, acp.UpdateToolCall("t1", acp.WithUpdateStatus(status)))
	if text == "" {
		text = "All done, the file is written."
	} else if status == acp.ToolCallStatusFailed {
		text = "I may not write."
	}
	t.say(ctx, id, text)
	return nil
}

func (t *talker) Cancel(context.Context, acp.CancelNotification) error { return nil }

var errNoSuchCall = errors.New("not here")

func (t *talker) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, errNoSuchCall
}

func (t *talker) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, errNoSuchCall
}

func (t *talker) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, errNoSuchCall
}

func (t *talker) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, errNoSuchCall
}

func (t *talker) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, errNoSuchCall
}

func (t *talker) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, errNoSuchCall
}
