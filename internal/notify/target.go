package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/watch"
)

// Kind is a way to tell people.
type Kind string

// The ways.
const (
	Command Kind = "command"
	Desktop Kind = "desktop"
	Webhook Kind = "webhook"
	Slack   Kind = "slack"
	Ntfy    Kind = "ntfy"
)

// Kinds is the closed list, in the order in which they are shown.
func Kinds() []Kind { return []Kind{Command, Desktop, Webhook, Slack, Ntfy} }

// Target is one of those who are told.
type Target struct {
	Kind   Kind
	URL    string        // of webhook, slack and ntfy; it may be a secret in itself
	Argv   []string      // of command
	Secret func() string // of webhook: what it is signed with; asked for at each try

	Environ []string // of command and desktop
	Version string   // of belay
}

// Trouble is why a notice was not taken. Its text names no address and no secret.
type Trouble struct {
	Text  string
	Final bool          // no further try will help
	After time.Duration // the receiver asks not to be tried before
}

func (t *Trouble) Error() string { return t.Text }

func trouble(format string, args ...any) *Trouble {
	return &Trouble{Text: fmt.Sprintf(format, args...)}
}

// Send tells one of them, once, within the time of the context. A nil trouble
// means that it was taken.
func (t Target) Send(ctx context.Context, n Notice, now time.Time) *Trouble {
	switch t.Kind {
	case Command:
		return t.command(ctx, n)
	case Desktop:
		return t.desktop(ctx, n)
	case Webhook:
		return t.webhook(ctx, n, now)
	case Slack:
		return t.post(ctx, t.URL, slackBody{Text: n.Title() + "\n" + n.Text()}, nil)
	case Ntfy:
		server, topic, err := ntfyPlace(t.URL)
		if err != nil {
			return &Trouble{Text: err.Error(), Final: true}
		}
		return t.post(ctx, server, ntfyOf(n, topic), nil)
	}
	return &Trouble{Text: "there is no way to tell people that is named " + string(t.Kind), Final: true}
}

// event is the body of a webhook, as Standard Webhooks has it.
type event struct {
	Type string    `json:"type"`
	At   time.Time `json:"timestamp"`
	Data Notice    `json:"data"`
}

// webhook signs the notice: the id is the same at each try, the time is that of
// the try, as the receiver refuses old ones.
func (t Target) webhook(ctx context.Context, n Notice, now time.Time) *Trouble {
	secret := ""
	if t.Secret != nil {
		secret = t.Secret()
	}
	if secret == "" {
		return trouble("there is no secret to sign it with: set BELAY_WEBHOOK_SECRET, or notify.webhook_secret_file in the settings")
	}
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return trouble("the secret is not of the form whsec_ and base64")
	}
	kind := "run." + string(n.Occasion)
	if n.Occasion == OnTest {
		kind = "notify.test"
	}
	body, err := json.Marshal(event{Type: kind, At: n.At, Data: n})
	if err != nil {
		return trouble("encode it: %v", err)
	}
	signature, err := signer.Sign(n.ID, now, body)
	if err != nil {
		return trouble("sign it: %v", err)
	}
	return t.post(ctx, t.URL, json.RawMessage(body), map[string]string{
		standardwebhooks.HeaderWebhookID:        n.ID,
		standardwebhooks.HeaderWebhookTimestamp: strconv.FormatInt(now.Unix(), 10),
		standardwebhooks.HeaderWebhookSignature: signature,
	})
}

type slackBody struct {
	Text string `json:"text"`
}

type ntfyBody struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Tags     []string `json:"tags,omitempty"`
	Priority int      `json:"priority,omitempty"`
}

func ntfyOf(n Notice, topic string) ntfyBody {
	b := ntfyBody{Topic: topic, Title: n.Title(), Message: n.Text()}
	switch n.Occasion {
	case watch.OnHeld:
		b.Tags, b.Priority = []string{"raised_hand"}, 4
	case watch.OnStalled:
		b.Tags, b.Priority = []string{"warning"}, 4
	case watch.OnEnded:
		b.Tags = []string{"checkered_flag"}
	}
	return b
}

// ntfyPlace is the server and the topic of an address such as https://ntfy.sh/topic.
func ntfyPlace(address string) (server, topic string, err error) {
	u, err := url.Parse(address)
	if err != nil || path.Base(u.Path) == "/" || path.Base(u.Path) == "." {
		return "", "", errors.New("notify.ntfy needs a server and a topic, such as https://ntfy.sh/topic")
	}
	u.Path = path.Clean(u.Path)
	topic = path.Base(u.Path)
	u.Path = strings.TrimSuffix(path.Dir(u.Path), "/") + "/"
	return u.String(), topic, nil
}

// maxAfter is the longest wait that a receiver can ask for.
const maxAfter = 6 * time.Hour

// post sends JSON. It follows no redirect: a signed notice goes where it was meant to.
func (t Target) post(ctx context.Context, address string, body any, head map[string]string) *Trouble {
	text, err := json.Marshal(body)
	if err != nil {
		return trouble("encode it: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return trouble("the address cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "belay/"+t.Version)
	for k, v := range head {
		req.Header.Set(k, v)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return unreached(ctx, err)
	}
	_ = resp.Body.Close() // what it says beside its status counts for nothing
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusGone:
		return &Trouble{Text: "it answered 410: it wants no more notices", Final: true}
	case code >= 300 && code < 400:
		return trouble("it answered %d: it points elsewhere, and that is not followed", code)
	default:
		tr := trouble("it answered %d", code)
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
			tr.After = min(time.Duration(min(s, 1<<20))*time.Second, maxAfter)
		}
		return tr
	}
}

// unreached is why there was no answer, without the address in it.
func unreached(ctx context.Context, err error) *Trouble {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return trouble("no answer in time")
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return trouble("%v", err)
}

// maxTalk is how much is kept of what a command prints.
const maxTalk = 4 << 10

// pipeDelay is for a child that went its own way with the pipe.
const pipeDelay = 500 * time.Millisecond

// command runs a program of the user's. The facts are its environment and its
// input, and never a part of its words.
func (t Target) command(ctx context.Context, n Notice) *Trouble {
	if len(t.Argv) == 0 {
		return &Trouble{Text: "the command is empty", Final: true}
	}
	in, err := json.Marshal(n)
	if err != nil {
		return trouble("encode it: %v", err)
	}
	env := append(slices.Clone(t.Environ),
		"BELAY_NOTICE_ID="+n.ID, "BELAY_NOTICE_EVENT="+string(n.Occasion), "BELAY_NOTICE_RUN="+string(n.Run),
		"BELAY_NOTICE_RECIPE="+n.Recipe, "BELAY_NOTICE_TASK="+n.Task, "BELAY_NOTICE_DIR="+n.Dir,
		"BELAY_NOTICE_STATUS="+n.Status, "BELAY_NOTICE_EXIT_CODE="+strconv.Itoa(n.Code), "BELAY_NOTICE_REASON="+n.Reason,
		"BELAY_NOTICE_NEXT="+n.Next, "BELAY_NOTICE_REMINDER="+strconv.Itoa(n.Nudge),
		"BELAY_NOTICE_TITLE="+n.Title(), "BELAY_NOTICE_TEXT="+n.Text())
	return start(ctx, t.Argv, env, n.Dir, in)
}

// desktop shows a notice where there is a desktop.
func (t Target) desktop(ctx context.Context, n Notice) *Trouble {
	argv := DesktopCommand(t.Environ, n.Title(), n.Text())
	if argv == nil {
		return &Trouble{Text: "neither notify-send nor osascript is on the PATH", Final: true}
	}
	return start(ctx, argv, t.Environ, "", nil)
}

// DesktopCommand is the program that shows a notice, nil where there is none.
// The texts are arguments of their own, whatever is in them.
func DesktopCommand(environ []string, title, text string) []string {
	if p := onPath(environ, "notify-send"); p != "" {
		return []string{p, "--app-name=belay", "--", title, html.EscapeString(text)} // its body may be markup
	}
	if p := onPath(environ, "osascript"); p != "" {
		return []string{
			p, "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--", title, text,
		}
	}
	return nil
}

// start runs a program until it ends or the time is over; then its whole group ends.
func start(ctx context.Context, argv, env []string, dir string, in []byte) *Trouble {
	program := argv[0]
	if !strings.Contains(program, "/") {
		if program = onPath(env, argv[0]); program == "" {
			return trouble("%s is not on the PATH", argv[0])
		}
	}
	talk := tail{most: maxTalk}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(in)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		cmd.Dir = dir
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := proc.Capture(cmd, pipeDelay, &talk, nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return trouble("%s did not end in time", path.Base(program))
	}
	return trouble("%s: %v%s", path.Base(program), err, talk.last())
}

// tail keeps the end of what is written to it.
type tail struct {
	b    []byte
	most int
}

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - t.most; over > 0 {
		t.b = t.b[over:]
	}
	return len(p), nil
}

// last is the last line, behind a colon.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	if s := readable.Clean(lines[len(lines)-1]); s != "" {
		return ": " + readable.Cut(s, maxTitle)
	}
	return ""
}

// onPath is the path of a program, "" when it is not there.
func onPath(environ []string, name string) string {
	list := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = v
		}
	}
	for dir := range strings.SplitSeq(list, ":") {
		file := path.Join(dir, name)
		info, err := os.Stat(file)
		if path.IsAbs(file) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}
