package receipt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Task is what a run of belay do was asked for, and what came of it.
type Task struct {
	Text     string    `json:"text"`            // of a long one the beginning
	File     string    `json:"file,omitempty"`  // that has all of a long one
	Bytes    int64     `json:"bytes,omitempty"` // how long that is
	Type     string    `json:"type,omitempty"`
	Goal     string    `json:"goal,omitempty"`
	Verdict  string    `json:"verdict,omitempty"`   // in one line
	Round    int       `json:"round,omitempty"`     // the one that counts
	Rounds   int       `json:"rounds,omitempty"`    // how many there were
	Commit   string    `json:"commit,omitempty"`    // that it left
	Dropped  *Drop     `json:"dropped,omitempty"`   // later rounds that do not count
	Tests    *Tests    `json:"tests,omitempty"`     // of the repository, on the commit of the round
	Warnings []string  `json:"warnings,omitempty"`  // what is to be looked at before anybody relies on it
	OldTests *OldTests `json:"old_tests,omitempty"` // test files that the work changed, as they were before it
	Planned  bool      `json:"planned,omitempty"`   // only its plan was asked for
	Cited    []Cited   `json:"citations,omitempty"` // of an answer or a report: what Belay looked up and found
	Answer   string    `json:"answer,omitempty"`    // of a question, an operation, or the report of an investigation
}

// Tests are those that Belay ran on the commit that a round left.
type Tests struct {
	Passed bool   `json:"passed"`
	Why    string `json:"why,omitempty"` // they did not
	Commit string `json:"commit,omitempty"`
	Before bool   `json:"counted_before,omitempty"` // their output counts none, and before the work it counted some
}

// OldTests are the test files that the work changed, as they were before it: Belay ran
// them on the commit of the round.
type OldTests struct {
	Files  []string `json:"files"`
	Passed bool     `json:"passed"`
	Why    string   `json:"why,omitempty"` // they did not

	Written []string `json:"written,omitempty"`       // test files that were changed after the step that wrote them
	Fails   string   `json:"written_fails,omitempty"` // why the tests do not pass with these as they were written
}

// Drop is the work of rounds that were worse than an earlier one.
type Drop struct {
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"` // that agents worked on, and that has it; "" = it is gone
	Dir    string `json:"dir,omitempty"`    // or the folder that has it, of work in the directory itself

	PutAway []string `json:"put_away,omitempty"` // the first of the files in it
	Away    int      `json:"away,omitempty"`     // how many there are
}

// words are the task in a line.
func (t *Task) words() string {
	if t.File == "" {
		return plain(t.Text)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Text), "\n")
	return fmt.Sprintf("%s (… %s, in %s)", plain(first), readable.Size(t.Bytes), code(t.File))
}

// maxAnswer is how much of an answer a receipt has.
const maxAnswer = 64 << 10

// task reads what the run was asked for; nil: it is no task in words.
func (m *maker) task() *Task {
	if m.asked = m.acc.Task; m.asked == nil {
		return nil
	}
	a := m.asked
	if own := m.own(); own != nil && a.Branch != "" {
		own.Branch = a.Branch
	}
	t := &Task{Text: a.Text, File: a.File, Bytes: a.Bytes, Type: a.Type, Goal: a.Goal, Planned: a.Planned, Answer: a.Answer[:min(len(a.Answer), maxAnswer)]}
	if a.Best == 0 {
		return t
	}
	t.Round, t.Rounds, t.Commit, t.Verdict = a.Best, a.Rounds, a.Commit, a.Line
	if n := len(a.Criteria); n > 0 && !strings.Contains(a.Line, " of "+strconv.Itoa(n)+" ") {
		t.Verdict += fmt.Sprintf(" (%d of %s met)", a.Met, criteriaWords(n))
	}
	var tests Tests
	if m.output(m.round(a.Best), "tested", &tests) {
		t.Tests = &Tests{tests.Passed, tests.Why, m.checkedCommit(), tests.Before}
	}
	t.Warnings = a.Warnings
	var old OldTests
	if m.output(m.round(a.Best), "tested_old", &old) && len(old.Files)+len(old.Written) > 0 {
		t.OldTests = &old
	}
	t.Cited = m.cited(m.round(a.Best))
	t.Dropped = m.dropped()
	m.putBack = t.Dropped != nil
	return t
}

// best is the number of the round that counts; 0 = there is none.
func (m *maker) best() int {
	if m.asked == nil {
		return 0
	}
	return m.asked.Best
}

// roundLine is what a round of the task amounts to, and what all of them do. That
// all steps of a round ended well says nothing about the task.
func (m *maker) roundLine(p *story.Placed) string {
	var judged struct {
		Line string `json:"line"`
	}
	switch {
	case m.best() == 0 || p.Phase != flow.Done:
	case p.Run == m.top && p.Path == "rounds":
		return fmt.Sprintf("the best is round %d of %d", m.asked.Best, m.asked.Rounds)
	case p.Child != "" && m.output(p.Child, "judged", &judged):
		return judged.Line
	}
	return ""
}

// output reads what a done step of a run gave under a name.
func (m *maker) output(run belay.RunID, name string, into any) bool {
	v, ok := m.Output(run, name)
	return ok && json.Unmarshal(m.bytes(v), into) == nil
}

// round is the run of a round; "" = there is none.
func (m *maker) round(n int) belay.RunID {
	for i := range m.acc.Steps {
		if p := &m.acc.Steps[i]; p.At().Name() == fmt.Sprintf("rounds/round-%d", n) {
			return p.Child
		}
	}
	return ""
}

// dropped is what became of later rounds; nil without a task, too.
func (t *Task) dropped() *Drop {
	if t == nil {
		return nil
	}
	return t.Dropped
}

// dropped is the work of the rounds after the one that counts, when the branch
// of the result is at that one.
func (m *maker) dropped() *Drop {
	b := m.asked
	if b.Back {
		return &Drop{Dir: b.Aside, PutAway: b.PutAway, Away: b.Away}
	}
	last := ""
	if b.Last || b.Commit == "" || !m.output(m.round(b.Rounds), "commit", &last) || last == b.Commit {
		return nil
	}
	if !b.Offered || b.Work == "" {
		return nil
	}
	d := &Drop{Commit: last}
	if m.tip(b.Work) != "" {
		d.Branch = b.Work
	}
	return d
}

// proofs fill in what the criteria rest on: the command of each check, the commit
// that it ran on, and its exit code.
func (m *maker) proofs(list []Criterion) {
	if m.asked == nil {
		return
	}
	commit := m.checkedCommit()
	for i := range list {
		c := &list[i]
		for _, p := range m.asked.Criteria {
			if p.ID != c.ID || p.Check == "" {
				continue
			}
			if c.Check, c.Exit = p.Check, p.Exit; c.Exit == nil {
				continue
			}
			if c.Commit = commit; commit == "" {
				c.CheckDir = m.repo()
			}
		}
	}
}

// checkedCommit is the commit that the checks of the best round ran on; "" = they
// ran on the files of the directory that the run was started in.
func (m *maker) checkedCommit() string {
	if m.own() == nil || m.asked.Type != "Development" {
		return ""
	}
	commit := ""
	if !m.output(m.round(m.best()), "judged_commit", &commit) {
		m.output(m.round(m.best()), "commit", &commit)
	}
	return cmp.Or(strings.TrimSpace(commit), m.asked.Commit)
}

func criteriaWords(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return fmt.Sprint(n, " criteria")
}
