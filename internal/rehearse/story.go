package rehearse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/story"
)

// Story is what came of a rehearsal.
type Story struct {
	Kind    string        `json:"kind"` // rehearsal
	Recipe  string        `json:"recipe"`
	Code    int           `json:"exit_code"`
	Status  belay.Status  `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	Endless bool          `json:"endless,omitempty"` // it was ended because it did not end
	Kills   int           `json:"kills,omitempty"`
	Took    time.Duration `json:"took"`
	Faults  []Told        `json:"faults,omitempty"`
	Asks    []Asked       `json:"asks,omitempty"` // what a person is asked when it is held
	Kept    string        `json:"kept,omitempty"` // the folder that was kept
}

// Told is what came of one fault.
type Told struct {
	Injection
	Hits       []Hit  `json:"hits,omitempty"`       // attempts that had it
	Ways       []Way  `json:"ways,omitempty"`       // what recovery chose
	Good       string `json:"good,omitempty"`       // an attempt that did the work all the same
	False      bool   `json:"false,omitempty"`      // the run ended in 0, and nobody did the work
	Unverified bool   `json:"unverified,omitempty"` // a claim was taken where there is nothing to check
	OnWord     bool   `json:"on_word,omitempty"`    // a person said that the work is there
	Missed     bool   `json:"missed,omitempty"`     // the step ran, and what was to happen to it did not
}

// Hit is an attempt that had a fault.
type Hit struct {
	Key     belay.Key `json:"key"`
	Verdict string    `json:"verdict"`
}

// Way is what recovery chose after a failure of the step.
type Way struct {
	Act    belay.Act `json:"act"`
	Rule   string    `json:"rule"`
	Reason string    `json:"reason"`

	Wait time.Duration `json:"wait,omitempty"` // before it
}

// Tell tells from the journal what came of a rehearsal. It reads what was seen
// of each attempt, and takes no verdict for true.
func Tell(name string, st *story.Story, targets []Target, faults []Injection, end Ended) Story {
	s := Story{Kind: "rehearsal", Recipe: name, Code: end.Code, Status: belay.Running, Endless: end.Endless, Kills: end.Kills}
	if st.Records == 0 {
		return s
	}
	if st.Rest != nil {
		s.Status, s.Reason = st.Rest.Status, st.Rest.Reason
	}
	s.Took, s.Asks = st.Last.Sub(st.News[0].At), asked(st, targets)
	for _, in := range faults {
		t, err := Find(targets, in)
		if err != nil {
			continue // it was refused before the run began
		}
		b := newBook(st, targets, t, in)
		told := b.told()
		told.False = end.Code == exit.OK && !end.Endless && len(told.Hits) > 0 && !in.Fault.works() &&
			!b.excused(targets) && !b.proven()
		told.Unverified = told.False && t.takesClaims(in.Fault)
		told.OnWord = told.False && !told.Unverified && b.onWord(st)
		told.False = told.False && !told.Unverified && !told.OnWord
		told.Missed = in.Fault == Kill9 && len(told.Hits) > 0 && end.Kills == 0
		s.Faults = append(s.Faults, told)
	}
	return s
}

// False tells whether the run ended in 0 although a fault had its way.
func (s Story) False() bool {
	return slices.ContainsFunc(s.Faults, func(t Told) bool { return t.False })
}

// Missed tells whether a fault did not happen although its step ran.
func (s Story) Missed() bool {
	return slices.ContainsFunc(s.Faults, func(t Told) bool { return t.Missed })
}

// claimed tells whether words were taken for work, where only words are wanted.
func (s Story) claimed() bool {
	return slices.ContainsFunc(s.Faults, func(t Told) bool { return t.Unverified })
}

// onWord tells whether the run ended well because a person said that work is there.
func (s Story) onWord() bool {
	return slices.ContainsFunc(s.Faults, func(t Told) bool { return t.OnWord })
}

// Lines are the story for people.
func (s Story) Lines() []string {
	lines := []string{}
	for _, f := range s.Faults {
		lines = append(lines, f.lines()...)
	}
	if s.Kills > 0 {
		lines = append(lines, fmt.Sprintf("  the driver was killed %s, and the run was resumed", timesWord(s.Kills)))
	}
	if s.Endless {
		lines = append(lines, "  it did not end in its time, and was ended")
	}
	head := fmt.Sprintf("rehearsal of %s: %s, exit %d", s.Recipe, s.Status, s.Code)
	if s.Took > 0 {
		head += fmt.Sprintf(", %s of simulated time", s.Took.Round(time.Second))
	}
	return append([]string{head}, lines...)
}

func (t Told) lines() []string {
	if len(t.Hits) == 0 {
		return []string{fmt.Sprintf("  %s: never hit: the step did not run", t.Injection)}
	}
	var lines []string
	for _, h := range t.Hits {
		lines = append(lines, fmt.Sprintf("  %s hit %s: %s", t.Injection, keyOnly(h.Key), h.Verdict))
	}
	for _, w := range t.Ways {
		act := string(w.Act)
		if w.Wait > 0 {
			act += " after " + w.Wait.Round(time.Millisecond).String()
		}
		lines = append(lines, fmt.Sprintf("    recovery: %s, %s", act, belay.Plain(w.Reason)))
	}
	switch {
	case t.Missed:
		lines = append(lines, "    the driver was not killed: the step did not come so far")
	case t.False:
		lines = append(lines, "    FALSE SUCCESS: the run ended in 0, and no attempt did the work")
	case t.Unverified:
		lines = append(lines, "    a claim was taken: there is nothing to check it by; give the step an expect: or a verify:")
	case t.OnWord:
		lines = append(lines, "    taken on the word of the person who answered done; nobody checked it")
	case t.Good != "":
		lines = append(lines, "    done by "+t.Good)
	default:
		lines = append(lines, "    nobody did the work after that")
	}
	return lines
}

func timesWord(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// keyOnly is a key without the run.
func keyOnly(k belay.Key) string {
	_, rest, _ := strings.Cut(string(k), ":")
	return rest
}
