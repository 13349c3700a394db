package ledger_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/ledger"
)

func notice(id string) ledger.Notice { return ledger.Notice{ID: id, Target: "webhook", Body: "{}"} }

func TestToldOnce(t *testing.T) {
	t.Parallel()
	led := open(t)
	now := time.UnixMilli(1_700_000_000_000).UTC()
	var told atomic.Int32
	var all sync.WaitGroup
	for i := range 8 { // the driver of a run and watches, at once
		all.Go(func() {
			ok, err := led.Tell("r", "", "is", []ledger.Notice{notice(fmt.Sprint("m", i))}, now)
			if err != nil {
				t.Error(err)
			}
			if ok {
				told.Add(1)
			}
		})
	}
	all.Wait()
	list, err := led.Notices()
	must(t, err)
	if told.Load() != 1 || len(list) != 1 || list[0].State != ledger.NoticeOpen {
		t.Errorf("told %d times: %+v", told.Load(), list)
	}
	if is, err := led.ToldOf("r"); err != nil || is != "is" {
		t.Errorf("kept %q, %v", is, err)
	}
}

func TestNoticesOutliveWhoSendsThem(t *testing.T) {
	t.Parallel()
	led := open(t)
	now := time.UnixMilli(1_700_000_000_000).UTC()
	_, err := led.Tell("r", "", "is", []ledger.Notice{notice("m")}, now)
	must(t, err)
	take := func(at time.Time) (ledger.Notice, bool) {
		n, ok, err := led.TakeNotice("webhook", at, time.Minute)
		must(t, err)
		return n, ok
	}
	first, ok := take(now)
	if !ok || first.Tries != 1 || first.ID != "m" {
		t.Fatalf("taken: %+v, %v", first, ok)
	}
	if _, ok := take(now.Add(time.Second)); ok {
		t.Error("two send it at once")
	}
	again, ok := take(now.Add(time.Minute)) // who took it has died
	if !ok || again.Tries != 2 || again.ID != "m" {
		t.Fatalf("after a death: %+v, %v", again, ok)
	}
	first.State = ledger.NoticeGivenUp // and is back: what it says counts no more
	must(t, led.SettleNotice(first))
	again.State, again.Trouble = ledger.NoticeDelivered, ""
	must(t, led.SettleNotice(again))
	list, err := led.Notices()
	must(t, err)
	if len(list) != 1 || list[0].State != ledger.NoticeDelivered || list[0].Tries != 2 {
		t.Errorf("in the end: %+v", list)
	}
	if _, ok := take(now.Add(time.Hour)); ok {
		t.Error("what was delivered is taken again")
	}
}
