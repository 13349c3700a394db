package notify

import (
	"context"
	"fmt"
	"time"
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
