package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
)

// Recovery is what is set about recoveries from failures.
type Recovery struct {
	Policy     Setting[string]          // recovery.policy: belay or classic; "" = nobody said
	MaxRetries Setting[int]             // recovery.max_retries: of the classic policy
	Staff      Setting[[]string]        // recovery.staff: agents that may take over; by default all that are there
	MaxReplans Setting[int]             // limits.max_replans: recoveries in one run
	Roles      map[string]event.Profile // roles.NAME.*, by role as recipes name it: coder, custom:poet
	Tools      map[string]Place         // where roles.NAME.tools stands, by role
}

// Place is where a setting stands in a file.
type Place struct {
	File      string
	Line, Col int
	Text      []byte // of the whole file
}

func defaultRecovery() Recovery {
	return Recovery{
		Policy:     Setting[string]{"", OriginDefault},
		MaxRetries: Setting[int]{classic.DefaultMaxRetries, OriginDefault},
		Staff:      Setting[[]string]{nil, OriginDefault},
		MaxReplans: Setting[int]{belay.Limits{}.Replans(), OriginDefault},
		Roles:      map[string]event.Profile{},
		Tools:      map[string]Place{},
	}
}

// recoverySettings are the settings with fixed names.
func recoverySettings() []setting {
	return []setting{
		{"limits.max_replans", false, one(count, func(c *Config) *Setting[int] { return &c.Recovery.MaxReplans })},
		{"recovery.policy", false, one(policy, func(c *Config) *Setting[string] { return &c.Recovery.Policy })},
		{"recovery.max_retries", false, one(count, func(c *Config) *Setting[int] { return &c.Recovery.MaxRetries })},
		{"recovery.staff", true, func(c *Config, words []string, from Origin) error {
			c.Recovery.Staff = Setting[[]string]{words, from}
			return nil
		}},
	}
}

func policy(text string) (string, error) {
	if text != "belay" && text != "classic" {
		return "", fmt.Errorf("%q is none of belay and classic", text)
	}
	return text, nil
}

var roleKeys = []string{"agent", "model", "access", "tools", "persona"}

// ownRole reads a key of the form roles.NAME.KEY; ok tells whether it is one.
func ownRole(key string) (s setting, ok bool) {
	parts := strings.Split(key, ".")
	if len(parts) != 3 || parts[0] != "roles" || !slices.Contains(roleKeys, parts[2]) {
		return setting{}, false
	}
	role, err := roleOf(parts[1])
	if err != nil {
		return setting{}, false
	}
	field := parts[2]
	return setting{key: key, list: field == "tools", set: func(c *Config, words []string, _ Origin) error {
		p := c.Recovery.Roles[role]
		if err := setProfile(&p, field, words); err != nil {
			return err
		}
		c.Recovery.Roles[role] = p
		return nil
	}}, true
}

// keepTools notes where the tools of a role stand.
func (r *Recovery) keepTools(key string, at Place) {
	parts := strings.Split(key, ".")
	if len(parts) != 3 || parts[0] != "roles" || parts[2] != "tools" {
		return
	}
	if role, err := roleOf(parts[1]); err == nil {
		r.Tools[role] = at
	}
}

// roleOf is a role by its name in the settings: a word of the list, or a name
// of somebody's own, which recipes write as custom:NAME.
func roleOf(name string) (string, error) {
	if role, err := recovery.ParseRole(name); err == nil && !strings.Contains(name, ":") {
		return string(role), nil
	}
	if !recipe.RoleName().MatchString(name) {
		return "", fmt.Errorf("%q is not the name of a role", name)
	}
	return "custom:" + name, nil
}

func setProfile(p *event.Profile, field string, words []string) error {
	var err error
	switch field {
	case "agent":
		p.Agent, err = word(words[0])
	case "model":
		p.Model, err = word(words[0])
	case "access":
		if !slices.Contains([]string{"read", "edit", "full"}, words[0]) {
			return fmt.Errorf("%q is none of read, edit and full", words[0])
		}
		p.Access = words[0]
	case "tools":
		p.Tools = words
	case "persona":
		if !strings.Contains(words[0], ":") {
			return fmt.Errorf("%q is not a persona; write namespace:name", words[0])
		}
		p.Persona = words[0]
	}
	return err
}

// isRole tells whether a key is the group of one role: roles.NAME.
func isRole(key string) bool {
	name, ok := strings.CutPrefix(key, "roles.")
	if !ok {
		return false
	}
	_, err := roleOf(name)
	return err == nil
}
