package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
)

// beatSize is fixed, so that one write replaces the whole of the last one.
const beatSize = 384

// maxPhase keeps a beat within its size.
const maxPhase = 80

// maxTried does the same; more is not worth telling.
const maxTried = 9999

// Beat is a driver's last sign: cheap to write, cheap to read for those who
// look at many runs, and not synced. It lags behind the journal and is never
// ahead of it. Only Done is a sign of work; the time is for people.
type Beat struct {
	Pid   int       `json:"pid"`
	Start uint64    `json:"start"`
	Boot  string    `json:"boot"`
	Seq   int64     `json:"seq"`
	Done  int64     `json:"done"`
	At    time.Time `json:"at"`
	Phase string    `json:"phase"`

	Until   int64 `json:"until,omitempty"`   // when it goes on by itself, in seconds
	Allowed int64 `json:"allowed,omitempty"` // until when its open attempts may take, by their own limits
	Tried   int   `json:"tried,omitempty"`   // attempts that ended since work was finished last
	Micros  int64 `json:"micros,omitempty"`  // what its agents cost so far, in millionths of a dollar
	Redone  int64 `json:"redone,omitempty"`  // of Done, what counts no further step: a step that was done again
	Quiet   bool  `json:"quiet,omitempty"`   // nobody is asked for anything; false is also of an older Belay
	Untold  bool  `json:"untold,omitempty"`  // agents were started, and none told what it cost; false is also of an older Belay
}

// Sign is what a driver says of itself in a beat.
type Sign struct {
	Phase   string
	Done    int64     // work that is finished
	Until   time.Time // when it goes on by itself; zero = it waits for no moment
	Allowed time.Time // until when its open attempts may take; zero = none is open
	Tried   int       // attempts that ended since work was finished last
	Micros  int64     // what its agents cost so far, in millionths of a dollar
	Redone  int64     // of Done, what counts no further step: a step that was done again
	Quiet   bool      // nobody is asked for anything
	Untold  bool      // agents were started, and none told what it cost
}

// sign is what the beat says again. What was asked since is not known.
func (b Beat) sign() Sign {
	s := Sign{Phase: b.Phase, Done: b.Done, Tried: b.Tried, Micros: b.Micros, Redone: b.Redone, Untold: b.Untold}
	if b.Until != 0 {
		s.Until = time.Unix(b.Until, 0)
	}
	if b.Allowed != 0 {
		s.Allowed = time.Unix(b.Allowed, 0)
	}
	return s
}

// Driver is the process that wrote the beat.
func (b Beat) Driver() proc.Identity {
	return proc.Identity{Pid: b.Pid, Start: b.Start, Boot: b.Boot}
}

// Steps is how many steps are done.
func (b Beat) Steps() int64 { return max(0, b.Done-b.Redone) }

// encode is one line of JSON, padded, with a checksum at its end, because a
// reader may see half of a write.
func (b Beat) encode() ([]byte, bool) {
	b.Phase = b.Phase[:min(len(b.Phase), maxPhase)]
	text, err := json.Marshal(b)
	if err != nil || len(text) > beatSize-10 {
		return nil, false
	}
	line := append(text, bytes.Repeat([]byte{' '}, beatSize-9-len(text))...)
	return fmt.Appendf(line, "%08x\n", crc32.ChecksumIEEE(line)), true
}

func decodeBeat(line []byte) (Beat, bool) {
	var b Beat
	if len(line) != beatSize {
		return b, false
	}
	head := line[:beatSize-9]
	sum := fmt.Sprintf("%08x\n", crc32.ChecksumIEEE(head))
	if string(line[beatSize-9:]) != sum || json.Unmarshal(head, &b) != nil {
		return Beat{}, false
	}
	return b, true
}

// readBeat is the zero beat when there is none or a torn one: it remembers
// nothing, so nothing can be held against it.
func readBeat(f Folder) Beat {
	line, err := os.ReadFile(f.in(beatName))
	if err != nil {
		return Beat{}
	}
	b, _ := decodeBeat(line)
	return b
}

// Beat tells those who watch that this driver lives and what it has done. It
// costs one write and promises nothing.
func (r *Run) Beat(s Sign) {
	r.write.Lock()
	defer r.write.Unlock()
	r.beat(s)
}

func (r *Run) beat(s Sign) {
	self := r.self
	r.last = Beat{
		Pid: self.Pid, Start: self.Start, Boot: self.Boot,
		Seq: r.end.seq, Done: s.Done, At: time.Now().UTC(), Phase: s.Phase,
		Until: seconds(s.Until), Allowed: seconds(s.Allowed), Tried: min(s.Tried, maxTried), Micros: s.Micros, Redone: s.Redone,
		Quiet: s.Quiet, Untold: s.Untold && s.Micros == 0, // a beat has no room for both
	}
	line, ok := r.last.encode()
	if !ok || r.beats == nil {
		return
	}
	_, _ = r.beats.WriteAt(line, 0) // no beat is a driver that seems to rest; the journal is the truth
}

// seconds is a moment in a beat, rounded up; 0 is none.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Add(time.Second - 1).Unix()
}

// waiting begins the phase of a run in which nothing runs.
const (
	waiting  = "waiting for "
	waitsFor = waiting + "the tree: run "
)

// Pausing is the phase of a run in which nothing new starts, and something still runs.
const Pausing = "pausing"

// WaitsForTree is the phase, in a beat, of a run that waits for a tree which
// another run has.
func WaitsForTree(by belay.RunID) string { return waitsFor + string(by) }

// WaitsFor is the phase of a run that waits for something else, until a moment
// which the beat has, too.
func WaitsFor(what string) string { return waiting + what }

// Parked tells whether the driver left the run, and until when, by its beat.
func (b Beat) Parked() (bool, time.Time) {
	return b.Phase == string(belay.Parked) && b.Until != 0, time.Unix(b.Until, 0)
}

// Waits is what a driver waits for, by its beat; "" for nothing that others have.
func (b Beat) Waits() string {
	if strings.HasPrefix(b.Phase, waitsFor) {
		return b.Phase
	}
	return ""
}

// Waiting is what a driver waits for, by its beat, whatever it is; "" for nothing.
func (b Beat) Waiting() string {
	if strings.HasPrefix(b.Phase, waiting) {
		return b.Phase
	}
	return ""
}
