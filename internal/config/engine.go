package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The engines that may be named.
const (
	EngineLocal    = "local"
	EngineTemporal = "temporal"
)

func engineName(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text != EngineLocal && text != EngineTemporal {
		return "", fmt.Errorf("%q is neither %s nor %s", text, EngineLocal, EngineTemporal)
	}
	return text, nil
}

// farKey is a setting of the engine on Temporal. Its variable is one that the engine
// reads itself, and some are read by all programs of Temporal.
type farKey struct {
	key, variable string
	list          bool
	check         func(string) (string, error)
}

func farKeys() []farKey {
	return []farKey{
		{"temporal.address", "TEMPORAL_ADDRESS", false, word},
		{"temporal.namespace", "TEMPORAL_NAMESPACE", false, word},
		{"temporal.tls", "TEMPORAL_TLS", false, func(text string) (string, error) {
			yes, err := yesOrNo(text)
			return strconv.FormatBool(yes), err
		}},
		{"temporal.profile", "TEMPORAL_PROFILE", false, word},
		{"temporal.task_queue", "BELAY_TEMPORAL_TASK_QUEUE", false, word},
		{"temporal.host", "BELAY_TEMPORAL_HOST", false, word},
		{"temporal.runs_on", "BELAY_TEMPORAL_RUNS_ON", true, word},
		{"temporal.lost_after", "BELAY_TEMPORAL_LOST_AFTER", false, func(text string) (string, error) {
			if d, err := time.ParseDuration(strings.TrimSpace(text)); err != nil || d < 0 {
				return "", fmt.Errorf("%q is not a duration; write 90s or 5m, or 0 for no limit", text)
			}
			return strings.TrimSpace(text), nil
		}},
		{"temporal.clone_from", "BELAY_TEMPORAL_CLONE_FROM", false, word},
		{"temporal.snapshots_to", "BELAY_TEMPORAL_SNAPSHOTS", false, word},
		{"temporal.blobs", "BELAY_TEMPORAL_BLOBS", false, absolute},
	}
}

func engineSettings() []setting {
	all := []setting{{"engine", false, one(engineName, func(c *Config) *Setting[string] { return &c.Engine })}}
	for _, k := range farKeys() {
		all = append(all, setting{k.key, k.list, func(c *Config, words []string, _ Origin) error {
			var kept []string
			for _, w := range words {
				v, err := k.check(w)
				if err != nil {
					return err
				}
				kept = append(kept, v)
			}
			if c.far == nil {
				c.far = map[string]string{}
			}
			c.far[k.variable] = strings.Join(kept, ",")
			return nil
		}})
	}
	return all
}

// isFar tells whether a setting is of the engine on Temporal: its variable is not read here.
func isFar(key string) bool {
	return slices.ContainsFunc(farKeys(), func(k farKey) bool { return k.key == key })
}

// Far are the settings of the engine on Temporal as variables, those that the environment
// has not: it is over the file.
func (c *Config) Far(env func(string) string) (variables []string) {
	for _, k := range farKeys() {
		if v := c.far[k.variable]; v != "" && env(k.variable) == "" {
			variables = append(variables, k.variable+"="+v)
		}
	}
	return variables
}
