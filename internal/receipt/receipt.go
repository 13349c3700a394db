// Package receipt is what is left in a person's hand when a run rests: the steps
// and criteria with the evidence for each, what changed, what failed and was
// recovered, what is unproven, what it cost, what is left, and what to type. It
// renders a story, as a value that is JSON and as Markdown; it folds no record,
// reads no clock and looks at no disk: what only the machine knows comes in.
package receipt

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// Format is the number of the form of the JSON. Fields are only ever added.
const Format = 1

// Facts is what the records do not know.
type Facts struct {
	story.Facts
	Typed    func(story.Command) story.Command // a command about an item as people type it; nil = as on record
	Named    func(step, text string) string    // gives items their values in a text about a step, for people; nil = as on record
	Program  string                            // how belay is called
	Together story.Together                    // what the runs used that belong together
	Lies     bool                              // in an archive: it can only be looked at
	Top      func(dir string) string           // of the working tree that a directory is in
	There    func(dir string) bool             // a directory is there

	State   func(dir string) belay.TreeState                          // of a working tree, now
	Commit  func(dir, name string) string                             // the commit that a name stands for; "" = none
	Between func(dir, from, tip, tree string) (worktree.Range, error) // what a commit, or a tree on it, has over another one
	Holding func(dir, from, to, tree string) string                   // the first commit there that has what the tree has over the first; "" = none
}

// Receipt is the receipt of one run.
type Receipt struct {
	Format  int               `json:"format"`
	Run     belay.RunID       `json:"run"`
	Recipe  string            `json:"recipe"`
	File    string            `json:"file,omitempty"`
	Instead map[string]string `json:"instead,omitempty"` // shipped recipes that a file of the user stands for, and the file
	Dir     string            `json:"dir"`
	Status  belay.Status      `json:"status"`
	Crashed bool              `json:"crashed,omitempty"` // nobody drives it, and nobody said so
	Code    *int              `json:"exit_code,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Started time.Time         `json:"started"`
	Ended   time.Time         `json:"ended,omitzero"` // or came to rest
	Drivers int               `json:"drivers"`
	Died    int               `json:"drivers_died"`
	Housed  *Housed           `json:"housed,omitempty"` // nil = its files are in Dir

	Task         *Task               `json:"task,omitempty"` // of belay do
	Criteria     []Criterion         `json:"criteria,omitempty"`
	Steps        []Step              `json:"steps"`
	Changes      Changes             `json:"changes"`
	UserCheckout *story.UserCheckout `json:"beside,omitempty"` // the user's own checkout, where the agents worked in worktrees
	Judging      []Judging           `json:"judging"`          // changed files that the work is judged by
	Troubles     []Trouble           `json:"troubles"`
	Unproven     []Unproven          `json:"unproven"`
	Cost         story.Cost          `json:"cost"`
	Left         Left                `json:"left"`
	Look         []Command           `json:"look"`
	GoOn         []Command           `json:"go_on"`
	Undo         []Command           `json:"undo"`
	Take         []Command           `json:"take,omitempty"`    // how to take the work, where no branch is left for it
	NoUndo       []string            `json:"no_undo,omitempty"` // what no command can undo, and why

	Check *Checked `json:"check,omitempty"` // the recorded checks, run again

	named func(step, text string) string // of Facts
	plan  string                         // the file with a plan that was not approved
}

// Housed is the checkout that a run had on another machine, for itself.
type Housed struct {
	Host  string `json:"host"`
	Dir   string `json:"dir"`
	Clone string `json:"clone,omitempty"` // of what it was made; "" = the files were brought as they were
}

// housed is where the files of a run are that had a checkout of its own on a host.
func housed(s *story.Story) *Housed {
	d := s.Housed()
	if d == nil {
		return nil
	}
	return &Housed{Host: d.Host, Dir: d.Dir, Clone: s.Cloned()}
}

// lacks says what of the directory is not in the checkout.
func (h *Housed) lacks() string {
	if h.Clone != "" {
		return "only what was committed was there: what git ignores was not"
	}
	return "what git ignores, files above 100 MB, files with a known secret and submodules were not brought there"
}

// Step is one step with what its verdict rests on.
type Step struct {
	Step     string       `json:"step"`
	Type     string       `json:"type"`
	Verdict  string       `json:"verdict"`
	Basis    effect.Basis `json:"basis,omitempty"`
	Optional bool         `json:"optional,omitempty"`
	Attempts int          `json:"attempts"`
	Checked  bool         `json:"checked"` // by a check that Belay ran for this step
	Evidence []string     `json:"evidence"`
	Against  []string     `json:"against"`

	parts bool // steps inside of it are done, and are listed

	Kind  belay.FailureKind `json:"failure_kind,omitempty"` // of a step that failed
	Class belay.Class       `json:"failure_class,omitempty"`
}

// done tells whether the step is done, in whatever way.
func (s *Step) done() bool {
	switch s.Verdict {
	case string(flow.Done), story.AnsweredWord, story.RecoveredWord, story.DecidedWord:
		return true
	}
	return false
}

// Command is a line to be typed, and what it is for.
type Command struct {
	For  string `json:"for"`
	Type string `json:"type"`
}

// The verdicts about a step whose condition was false, and about one that the run
// did not come to.
const (
	notTaken   = "not taken"
	notReached = "not reached"
)

// maker makes one receipt.
type maker struct {
	*story.Story
	Facts
	top   belay.RunID
	acc   *story.Account
	trees []story.Worktree // made by Belay
	asked *story.Task      // of belay do

	putBack bool // the result is that of a round that is not the last
}

// Of is the receipt of a run of the story.
func Of(s *story.Story, top belay.RunID, f Facts) *Receipt {
	m := &maker{Story: s, Facts: f, top: top, acc: s.Account(top, f.Facts), trees: s.Work(top).Trees}
	started, _ := s.Tree.Run(top).Started()
	r := &Receipt{
		Format: Format, Run: top, Recipe: started.Name, File: started.File, Instead: started.Replaced, Dir: started.Dir,
		Status: m.acc.Status, Crashed: m.acc.Crashed, Code: m.acc.Code, Reason: m.acc.Reason,
		Started: m.acc.Started, Ended: m.acc.Ended, Drivers: len(s.Drivers), Died: m.acc.Died, Housed: housed(s),
		Task: m.task(), Criteria: m.criteria(), Steps: []Step{}, Judging: []Judging{}, Cost: s.Cost(top, m.acc.Wall, f.Together),
		named: f.Named, plan: m.acc.Plan,
	}
	if top == top.Root() {
		r.UserCheckout = story.UserCheckoutOf(s.Tree, m.asked)
	}
	m.proofs(r.Criteria)
	for i := range m.acc.Steps {
		r.Steps = append(r.Steps, m.step(&m.acc.Steps[i]))
		r.Steps[i].parts = doneInside(m.acc.Steps[i:])
	}
	changes := s.Changes(top)
	r.Changes, r.Judging = m.changes(changes)
	r.Troubles, r.Unproven = m.troubles(), m.unproven(r.Criteria, changes)
	r.Left = m.left(r, changes)
	r.Look, r.GoOn, r.Take = m.look(r, changes), m.goOn(), m.take(r)
	r.Undo, r.NoUndo = m.undo(r, changes)
	return r
}

// step is a step with its evidence.
func (m *maker) step(p *story.Placed) Step {
	st := Step{
		Step: p.At().Name(), Type: string(p.Type), Verdict: m.word(p), Optional: p.Optional,
		Attempts: p.Attempt, Checked: story.Checked(p.StepView), Evidence: []string{}, Against: []string{},
	}
	if v := p.Verdict; v != nil && p.Phase != flow.NotTaken {
		st.Evidence, st.Against = append(st.Evidence, v.For...), append(st.Against, v.Against...)
		if v.OK {
			st.Basis = v.Basis
		}
	}
	if p.InPlace != "" {
		st.Evidence = append(st.Evidence, "it ran in place of "+string(p.InPlace))
	}
	if line := m.roundLine(p); line != "" {
		st.Evidence = []string{line}
	}
	if w := m.Merged(p.At()); w != nil {
		text := mergeWords(w)
		if w.Outcome == effect.MergeConflict {
			st.Against = append(st.Against, text)
		} else {
			st.Evidence = append(st.Evidence, text)
		}
	}
	switch {
	case story.OnWord(p.StepView):
		st.Evidence = append(st.Evidence, m.onWhoseWord(p))
	case p.Failure != nil && (p.Phase == flow.Failed || p.Phase == flow.Held):
		reason := p.Failure.Words()
		st.Kind, st.Class = p.Failure.Kind, p.Failure.Class
		st.Against = append(slices.DeleteFunc(st.Against, func(s string) bool { return strings.Contains(reason, s) }), reason)
	case p.Phase == flow.Held:
		st.Against = append(st.Against, story.HeldWords(p.StepView))
	}
	return st
}

// doneInside tells whether a step inside of the first is done. The list is in the order
// of a walk.
func doneInside(all []story.Placed) bool {
	for i := 1; i < len(all) && all[i].Depth > all[0].Depth; i++ {
		if all[i].Phase == flow.Done {
			return true
		}
	}
	return false
}

// word is the verdict about a step, in a word.
func (m *maker) word(p *story.Placed) string {
	over := m.Over(p.Run)
	switch {
	case story.OnWord(p.StepView):
		return story.DecidedWord
	case p.Phase == flow.Skipped:
		return "left out"
	case p.Phase == flow.NotTaken && p.InPlace == "":
		return notTaken
	case p.Phase == flow.Waiting && p.Attempt == 0:
		return notReached
	case p.Phase == flow.Waiting, over && (p.Phase == flow.Running || p.Phase == flow.Broken):
		return "not finished"
	}
	return story.PhaseWord(p.StepView)
}

func (m *maker) onWhoseWord(p *story.Placed) string {
	text := story.TakenWords
	if a := m.Step(p.At()).Answer; a != nil {
		text += " (" + a.By + ": " + a.Why + ")"
	}
	return text
}
