package hand

import (
	"context"
	"fmt"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// counted is a store that counts what is read.
type counted struct {
	Store
	reads int
}

func (c *counted) ReadBlob(sha string, _ int64) ([]byte, error) {
	c.reads++
	return fmt.Appendf(nil, `{"name":%q}`, sha), nil
}

// A value that many steps ask about is read and decoded once; one too many
// makes room.
func TestDecodedOnce(t *testing.T) {
	store := &counted{}
	h := New(Hand{Store: store})
	look := func(sha string, size int64) {
		t.Helper()
		got, _ := h.Answer(t.Context(), effect.Ask{Key: "r:a.1?cond", Question: effect.AskCond{
			Cond: "v.name == '" + sha + "'", Vars: map[string]belay.Value{"v": {Sha: sha, Size: size}},
		}})
		if got != (effect.AnswerCond{OK: true}) {
			t.Fatalf("the condition over %s: %+v", sha, got)
		}
	}
	for range 100 {
		look("one", 100)
		look("two", 100)
	}
	if store.reads != 2 {
		t.Errorf("two values were read %d times", store.reads)
	}
	look("three", maxSeen)
	look("three", maxSeen)
	look("one", 100)
	if store.reads != 4 || h.seen.bytes > maxSeen {
		t.Errorf("read %d times, want 4; %d bytes are kept", store.reads, h.seen.bytes)
	}
}

// promise: F7
func TestLookIsAnAnswer(t *testing.T) {
	h := New(Hand{Look: func(_ context.Context, q effect.AskProbe) effect.Probe {
		return effect.Probe{ReadOnly: true, Detail: q.Dir}
	}})
	got, ok := h.Answer(t.Context(), effect.Ask{Key: "r:a.1?probe", Question: effect.AskProbe{Dir: "/src"}})
	a, _ := got.(effect.AnswerProbe)
	if !ok || !a.OK || a.Probe == nil || *a.Probe != (effect.Probe{ReadOnly: true, Detail: "/src"}) {
		t.Errorf("%+v", got)
	}
}
