package cli

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
)

// whyCost is what a run used, as far as it was told.
type whyCost struct {
	WallMS  int64       `json:"wall_ms"`
	Starts  int         `json:"agent_starts"`
	Allowed int         `json:"agent_starts_allowed"`
	Usage   belay.Usage `json:"usage"`
	Tokens  int64       `json:"tokens"`
	Replans int         `json:"replans"` // ways out that count
	MaxPlan int         `json:"replans_allowed"`
	Agents  []agentCost `json:"agents"`

	Together *togetherCost `json:"together,omitempty"` // with the runs of its tree, when they used more
}

// togetherCost is what the runs used that belong together: a budget is theirs.
type togetherCost struct {
	Starts   int   `json:"agent_starts"`
	Allowed  int   `json:"agent_starts_allowed"`
	Tokens   int64 `json:"tokens"`
	MicroUSD int64 `json:"micro_usd"`
}

// together is that cost, nil when the run itself is all there is or the index
// does not tell.
func together(p journal.Purse, own int) *togetherCost {
	if p.Starts <= own {
		return nil
	}
	return &togetherCost{Starts: p.Starts, Allowed: p.MaxStarts, Tokens: p.Tokens, MicroUSD: p.Micros}
}

// agentCost is the part of one agent.
type agentCost struct {
	Agent  string      `json:"agent"`
	Starts int         `json:"starts"`
	Usage  belay.Usage `json:"usage"`
	Tokens int64       `json:"tokens"`
	WallMS int64       `json:"wall_ms"` // while it worked
}

// costs counts from the records of the run and of all runs below it.
func costs(s *story) whyCost {
	limits := s.tree.Started().Limits
	c := whyCost{Allowed: limits.Starts(), MaxPlan: limits.Replans(), Agents: []agentCost{}}
	names, starts := map[belay.Key]string{}, map[belay.Key]int{}
	by := map[string]*agentCost{}
	var order []string
	of := func(k belay.Key) *agentCost {
		name := names[k]
		if by[name] == nil {
			by[name] = &agentCost{Agent: name}
			order = append(order, name)
		}
		return by[name]
	}
	for _, r := range s.recs {
		if !below(r.Run, s.id) {
			continue
		}
		switch e := r.Event.(type) {
		case belay.AttemptStarted:
			if e.Agent != "" {
				names[e.Key], starts[e.Key] = tui.AgentName(e.Agent), 1
				of(e.Key)
			}
		case belay.AttemptFound:
			if e.How == belay.Unborn {
				delete(starts, e.Key)
			}
		case belay.AttemptEnded:
			if a := e.Observation.Agent; a != nil && names[e.Key] != "" {
				starts[e.Key] = a.Starts()
				of(e.Key).Usage = of(e.Key).Usage.Add(a.Result.Usage)
				of(e.Key).WallMS += max(0, e.Observation.Ended.Sub(e.Observation.Started).Milliseconds())
			}
		case belay.RecoveryChosen:
			if e.Plan.Counts {
				c.Replans++
			}
		}
	}
	for k, n := range starts {
		of(k).Starts += n
	}
	for _, name := range order {
		a := *by[name]
		a.Tokens = a.Usage.Tokens()
		c.Agents = append(c.Agents, a)
		c.Starts += a.Starts
		c.Usage = c.Usage.Add(a.Usage)
	}
	c.Tokens = c.Usage.Tokens()
	c.Together = together(s.purse, c.Starts)
	return c
}

func (a agentCost) wall() time.Duration { return time.Duration(a.WallMS) * time.Millisecond }
