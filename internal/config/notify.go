package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/watch"
)

// Notify is who is told about runs, and of what.
type Notify struct {
	On         Setting[[]string]      // notify.on: of what
	Command    Setting[[]string]      // notify.command: a program and its arguments
	Desktop    Setting[bool]          // notify.desktop: a notice on the desktop
	Webhook    Setting[string]        // notify.webhook: its URL
	SecretFile Setting[string]        // notify.webhook_secret_file: what webhooks are signed with
	Slack      Setting[string]        // notify.slack: the URL of an incoming webhook
	Ntfy       Setting[string]        // notify.ntfy: server and topic
	Nudge      Setting[time.Duration] // notify.nudge: until the first reminder; below zero = none
	MaxNudges  Setting[int]           // notify.max_nudges: of one item
	Timeout    Setting[time.Duration] // notify.timeout: for one try
	Retry      Setting[time.Duration] // notify.retry: until the second try
	MaxTries   Setting[int]           // notify.max_tries
}

// DefaultNotifyTimeout is how long one try to tell somebody may take.
const DefaultNotifyTimeout = 10 * time.Second

func defaultNotify() Notify {
	var on []string
	for _, o := range watch.Occasions() {
		on = append(on, string(o))
	}
	return Notify{
		On:         Setting[[]string]{on, OriginDefault},
		Command:    Setting[[]string]{nil, OriginDefault},
		Desktop:    Setting[bool]{false, OriginDefault},
		Webhook:    Setting[string]{"", OriginDefault},
		SecretFile: Setting[string]{"", OriginDefault},
		Slack:      Setting[string]{"", OriginDefault},
		Ntfy:       Setting[string]{"", OriginDefault},
		Nudge:      Setting[time.Duration]{watch.DefaultNudge, OriginDefault},
		MaxNudges:  Setting[int]{watch.DefaultNudges, OriginDefault},
		Timeout:    Setting[time.Duration]{DefaultNotifyTimeout, OriginDefault},
		Retry:      Setting[time.Duration]{watch.DefaultRetry, OriginDefault},
		MaxTries:   Setting[int]{watch.DefaultTries, OriginDefault},
	}
}

func notifySettings() []setting {
	return []setting{
		{"notify.on", true, occasions},
		{"notify.command", true, notifyCommand},
		{"notify.desktop", false, one(yesOrNo, func(c *Config) *Setting[bool] { return &c.Notify.Desktop })},
		{"notify.webhook", false, one(address, func(c *Config) *Setting[string] { return &c.Notify.Webhook })},
		{"notify.webhook_secret_file", false, one(absolute, func(c *Config) *Setting[string] { return &c.Notify.SecretFile })},
		{"notify.slack", false, one(address, func(c *Config) *Setting[string] { return &c.Notify.Slack })},
		{"notify.ntfy", false, one(topic, func(c *Config) *Setting[string] { return &c.Notify.Ntfy })},
		{"notify.nudge", false, one(patience, func(c *Config) *Setting[time.Duration] { return &c.Notify.Nudge })},
		{"notify.max_nudges", false, one(fromNone, func(c *Config) *Setting[int] { return &c.Notify.MaxNudges })},
		{"notify.timeout", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Notify.Timeout })},
		{"notify.retry", false, one(duration, func(c *Config) *Setting[time.Duration] { return &c.Notify.Retry })},
		{"notify.max_tries", false, one(count, func(c *Config) *Setting[int] { return &c.Notify.MaxTries })},
	}
}

// occasions reads of what people are told; an empty list is nothing.
func occasions(c *Config, words []string, from Origin) error {
	for _, w := range words {
		if !slices.Contains(watch.Occasions(), watch.Occasion(w)) {
			return fmt.Errorf("%q is none of held, ended and stalled", w)
		}
	}
	c.Notify.On = Setting[[]string]{words, from}
	return nil
}

func notifyCommand(c *Config, words []string, from Origin) error {
	if len(words) > 0 && words[0] == "" {
		return errors.New("the name of the program is empty")
	}
	c.Notify.Command = Setting[[]string]{words, from}
	return nil
}

func yesOrNo(text string) (bool, error) {
	switch strings.TrimSpace(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

// address reads a URL. It may hold a secret, so it is not repeated.
func address(text string) (string, error) {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("needs an address that begins with https:// or http://")
	}
	return text, nil
}

// topic is an address with a topic behind it.
func topic(text string) (string, error) {
	text, err := address(text)
	if err != nil {
		return "", err
	}
	if u, err := url.Parse(text); err != nil || strings.Trim(u.Path, "/") == "" {
		return "", errors.New("needs a server and a topic, such as https://ntfy.sh/topic")
	}
	return text, nil
}

func absolute(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !filepath.IsAbs(text) {
		return "", errors.New("needs an absolute path")
	}
	return text, nil
}
