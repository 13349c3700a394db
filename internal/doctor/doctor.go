// Package doctor looks at a machine before a run does: at the programs, the
// disk, the clock, the state directory and the agents, and says of each what it
// found and what to do about it. It mends nothing, reads no secret, and spends
// no token unless it is asked to probe. A program that hangs does not hang the
// doctor, and nothing that it started outlives it.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/roster"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/proc"
)

// Level is the closed list of weights of a finding.
type Level string

const (
	LevelOK    Level = "ok"
	LevelNote  Level = "note"  // good to know
	LevelWarn  Level = "warn"  // some runs will not go well
	LevelBlock Level = "block" // no run will go well
)

// Finding is one thing that was looked at.
type Finding struct {
	Check string            `json:"check"`
	Level Level             `json:"level"`
	What  string            `json:"what"`
	Cure  string            `json:"cure,omitempty"`
	Facts map[string]string `json:"facts,omitempty"`
}

// Patient is the machine as one user has it.
type Patient struct {
	Self     []string // how this program is called
	Environ  []string
	Dir      string // the working directory
	State    string // the state directory; "" = not looked at
	Settings string // the file of the settings; "" = the environment names no place for one
	Roster   *roster.Roster
	Default  string                // the agent of steps that name none; "" = nobody said
	Contain  int                   // the containment that is asked for
	Within   supervise.Containment // how steps contain an agent; so does a probe
	Probe    bool                  // ask every agent for one word
	Etc      string                // where the system's settings are; "" = /etc
	Patience time.Duration         // with one program; 0 = ten seconds
}

const (
	atOnce        = 4
	patience      = 10 * time.Second // with one program
	statePatience = 40 * time.Second // another process may have its turn first
	probeFactor   = 6                // so many times as long with an agent that is asked for a word
	probeGrace    = 30 * time.Second // the attendant ends it, not the doctor
	latePatience  = 2 * time.Second
	lateLooks     = 40
	strayGrace    = 200 * time.Millisecond
)

// The names of checks.
const (
	checkState   = "state"
	checkDisk    = "disk"
	checkClock   = "clock"
	checkPath    = "path"
	checkTemp    = "tmpdir"
	checkBash    = "bash"
	checkGit     = "git"
	checkGH      = "gh"
	checkContain = "containment"
	checkLogind  = "logind"
	checkAgents  = "agents"
	checkAgent   = "agent."
	checkProbe   = "probe."
	checkStrays  = "strays"
)

// check is one thing to look at.
type check struct {
	name     string
	patience time.Duration
	look     func(ctx context.Context) []Finding
}

// Examine looks at everything, a few things at a time. The findings come in a
// fixed order.
func Examine(ctx context.Context, p Patient) []Finding {
	// What a program leaves behind comes to us and is ended. Children from
	// before are somebody else's: then nothing is ended but groups of ours.
	sweep := childless() && proc.BecomeSubreaper() == nil
	checks := p.checks()
	found := make([][]Finding, len(checks))
	turns := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			found[i] = c.run(ctx)
		})
	}
	all.Wait()
	var list []Finding
	for _, f := range found {
		list = append(list, f...)
	}
	if sweep {
		list = append(list, strays()...)
	}
	return list
}

// checks are all things to look at, in the order in which they are told.
func (p Patient) checks() []check {
	quick := 2 * p.patience() // some ask more than one program
	list := []check{
		{checkState, statePatience, p.state},
		{checkDisk, quick, p.disk},
		{checkClock, quick, clock},
		{checkPath, quick, p.path},
		{checkTemp, quick, p.temp},
		{checkBash, quick, p.bash},
		{checkGit, quick, p.git},
		{checkGH, quick, p.gh},
		{checkContain, quick, p.containment},
		{checkLogind, quick, p.logind},
	}
	if p.Roster == nil {
		return list
	}
	list = append(list, check{checkAgents, quick, p.anyAgent})
	for _, name := range p.Roster.Names() {
		list = append(list, check{checkAgent + name, quick, func(ctx context.Context) []Finding { return p.agent(ctx, name) }})
	}
	for _, e := range p.probed() {
		list = append(list, check{checkProbe + e.Name, p.probeTimeout() + probeGrace, func(ctx context.Context) []Finding { return p.probe(ctx, e) }})
	}
	return list
}

// run looks, and does not wait for ever. Only a system call that nobody can
// end, as one to a server that is gone, comes too late: it ends with the program.
func (c check) run(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	found := make(chan []Finding, 1)
	go func() { found <- c.look(ctx) }()
	select {
	case f := <-found:
		return f
	case <-ctx.Done():
	}
	// What is late is counted in looks: a machine that stands still for a while
	// holds up both sides, and is no disk that does not answer.
	late := time.NewTicker(latePatience / lateLooks)
	defer late.Stop()
	for range lateLooks {
		select {
		case f := <-found:
			return f
		case <-late.C:
		}
	}
	return []Finding{{
		Check: c.name, Level: LevelBlock, What: fmt.Sprintf("the system gave no answer within %s", c.patience),
		Cure: "look for a disk or a mount that does not answer",
	}}
}

// strays ends what the programs left behind.
func strays() []Finding {
	n, err := proc.EndBelow(strayGrace)
	switch {
	case err != nil:
		return []Finding{{Check: checkStrays, Level: LevelWarn, What: "programs left processes behind: " + err.Error(), Cure: "look for them with ps and end them"}}
	case n > 0:
		return []Finding{{Check: checkStrays, Level: LevelNote, What: fmt.Sprintf("programs left %d processes behind; they were ended", n)}}
	}
	return nil
}

// childless tells whether this process is known to have no children.
func childless() bool {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		return false
	}
	for _, list := range lists {
		if b, err := os.ReadFile(list); err != nil || len(b) > 0 {
			return false
		}
	}
	return true
}

func (p Patient) patience() time.Duration { return cmp.Or(p.Patience, patience) }

func (p Patient) probeTimeout() time.Duration { return probeFactor * p.patience() }

// env is a variable of the patient.
func (p Patient) env(name string) string {
	for i := len(p.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(p.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// Count is how many findings have the level.
func Count(list []Finding, l Level) int {
	n := 0
	for _, f := range list {
		if f.Level == l {
			n++
		}
	}
	return n
}
