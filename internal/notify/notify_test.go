package notify

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

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
