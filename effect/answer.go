package effect

import (
	"encoding/json"
	"time"

	"github.com/belay-run/belay"
)

// Answer is the fact that an Ask became; the list of its kinds is closed. There is
// one kind for each topic, as for questions. OK says that there is an answer, or
// that it is yes; Error says why not.
type Answer interface{ answers() belay.Topic }

// AnswerStep says whether one more step may start in a nested run.
type AnswerStep struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// AnswerAgent says whether one more agent may start.
type AnswerAgent struct {
	OK    bool      `json:"ok"`
	Error string    `json:"error,omitempty"`
	Until time.Time `json:"until,omitzero"`  // it may not start yet: when to ask again
	Spent bool      `json:"spent,omitempty"` // the service that it calls has no retries left
}

// AnswerCond says whether a condition holds.
type AnswerCond struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Col   int    `json:"col,omitempty"` // where in the condition the error is
}

// AnswerText is texts with their values in them.
type AnswerText struct {
	OK    bool              `json:"ok"`
	Error string            `json:"error,omitempty"`
	Col   int               `json:"col,omitempty"`   // where in the text the error is
	Texts map[string]Filled `json:"texts,omitempty"` // what was asked for, by the text
	List  json.RawMessage   `json:"list,omitempty"`
}

// AnswerList is the list of all pieces, or the object.
type AnswerList struct {
	OK    bool         `json:"ok"`
	Error string       `json:"error,omitempty"`
	Value *belay.Value `json:"value,omitempty"`
}

// AnswerTests says how the tests of a directory are run.
type AnswerTests struct {
	OK    bool      `json:"ok"`
	Error string    `json:"error,omitempty"`
	Tests *TestPlan `json:"tests,omitempty"`
}

// AnswerTree gives a working tree, or says who has it.
type AnswerTree struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Dir   string `json:"dir,omitempty"` // that it was asked for with

	Tree   string        `json:"tree,omitempty"`   // its top
	Taken  int64         `json:"taken,omitempty"`  // a number that is another one once somebody else has had the tree
	Waited time.Duration `json:"waited,omitempty"` // how long others had it
	By     belay.RunID   `json:"by,omitempty"`     // while another run has it: which one. It is waited for, and a second answer follows
}

// WaitsFor is the run that has the tree while it is waited for; "" = it is not.
func (a AnswerTree) WaitsFor() belay.RunID {
	if a.OK || a.Error != "" {
		return ""
	}
	return a.By
}

// AnswerWorktree is a worktree.
type AnswerWorktree struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"` // with OK: why the step works without one
	Dir   string `json:"dir,omitempty"`
	Ref   string `json:"ref,omitempty"`   // its branch
	Merge bool   `json:"merge,omitempty"` // it began at the files as they were, and what is done in it comes back
	Copy  bool   `json:"copy,omitempty"`  // it is thrown away, with all that is done in it

	Stood *belay.Value `json:"stood,omitempty"` // how the checkout stood that was to be looked at
}

// AnswerProbe is what a look at the machine saw.
type AnswerProbe struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Probe *Probe `json:"probe,omitempty"`
}

// AnswerLook is what a look at a working tree saw.
type AnswerLook struct {
	OK    bool            `json:"ok"`
	Error string          `json:"error,omitempty"`
	Seen  *belay.Evidence `json:"seen,omitempty"`

	UserCheckout *UserCheckout `json:"beside,omitempty"` // of a checkout that nobody worked in
}

// UserCheckout is what is not as it was in the user's own checkout, while steps worked in
// worktrees: by an agent, by what it left, or by somebody else.
type UserCheckout struct {
	Dir     string   `json:"dir"`
	Files   bool     `json:"files,omitempty"`   // its files were looked at, too
	Changed []string `json:"changed,omitempty"` // settings, hooks, refs, HEAD and files, the first of them
	More    int      `json:"more,omitempty"`    // beside those

	// Of what was not committed when the run began, the first of each:
	Gone     []string `json:"gone,omitempty"`      // files that are not there any more
	Replaced []string `json:"replaced,omitempty"`  // files that are there without it
	MoreGone int      `json:"more_gone,omitempty"` // beside both
	Kept     string   `json:"kept,omitempty"`      // the ref that has these files as they were
	NoCopy   []string `json:"no_copy,omitempty"`   // files of which there is no copy, as they are too big, not readable, or with a known secret in them
	Unkept   string   `json:"unkept,omitempty"`    // why there is no copy of any, or why nobody knows
}

func (AnswerStep) answers() belay.Topic     { return belay.TopicStep }
func (AnswerAgent) answers() belay.Topic    { return belay.TopicAgent }
func (AnswerCond) answers() belay.Topic     { return belay.TopicCond }
func (AnswerText) answers() belay.Topic     { return belay.TopicText }
func (AnswerList) answers() belay.Topic     { return belay.TopicList }
func (AnswerTests) answers() belay.Topic    { return belay.TopicTests }
func (AnswerTree) answers() belay.Topic     { return belay.TopicTree }
func (AnswerWorktree) answers() belay.Topic { return belay.TopicWorktree }
func (AnswerProbe) answers() belay.Topic    { return belay.TopicProbe }
func (AnswerLook) answers() belay.Topic     { return belay.TopicLook }

// Fits tells whether an answer is of the kind that a key asks for.
func Fits(k belay.Key, a Answer) bool {
	_, topic, _ := k.Question()
	return a != nil && a.answers() == topic
}

// DecodeAnswer reads an answer of the kind that its key names.
func DecodeAnswer(k belay.Key, body []byte) (Answer, error) {
	_, topic, _ := k.Question()
	switch topic {
	case belay.TopicStep:
		return decodeAs[AnswerStep](k, body)
	case belay.TopicAgent:
		return decodeAs[AnswerAgent](k, body)
	case belay.TopicCond:
		return decodeAs[AnswerCond](k, body)
	case belay.TopicText:
		return decodeAs[AnswerText](k, body)
	case belay.TopicList:
		return decodeAs[AnswerList](k, body)
	case belay.TopicTests:
		return decodeAs[AnswerTests](k, body)
	case belay.TopicTree:
		return decodeAs[AnswerTree](k, body)
	case belay.TopicWorktree:
		return decodeAs[AnswerWorktree](k, body)
	case belay.TopicProbe:
		return decodeAs[AnswerProbe](k, body)
	case belay.TopicLook:
		return decodeAs[AnswerLook](k, body)
	}
	return nil, unknownTopic(k, topic)
}

// Probe is a direct look at the machine.
type Probe struct {
	DiskFull bool      `json:"disk_full,omitempty"` // no bytes or no inodes are free
	ReadOnly bool      `json:"read_only,omitempty"` // the working tree cannot be written
	OOMKill  bool      `json:"oom_kill,omitempty"`  // the memory group counted a kill since the driver began
	Lock     LockState `json:"lock,omitempty"`      // of git, in the repository of the working tree
	Detail   string    `json:"detail,omitempty"`

	NoProgram string `json:"no_program,omitempty"` // it is not on PATH
	NoHost    string `json:"no_host,omitempty"`    // it has no address
	NoLogin   string `json:"no_login,omitempty"`   // the tool says that nobody is logged in
}

// LockState is the closed list of what can be seen of git's locks.
type LockState string

const (
	LockNone  LockState = ""      // there is none, or nobody can say whose it is
	LockAlive LockState = "alive" // a living process has it, or a git works in that tree
	LockDead  LockState = "dead"  // who made it is gone
)

// Filled is a text with its values in it, or why there is none.
type Filled struct {
	Value   belay.Value `json:"value,omitzero"`
	Problem string      `json:"problem,omitempty"`
	Col     int         `json:"col,omitempty"` // where in the text the problem is
}
