package temporal

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
)

// Program is what people type who have this engine.
const Program = "belay-temporal"

// Names on the wire. They are in histories: one that was released never changes.
const (
	TreeWorkflow = "belay.tree"

	queryPage   = "records" // a Page of the records after a number
	queryParcel = "parcel"  // what the run began with
	queryCarry  = "carry"   // a Carry, or null

	updateDrive  = "drive"  // a Push: a person lets the run go on
	updateSettle = "settle" // a Push: facts, and nothing starts
	updateAsk    = "ask"    // an event.Request

	signalBack  = "back"  // a host is there again, under another process
	signalNoted = "noted" // what became known of an agent while it runs
)

// Facts travel as records without a number.
type Facts []event.Record

func pack(facts []flow.Fact) Facts {
	var out Facts
	for _, f := range facts {
		out = append(out, event.Record{Run: f.Run, Event: f.Event})
	}
	return out
}

func (fs Facts) unpack() []flow.Fact {
	var out []flow.Fact
	for _, f := range fs {
		out = append(out, flow.Fact{Run: f.Run, Event: f.Event})
	}
	return out
}

// Start is how a workflow finds its tree: a new one, or one that goes on.
type Start struct {
	Run     belay.RunID    `json:"run"`
	Host    string         `json:"host,omitempty"`    // where the files are; "" = it has to be found
	Labels  []string       `json:"labels,omitempty"`  // what that host has to be good for
	Records []event.Record `json:"records,omitempty"` // of earlier workflows
	Drives  uint64         `json:"drives,omitempty"`  // how often a person let it go on
	First   Facts          `json:"first,omitempty"`   // of the first turn
	Goes    bool           `json:"goes,omitempty"`    // it went on from another history, and nobody asked for it
	Rests   bool           `json:"rests,omitempty"`   // it takes what comes in, and nothing is driven until somebody lets it go on
	Lost    time.Duration  `json:"lost,omitempty"`    // a host that says nothing for so long is given up; 0 = it is waited for
	Carry   *Carry         `json:"carry,omitempty"`   // nil = its files are where they are
	Stays   string         `json:"stays,omitempty"`   // why that is so
	Near    string         `json:"near,omitempty"`    // the worker that is asked first whether it has the directory
	Every   int            `json:"every,omitempty"`   // of tests: a new history after the ends of so many attempts
}

// Page is a part of the records of a tree, and how it stands.
type Page struct {
	Records []event.Record `json:"records,omitempty"`
	Seq     int64          `json:"seq"` // of the last record there is
	Status  belay.Status   `json:"status"`
	Asleep  bool           `json:"asleep,omitempty"` // it rests, and goes on when somebody lets it
	Busy    bool           `json:"busy,omitempty"`   // something was asked that is not on record yet
	Host    string         `json:"host"`
	Missing bool           `json:"missing,omitempty"` // the host was given up
	Waits   string         `json:"waits,omitempty"`   // what it waits for that others have to bring
	Drives  uint64         `json:"drives"`
	Prev    string         `json:"prev,omitempty"`   // the stamp of the record after which this page begins; "" = it is not told
	Stored  int64          `json:"stored,omitempty"` // so many records are surely stored; later ones may never be
}

// Push is what somebody wants on record, who has seen the records up to a number.
type Push struct {
	Seq       int64  `json:"seq"`
	Last      string `json:"last,omitempty"` // the stamp of that record
	Facts     Facts  `json:"facts,omitempty"`
	Elsewhere bool   `json:"elsewhere,omitempty"` // on another host than the one that is lost
}

// Ended is how a tree stands when its workflow is over.
type Ended struct {
	Result belay.RunResult `json:"result"`
	Seq    int64           `json:"seq"`
}

// PlaceIn looks for a host for a tree.
type PlaceIn struct {
	Root belay.RunID `json:"root"`
	Dir  string      `json:"dir"` // it must be there; "" = any will do

	Labels []string `json:"labels,omitempty"` // that the host must have
	Carry  *Carry   `json:"carry,omitempty"`  // of a run that can be cloned
}

// Placed is the host that takes it.
type Placed struct {
	Host string `json:"host"`
}

// AttachIn asks a host to take a tree for a driver.
type AttachIn struct {
	Root  belay.RunID `json:"root"`
	Epoch int64       `json:"epoch"`
	Open  []belay.Key `json:"open,omitempty"`

	Lost  string        `json:"lost,omitempty"` // the host that had it, and is given up: what is open was lost with it
	Carry *Carry        `json:"carry,omitempty"`
	Lease time.Duration `json:"lease,omitempty"` // for how long a proof of contact lets attempts go on; 0 = for ever
	Last  string        `json:"last,omitempty"`  // the stamp of the last record: there is no other one until the answer
}

// Attached is what the host found.
type Attached struct {
	Facts       Facts       `json:"facts,omitempty"`
	Adopted     []belay.Key `json:"adopted,omitempty"`
	Containment int         `json:"containment"`
	Snap        *Snap       `json:"snap,omitempty"` // as in Done
	Behind      string      `json:"behind,omitempty"`
	Here        bool        `json:"here,omitempty"` // the directory is used that is here, and nothing was cloned
	Made        bool        `json:"made,omitempty"` // the checkout of the run was cloned just now
	Dir         string      `json:"dir,omitempty"`  // of the checkout
}

// DoIn is one attempt.
type DoIn struct {
	Root  belay.RunID `json:"root"`
	Epoch int64       `json:"epoch"`
	Found bool        `json:"found,omitempty"` // it runs already
	Carry *Carry      `json:"carry,omitempty"`
	Job   effect.Job  `json:"job"`
}

// AskIn is one question.
type AskIn struct {
	Root belay.RunID `json:"root"`
	Ask  effect.Ask  `json:"ask"`
	By   belay.RunID `json:"by,omitempty"` // of a tree: who had it when it was asked for last
}

// Answered is the answer; Again says that the question is still open.
type Answered struct {
	Facts Facts       `json:"facts,omitempty"`
	Again bool        `json:"again,omitempty"`
	By    belay.RunID `json:"by,omitempty"`
}

// KillIn ends an attempt.
type KillIn struct {
	Root  belay.RunID    `json:"root"`
	Key   belay.Key      `json:"key"`
	Why   fault.KilledBy `json:"why"`
	Agent bool           `json:"agent,omitempty"`
}

// KeepIn is what a host does after records were written: counts that a person took
// back, worktrees whose work is merged, working trees that are needed no more.
type KeepIn struct {
	Root    belay.RunID         `json:"root"`
	Cleared Facts               `json:"cleared,omitempty"`
	Merged  []Merged            `json:"merged,omitempty"`
	Give    bool                `json:"give,omitempty"`
	Need    map[string][]string `json:"need,omitempty"`
	End     bool                `json:"end,omitempty"` // the run has ended
	Carry   *Carry              `json:"carry,omitempty"`
}

// Merged names a step whose work is in its run's tree.
type Merged struct {
	Run  belay.RunID `json:"run"`
	Step belay.Path  `json:"step"`
}

// Noted is what became known of an agent.
type Noted struct {
	Epoch int64 `json:"epoch"`
	Facts Facts `json:"facts"`
}

// marker is a turn as the history keeps it: what was decided, without the facts,
// which are in the history already, and without the jobs, which are inputs of
// activities.
type marker struct {
	Records []event.Record `json:"r,omitempty"`
	Effects []did          `json:"x,omitempty"`
	Until   int64          `json:"u,omitempty"` // nanoseconds; 0 = none
	Status  belay.Status   `json:"s"`
	Idle    bool           `json:"i,omitempty"`
	More    bool           `json:"m,omitempty"`
	Error   string         `json:"e,omitempty"`

	Sizes map[belay.Key]int `json:"z,omitempty"` // bytes of inputs, where they are worth telling
}

// did is an effect in a marker: of a Do its key, of a Kill its key and why, of an
// Ask its key.
type did struct {
	Do   belay.Key      `json:"d,omitempty"`
	Ask  belay.Key      `json:"a,omitempty"`
	Kill belay.Key      `json:"k,omitempty"`
	Why  fault.KilledBy `json:"w,omitempty"`
}

// parcel is the first argument of a workflow; it stays the same for all histories of
// a tree, so that a big one is kept once.
type parcel = engine.Parcel
