// Package event holds the facts as the journal keeps them: records, the kinds of
// events, and requests from outside. What was once written decodes for ever.
package event

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

// Schema is the number of the record format; it is in the first record of
// every run, so that a fold can tell what it reads.
const Schema = 1

// Event is one kind of fact, in the past tense. Kinds are add-only: what was
// once written must decode for ever.
type Event interface {
	Kind() string
}

// RunStarted is the first record of every run.
type RunStarted struct {
	Schema   int                    `json:"schema"`
	Name     string                 `json:"name"`
	Recipe   string                 `json:"recipe"`           // digest of its source
	File     string                 `json:"file,omitempty"`   // where the source was found, for people
	Frozen   map[string]string      `json:"frozen,omitempty"` // sub-recipe name to digest; root only
	Vars     map[string]belay.Value `json:"vars,omitempty"`
	Inherit  bool                   `json:"inherit,omitempty"` // under Vars, the run has the variables that its parent had at this record
	Gather   bool                   `json:"gather,omitempty"`  // its outputs are wanted as one object, too
	Dir      string                 `json:"dir"`
	Parent   belay.Key              `json:"parent,omitempty"` // the attempt that this run is
	Limits   belay.Limits           `json:"limits"`
	Include  []string               `json:"include,omitempty"`  // of the steps with tags, only those with one of these
	Exclude  []string               `json:"exclude,omitempty"`  // no step with one of these tags
	Compat   bool                   `json:"compat,omitempty"`   // all recipes are read as the older runner would
	Each     belay.Path             `json:"each,omitempty"`     // the run is the items of this foreach step of the recipe
	Repeat   belay.Path             `json:"repeat,omitempty"`   // the run is the rounds of this repeat step of the recipe
	Items    json.RawMessage        `json:"items,omitempty"`    // those items, when no variable is their list
	Hidden   map[string]belay.Path  `json:"hidden,omitempty"`   // variables in which a secret was hidden, and the step that made each
	Session  *belay.Session         `json:"session,omitempty"`  // root only
	Work     string                 `json:"work,omitempty"`     // what it was asked for: two runs of a recipe in a directory with the same one do the same work; root only
	Given    []string               `json:"given,omitempty"`    // names of secrets and logins that were set at the start; root only
	Secrets  []string               `json:"secrets,omitempty"`  // names of variables whose values are hidden; root only
	Agent    string                 `json:"agent,omitempty"`    // who does agent steps that name nobody
	Classic  bool                   `json:"classic,omitempty"`  // hollow success is judged by the text alone
	Personas map[string]string      `json:"personas,omitempty"` // reference to the digest of its text; root only
	Version  string                 `json:"version,omitempty"`
	Isolate  bool                   `json:"isolate,omitempty"` // the run has a worktree of its own, whatever its recipe says; root only

	Policy     string             `json:"policy,omitempty"`      // who chooses recoveries: "" = belay, or classic; root only, as all below but the last four
	MaxRetries int                `json:"max_retries,omitempty"` // of the classic policy; 0 = its default
	Recovery   string             `json:"recovery,omitempty"`    // about failed sub-recipes: "" = on, off or classic
	Agents     bool               `json:"agents,omitempty"`      // the run uses agents: recovery may start some
	Staff      []string           `json:"staff,omitempty"`       // agents that may take over from another, in order
	Roles      map[string]Profile `json:"roles,omitempty"`       // what each role may do
	Toolless   []string           `json:"toolless,omitempty"`    // agents to whom single tools cannot be allowed; told only where a role has some
	Split      belay.Path         `json:"split,omitempty"`       // the run is the parts of this step's task
	Parts      []belay.Part       `json:"parts,omitempty"`       // those parts
	Stand      belay.Path         `json:"stand,omitempty"`       // the run is this one step of the recipe, instead of another
	Finally    bool               `json:"finally,omitempty"`     // the run is the steps of finally of the recipe

	Tests      []effect.TestPlan `json:"tests,omitempty"`       // how the tests of directories are run, found before the first step; root only, as the next two
	TestScript string            `json:"test_script,omitempty"` // the test command of the settings
	Forges     []effect.Program  `json:"forges,omitempty"`      // programs that ask about pull requests

	Replaced map[string]string `json:"replaced,omitempty"` // of belay do: shipped recipes that a file of the user stands for, and the file; root only
	Shelves  []string          `json:"shelves,omitempty"`  // folders that recipes were looked for in before all others; root only
}

// Profile is what stands behind a role.
type Profile struct {
	Agent   string   `json:"agent,omitempty"`
	Model   string   `json:"model,omitempty"`
	Access  string   `json:"access,omitempty"` // read, edit or full; "" = the agent's own
	Tools   []string `json:"tools,omitempty"`  // that it may use
	Persona string   `json:"persona,omitempty"`
}

// RunAttached says that a driver took the run.
type RunAttached struct {
	Epoch       int64  `json:"driver"` // the record's own epoch, from here on
	Version     string `json:"version"`
	Pid         int    `json:"pid"`
	Start       uint64 `json:"start,omitempty"`
	Boot        string `json:"boot,omitempty"`
	Containment int    `json:"containment"`    // how well descendants are held; see proc.Level
	Host        string `json:"host,omitempty"` // where the attempts are made, by a driver that has several hosts
	Lost        string `json:"lost,omitempty"` // the host that had the run before, and is given up
	From        string `json:"from,omitempty"` // the snapshot, or commit, that the run goes on from here; "" = its files are here

	Clone string `json:"clone,omitempty"` // the repository of which the host made the checkout of the run, at From
	Dir   string `json:"dir,omitempty"`   // the checkout on the host, where it has one of its own there
}

// RunReopened says that a person asked an ended run to go on.
type RunReopened struct {
	By  string `json:"by"`
	Why string `json:"why,omitempty"`
}

// RunHeld says that only a person can move the run.
type RunHeld struct {
	Items []string `json:"items"`
	Why   string   `json:"why,omitempty"` // of a hold that is about no step: what a person has to know, and to type
}

// RunStopped says that the run was stopped on request and can be resumed.
type RunStopped struct {
	By string `json:"by,omitempty"`
}

// RunParked says that the driver left: nothing is to be done before a moment that
// is far away, and a watch leads that starts a driver then.
type RunParked struct {
	Until time.Time `json:"until"`
	For   string    `json:"for"` // what is to be done then
}

// RunPaused says that a person wanted nothing new to start, and that what ran
// has ended. No driver changes that: only run.resumed and run.reopened do.
type RunPaused struct {
	By  string `json:"by"`
	Why string `json:"why,omitempty"`
}

// RunResumed says that a person wants the run to go on: a pause is over, and the
// steps that are started from now on may have another agent.
type RunResumed struct {
	By    string      `json:"by"`
	Why   string      `json:"why,omitempty"`
	From  belay.Path  `json:"from,omitempty"`  // the step that it goes on from; "" = any that can
	Child belay.RunID `json:"child,omitempty"` // the child run of that step; "" = it is one of the root
	Agent string      `json:"agent,omitempty"` // who does that step, or all that are started from now on; "" = as before
}

// RunEnded is the last record of a run, unless a person reopens it.
type RunEnded struct {
	belay.RunResult
}

// AttemptStarted is written before anything of the attempt happens.
type AttemptStarted struct {
	Key     belay.Key   `json:"key"`
	Path    belay.Path  `json:"step"`
	Role    belay.Role  `json:"role"`
	Attempt int         `json:"attempt"`
	Once    bool        `json:"once,omitempty"`
	Child   belay.RunID `json:"child,omitempty"`   // set when the attempt is a child run
	Agent   string      `json:"agent,omitempty"`   // who does it
	Session string      `json:"session,omitempty"` // the id that its session shall have, or has
	Resume  bool        `json:"resume,omitempty"`  // that session goes on
}

// AttemptNoted is what became known of an agent while it ran.
type AttemptNoted struct {
	Key  belay.Key        `json:"key"`
	What effect.NoteKind  `json:"what"`
	Text string           `json:"text,omitempty"` // of a session: its id
	Base *belay.TreeState `json:"base,omitempty"`
}

// AttemptFound says what became of an attempt that was open at attach.
type AttemptFound struct {
	Key   belay.Key   `json:"key"`
	How   fault.Found `json:"how"`
	Count int         `json:"count,omitempty"` // how often the step was lost, this time included

	Left *belay.Evidence `json:"left,omitempty"` // of a lost agent: what its attendant saw, when that lived on and reported
}

// AttemptStopping says that the attempt is about to be ended by us.
type AttemptStopping struct {
	Key belay.Key      `json:"key"`
	Why fault.KilledBy `json:"why"`
}

// AttemptEnded holds what was seen of an attempt.
type AttemptEnded struct {
	Key         belay.Key          `json:"key"`
	Observation effect.Observation `json:"observation"`
}

// AttemptJudged holds what a main attempt amounts to.
type AttemptJudged struct {
	Key     belay.Key      `json:"key"`
	Verdict effect.Verdict `json:"verdict"`
}

// StepNotTaken says that a step's condition was false. It is no skip.
type StepNotTaken struct {
	Path belay.Path `json:"step"`
	Why  string     `json:"why"`
}

// StepSkipped says that a step that should have run was left out.
type StepSkipped struct {
	Path belay.Path `json:"step"`
	By   string     `json:"by"`
	Why  string     `json:"why"`
}

// StepRefused says that a step failed before anything of it was started.
type StepRefused struct {
	Path    belay.Path    `json:"step"`
	Failure belay.Failure `json:"failure"`
}

// StepReset says that a settled step is to run again, and all that build on it: nothing of
// what they did counts any more. A person wants that; or the run is opened again, and the
// machine kept the step, which may fail, from being done.
type StepReset struct {
	Path belay.Path   `json:"step"`
	By   string       `json:"by"`
	Why  string       `json:"why"`
	Also []belay.Path `json:"also,omitempty"` // steps that build on it, and run again, too
	Kept []belay.Path `json:"kept,omitempty"` // steps that build on it and stay done, because they must not run twice

	GoesOn bool `json:"goes_on,omitempty"` // the step itself goes on from where the machine stopped it
}

// RecoveryChosen is the recovery from a failure, written before it is taken.
type RecoveryChosen struct {
	Path belay.Path `json:"step"`
	Plan belay.Plan `json:"plan"`
}

// AnswerGiven is the answer to a question the brain asked.
type AnswerGiven struct {
	Key    belay.Key     `json:"key"`
	Answer effect.Answer `json:"answer"`
}

// ItemOpened is a question for a person.
type ItemOpened struct {
	ID        string     `json:"item"`
	Path      belay.Path `json:"step"`
	Ask       string     `json:"ask"`
	Choices   []string   `json:"choices"`
	About     ItemKind   `json:"about,omitempty"`
	Who       []string   `json:"who,omitempty"`        // of an approval: who may answer; empty = anybody who is a person
	Until     time.Time  `json:"until,omitzero"`       // of an approval: when it times out; zero = never
	OnTimeout string     `json:"on_timeout,omitempty"` // and what that means: hold, reject or a choice
}

// ItemKind is the closed list of what a person is asked for.
type ItemKind string

const (
	ItemHeld     ItemKind = ""         // what becomes of a step that cannot go on by itself
	ItemApproval ItemKind = "approval" // the step is the question
	ItemInput    ItemKind = "input"    // an agent asks, and goes on with the answer: any text, or reject
)

// ItemAnswered is a person's answer; it settles the step, unless Check says
// that the step's own check has the last word.
type ItemAnswered struct {
	ID     string     `json:"item"`
	Path   belay.Path `json:"step"`
	By     string     `json:"by"`
	Choice string     `json:"choice"`
	Why    string     `json:"why"`
	Check  bool       `json:"check,omitempty"` // of done: the step's check is asked, and decides
	About  ItemKind   `json:"about,omitempty"` // as it was opened
}

// ItemExpired says that nobody answered an item in time, and what that means.
type ItemExpired struct {
	ID   string     `json:"item"`
	Path belay.Path `json:"step"`
	Then string     `json:"then"` // hold: it stays open; reject, or the choice that it counts as
}

// RunCleared says that a person took counts back; what they held back may be
// tried again.
type RunCleared struct {
	What Count      `json:"what"`
	Path belay.Path `json:"step,omitempty"` // of attempts; "" = of all steps
	By   string     `json:"by"`
	Why  string     `json:"why"`
}

// RequestReceived is a request from outside, copied in once by the driver.
type RequestReceived struct {
	Request Request `json:"request"`
}

// RequestRefused says that a request could not be granted.
type RequestRefused struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

func (RunStarted) Kind() string      { return "run.started" }
func (RunAttached) Kind() string     { return "run.attached" }
func (RunReopened) Kind() string     { return "run.reopened" }
func (RunHeld) Kind() string         { return "run.held" }
func (RunStopped) Kind() string      { return "run.stopped" }
func (RunParked) Kind() string       { return "run.parked" }
func (RunPaused) Kind() string       { return "run.paused" }
func (RunResumed) Kind() string      { return "run.resumed" }
func (RunEnded) Kind() string        { return "run.ended" }
func (AttemptStarted) Kind() string  { return "attempt.started" }
func (AttemptFound) Kind() string    { return "attempt.found" }
func (AttemptNoted) Kind() string    { return "attempt.noted" }
func (AttemptStopping) Kind() string { return "attempt.stopping" }
func (AttemptEnded) Kind() string    { return "attempt.ended" }
func (AttemptJudged) Kind() string   { return "attempt.judged" }
func (StepNotTaken) Kind() string    { return "step.not_taken" }
func (StepSkipped) Kind() string     { return "step.skipped" }
func (StepRefused) Kind() string     { return "step.refused" }
func (StepReset) Kind() string       { return "step.reset" }
func (RecoveryChosen) Kind() string  { return "recovery.chosen" }
func (AnswerGiven) Kind() string     { return "answer.given" }
func (ItemOpened) Kind() string      { return "item.opened" }
func (ItemAnswered) Kind() string    { return "item.answered" }
func (ItemExpired) Kind() string     { return "item.expired" }
func (RunCleared) Kind() string      { return "run.cleared" }
func (RequestReceived) Kind() string { return "request.received" }
func (RequestRefused) Kind() string  { return "request.refused" }

// All is one zero value of every kind, in the order of the reference page.
func All() []Event {
	return []Event{
		RunStarted{}, RunAttached{}, RunReopened{}, RunHeld{}, RunPaused{}, RunResumed{}, RunStopped{}, RunParked{}, RunEnded{},
		AttemptStarted{}, AttemptNoted{}, AttemptFound{}, AttemptStopping{}, AttemptEnded{}, AttemptJudged{},
		StepNotTaken{}, StepSkipped{}, StepRefused{}, StepReset{}, RecoveryChosen{}, AnswerGiven{},
		ItemOpened{}, ItemAnswered{}, ItemExpired{}, RunCleared{}, RequestReceived{}, RequestRefused{},
	}
}

// UnknownKind is a record written by a newer Belay; a driver refuses it.
type UnknownKind struct{ Name string }

func (e *UnknownKind) Error() string {
	return fmt.Sprintf("record of unknown kind %q: the journal was written by a newer belay", e.Name)
}

// Decode reads the body of a record of the given kind.
func Decode(kind string, body []byte) (Event, error) {
	if e := plain(kind, body); e != nil {
		return e, nil
	}
	return decodeAny(kind, body)
}

func decodeAny(kind string, body []byte) (Event, error) {
	switch kind {
	case "run.started":
		return decode[RunStarted](body)
	case "run.attached":
		return decode[RunAttached](body)
	case "run.reopened":
		return decode[RunReopened](body)
	case "run.held":
		return decode[RunHeld](body)
	case "run.stopped":
		return decode[RunStopped](body)
	case "run.parked":
		return decode[RunParked](body)
	case "run.paused":
		return decode[RunPaused](body)
	case "run.resumed":
		return decode[RunResumed](body)
	case "run.ended":
		return decode[RunEnded](body)
	case "attempt.started":
		return decode[AttemptStarted](body)
	case "attempt.noted":
		return decode[AttemptNoted](body)
	case "attempt.found":
		return decode[AttemptFound](body)
	case "attempt.stopping":
		return decode[AttemptStopping](body)
	case "attempt.ended":
		return decode[AttemptEnded](body)
	case "attempt.judged":
		return decode[AttemptJudged](body)
	case "step.not_taken":
		return decode[StepNotTaken](body)
	case "step.skipped":
		return decode[StepSkipped](body)
	case "step.refused":
		return decode[StepRefused](body)
	case "step.reset":
		return decode[StepReset](body)
	case "recovery.chosen":
		return decode[RecoveryChosen](body)
	case "answer.given":
		return decode[AnswerGiven](body)
	case "item.opened":
		return decode[ItemOpened](body)
	case "item.answered":
		return decode[ItemAnswered](body)
	case "item.expired":
		return decode[ItemExpired](body)
	case "run.cleared":
		return decode[RunCleared](body)
	case "request.received":
		return decode[RequestReceived](body)
	case "request.refused":
		return decode[RequestRefused](body)
	}
	return nil, &UnknownKind{Name: kind}
}

func decode[E Event](body []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, fmt.Errorf("decode %s: %w", e.Kind(), err)
	}
	return e, nil
}

// Record is a fact as the journal keeps it.
type Record struct {
	Seq   int64
	Epoch int64
	At    time.Time
	Run   belay.RunID
	Event Event
}

type recordHeader struct {
	Kind  string      `json:"kind"`
	Seq   int64       `json:"seq"`
	Epoch int64       `json:"epoch"`
	At    time.Time   `json:"at"`
	Run   belay.RunID `json:"run"`
}

// MarshalJSON writes the record as one flat object: kind, seq, epoch, at and
// run, then the fields of the event. It is what --json prints.
func (r Record) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(recordHeader{r.Event.Kind(), r.Seq, r.Epoch, r.At.UTC(), r.Run})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(r.Event)
	if err != nil {
		return nil, err
	}
	if len(body) <= len("{}") {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), body[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Record) UnmarshalJSON(b []byte) error {
	var h recordHeader
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}
	e, err := Decode(h.Kind, b)
	if err != nil {
		return err
	}
	*r = Record{Seq: h.Seq, Epoch: h.Epoch, At: h.At, Run: h.Run, Event: e}
	return nil
}
