// Package effect holds what the brain wants done and what comes back: a job,
// what was seen of it and what that amounts to; a question and its answer. It does
// nothing by itself.
package effect

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// Effect is what a driver does for the brain once the records of a turn are on
// disk; there are three.
type Effect interface{ effect() }

// Do is an attempt: write that it starts, then start it.
type Do struct{ Job Job }

// Ask is a question about something the brain cannot see. It is idempotent by
// Key, whose topic is the kind of the question; its answer becomes a fact.
type Ask struct {
	Key      belay.Key `json:"key"`
	Question Question  `json:"question"`
}

// Kill ends an open attempt.
type Kill struct {
	Key belay.Key
	Why fault.KilledBy
}

func (Do) effect()   {}
func (Ask) effect()  {}
func (Kill) effect() {}
