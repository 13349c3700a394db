package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/pattern"
)

// setting is one key: how its text becomes a value.
type setting struct {
	key  string
	list bool
	set  func(c *Config, words []string, from Origin) error
}

// settings is the whole list, in the order of the reference.
func settings() []setting {
	return slices.Concat([]setting{
		{"logs.max_bytes", false, one(size, func(c *Config) *Setting[int64] { return &c.LogBytes })},
		{"limits.recipe_bytes", false, one(size, func(c *Config) *Setting[int64] { return &c.RecipeBytes })},
		{"limits.output_bytes", false, one(size, func(c *Config) *Setting[int64] { return &c.OutputBytes })},
		{"limits.max_parallel", false, one(count, func(c *Config) *Setting[int] { return &c.MaxParallel })},
		{"keeper.grace", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.KeeperGrace })},
		{"kill.grace", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.KillGrace })},
		{"secrets", true, secrets},
		{"tests", false, one(word, func(c *Config) *Setting[string] { return &c.Tests })},
		{"isolate.include", true, include},
		{"plan_review", false, one(review, func(c *Config) *Setting[string] { return &c.PlanReview })},
		{"plan_review_rounds", false, one(reviews, func(c *Config) *Setting[int] { return &c.ReviewRounds })},
	}, issueSettings(), watchSettings(), notifySettings(), agentSettings(), recoverySettings(), engineSettings())
}

func keys() []string {
	var list []string
	for _, s := range settings() {
		list = append(list, s.key)
	}
	return list
}

func one[T any](parse func(string) (T, error), field func(*Config) *Setting[T]) func(*Config, []string, Origin) error {
	return func(c *Config, words []string, from Origin) error {
		v, err := parse(words[0])
		if err != nil {
			return err
		}
		*field(c) = Setting[T]{v, from}
		return nil
	}
}

var unitOf = map[string]int64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1000,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1000 * 1000,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1000 * 1000 * 1000,
}

// size reads "1048576" or "64MiB".
func size(text string) (int64, error) {
	text = strings.TrimSpace(text)
	digits := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(text)
	}
	unit, known := unitOf[strings.ToLower(strings.TrimSpace(text[digits:]))]
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	switch {
	case err != nil || !known:
		return 0, fmt.Errorf("%q is not a size; write 1048576 or 64MiB", text)
	case n < 1 || n > math.MaxInt64/unit:
		return 0, fmt.Errorf("%q is not a size that can be used", text)
	}
	return n * unit, nil
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a number from 1 up", text)
	}
	return n, nil
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration; write 5s, 10m or 6h", text)
	}
	return d, nil
}

var variableName = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// include is in the syntax of gitignore; an empty list copies nothing.
func include(c *Config, words []string, from Origin) error {
	c.Include = Setting[[]string]{words, from}
	return nil
}

func secrets(c *Config, words []string, from Origin) error {
	for _, w := range words {
		if !variableName().MatchString(w) {
			// Somebody may have put the secret itself here: it is not repeated.
			return errors.New("secrets is a list of names of variables, and one of these is not a name")
		}
	}
	c.Secrets = Setting[[]string]{words, from}
	return nil
}

// Variables are the names of the variables that are settings.
func Variables() []string {
	var list []string
	for _, k := range keys() {
		list = append(list, variable(k))
	}
	return list
}
