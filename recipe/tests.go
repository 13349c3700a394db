package recipe

import "github.com/belay-run/belay"

// giveTests makes the tests: of a recipe the check of the agent steps that
// expect tests and have no check of their own.
func giveTests(steps []Step, tests *Script) {
	for i := range steps {
		s := &steps[i]
		if s.OwnTests {
			s.Verify, s.OwnTests = nil, false // another recipe's word
		}
		if tests != nil && s.Type.Agent() && s.Expect == string(belay.ExpectTests) && s.Verify == nil {
			s.Verify, s.OwnTests = tests, true
		}
	}
}
