package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belay-run/belay/watch"
)

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
