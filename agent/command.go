package agent

import (
	"errors"

	"github.com/belay-run/belay"
)

// command is any program: the prompt on its stdin, its answer on its stdout.
type command struct{}

func (command) Traits() Traits { return Traits{Untold: true, Interrupt: StopTerm} }

func (command) Launch(t Task) (Launch, error) {
	if len(t.Program) == 0 {
		return Launch{}, errors.New("start command: no program given")
	}
	return Launch{Argv: argv(t), Env: plainEnv(), Unset: nesting(), Stdin: true}, nil
}

func (command) Reader() Reader { return &commandReader{} }

// commandReader takes all of stdout for the answer. The exit is the record
// that ends a run: there is no other.
type commandReader struct {
	book
	begun bool
}

func (r *commandReader) Line(line []byte) []Sign {
	s := string(line)
	if r.begun {
		r.answer.add("\n")
	}
	r.begun = true
	return r.say(s)
}

// Stderr is where programs tell how they get on.
func (r *commandReader) Stderr(line []byte) []Sign {
	r.mutter(line)
	return life()
}

func (r *commandReader) End(e Exit) belay.AgentResult {
	r.res.Final = e.Signal == 0
	r.res.Error = e.Code != 0
	switch {
	case !r.res.Final:
	case r.res.Error:
		r.res.Stop = belay.StopError
	default:
		r.res.Stop = belay.StopDone
	}
	return r.end(e, unknownExit)
}
