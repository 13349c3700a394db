package story

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Cost is what a run used, as far as it was told.
type Cost struct {
	WallMS  int64       `json:"wall_ms"`
	Starts  int         `json:"agent_starts"`
	Allowed int         `json:"agent_starts_allowed"`
	Usage   belay.Usage `json:"usage"`
	Tokens  int64       `json:"tokens"`
	Replans int         `json:"replans"` // recoveries that count
	MaxPlan int         `json:"replans_allowed"`
	Agents  []AgentCost `json:"agents"`

	Together *Together `json:"together,omitempty"` // with the runs of its tree, when they used more
}

// Together is what the runs used that belong together, which only the index of
// all runs knows: a budget is theirs.
type Together struct {
	Starts   int   `json:"agent_starts"`
	Allowed  int   `json:"agent_starts_allowed"`
	Tokens   int64 `json:"tokens"`
	MicroUSD int64 `json:"micro_usd"`
}

// AgentCost is the part of one agent.
type AgentCost struct {
	Agent  string      `json:"agent"`
	Starts int         `json:"starts"`
	Usage  belay.Usage `json:"usage"`
	Tokens int64       `json:"tokens"`
	WallMS int64       `json:"wall_ms"` // while it worked
}

// AgentName is an agent's name without what belongs to its call: the script of
// the scripted one.
func AgentName(name string) string {
	short, _, _ := strings.Cut(name, ":")
	return short
}

// Cost is what a run and all runs below it used.
func (s *Story) Cost(top belay.RunID, wall time.Duration, with Together) Cost {
	limits := s.Tree.Started().Limits
	c := Cost{WallMS: wall.Milliseconds(), Allowed: s.Tree.Allowed(), MaxPlan: limits.Replans(), Agents: []AgentCost{}}
	for _, a := range s.Attempts {
		if a.Agent != "" && a.Run.Under(top) {
			c.of(AgentName(a.Agent)).add(a)
		}
	}
	for _, d := range s.Decisions(top) {
		if d.Plan != nil && d.Plan.Counts {
			c.Replans++
		}
	}
	for _, a := range c.Agents {
		c.Starts += a.Starts
		c.Usage = c.Usage.Add(a.Usage)
	}
	c.Tokens = c.Usage.Tokens()
	if with.Starts > c.Starts {
		c.Together = &with
	}
	return c
}

// of is the part of an agent, in the order of their first starts.
func (c *Cost) of(name string) *AgentCost {
	i := slices.IndexFunc(c.Agents, func(a AgentCost) bool { return a.Agent == name })
	if i < 0 {
		i = len(c.Agents)
		c.Agents = append(c.Agents, AgentCost{Agent: name})
	}
	return &c.Agents[i]
}

func (c *AgentCost) add(a *Attempt) {
	c.Starts += a.Starts
	if r := a.Report(); r != nil {
		c.Usage = c.Usage.Add(r.Result.Usage)
		c.Tokens = c.Usage.Tokens()
		c.WallMS += max(0, a.Observation.Ended.Sub(a.Observation.Started).Milliseconds())
	}
}

// Wall is how long the agent worked.
func (c AgentCost) Wall() time.Duration { return time.Duration(c.WallMS) * time.Millisecond }

// RecoveriesWords are how many recoveries were taken, and how many may be.
func RecoveriesWords(taken, most int) string {
	if taken == 1 {
		return fmt.Sprintf("1 recovery (limit %d)", most)
	}
	return fmt.Sprintf("%d recoveries (limit %d)", taken, most)
}

// StartsWords are how many agents were started, of how many may be. More than that are
// started when a session that broke off is continued.
func StartsWords(starts, allowed int) string {
	if allowed > 0 && starts > allowed {
		word := "starts"
		if starts == 1 {
			word = "start"
		}
		return fmt.Sprintf("%d agent %s (the budget was %d)", starts, word, allowed)
	}
	if starts == 1 {
		return fmt.Sprintf("1 agent start (limit %d)", allowed)
	}
	return fmt.Sprintf("%d agent starts (limit %d)", starts, allowed)
}

// Sum is what the attempts of one step took and used together.
type Sum struct {
	Took   time.Duration // of its own attempts that ended
	Usage  belay.Usage   // of its agents, and of those that helped with it
	Agents []string      // who they were, the first first
	Own    int           // how many of its own attempts a process was started for
}

// Sum adds up the attempts of a step.
func (s *Story) Sum(at Place) Sum {
	var sum Sum
	for _, a := range s.Step(at).Attempts {
		if took, ok := a.Took(); ok && a.Role == belay.RoleMain {
			sum.Took += took
			sum.Own++
		}
		r := a.Report()
		if r == nil {
			continue
		}
		sum.Usage = sum.Usage.Add(r.Result.Usage)
		if name := AgentName(r.Name); !slices.Contains(sum.Agents, name) {
			sum.Agents = append(sum.Agents, name)
		}
	}
	return sum
}
