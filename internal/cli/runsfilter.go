package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// runFilter says which runs are listed; one that is zero lists all.
type runFilter struct {
	status []string // how they stand, or ended
	recipe string
	dir    string
	in     func(dir string) bool // tells whether a run is in it; nil = all are
}

// statusWords are what --status takes.
func statusWords() []string {
	var words []string
	for _, s := range []story.RunState{
		story.StateRunning, story.StateWaiting, story.StateParked, story.StateHeld,
		story.StatePaused, story.StateStopped, story.StateLost, story.StateEnded,
	} {
		words = append(words, string(s))
	}
	for _, s := range []belay.Status{
		belay.Achieved, belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate, belay.Aborted,
	} {
		words = append(words, strings.ToLower(string(s)))
	}
	return words
}

// check looks at the words, and makes the directory one that can be compared.
func (f *runFilter) check() error {
	for i, word := range f.status {
		f.status[i] = strings.ToLower(word)
		if !slices.Contains(statusWords(), f.status[i]) {
			return fmt.Errorf("--status %q: must be one of %s", word, strings.Join(statusWords(), ", "))
		}
	}
	if f.dir == "" {
		return nil
	}
	abs, err := filepath.Abs(f.dir) // it may be gone: its runs are still there
	f.dir, f.in = abs, journal.InDir(abs)
	return err
}

func (f runFilter) String() string {
	return joined([]string{prefixed("status ", strings.Join(f.status, ", ")), prefixed("recipe ", f.recipe), prefixed("directory ", f.dir)}, "; ")
}

func (f runFilter) narrows() bool { return len(f.status) > 0 || f.recipe != "" || f.dir != "" }

// fits tells whether a run is listed, by what does not change.
func (f runFilter) fits(sum journal.Summary) bool {
	return (f.recipe == "" || f.recipe == sum.Name) && (f.in == nil || f.in(sum.Dir))
}

// stands tells whether a run is listed, by how it stands.
func (f runFilter) stands(l runLine) bool {
	return len(f.status) == 0 || slices.Contains(f.status, string(l.State)) ||
		l.State == story.StateEnded && slices.Contains(f.status, strings.ToLower(string(l.Status)))
}

// dayCost is what an agent cost on one day.
type dayCost struct {
	Day    string `json:"day"`
	Agent  string `json:"agent"`
	Runs   int    `json:"runs"`
	Starts int    `json:"starts"`
	Tokens int64  `json:"tokens"`
	Micros int64  `json:"micro_usd"`
	Untold int    `json:"runs_of_unknown_cost,omitempty"` // an agent of theirs did not tell what it cost
}

// unknownCost is said where agents were started, and none told what it cost.
const unknownCost = "unknown"

// cost is the sum in money, and how many runs it lacks something of.
func (c dayCost) cost() string {
	switch {
	case c.Untold == 0:
		return readable.Dollars(c.Micros)
	case c.Micros == 0:
		return unknownCost
	case c.Untold == 1:
		return readable.Dollars(c.Micros) + ", unknown of 1 run"
	}
	return fmt.Sprintf("%s, unknown of %d runs", readable.Dollars(c.Micros), c.Untold)
}

// costs adds up what agents used, from the journals: the day is that on which an attempt
// ended.
func (a *app) costs(f runFilter, asJSON bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	sums, err := a.listed(st)
	if err != nil {
		return err
	}
	var list []dayCost
	var all dayCost
	for sum := range a.lines(st, sums, f) {
		if sum.Status == journal.Unreadable {
			continue // listed has said so
		}
		s, err := glance(st, sum.ID)
		if err != nil {
			a.say("warning: run %s is not counted: %v", sum.ID, err)
			continue
		}
		list = addCosts(list, s)
		if slices.ContainsFunc(s.Attempts, costs) {
			all.Runs++
		}
		if slices.ContainsFunc(s.Attempts, untold) {
			all.Untold++
		}
	}
	slices.SortStableFunc(list, func(x, y dayCost) int {
		return cmp.Or(cmp.Compare(y.Day, x.Day), cmp.Compare(x.Agent, y.Agent))
	})
	if asJSON {
		for _, c := range list {
			a.object(c)
		}
		return nil
	}
	if len(list) == 0 {
		a.say("no agent was started in these runs")
		return nil
	}
	a.costTable(list, all)
	return nil
}

// costs tells whether an agent was started for an attempt.
func costs(at *story.Attempt) bool { return at.Agent != "" && at.Starts > 0 }

// untold tells whether an agent was started for an attempt, and did not tell what it cost.
func untold(at *story.Attempt) bool {
	r := at.Report()
	return costs(at) && (r == nil || r.Result.Usage.MicroUSD == 0 && !r.Unreached())
}

// addCosts adds the agents of one run.
func addCosts(list []dayCost, s *story.Story) []dayCost {
	counted, lacks := map[int]bool{}, map[int]bool{} // rows that have this run, and that lack something of it
	for _, at := range s.Attempts {
		if !costs(at) {
			continue
		}
		when := at.Since
		if at.Observation != nil {
			when = at.Observation.Ended
		}
		day, agent := when.Local().Format(time.DateOnly), story.AgentName(at.Agent)
		i := slices.IndexFunc(list, func(c dayCost) bool { return c.Day == day && c.Agent == agent })
		if i < 0 {
			i = len(list)
			list = append(list, dayCost{Day: day, Agent: agent})
		}
		c := &list[i]
		if !counted[i] {
			counted[i] = true
			c.Runs++
		}
		if untold(at) && !lacks[i] {
			lacks[i] = true
			c.Untold++
		}
		c.Starts += at.Starts
		if r := at.Report(); r != nil {
			c.Tokens += r.Result.Usage.Tokens()
			c.Micros += r.Result.Usage.MicroUSD
		}
	}
	return list
}

// costTable ends with the sum; a run that is in several rows counts once there.
func (a *app) costTable(list []dayCost, all dayCost) {
	rows := [][]string{{"DAY", "AGENT", "RUNS", "STARTS", "TOKENS", "COST"}}
	row := func(day string, c dayCost) {
		rows = append(rows, []string{
			day, readable.Clean(c.Agent), strconv.Itoa(c.Runs), strconv.Itoa(c.Starts), readable.Count(c.Tokens), c.cost(),
		})
	}
	for _, c := range list {
		row(c.Day, c)
		all.Starts, all.Tokens, all.Micros = all.Starts+c.Starts, all.Tokens+c.Tokens, all.Micros+c.Micros
	}
	row("all", all)
	a.table(rows, len(rows[0]))
}
