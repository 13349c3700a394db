package verdict

import "github.com/belay-run/belay"

// Lost judges an attempt of which nobody saw the end, by what it left: seen is
// what Belay found since its base, nil = nobody looked. It is done only when all
// that the step expects is there and its check passes; of everything else nobody
// can tell. Whether its outputs are there is for the caller to look at.
func Lost(c Case, seen *belay.Evidence) belay.Verdict {
	unknown := func(why string) belay.Verdict {
		return belay.Verdict{Unknown: true, Against: []string{"lost", why}}
	}
	if !Passed(c.Check) {
		return unknown("no check says that the work is there")
	}
	v := belay.Verdict{OK: true, Basis: belay.BasisVerify, For: append([]string{"lost"}, CheckedFor(*c.Check)...), Sure: sureSeen}
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
		v.Basis = belay.BasisChange
	case belay.ExpectTests:
		if t := c.Check.Tally; t != nil && t.None {
			return unknown("the check passed, and its output tells that no test ran")
		}
		v.Basis = belay.BasisTests
	case belay.ExpectPR:
		v.Basis = belay.BasisPR
	case belay.ExpectAnswer, "":
		return unknown("the answer is lost")
	}
	return v
}
