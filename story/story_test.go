package story_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

var night = time.Date(2026, 3, 1, 2, 10, 0, 0, time.UTC)

// told makes records of events, one second after the other.
func told(run belay.RunID, events ...event.Event) []event.Record {
	recs := make([]event.Record, len(events))
	for i, e := range events {
		recs[i] = event.Record{Seq: int64(i + 1), At: night.Add(time.Duration(i) * time.Second), Run: run, Event: e}
	}
	return recs
}

func start(key belay.Key) event.AttemptStarted {
	p, _ := belay.ParseKey(key)
	return event.AttemptStarted{Key: key, Path: p.Path, Role: p.Role, Attempt: p.Attempt}
}

func failed(key belay.Key, cause string) event.AttemptJudged {
	return event.AttemptJudged{Key: key, Verdict: effect.Verdict{Failure: &belay.Failure{Kind: belay.BashFailure, Cause: cause}}}
}

// Only records of the root say that the run rests, and a driver that comes takes
// that back.
func TestRestIsOnRecord(t *testing.T) {
	t.Parallel()
	s := story.New(nil)
	end := event.RunEnded{RunResult: belay.RunResult{Status: belay.Failed, Code: 1}}
	s.Add(told("r/a.1", end)...)
	if s.Rest != nil || s.Status != "" || !s.Run("r/a.1").Rests {
		t.Error("the end of a child is taken for the end of the run")
	}
	s.Add(told("r", event.RunHeld{})...)
	if s.Rest == nil || s.Rest.Code != exit.Held || !s.Run("r").Rests {
		t.Errorf("held: %+v", s.Rest)
	}
	s.Add(told("r", event.RunAttached{})...)
	if s.Rest != nil || s.Status != belay.Running || s.Run("r").Rests {
		t.Error("a run that was taken again still rests")
	}
	if n := s.Add(told("r", end)...); n[0].What != story.RunEnded || s.Rest.Code != 1 {
		t.Errorf("ended: %+v", n)
	}
}

// A driver that died is told from one that left in order; what comes to a run
// without a driver says nothing about the last one.
func TestDriversThatDied(t *testing.T) {
	t.Parallel()
	attach := event.RunAttached{}
	for name, c := range map[string]struct {
		events []event.Event
		want   []story.Arrival
	}{
		"first":                    {[]event.Event{attach}, []story.Arrival{story.Came}},
		"died":                     {[]event.Event{attach, start("r:a.1"), attach}, []story.Arrival{story.Came, story.TookOver}},
		"stopped":                  {[]event.Event{attach, event.RunStopped{By: "ada"}, attach}, []story.Arrival{story.Came, story.WentOn}},
		"held, and skipped by ada": {[]event.Event{attach, event.RunHeld{}, event.ItemAnswered{Path: "a"}, event.StepSkipped{Path: "a"}, attach}, []story.Arrival{story.Came, story.Came}},
		"failed, and cleared":      {[]event.Event{attach, event.RunEnded{}, event.RunCleared{}, event.RunReopened{}, attach}, []story.Arrival{story.Came, story.Came}},
	} {
		s := story.Tell(nil, told("r", c.events...))
		var got []story.Arrival
		for _, d := range s.Drivers {
			got = append(got, d.Arrival)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// An attempt that was never born starts again under its own key, and is one.
func TestUnbornStartsAgain(t *testing.T) {
	t.Parallel()
	first := start("r:a.1")
	first.Agent = "claude"
	s := story.Tell(nil, told("r", first, event.AttemptFound{Key: "r:a.1", How: fault.Unborn}))
	if a := s.Attempts[0]; a.Starts != 0 || len(s.Open()) != 0 {
		t.Errorf("unborn: %+v", a)
	}
	s.Add(told("r", event.RunAttached{}, first)[1])
	a := s.Attempts[0]
	if len(s.Attempts) != 1 || a.Starts != 1 || !a.StartedAt.Equal(night) || !a.Since.Equal(night.Add(time.Second)) || len(s.Open()) != 1 {
		t.Errorf("started again: %+v of %d", a, len(s.Attempts))
	}
}

// News holds what was known then: a batch that goes on to start the next attempt
// does not take away what the decision was about.
func TestNewsIsAsOfThen(t *testing.T) {
	t.Parallel()
	s := story.New(nil)
	news := s.Add(told("r", start("r:a.1"), failed("r:a.1", "one"), event.RecoveryChosen{Path: "a", Plan: belay.Plan{Act: belay.ActRetry}}, start("r:a.2"))...)
	d := news[2].Decision
	if d.Broken.N != 1 || d.Broken.Failure.Cause != "one" || d.N != 1 || d.Failure.Cause != "one" {
		t.Errorf("%+v", d)
	}
	if st := s.Step(story.Place{Run: "r", Path: "a"}); st.Broken.N != 0 || st.Again != nil || st.N != 2 || st.Trouble.Cause != "one" {
		t.Errorf("the step: %+v", st)
	}
	s.Add(told("r", event.RunReopened{}, failed("r:a.2", "two"))...)
	if st := s.Step(story.Place{Run: "r", Path: "a"}); st.Trouble.Cause != "two" {
		t.Errorf("after it was opened again the trouble began with %q", st.Trouble.Cause)
	}
}

// A service is left alone until its agent may start, the counts are taken back,
// or the run is over.
func TestBlocked(t *testing.T) {
	t.Parallel()
	wait := func(why string) event.Event {
		return event.AnswerGiven{Key: "r:a.1?agent", Answer: effect.AnswerAgent{Error: why, Until: night.Add(time.Hour)}}
	}
	for name, over := range map[string]event.Event{
		"started": start("r:a.1"), "granted": event.AnswerGiven{Key: "r:a.1?agent", Answer: effect.AnswerAgent{OK: true}},
		"cleared": event.RunCleared{What: event.CountBreakers}, "ended": event.RunEnded{}, "given up": event.RecoveryChosen{Path: "a"},
	} {
		s := story.New(nil)
		news := s.Add(told("r", wait("down"), wait("down"), wait("worse"))...)
		if got := s.Blocked("r"); len(got) != 1 || got[0].Why != "worse" || !got[0].Since.Equal(night) || len(s.Retries()) != 1 {
			t.Errorf("blocked: %+v", got)
		}
		if news[0].Repeated || !news[1].Repeated || news[2].Repeated || len(s.Decisions("r")) != 2 {
			t.Errorf("told: %+v", news)
		}
		if s.Add(told("r", over)...); len(s.Blocked("r")) != 0 {
			t.Errorf("%s: still blocked", name)
		}
	}
}

// Records one by one tell the same story as all at once, and a live story has
// the same counts.
func TestToldAtOnceOrOneByOne(t *testing.T) {
	t.Parallel()
	r, problems := recipe.Parse("r.yaml", []byte("name: r\nsteps:\n- {id: a, command: x, retry: {max_attempts: 2}}\n- {id: b, command: y}\n"))
	if r == nil {
		t.Fatal(problems)
	}
	tree := flow.NewTree("r", flow.Library{Recipes: map[string]*recipe.Recipe{r.Digest: r}})
	live, one := story.Live(tree), story.New(tree)
	var recs []event.Record
	turn := func(e event.Event) {
		turn, err := tree.Turn(night.Add(time.Duration(len(recs))*time.Second), flow.Fact{Run: "r", Event: e})
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, turn.Records...)
		live.Add(turn.Records...)
		for _, r := range turn.Records {
			one.Add(r)
		}
	}
	end := func(key belay.Key, exit int) {
		turn(event.AttemptEnded{Key: key, Observation: effect.Observation{Began: true, Exit: exit}})
	}
	turn(event.RunStarted{Schema: event.Schema, Name: "r", Recipe: r.Digest, Dir: "/d", Limits: belay.DefaultLimits()})
	turn(event.RunAttached{Epoch: 1})
	end("r:a.1", 1)
	turn(event.RequestReceived{Request: event.Request{ID: "x", Run: "r", Ask: event.RequestAnswer}})
	for _, k := range tree.Open() {
		end(k, 0)
	}
	whole := story.Tell(tree, recs)
	if !reflect.DeepEqual(whole.News, one.News) || !reflect.DeepEqual(whole.Attempts, one.Attempts) || whole.Records != one.Records {
		t.Error("one by one it is another story")
	}
	if len(live.News) != 0 || len(live.Attempts) != 0 {
		t.Error("a live story keeps what is over")
	}
	if live.Done != whole.Done || live.Failed() != whole.Failed() || len(live.Open()) != len(whole.Open()) {
		t.Errorf("live %d done and %d open, whole %d and %d", live.Done, len(live.Open()), whole.Done, len(whole.Open()))
	}
}

// Telling costs as much for each record, however many attempts are open, child
// runs have failed and steps have waited.
func BenchmarkTell(b *testing.B) {
	for _, n := range []int{1000, 16000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var open, over []event.Record
			for i := range n {
				run := belay.RunID("r").Child(belay.Path(fmt.Sprintf("s%d", i)), 1)
				key := belay.KeyOf(run, "a", belay.RoleMain, 1)
				wait := event.AnswerGiven{Key: key.About(belay.TopicAgent), Answer: effect.AnswerAgent{Error: "down", Until: night}}
				open = append(open, told(run, wait, start(key))...)
				over = append(over, told(run, failed(key, "x"), event.RecoveryChosen{Path: "a", Plan: belay.Plan{Act: belay.ActGiveUp}}, event.RunEnded{})...)
			}
			recs := append(open, over...)
			for b.Loop() {
				story.Tell(nil, recs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(recs)), "ns/record")
		})
	}
}

// Every kind of record has its word, so that a face that renders all of them is
// told when there is one more.
func TestEveryKindIsNews(t *testing.T) {
	t.Parallel()
	known := map[story.What]bool{}
	for _, w := range []story.What{
		story.RunStarted, story.RunAttached, story.RunReopened, story.RunHeld, story.RunPaused, story.RunResumed, story.RunStopped, story.RunParked, story.RunEnded, story.RunCleared,
		story.AttemptStarted, story.AttemptNoted, story.AttemptFound, story.AttemptStopping, story.AttemptEnded, story.AttemptJudged,
		story.StepNotTaken, story.StepSkipped, story.StepRefused, story.StepReset, story.RecoveryChosen, story.AnswerGiven,
		story.ItemOpened, story.ItemAnswered, story.ItemExpired, story.RequestReceived, story.RequestRefused,
	} {
		known[w] = true
	}
	for _, e := range event.All() {
		n := story.New(nil).Add(event.Record{At: night, Run: "r", Event: e})[0]
		if !known[n.What] {
			t.Errorf("%s has no word", e.Kind())
		}
	}
}
