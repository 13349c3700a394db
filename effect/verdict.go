package effect

import "github.com/belay-run/belay"

// Verdict is what an attempt amounts to. Exactly one of OK, Unknown, GivenBack
// and Failure holds.
type Verdict struct {
	OK         bool           `json:"ok"`
	Basis      Basis          `json:"basis,omitempty"`       // what it rests on; of an attempt that is not complete, what is there
	Unknown    bool           `json:"unknown,omitempty"`     // nobody can tell whether the work was done
	GivenBack  bool           `json:"given_back,omitempty"`  // ended by a stop; counts as nothing
	Partial    bool           `json:"partial,omitempty"`     // with OK: a person left out a part of it
	Empty      bool           `json:"empty,omitempty"`       // with OK: there was nothing to do, so the step counts as not taken
	RolledBack bool           `json:"rolled_back,omitempty"` // of a fallback: the files are as they were before the step, whose failed attempts had changed them
	Failure    *belay.Failure `json:"failure,omitempty"`
	For        []string       `json:"for,omitempty"`        // the evidence that speaks for it
	Against    []string       `json:"against,omitempty"`    // and against
	Sure       int            `json:"confidence,omitempty"` // of an agent's attempt: 1 to 100
}

// Basis is the closed list of what a good verdict can rest on.
type Basis string

const (
	BasisExit   Basis = "exit"   // it ended well, and nothing else was asked
	BasisAnswer Basis = "answer" // an agent's final text: answered, and nothing was checked
	BasisChange Basis = "change" // the files or the history are others than before
	BasisTests  Basis = "tests"  // tests that Belay ran
	BasisPR     Basis = "pr"     // a pull request that the forge knows
	BasisVerify Basis = "verify" // the step's own check
	BasisPerson Basis = "person" // a person's answer, or the timeout of the question: an approval has no other work
)
