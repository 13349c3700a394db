package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
)

// Containment is the closed list of wishes for how an agent is held.
type Containment string

const (
	ContainAuto      Containment = ""          // the best that can be had
	ContainSubreaper Containment = "subreaper" // level 1
	ContainNamespace Containment = "namespace" // level 2 where it can be had, else level 1
)

const (
	defaultResumes = 1
	maxOrder       = 16 << 20
	maxPrompt      = 64 << 20
)

// Order says what an attendant is to do. It holds no secret: only their names.
type Order struct {
	Key     belay.Key   `json:"key"`
	Run     belay.RunID `json:"run"`
	Step    belay.Path  `json:"step"`
	Attempt int         `json:"attempt"`

	agent.Agent
	Env   []string `json:"env,omitempty"`   // NAME=value, over everything else
	Tools []string `json:"tools,omitempty"` // that it may use besides

	Dir    string `json:"dir"`             // absolute: where it works
	Home   string `json:"home"`            // absolute: a private folder of this attempt
	Prompt string `json:"prompt"`          // path of the whole prompt, as it is to be given
	Fresh  string `json:"fresh,omitempty"` // path of the prompt for a new session, with Resume: when the old one is not known any more
	Report string `json:"report"`          // path: where the report goes
	Notes  string `json:"notes"`           // path: where the notes go while it runs

	Session string           `json:"session,omitempty"`
	Resume  string           `json:"resume,omitempty"`
	Cut     string           `json:"cut,omitempty"`
	Expect  belay.Expect     `json:"expect,omitempty"`
	JSON    effect.JSONMode  `json:"json,omitempty"`   // what the answer must hold: it is asked for once more without it
	Keys    []string         `json:"keys,omitempty"`   // that this JSON must have
	Filled  []string         `json:"filled,omitempty"` // those of them that must have something in them
	Closes  bool             `json:"closes,omitempty"` // the answer ends with a closing line, which is taken off
	Skip    []string         `json:"skip,omitempty"`   // folders whose change is no evidence
	Base    *belay.TreeState `json:"base,omitempty"`
	Blind   bool             `json:"blind,omitempty"` // nobody looks at its tree
	Guard   *belay.Guarding  `json:"guard,omitempty"`
	Windows Windows          `json:"windows,omitzero"`
	State   string           `json:"state,omitempty"`   // the state directory: further starts are asked for there
	Tree    string           `json:"tree,omitempty"`    // of sessions, whose budget they count in
	Tally   string           `json:"tally,omitempty"`   // before the keys that are counted there
	Resumes int              `json:"resumes,omitempty"` // 0 = one, negative = none
	Most    int64            `json:"most,omitempty"`    // bytes of the answer; 0 and what is over agent.MaxAnswer stand for that
	Secrets []string         `json:"secrets,omitempty"` // names of variables
	Contain Containment      `json:"contain,omitempty"`
	Init    []string         `json:"init,omitempty"` // the command line that ends in proc.NSInit; none = no namespace
}

// Write puts the order into a file that only its owner can read.
func (o Order) Write(path string) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	if err := replace(path, b); err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	return nil
}

// ReadOrder is the order that was written to the file.
func ReadOrder(path string) (Order, error) {
	var o Order
	b, err := readBounded(path, maxOrder)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return o, fmt.Errorf("read order: %w", err)
	}
	return o, nil
}

func (o Order) check() error {
	for name, path := range map[string]string{"dir": o.Dir, "home": o.Home, "prompt": o.Prompt, "report": o.Report, "notes": o.Notes} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("%s %q is not an absolute path", name, path)
		}
	}
	if len(o.Program) == 0 {
		return errors.New("no program is named")
	}
	return nil
}

func (o Order) most() int64 {
	if o.Most > 0 {
		return min(o.Most, agent.MaxAnswer)
	}
	return agent.MaxAnswer
}

func (o Order) resumes() int {
	switch {
	case o.Resumes < 0:
		return 0
	case o.Resumes == 0:
		return defaultResumes
	}
	return o.Resumes
}

// replace writes a file so that a reader sees the whole of it or nothing, also
// after a crash.
func replace(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // for its owner only
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path)) // the new name must be on disk too
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
