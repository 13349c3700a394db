package verdict

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// Lost judges an attempt of which nobody saw the end, by what it left: seen is
// what Belay found since its base, nil = nobody looked. It is done only when all
// that the step expects is there and its check passes; of everything else nobody
// can tell. Whether its outputs are there is for the caller to look at.
func Lost(c Case, seen *belay.Evidence) effect.Verdict {
	unknown := func(why string) effect.Verdict {
		return effect.Verdict{Unknown: true, Against: []string{"lost", why}}
	}
	if !Passed(c.Check) {
		return unknown("no check says that the work is there")
	}
	v := effect.Verdict{OK: true, Basis: effect.BasisVerify, For: append([]string{"lost"}, CheckedFor(*c.Check)...), Sure: sureSeen}
	if !c.agent() || c.Classic {
		return v
	}
	if seen != nil {
		v.For = append(v.For, changes(*seen)...)
	}
	if seen != nil {
		if f := c.tamperedIn(*seen); f != nil {
			return unknown(f.Cause)
		}
	}
	switch c.Expect {
	case belay.ExpectNone:
	case belay.ExpectChange:
		if seen == nil || seen.Before.Error != "" || seen.After.Error != "" || !Changed(*seen) {
			return unknown("the step expects a change, and none was seen")
		}
		v.Basis = effect.BasisChange
	case belay.ExpectTests:
		if t := c.Check.Tally; t != nil && t.None {
			return unknown("the check passed, and its output tells that no test ran")
		}
		v.Basis = effect.BasisTests
	case belay.ExpectPR:
		v.Basis = effect.BasisPR
	case belay.ExpectAnswer, "":
		return unknown("the answer is lost")
	}
	return v
}
