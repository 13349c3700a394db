package config

import (
	"strings"
	"time"

	"github.com/belay-run/belay/tracker"
)

// Issues is where issues go, and how long a tracker is waited for.
type Issues struct {
	Repo    Setting[string]        // issues.repo: OWNER/NAME; "" = they stay on this machine
	Timeout Setting[time.Duration] // issues.timeout: one call of the tracker's program
	Settle  Setting[time.Duration] // issues.settle: until a lost answer counts as never given
}

func defaultIssues() Issues {
	p := tracker.DefaultPolicy()
	return Issues{
		Repo:    Setting[string]{"", OriginDefault},
		Timeout: Setting[time.Duration]{p.Within, OriginDefault},
		Settle:  Setting[time.Duration]{p.Settle, OriginDefault},
	}
}

func issueSettings() []setting {
	return []setting{
		{"issues.repo", false, one(repo, func(c *Config) *Setting[string] { return &c.Issues.Repo })},
		{"issues.timeout", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Issues.Timeout })},
		{"issues.settle", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Issues.Settle })},
	}
}

func repo(text string) (string, error) {
	text = strings.TrimSpace(text)
	return text, tracker.CheckRepo(text)
}
