// Package watch decides what is to be done about runs that nobody looks at.
// The rules are a pure function of what is known of a run, what was decided of it
// before, and the time, so that a week can be tried in a second.
package watch

import (
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/belay-run/belay"
)

// Clock is the time of one look. Awake is the time that this machine has been
// awake since it was booted: it stands still while the machine is suspended, and
// nobody can set it. It means nothing after the next boot.
type Clock struct {
	Boot  string
	Awake time.Duration
	Wall  time.Time
}

// Owner is what is known of the process that drives a run.
type Owner string

// What is known of an owner.
const (
	OwnerAlive    Owner = "alive"    // it is proven to be the one that wrote the beat
	OwnerFrozen   Owner = "frozen"   // alive, and stopped by a signal
	OwnerDead     Owner = "dead"     // proven: the pid is free, or somebody else has it
	OwnerUnproven Owner = "unproven" // it cannot be told
)

// Run is what is known of a run at one look.
type Run struct {
	ID     belay.RunID
	Status belay.Status // as the journal has it
	Code   int
	Reason string
	Begun  bool // its first record is there

	Owner  Owner
	Driver string // who drives it, or drove it last: another text for another process

	Done    int64     // finished work: counts up, and never down
	Waits   string    // what it waits for that others have or decide, "" for nothing
	Until   time.Time // when it goes on by itself
	Allowed time.Time // until when its open attempts may take, by their own limits
	Tried   int       // attempts that ended since work was finished last
	Parked  time.Time // it left its processes, and wants to be started again at this time
	For     string    // of one that is parked: what is to be done then

	Answered time.Time // of a run that was held or parked: when somebody last said something to it
	Mail     time.Time // of one that nobody drives: when a request was left in its mailbox

	Above     belay.RunID  // a run that was stopped, paused or cancelled after this one, which a step of it started, worked last
	How       belay.Status // of Above: how it stands
	Stalemate string       // why another try would be the last one again
	Lacks     []string     // variables that its steps were given and that are not there now
	Unread    string       // why its journal cannot be read
}

// Memory is what the watch keeps of a run from one look to the next, also over
// its own death. The zero value knows nothing.
type Memory struct {
	Done    int64         `json:"done"`
	Driver  string        `json:"driver,omitempty"`
	Boot    string        `json:"boot,omitempty"`
	Moved   time.Duration `json:"moved"`            // when Done went up last, by Clock.Awake
	Dead    time.Duration `json:"dead,omitempty"`   // since when nobody drives it; 0 when somebody does
	Frozen  time.Duration `json:"frozen,omitempty"` // since when its driver is stopped by a signal
	Resumes int           `json:"resumes"`          // in a row without finished work
	Total   int           `json:"total"`            // in its life
	Woken   time.Time     `json:"woken,omitzero"`   // the moment for which it was woken last
	Exit    string        `json:"exit,omitempty"`   // how the last driver that was started here ended
	Same    int           `json:"same,omitempty"`   // how often in a row it ended that way
	Event   Event         `json:"event,omitempty"`  // what was said of the run last
	Reason  string        `json:"reason,omitempty"`

	other map[string]json.RawMessage // what another version keeps: it is kept
}

// Recall is what was kept of a run. What cannot be read is an error and not
// nothing: nothing would give all tries back.
func Recall(text string) (m Memory, err error) {
	if text == "" {
		return m, nil
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return Memory{}, err
	}
	if m.Resumes < 0 || m.Total < 0 || m.Same < 0 {
		return Memory{}, errors.New("a count is below 0")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return Memory{}, err
	}
	for _, own := range memoryKeys {
		delete(all, own)
	}
	if len(all) > 0 {
		m.other = all
	}
	return m, nil
}

// Text is the memory as it is kept.
func (m Memory) Text() (string, error) {
	b, err := json.Marshal(m)
	if err != nil || len(m.other) == 0 {
		return string(b), err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return "", err
	}
	maps.Copy(all, m.other)
	b, err = json.Marshal(all)
	return string(b), err
}

// memoryKeys are the keys of a memory that this version knows.
var memoryKeys = []string{
	"done", "driver", "boot", "moved", "dead", "frozen", "resumes", "total", "woken", "exit", "same", "event", "reason",
}

// Rules are the settings of a watch.
type Rules struct {
	Poll    time.Duration // between two looks
	Stall   time.Duration // without finished work
	Resumes int           // in a row without finished work; 0 is never
	Total   int           // in the life of a run
}

// The defaults of a watch.
const (
	DefaultPoll    = 30 * time.Second
	DefaultStall   = 30 * time.Minute
	DefaultPark    = 5 * time.Minute
	DefaultWindow  = time.Hour
	DefaultResumes = 3
	DefaultTotal   = 10
)

// stalePolls is how many looks long nobody may drive a run before it counts as
// left: a driver that is just being started has no beat yet.
const stalePolls = 3

// restless is how many attempts may end with nothing finished before a further one,
// or a wait for it, is no excuse any more: a run that tries again and again looks
// busy for ever.
const restless = 5

// sameExits is how often in a row a driver may end in the same way, with nothing
// finished, before starting it again is refused.
const sameExits = 2

// Decision is what one look at one run comes to.
type Decision struct {
	Run    belay.RunID
	Event  Event
	Reason string    // for a person, one sentence
	Next   string    // what to type, without the name of the program
	Needs  []string  // variables that have to be set for it
	Start  bool      // start a driver now, if Memory can be written first
	Wake   bool      // of Start: it left its processes on purpose, which costs no try
	Rest   bool      // nothing will happen to this run without a person
	Shown  bool      // it is what was said of the run before
	Again  time.Time // look at it again no later than this; zero = at the next look
	Count  int       // tries in a row, with this one
	Most   int
}

// Code is the exit code of a watch that ends with this decision.
func (d Decision) Code() int { return d.Event.Code() }
