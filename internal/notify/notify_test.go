package notify

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/watch"
)

func TestNtfyPlace(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"https://ntfy.sh/alerts":          {"https://ntfy.sh/", "alerts"},
		"https://ntfy.sh/alerts/":         {"https://ntfy.sh/", "alerts"},
		"http://h:8/base/alerts?auth=abc": {"http://h:8/base/?auth=abc", "alerts"},
		"https://ntfy.sh/":                {},
		"https://ntfy.sh":                 {},
	} {
		server, topic, err := ntfyPlace(address)
		if server != want[0] || topic != want[1] || (err != nil) != (want[1] == "") {
			t.Errorf("%s: %s, %s, %v", address, server, topic, err)
		}
	}
}

func TestNoticesHaveASize(t *testing.T) {
	t.Parallel()
	n := Notice{Occasion: watch.OnHeld, Run: "r", Recipe: strings.Repeat("x", 900), Reason: strings.Repeat("é", 9000)}
	for range 99 {
		n.Items = append(n.Items, Item{Step: "ask", Question: strings.Repeat("q", 9000) + "\x1b[31m", Next: "belay inbox"})
	}
	n = n.Trimmed()
	b, err := json.Marshal(n)
	if err != nil || len(b) > 32<<10 || len(n.Items) != MaxItems || n.More != 89 || strings.Contains(string(b), "u001b") {
		t.Errorf("%d bytes, %d items, %d more, %v", len(b), len(n.Items), n.More, err)
	}
	if len(n.Title()) > 2*maxTitle || !strings.Contains(n.Text(), "and more") {
		t.Errorf("%s\n%s", n.Title(), n.Text())
	}
	if n.Items = nil; len(n.Trimmed().Items) != 0 || n.Trimmed().Items == nil {
		t.Error("a list that is empty is not null")
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    Notice
		want string
	}{
		{Notice{Occasion: watch.OnHeld, Run: "r", Recipe: "night"}, "belay: run r (night) waits for you"},
		{Notice{Occasion: watch.OnHeld, Run: "r", Recipe: "smart", Task: "fix it", Nudge: 2}, "belay: run r (fix it) still waits for you"},
		{Notice{Occasion: watch.OnEnded, Run: "r", Status: "HOLLOW"}, "belay: run r ended: HOLLOW"},
		{Notice{Occasion: watch.OnStalled, Run: "r"}, "belay: run r does not go on"},
		{Notice{Occasion: OnTest}, "belay: a test of belay notify"},
	} {
		if got := c.n.Title(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestCommandsEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	target := Target{Kind: Command, Argv: []string{"sh", "-c", "sleep 60 & sleep 60"}, Environ: []string{"PATH=/usr/bin:/bin"}}
	begun := time.Now()
	if tr := target.Send(ctx, Notice{}, begun); tr == nil || tr.Text != "sh did not end in time" {
		t.Errorf("%+v", tr)
	}
	if time.Since(begun) > 30*time.Second {
		t.Error("it was waited for")
	}
	target.Argv = []string{"sh", "-c", "echo no, >&2; echo thanks >&2; exit 7"}
	if tr := target.Send(t.Context(), Notice{}, begun); tr == nil || tr.Text != "sh: exit status 7: thanks" {
		t.Errorf("%+v", tr)
	}
	target.Argv = []string{"sh", "-c", "sleep 2 & exit 0"} // what it leaves behind holds its output
	if tr := target.Send(t.Context(), Notice{}, begun); tr != nil {
		t.Errorf("it was told, and would be again: %+v", tr)
	}
	target.Argv = []string{"no-such-program"}
	if tr := target.Send(t.Context(), Notice{}, begun); tr == nil || tr.Text != "no-such-program is not on the PATH" {
		t.Errorf("%+v", tr)
	}
}

// shelf is a book with one notice, which is due at once whenever it is open.
type shelf struct{ n ledger.Notice }

func (s *shelf) TakeNotice(target string, _ time.Time, _ time.Duration) (ledger.Notice, bool, error) {
	s.n.Tries++
	return s.n, target == s.n.Target, nil
}

func (s *shelf) SettleNotice(n ledger.Notice) error {
	s.n = n
	s.n.Due = time.Time{}
	return nil
}

func (s *shelf) OpenNotices() ([]ledger.Notice, error) { return []ledger.Notice{s.n}, nil }

// Who waits for a receiver that hangs waits no longer than the time in all, whatever a
// try may take and how many there are.
func TestStayIsBounded(t *testing.T) {
	t.Parallel()
	p := &Post{
		Books: &shelf{ledger.Notice{ID: "n", Target: string(Command), Run: "r", Body: "{}", State: ledger.NoticeOpen}},
		Find: func(Kind, string) (Target, *Trouble) {
			return Target{Kind: Command, Argv: []string{"sleep", "60"}, Environ: os.Environ()}, nil
		},
		Hide: func(s string) string { return s }, Within: time.Minute, Now: time.Now, Patience: watch.Patience{First: time.Millisecond, Most: 99},
	}
	began := time.Now()
	left, err := p.Stay(t.Context(), "r", 200*time.Millisecond)
	if took := time.Since(began); err != nil || len(left) != 1 || left[0].Trouble == "" || took > 10*time.Second {
		t.Errorf("%v, %v after %s", left, err, took)
	}
}

// An errand does at once what it is woken for twice, and nothing after its end.
func TestErrand(t *testing.T) {
	t.Parallel()
	did := make(chan struct{}, 9)
	e := Begin(t.Context(), time.Millisecond, func(context.Context) { did <- struct{}{} })
	e.Wake()
	<-did
	e.End(t.Context())
	e.Wake()
	if len(did) != 0 {
		t.Error("it goes on after its end")
	}
	ended, cancel := context.WithCancel(t.Context())
	e = Begin(t.Context(), 0, func(ctx context.Context) { did <- struct{}{}; <-ctx.Done() })
	e.Wake()
	<-did
	cancel()
	e.End(ended) // what hangs ends with the time
}
