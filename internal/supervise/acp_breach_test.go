//go:build linux

package supervise

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

// rawMain is an agent of the protocol without the library: it does what that
// would not let it do.
func rawMain(mode string) int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			return 1
		}
		answer := func(result string) {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
		switch m.Method {
		case acp.AgentMethodInitialize:
			version := 1
			if mode == "raw version" {
				version = 99
			}
			answer(fmt.Sprintf(`{"protocolVersion":%d,"agentCapabilities":{}}`, version))
		case acp.AgentMethodSessionNew:
			id := map[string]string{"raw no id": "", "raw long id": strings.Repeat("x", maxSession+1)}
			if v, ok := id[mode]; ok {
				answer(`{"sessionId":"` + v + `"}`)
				continue
			}
			answer(`{"sessionId":"s1"}`)
		case acp.AgentMethodSessionPrompt:
			rawPrompt(mode, answer)
		}
	}
	return 0
}

func rawPrompt(mode string, answer func(string)) {
	fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I am done."}}}}`)
	switch mode {
	case "raw no reason":
		answer(`{}`)
		return
	case "raw reason":
		answer(`{"stopReason":"whatever"}`)
		return
	case "raw deaf":
		out := bufio.NewWriterSize(os.Stdout, 1<<20)
		for k := range 60_000 {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c%d","title":"%s"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`+"\n",
				1000+k, k, strings.Repeat("t", 500))
		}
		_ = out.Flush() // one that is gone does not read it
		select {}
	case "raw exit":
		answer(`{"stopReason":"end_turn"}`)
		os.Exit(3)
	case "raw kill":
		answer(`{"stopReason":"end_turn"}`)
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Fprintln(os.Stderr, err)
		select {}
	}
	answer(`{"stopReason":"end_turn"}`)
}

// Only a reason that the protocol knows ends a turn; any other is no record of
// an end, whatever was said before.
//
// promise: H3
func TestACPUnknownReason(t *testing.T) {
	t.Parallel()
	for mode, cause := range map[string]string{"raw no reason": "gave no reason", "raw reason": "does not know: whatever"} {
		d := newRig(t).acp(mode).run()
		if d.code != 1 || d.Result.Final || !d.Result.Error || d.Result.Class != belay.ClassUnknown || !strings.Contains(d.Result.Cause, cause) {
			t.Errorf("%s: exit %d, %+v", mode, d.code, d.Result)
		}
	}
}

// What is not the protocol that is spoken here is not gone on with.
func TestACPBreach(t *testing.T) {
	t.Parallel()
	for mode, cause := range map[string]string{"raw version": "version 99", "raw no id": "without an id", "raw long id": "1025 bytes"} {
		d := newRig(t).acp(mode).run()
		if d.code != 1 || d.out != "" || d.Result.Session != "" || d.Result.Class != belay.ClassInvalidInput || !strings.Contains(d.Result.Cause, cause) {
			t.Errorf("%s: exit %d, said %q, %+v", mode, d.code, d.out, d.Result)
		}
	}
}

// An answer counts however its agent leaves, and how it left is written down.
//
// promise: H3
func TestACPExitAfterTheAnswer(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct{ exit, signal int }{"raw": {0, 0}, "raw exit": {3, 0}, "raw kill": {137, 9}} {
		d := newRig(t).acp(mode).run()
		if d.code != 0 || !d.Result.Final || d.Result.Error || d.out != "I am done." || d.Result.Exit != want.exit || d.Result.Signal != want.signal {
			t.Errorf("%s: exit %d, said %q, %+v", mode, d.code, d.out, d.Result)
		}
	}
	d := newRig(t).acp("stays").run()
	if d.code != 0 || d.Result.Signal != 15 || !strings.HasSuffix(d.told(), " kill") {
		t.Errorf("one that stays: exit %d, %+v, notes %q", d.code, d.Result, d.told())
	}
}

// An agent that asks on and on and reads no answer is ended long before what it
// asks fills the memory.
//
// promise: F2
func TestACPDeaf(t *testing.T) {
	t.Parallel()
	r := newRig(t).acp("raw deaf")
	r.order.Windows.Timeout = 40 * time.Second
	if d := r.run(); d.code != 1 || d.Ended != effect.EndedBabble || d.Result.Final {
		t.Errorf("exit %d, ended %q, %+v", d.code, d.Ended, d.Result)
	}
}

func TestAskedIsBounded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a := newAsked()
	for range maxAsked {
		if !a.enter(ctx, 1, time.Minute) {
			t.Fatal("no room at first")
		}
	}
	if a.enter(ctx, 1, 0) {
		t.Error("one too many")
	}
	a.leave()
	if !a.enter(ctx, 1, time.Minute) {
		t.Error("no room after an answer was taken")
	}
	a = newAsked()
	if !a.enter(ctx, maxAskedSize, time.Minute) || a.enter(ctx, 1, 0) {
		t.Error("big questions are not bounded")
	}
	a.leave()
	a.leave() // one of ours
	if !a.enter(ctx, maxAskedSize+1, time.Minute) {
		t.Error("a question alone is always taken")
	}
}

// The talk of another session is not the answer, and its questions are refused.
func TestACPOtherSession(t *testing.T) {
	t.Parallel()
	c := newConversation(Order{Agent: agent.Agent{Access: agent.AccessEdit}}, "x", "", "x")
	var signs []agent.Sign
	c.tell = func(s agent.Sign) { signs = append(signs, s) }
	say := func(id acp.SessionId, text string) {
		if err := c.SessionUpdate(context.Background(), acp.SessionNotification{SessionId: id, Update: acp.UpdateAgentMessageText(text)}); err != nil {
			t.Fatal(err)
		}
	}
	asks := func(id acp.SessionId) bool {
		r, err := c.RequestPermission(context.Background(), acp.RequestPermissionRequest{SessionId: id, Options: []acp.PermissionOption{
			{Kind: acp.PermissionOptionKindAllowOnce, OptionId: "yes"}}})
		return err == nil && r.Outcome.Selected != nil && r.Outcome.Selected.OptionId == "yes"
	}
	say("s1", "too early")
	if asks("") || asks("s1") || len(signs) != 1 || signs[0].Kind != agent.SignLife {
		t.Errorf("before there is a session: %+v", signs)
	}
	c.belongs("s1")
	signs = nil
	say("other", "the answer is 42")
	if asks("other") || len(signs) != 0 {
		t.Errorf("another session: %+v", signs)
	}
	say("s1", "mine")
	if !asks("s1") || c.end(agent.Exit{}).Text != "mine" || len(c.end(agent.Exit{}).Denied) != 0 {
		t.Errorf("%+v", c.end(agent.Exit{}))
	}
}

// Who may only look gets leave once, never for good.
func TestACPAlways(t *testing.T) {
	t.Parallel()
	always := acp.PermissionOption{Kind: acp.PermissionOptionKindAllowAlways, OptionId: "always"}
	once := acp.PermissionOption{Kind: acp.PermissionOptionKindAllowOnce, OptionId: "once"}
	no := acp.PermissionOption{Kind: acp.PermissionOptionKindRejectOnce, OptionId: "no"}
	for _, c := range []struct {
		access  agent.Access
		kind    acp.ToolKind
		options []acp.PermissionOption
		want    acp.PermissionOptionId
	}{
		{agent.AccessRead, acp.ToolKindRead, []acp.PermissionOption{always, no}, "no"},
		{agent.AccessRead, acp.ToolKindRead, []acp.PermissionOption{always}, ""},
		{agent.AccessRead, acp.ToolKindRead, []acp.PermissionOption{no, always, once}, "once"},
		{agent.AccessRead, acp.ToolKindEdit, []acp.PermissionOption{once, no}, "no"},
		{agent.AccessEdit, acp.ToolKindEdit, []acp.PermissionOption{always, no}, "always"},
	} {
		got := acp.PermissionOptionId("")
		if o := choose(acp.RequestPermissionRequest{Options: c.options, ToolCall: acp.ToolCallUpdate{Kind: &c.kind}}, c.access); o != nil {
			got = o.OptionId
		}
		if got != c.want {
			t.Errorf("%s, %s, %v: %q, want %q", c.access, c.kind, c.options, got, c.want)
		}
	}
}
