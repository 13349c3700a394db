package temporal

import (
	"testing"

	"github.com/belay-run/belay/effect"
)

// Paths of the machine that started a run become those of the host, and back, whatever
// stands around them; what only begins alike stays.
func TestRehome(t *testing.T) {
	t.Parallel()
	hs := homes{{"/w/client/runs/r", "/w/host/runs/r"}, {"/w", "/w/host/runs/r/trees/place"}}
	for from, want := range map[string]string{
		"/w":                            "/w/host/runs/r/trees/place",
		"/w/a/b":                        "/w/host/runs/r/trees/place/a/b",
		"/w/client/runs/r/trees/s-1":    "/w/host/runs/r/trees/s-1",
		"/w/client/runs/r2":             "/w/host/runs/r/trees/place/client/runs/r2",
		"cd /w && ls /w/x":              "cd /w/host/runs/r/trees/place && ls /w/host/runs/r/trees/place/x",
		"one\n/w\ttwo\\n/w":             "one\n/w/host/runs/r/trees/place\ttwo\\n/w",
		"A=/w:/w/bin \"/w\"":            "A=/w/host/runs/r/trees/place:/w/host/runs/r/trees/place/bin \"/w/host/runs/r/trees/place\"",
		"/www /a/w /w-1 /w.txt x/w é/w": "/www /a/w /w-1 /w.txt x/w é/w",
	} {
		got, err := rehomed(hs, effect.Job{Dir: from})
		if err != nil || got.Dir != want {
			t.Errorf("%q became %q (%v), want %q", from, got.Dir, err, want)
		}
		back, err := rehomed(hs.back(), got)
		if err != nil || back.Dir != from {
			t.Errorf("%q came back as %q (%v), want %q", got.Dir, back.Dir, err, from)
		}
	}
}
