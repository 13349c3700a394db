package receipt

import "github.com/belay-run/belay/exit"

// Checked is what came of the recorded checks, run again.
type Checked struct {
	Verdict string   `json:"verdict"` // holds, broken or unproven
	Code    int      `json:"exit_code"`
	Checks  []Again  `json:"checks"`
	Changed []string `json:"changed,omitempty"` // trees that are not as they were before the checks
}

// Again is one of them.
type Again struct {
	Step    string `json:"step"`
	Dir     string `json:"dir"`
	Verdict string `json:"verdict"` // passes, fails or not run
	Text    string `json:"text"`
	WallMS  int64  `json:"wall_ms"`
	Check   string `json:"check,omitempty"`  // the command, of a criterion
	Commit  string `json:"commit,omitempty"` // that it ran on
	Where   string `json:"where,omitempty"`  // which that is, in words
}

// The verdicts about one check, and about all.
const (
	Passes = "passes"
	Fails  = "fails"
	NotRun = "not run"

	Holds  = "holds"
	Broken = "broken"
)

// Judge says whether the receipt still holds. The code is that of the run when it
// does, 1 when a check fails that had passed, and 5 when nothing fails but not all
// could be seen: no check is on record, or one could not be run.
func (r *Receipt) Judge(list []Again, changed []string) {
	c := &Checked{Verdict: Holds, Code: exit.Failed, Checks: list, Changed: changed}
	if r.Code != nil {
		c.Code = *r.Code
	}
	if len(list) == 0 {
		c.Verdict, c.Checks = NoProof, []Again{}
	}
	for _, a := range list {
		switch {
		case a.Verdict == Fails:
			c.Verdict = Broken
		case a.Verdict == NotRun && c.Verdict == Holds:
			c.Verdict = NoProof
		}
	}
	switch {
	case c.Verdict == Broken:
		c.Code = exit.Failed
	case c.Verdict == NoProof && c.Code == exit.OK:
		c.Code = exit.Partial
	}
	r.Check = c
}
