// Package config reads the settings of this machine's user: defaults, then a
// file, then the environment, then flags, each value with the place it came
// from. It refuses what it does not know, names the line, and never guesses
// what a malformed value was meant to be.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/task"
	"github.com/belay-run/belay/worktree"
)

// Config is every setting.
type Config struct {
	LogBytes     Setting[int64]         // logs.max_bytes: kept of one attempt's output
	RecipeBytes  Setting[int64]         // limits.recipe_bytes: of one recipe file
	OutputBytes  Setting[int64]         // limits.output_bytes: of stdout taken as a value
	MaxParallel  Setting[int]           // limits.max_parallel: processes of a run at the same time
	KeeperGrace  Setting[time.Duration] // keeper.grace: for a step without a deadline and without a driver
	KillGrace    Setting[time.Duration] // kill.grace: between TERM and KILL
	Include      Setting[[]string]      // isolate.include: ignored files that a worktree shall have, too
	Secrets      Setting[[]string]      // secrets: names of variables whose values are hidden
	Tests        Setting[string]        // tests: the test command for steps that expect tests and name none
	PlanReview   Setting[string]        // plan_review: always, never, or several: with more than one workstream
	ReviewRounds Setting[int]           // plan_review_rounds: how often a plan is reviewed at most
	Issues       Issues
	Watch        Watch
	Notify       Notify
	Agents       Agents
	Recovery     Recovery
	Engine       Setting[string] // engine: who drives runs, local or temporal

	far map[string]string // temporal.*, by their variables
}

// Setting is a value and where it came from.
type Setting[T any] struct {
	Value  T
	Origin Origin
}

// Origin says, for people, where a value came from.
type Origin string

// OriginDefault is the origin of what nobody set.
const OriginDefault Origin = "default"

// Defaults is the configuration where nobody set anything.
func Defaults() *Config {
	return &Config{
		LogBytes:     Setting[int64]{256 << 20, OriginDefault},
		RecipeBytes:  Setting[int64]{recipe.MaxBytes, OriginDefault},
		OutputBytes:  Setting[int64]{proc.DefaultMaxOut, OriginDefault},
		MaxParallel:  Setting[int]{belay.DefaultLimits().MaxParallel, OriginDefault},
		KeeperGrace:  Setting[time.Duration]{proc.DefaultKeeperGrace, OriginDefault},
		KillGrace:    Setting[time.Duration]{proc.DefaultGrace, OriginDefault},
		Include:      Setting[[]string]{worktree.DefaultInclude(), OriginDefault},
		Secrets:      Setting[[]string]{nil, OriginDefault},
		Tests:        Setting[string]{"", OriginDefault},
		PlanReview:   Setting[string]{ReviewSeveral, OriginDefault},
		ReviewRounds: Setting[int]{task.DefaultReviewRounds, OriginDefault},
		Issues:       defaultIssues(),
		Watch:        defaultWatch(),
		Notify:       defaultNotify(),
		Agents: Agents{
			Containment: Setting[int]{1, OriginDefault},
			MaxAgents:   Setting[int]{belay.Budget{}.Starts(), OriginDefault},
			Own:         map[string]agent.Agent{},
		},
		Recovery: defaultRecovery(),
		Engine:   Setting[string]{EngineLocal, OriginDefault},
	}
}

// Invalid is a setting that cannot be used, and where it stands.
type Invalid struct {
	Where string // "FILE:LINE" or the name of a variable
	Msg   string
}

func (e *Invalid) Error() string { return e.Where + ": " + e.Msg }

// Load reads the file that the environment names and the environment itself.
// A missing file is no error, unless BELAY_CONFIG asks for it.
func Load(environ []string) (*Config, error) {
	c := Defaults()
	env := lookup(environ)
	path, asked := file(env)
	if path != "" {
		src, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !asked:
		case err != nil:
			return nil, exit.New(exit.Invalid, "read config", err, "check BELAY_CONFIG and the permissions of the file")
		default:
			if err := c.read(path, src); err != nil {
				return nil, invalid(err)
			}
		}
	}
	if err := c.environment(env); err != nil {
		return nil, invalid(err)
	}
	return c, nil
}

func invalid(err error) error {
	return exit.New(exit.Invalid, "read config", err, "known settings: "+strings.Join(keys(), ", "))
}

// File is the file of the settings, which need not be there; "" = the environment names no place.
func File(environ []string) string {
	path, _ := file(lookup(environ))
	return path
}

// file is where the settings lie, and whether somebody asked for that place.
func file(env map[string]string) (path string, asked bool) {
	if p := env["BELAY_CONFIG"]; p != "" {
		return p, true
	}
	dir := env["XDG_CONFIG_HOME"]
	if dir == "" {
		if env["HOME"] == "" {
			return "", false
		}
		dir = filepath.Join(env["HOME"], ".config")
	}
	return filepath.Join(dir, "belay", "config.yaml"), false
}

func lookup(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	return env
}

// environment takes the variables over the file: BELAY_ and the key in capitals.
func (c *Config) environment(env map[string]string) error {
	for _, k := range settings() {
		name := variable(k.key)
		text, ok := env[name]
		if !ok || text == "" || isFar(k.key) {
			continue
		}
		words := []string{text}
		if k.list {
			words = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		}
		if err := k.set(c, words, Origin("environment "+name)); err != nil {
			return &Invalid{Where: name, Msg: err.Error()}
		}
	}
	return nil
}

func variable(key string) string {
	for _, k := range farKeys() {
		if k.key == key {
			return k.variable
		}
	}
	return "BELAY_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// SetMaxParallel is the flag over all others.
func (c *Config) SetMaxParallel(n int, flag string) error {
	if n < 1 {
		return fmt.Errorf("%s %d: must be at least 1", flag, n)
	}
	c.MaxParallel = Setting[int]{n, Origin("flag " + flag)}
	return nil
}
