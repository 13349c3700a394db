package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/pattern"
)

// Agents is what is set about agents and what they may use.
type Agents struct {
	Default     Setting[string]        // agent: who does the steps that name nobody
	First       Setting[time.Duration] // agents.first_event: to the first sign of life
	Silence     Setting[time.Duration] // agents.silence: without any sign of life
	Tool        Setting[time.Duration] // agents.tool: the same while a tool runs
	Patience    Setting[time.Duration] // agents.patience: how long a step waits for a service that is down
	Containment Setting[int]           // agents.containment: 1 = subreaper, 2 = PID namespace
	MaxAgents   Setting[int]           // budget.max_agents
	MaxTokens   Setting[int64]         // budget.max_tokens; 0 = no limit
	MaxMicroUSD Setting[int64]         // budget.max_usd, in millionths; 0 = no limit
	MaxWall     Setting[time.Duration] // budget.max_wall; 0 = no limit
	Own         map[string]agent.Agent // agents.NAME.*
}

// agentSettings are the settings with fixed names.
func agentSettings() []setting {
	return []setting{
		{"agent", false, one(word, func(c *Config) *Setting[string] { return &c.Agents.Default })},
		{"agents.first_event", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Agents.First })},
		{"agents.silence", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Agents.Silence })},
		{"agents.tool", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Agents.Tool })},
		{"agents.patience", false, one(patience, func(c *Config) *Setting[time.Duration] { return &c.Agents.Patience })},
		{"agents.containment", false, one(level, func(c *Config) *Setting[int] { return &c.Agents.Containment })},
		{"budget.max_agents", false, one(count, func(c *Config) *Setting[int] { return &c.Agents.MaxAgents })},
		{"budget.max_tokens", false, one(size, func(c *Config) *Setting[int64] { return &c.Agents.MaxTokens })},
		{"budget.max_usd", false, one(Dollars, func(c *Config) *Setting[int64] { return &c.Agents.MaxMicroUSD })},
		{"budget.max_wall", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Agents.MaxWall })},
	}
}

// level reads how agents are held. A number that means nothing is not taken for
// the nearest that does.
func level(text string) (int, error) {
	switch strings.TrimSpace(text) {
	case "1":
		return 1, nil
	case "2":
		return 2, nil
	}
	return 0, fmt.Errorf("%q is no level of containment; write 1 (below a subreaper) or 2 (in a PID namespace)", text)
}

// patience reads how long a step waits for a service that is down. Without any it
// is below zero: nothing set is the usual time.
func patience(text string) (time.Duration, error) {
	if strings.TrimSpace(text) == "off" {
		return -1, nil
	}
	return duration(text)
}

func word(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("needs a name")
	}
	return text, nil
}

// Dollars reads "2.50" as millionths.
func Dollars(text string) (int64, error) {
	f, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(text), "$"), 64)
	if err != nil || !(f > 0 && f < 1e9) {
		return 0, fmt.Errorf("%q is not an amount of dollars; write 2.50", text)
	}
	return int64(f * 1e6), nil
}

// AgentName is the form of an agent's name.
var AgentName = pattern.Lazy(`^[a-z][a-z0-9_-]{0,31}$`)

var agentKeys = []string{"kind", "program", "args", "model", "access", "script"}

// ownAgent reads a key of the form agents.NAME.KEY; ok tells whether it is one.
func ownAgent(key string) (s setting, ok bool) {
	parts := strings.Split(key, ".")
	if len(parts) != 3 || parts[0] != "agents" || !slices.Contains(agentKeys, parts[2]) || !AgentName().MatchString(parts[1]) {
		return setting{}, false
	}
	name, field := parts[1], parts[2]
	list := field == "program" || field == "args"
	return setting{key: key, list: list, set: func(c *Config, words []string, _ Origin) error {
		a := c.Agents.Own[name]
		a.Name = name
		switch field {
		case "kind":
			a.Kind = agent.Kind(words[0])
		case "program":
			a.Program = words
		case "args":
			a.Args = words
		case "model":
			a.Model = words[0]
		case "access":
			if !slices.Contains([]string{"read", "edit", "full"}, words[0]) {
				return fmt.Errorf("%q is none of read, edit and full", words[0])
			}
			a.Access = agent.Access(words[0])
		case "script":
			a.Script = words[0]
		}
		c.Agents.Own[name] = a
		return nil
	}}, true
}

// isAgent tells whether a key is the group of one agent: agents.NAME.
func isAgent(key string) bool {
	name, ok := strings.CutPrefix(key, "agents.")
	return ok && AgentName().MatchString(name) && !slices.Contains(keys(), key)
}
