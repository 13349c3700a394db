package effect

import (
	"encoding/json"
	"fmt"

	"github.com/belay-run/belay"
)

// Question is what an Ask asks; the list of its kinds is closed. There is one kind
// for each topic, and the topic ends the key of the Ask: that is the kind's name in
// JSON, for the question as for its answer.
type Question interface{ asks() belay.Topic }

// AskStep asks for the permit to start one more step in a nested run.
type AskStep struct{}

// AskAgent asks for the permit to start one more agent.
type AskAgent struct {
	Name string `json:"name,omitempty"` // who it is
	// Retry says that it was started before for the same: the service it calls
	// must have retries left.
	Retry bool `json:"retry,omitempty"`
}

// AskCond asks for the truth of a condition over values that are too big to be in
// the records.
type AskCond struct {
	Cond    string                 `json:"cond"`
	Vars    map[string]belay.Value `json:"vars,omitzero"`
	Lenient bool                   `json:"lenient,omitempty"` // what is missing is nothing instead of a problem
}

// AskText asks for the values of texts with such values in them.
type AskText struct {
	Texts   []string               `json:"texts,omitzero"`
	List    string                 `json:"list,omitempty"` // one more, which must come out as JSON
	Vars    map[string]belay.Value `json:"vars,omitzero"`
	Lenient bool                   `json:"lenient,omitempty"`
}

// AskList asks for one value that is made of many: a list of the pieces, or the
// object where there are none.
type AskList struct {
	Pieces []Piece                `json:"pieces,omitzero"`
	Object map[string]belay.Value `json:"object,omitzero"`
	As     string                 `json:"as,omitempty"` // the list becomes a field of the object, by this name
}

// AskTests asks how the tests of a directory are run.
type AskTests struct {
	Dir string `json:"dir"`
}

// AskTree asks for a working tree, which one agent has at a time: the answer may
// take as long as others have it.
type AskTree struct {
	Dir    string `json:"dir"`              // a directory in it
	Step   string `json:"step"`             // who wants it: RUN:STEP
	Shared bool   `json:"shared,omitempty"` // other steps of the run that say so, too, may be there at the same time
}

// AskWorktree asks for a worktree.
type AskWorktree struct {
	Text string     `json:"text"` // what its branch is named after
	Step belay.Path `json:"step,omitempty"`
	Dir  string     `json:"dir"` // the directory that it stands for

	Merge    bool `json:"merge,omitempty"`    // what is done in it comes back: it begins at the files as they are
	Copy     bool `json:"copy,omitempty"`     // a copy of the files as they are, which is thrown away, and no worktree
	Optional bool `json:"optional,omitempty"` // where there can be none, the step works without

	Stand string `json:"stand,omitempty"` // look how the checkout of this directory stands before it is made; "" = nobody asks
}

// AskProbe asks for a look at the machine, from a directory, and at what it is for
// beside that: a program that may be missing, a name that may have no address, a
// tool that can say whether somebody is logged in.
type AskProbe struct {
	Dir     string `json:"dir"`
	Program string `json:"program,omitempty"`
	Host    string `json:"host,omitempty"`
	Login   string `json:"login,omitempty"`
}

// AskLook asks what changed in the working tree of a directory since Base, and
// which of the files that Guard names; without both, which state it is in. With
// Stood it asks what is not as it stood then in a checkout that nobody worked in.
type AskLook struct {
	Dir   string           `json:"dir"`
	Base  *belay.TreeState `json:"base,omitempty"`
	Guard *belay.Guarding  `json:"guard,omitempty"`

	Stood *belay.Value `json:"stood,omitempty"`
	Files bool         `json:"files,omitempty"` // with Stood: its files and what is checked out, too; else what git keeps alone
}

func (AskStep) asks() belay.Topic     { return belay.TopicStep }
func (AskAgent) asks() belay.Topic    { return belay.TopicAgent }
func (AskCond) asks() belay.Topic     { return belay.TopicCond }
func (AskText) asks() belay.Topic     { return belay.TopicText }
func (AskList) asks() belay.Topic     { return belay.TopicList }
func (AskTests) asks() belay.Topic    { return belay.TopicTests }
func (AskTree) asks() belay.Topic     { return belay.TopicTree }
func (AskWorktree) asks() belay.Topic { return belay.TopicWorktree }
func (AskProbe) asks() belay.Topic    { return belay.TopicProbe }
func (AskLook) asks() belay.Topic     { return belay.TopicLook }

// Piece is one item of a list: a value, an object of values, or null.
type Piece struct {
	Value  *belay.Value           `json:"value,omitempty"`
	Object map[string]belay.Value `json:"object,omitzero"` // one without values is no null
}

// UnmarshalJSON reads a question of the kind that its key names.
func (c *Ask) UnmarshalJSON(b []byte) error {
	var raw struct {
		Key      belay.Key       `json:"key"`
		Question json.RawMessage `json:"question"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	q, err := decodeQuestion(raw.Key, raw.Question)
	if err != nil {
		return err
	}
	c.Key, c.Question = raw.Key, q
	return nil
}

func decodeQuestion(k belay.Key, body []byte) (Question, error) {
	_, topic, _ := k.Question()
	switch topic {
	case belay.TopicStep:
		return decodeAs[AskStep](k, body)
	case belay.TopicAgent:
		return decodeAs[AskAgent](k, body)
	case belay.TopicCond:
		return decodeAs[AskCond](k, body)
	case belay.TopicText:
		return decodeAs[AskText](k, body)
	case belay.TopicList:
		return decodeAs[AskList](k, body)
	case belay.TopicTests:
		return decodeAs[AskTests](k, body)
	case belay.TopicTree:
		return decodeAs[AskTree](k, body)
	case belay.TopicWorktree:
		return decodeAs[AskWorktree](k, body)
	case belay.TopicProbe:
		return decodeAs[AskProbe](k, body)
	case belay.TopicLook:
		return decodeAs[AskLook](k, body)
	}
	return nil, unknownTopic(k, topic)
}

// decodeAs reads one kind of question or answer.
func decodeAs[T any](k belay.Key, body []byte) (T, error) {
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("decode %s: %w", k, err)
	}
	return v, nil
}

func unknownTopic(k belay.Key, t belay.Topic) error {
	return fmt.Errorf("question %s: unknown topic %q", k, t)
}
