package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

const (
	maxMessage   = 8 << 20                // one message of the protocol; the library ends the connection above 10 MiB
	maxQueue     = 256                    // updates on their way; the library ends the connection above 1024
	maxSession   = 1 << 10                // bytes of the id of a session
	queueFor     = time.Second            // how long one waits for room
	settleFor    = 250 * time.Millisecond // so long nothing is told: the old talk is over
	maxSettle    = 10 * time.Second
	givenUp      = -32800 // the protocol's code for a request that was cancelled
	cancelMethod = "$/cancel_request"
)

// conversation is the voice of an agent that speaks the Agent Client Protocol
// on its standard streams: it is asked once, and answers. It is offered no file
// system and no terminal of ours: it has its own.
type conversation struct {
	order  Order
	prompt string
	resume string
	whole  string           // the prompt of a session that knows nothing yet
	tell   func(agent.Sign) // set before the start
	stop   func(act)        // ends the process; set before the start

	ctx               context.Context // of the requests; ended by hush
	cancel            context.CancelFunc
	ready             chan struct{} // closed when the connection listens
	done              chan struct{} // closed when speak has returned
	from              *io.PipeReader
	to                *io.PipeWriter
	queue             chan struct{}
	told              chan struct{} // there was an update; at most one waits to be noticed
	asked             *asked
	prompted, replied atomic.Bool // it was asked, and an answer was passed on

	deaf bool // it asks and does not listen; only line has it

	mu   sync.Mutex
	ours acp.SessionId // the session that counts; "" = there is none yet
	talk
}

func newConversation(o Order, prompt, resume, whole string) *conversation {
	c := &conversation{
		order: o, prompt: prompt, resume: resume, whole: whole,
		ready: make(chan struct{}), done: make(chan struct{}), queue: make(chan struct{}, maxQueue),
		told: make(chan struct{}, 1), asked: newAsked(),
		tell: func(agent.Sign) {}, stop: func(act) {},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.from, c.to = io.Pipe()
	return c
}

func (c *conversation) finished() <-chan struct{} { return c.done }

// hush lets an answer that has come be taken in first: an agent that leaves at
// once must not lose it.
func (c *conversation) hush() {
	if c.replied.Load() {
		timer := time.NewTimer(2 * queueFor)
		defer timer.Stop()
		select {
		case <-c.done:
		case <-timer.C:
		}
	}
	_ = c.to.Close() // it has no error to give
	c.cancel()
}

// speak is the whole conversation.
func (c *conversation) speak(stdin io.WriteCloser) {
	defer close(c.done)
	defer stdin.Close()
	defer c.from.Close() // nobody reads the lines that come now: they must not be waited for
	conn := acp.NewClientSideConnection(c, answers{stdin, c.asked}, c.from)
	conn.SetLogger(slog.New(slog.DiscardHandler)) // what it would say is in the raw stream
	close(c.ready)
	resp, err := c.converse(conn)
	if c.hushed(err) {
		err = errNoAnswer
	}
	c.mu.Lock()
	if err != nil {
		c.fault(err, time.Now())
	} else {
		c.answer(resp)
	}
	final := c.result.Final
	c.mu.Unlock()
	if final {
		c.tell(agent.Sign{Kind: agent.SignFinal})
	}
}

var errNoAnswer = errors.New("the agent ended before it answered")

// hushed tells whether a request was given up by us, because no more was to
// come: the library calls that cancelled, as it does when the agent says so.
func (c *conversation) hushed(err error) bool {
	var e *acp.RequestError
	return c.ctx.Err() != nil && errors.As(err, &e) && e.Code == givenUp
}

func (c *conversation) converse(conn *acp.ClientSideConnection) (acp.PromptResponse, error) {
	hello, err := conn.Initialize(c.ctx, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "belay", Version: "1"},
	})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	if v := hello.ProtocolVersion; v != acp.ProtocolVersionNumber {
		return acp.PromptResponse{}, breach(fmt.Sprintf("the agent speaks version %d of the protocol, and Belay speaks %d", v, acp.ProtocolVersionNumber))
	}
	c.tell(agent.Sign{Kind: agent.SignStart})
	id, err := c.enter(conn, hello.AgentCapabilities)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	c.mu.Lock()
	c.result.Session = string(id)
	c.ours, c.replay = id, false
	c.mu.Unlock()
	c.tell(agent.Sign{Kind: agent.SignStart, Session: string(id)})
	c.prompted.Store(true)
	return conn.Prompt(c.ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(c.prompt)}})
}

// enter goes on with a session where the agent can and knows it, else it begins
// one, and says everything again.
func (c *conversation) enter(conn *acp.ClientSideConnection, can acp.AgentCapabilities) (acp.SessionId, error) {
	if c.resume != "" {
		known, err := c.again(conn, can)
		whole := c.prompt == c.whole // it says itself that a session goes on: not for a new one
		if known && err == nil || err != nil && (whole || !unknown(err)) {
			return acp.SessionId(c.resume), err
		}
		if !whole {
			c.prompt = c.whole + "\n\n" + c.prompt
		}
	}
	c.belongs("")
	s, err := conn.NewSession(c.ctx, acp.NewSessionRequest{Cwd: c.order.Dir, McpServers: []acp.McpServer{}})
	switch n := len(s.SessionId); {
	case err != nil:
		return "", err
	case n == 0:
		return "", breach("the agent began a session without an id")
	case n > maxSession:
		return "", breach(fmt.Sprintf("the agent began a session with an id of %d bytes; %d are the most", n, maxSession))
	}
	return s.SessionId, nil
}

// belongs says which session counts from now on.
func (c *conversation) belongs(id acp.SessionId) {
	c.mu.Lock()
	c.ours = id
	c.mu.Unlock()
}

// again goes on with the session; false when the agent has no way to.
func (c *conversation) again(conn *acp.ClientSideConnection, can acp.AgentCapabilities) (bool, error) {
	id := acp.SessionId(c.resume)
	c.belongs(id)
	switch {
	case can.SessionCapabilities.Resume != nil:
		_, err := conn.ResumeSession(c.ctx, acp.ResumeSessionRequest{Cwd: c.order.Dir, SessionId: id})
		return true, err
	case can.LoadSession:
		c.mu.Lock()
		c.replay = true // it tells the old talk again
		c.mu.Unlock()
		_, err := conn.LoadSession(c.ctx, acp.LoadSessionRequest{Cwd: c.order.Dir, SessionId: id, McpServers: []acp.McpServer{}})
		if err == nil {
			c.settle()
		}
		return true, err
	}
	return false, nil
}

// settle waits until the old talk has been told. It should be over with the
// answer, but there are agents that answer first.
func (c *conversation) settle() {
	longest := time.NewTimer(maxSettle)
	defer longest.Stop()
	quiet := time.NewTimer(settleFor)
	defer quiet.Stop()
	for {
		select {
		case <-c.told:
			quiet.Reset(settleFor)
		case <-quiet.C:
			return
		case <-longest.C:
			return
		case <-c.ctx.Done():
			return
		}
	}
}

// unknown tells whether an error can mean that a session is not there any more.
func unknown(err error) bool {
	var e *acp.RequestError
	if !errors.As(err, &e) {
		return false
	}
	class := agent.ACPError(e.Code, e.Message, e.Data, time.Time{}).Class
	return class == belay.ClassInvalidInput || class == belay.ClassUnknown
}

// line passes a message on to the connection. The library gives up when updates
// come faster than they are handled, so they wait here.
func (c *conversation) line(line []byte, stderr bool) []agent.Sign {
	if stderr {
		return nil // logs: they do not say that it works
	}
	var m struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
	}
	if len(line) > maxMessage {
		c.missed(line[:keepHead])
	}
	if len(line) > maxMessage || json.Unmarshal(line, &m) != nil {
		c.mu.Lock()
		c.result.Bad++
		c.mu.Unlock()
		return nil
	}
	select {
	case <-c.ready:
	case <-c.ctx.Done():
		return nil
	}
	if m.Method != "" && m.ID != nil && !c.listens(len(line)) {
		return nil
	}
	switch {
	case m.Method == acp.ClientMethodSessionUpdate:
		c.queueUp()
	case m.Method != "" && m.ID == nil && m.Method != cancelMethod:
		return []agent.Sign{{Kind: agent.SignLife}} // an extension that nobody here follows: the library would queue it
	}
	for _, b := range [][]byte{line, {'\n'}} {
		if _, err := c.to.Write(b); err != nil {
			return nil // the connection is over; the exit tells
		}
	}
	if m.Method == "" && c.prompted.Load() {
		c.replied.Store(true)
	}
	return nil
}

// missed notes that a part of the answer came in a message that is too long.
func (c *conversation) missed(head []byte) {
	if bytes.Contains(head, []byte(`"agent_message_chunk"`)) {
		c.mu.Lock()
		c.lose()
		c.mu.Unlock()
	}
}

// listens waits until one more question can be taken. An agent that asks on and
// on and takes no answer is ended.
func (c *conversation) listens(size int) bool {
	if c.deaf || c.asked.enter(c.ctx, size, queueFor) {
		return !c.deaf
	}
	c.deaf = true
	c.stop(act{kind: actKill, why: effect.EndedBabble, text: "it asks on and on, and takes no answer"})
	return false
}

func (c *conversation) queueUp() {
	timer := time.NewTimer(queueFor)
	defer timer.Stop()
	select {
	case c.queue <- struct{}{}:
	case <-c.ctx.Done():
	case <-timer.C: // some were not for us: count from the start
		for range maxQueue {
			c.dequeue()
		}
	}
}

func (c *conversation) dequeue() {
	select {
	case <-c.queue:
	default:
	}
}

func (c *conversation) end(e agent.Exit) belay.AgentResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.close(e)
}

// RequestPermission answers by what the agent may do; nobody is there to ask.
func (c *conversation) RequestPermission(_ context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	c.mu.Lock()
	ours := c.ours != "" && p.SessionId == c.ours
	c.mu.Unlock()
	if !ours {
		return acp.RequestPermissionResponse{}, acp.NewInvalidParams(map[string]any{"error": "no such session"})
	}
	option := choose(p, c.order.Access)
	if option == nil || !allows(option.Kind) {
		c.mu.Lock()
		c.deny(p.ToolCall)
		c.mu.Unlock()
	}
	c.tell(agent.Sign{Kind: agent.SignLife})
	if option == nil {
		return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(option.OptionId)}, nil
}

// SessionUpdate takes in what the agent tells.
func (c *conversation) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.dequeue()
	c.mu.Lock()
	ours := c.ours
	var signs []agent.Sign
	switch ours {
	case n.SessionId:
		signs = c.update(n.Update)
	case "":
		signs = []agent.Sign{{Kind: agent.SignLife}} // it makes ready
	}
	c.mu.Unlock()
	if ours != n.SessionId && ours != "" {
		return nil // nobody asked for that talk
	}
	select {
	case c.told <- struct{}{}:
	default: // one waits already
	}
	for _, s := range signs {
		c.tell(s)
	}
	return nil
}

var errNotOffered = errors.New("not offered by this client")

// ReadTextFile is not offered.
func (c *conversation) ReadTextFile(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{}, errNotOffered
}

// WriteTextFile is not offered.
func (c *conversation) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, errNotOffered
}

// CreateTerminal is not offered.
func (c *conversation) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{}, errNotOffered
}

// KillTerminal is not offered.
func (c *conversation) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return acp.KillTerminalResponse{}, errNotOffered
}

// TerminalOutput is not offered.
func (c *conversation) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return acp.TerminalOutputResponse{}, errNotOffered
}

// ReleaseTerminal is not offered.
func (c *conversation) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return acp.ReleaseTerminalResponse{}, errNotOffered
}

// WaitForTerminalExit is not offered.
func (c *conversation) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, errNotOffered
}
