package agent

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// fault is one failure as a CLI tells it.
type fault struct {
	class  belay.Class
	code   string // the provider's or the CLI's own name for it
	status int    // HTTP
	after  time.Duration
	reset  time.Time
	text   string
}

// rule gives a class to a text that begins in a known way. Rules are the last
// resort; each belongs to one CLI or to one provider's API.
type rule struct {
	begins string
	class  belay.Class
}

// judged is the fault with its class. Names come before the text of the
// provider, which comes before the status: a 400 can be a prompt that is too
// long, and a 429 an account that is empty. own are the CLI's rules; peeled is
// the text without the CLI's own words around it.
func (f fault) judged(peeled string, own []rule) fault {
	if f.class != belay.ClassNone {
		return f
	}
	peeled = straight(peeled)
	for _, c := range []belay.Class{
		codeClass(f.code),
		match(peeled, providerRules()),
		match(peeled, own),
		statusClass(f.status),
		weakCodeClass(f.code),
	} {
		if c != belay.ClassNone {
			f.class = c
			return f
		}
	}
	f.class = belay.ClassUnknown
	return f
}

func match(s string, rules []rule) belay.Class {
	for _, r := range rules {
		if strings.HasPrefix(s, r.begins) {
			return r.class
		}
	}
	return belay.ClassNone
}

// straight makes the typographic apostrophe plain, so that one rule fits both.
func straight(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\u2019", "'")
}

// codeClass knows names that say exactly what is wrong.
func codeClass(code string) belay.Class {
	switch strings.ToLower(code) {
	case "authentication_error", "authentication_failed", "authentication", "invalid_api_key", "permission_error",
		"unauthenticated", "permission_denied", "api_key_invalid", "providerautherror", "oauth_org_not_allowed":
		return belay.ClassAuth
	case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "enforced_spend_limit_reached",
		"usage_limit_reached", "quota", "quota_exceeded":
		return belay.ClassQuota
	case "context_length_exceeded", "contextoverflowerror", "request_too_large", "prompt_too_long", "context_limit",
		"max_output_tokens", "messageoutputlengtherror":
		return belay.ClassTokenLimit
	case "content_filter", "content_policy_violation", "contentfiltererror", "refusal":
		return belay.ClassRefusal
	case "overloaded_error", "overloaded", "server_error", "api_error", "internal", "unavailable", "connection_failed", "transport":
		return belay.ClassTransient
	case "deadline_exceeded", "timeout_error":
		return belay.ClassTimeout
	case "model_not_found", "not_found_error", "not_found":
		return belay.ClassInvalidInput
	case "messageabortederror":
		return belay.ClassCancelled
	}
	return belay.ClassNone
}

// weakCodeClass knows names that are also given to other things: too many
// calls to an account that is empty, a bad request to a prompt that is too long.
func weakCodeClass(code string) belay.Class {
	switch strings.ToLower(code) {
	case "rate_limit", "rate_limit_error", "rate_limit_exceeded", "resource_exhausted":
		return belay.ClassRateLimit
	case "invalid_request", "invalid_request_error", "invalid_argument":
		return belay.ClassInvalidInput
	}
	return belay.ClassNone
}

func statusClass(status int) belay.Class {
	switch {
	case status == 401 || status == 403:
		return belay.ClassAuth
	case status == 402:
		return belay.ClassQuota
	case status == 408:
		return belay.ClassTimeout
	case status == 413:
		return belay.ClassTokenLimit
	case status == 429:
		return belay.ClassRateLimit
	case status == 409 || status >= 500 && status <= 599:
		return belay.ClassTransient
	case status >= 400 && status <= 499:
		return belay.ClassInvalidInput
	}
	return belay.ClassNone
}

// providerRules are the first words of errors of the APIs behind the CLIs,
// which most CLIs hand on.
func providerRules() []rule {
	return []rule{
		{"This model's maximum context length is ", belay.ClassTokenLimit},
		{"Your input exceeds the context window", belay.ClassTokenLimit},
		{"prompt is too long", belay.ClassTokenLimit},
		{"input length and `max_tokens` exceed context limit", belay.ClassTokenLimit},
		{"The input token count ", belay.ClassTokenLimit},
		{"You exceeded your current quota", belay.ClassQuota},
		{"Your credit balance is too low", belay.ClassQuota},
		{"You have exhausted your daily quota", belay.ClassQuota},
		{"API key not valid", belay.ClassAuth},
	}
}

// providerFault reads the error of an API out of its JSON body.
func providerFault(body record) fault {
	e := body.at("error")
	if len(e) == 0 {
		e = body
	}
	f := fault{text: e.str("message"), status: e.status("code")}
	for _, d := range e.list("details") {
		if r := d.str("reason"); codeClass(r) != belay.ClassNone {
			f.code = r
			return f
		}
	}
	for _, name := range []string{"code", "type", "status"} {
		if c := e.str(name); codeClass(c) != belay.ClassNone || weakCodeClass(c) != belay.ClassNone {
			f.code = c
			return f
		}
	}
	return f
}

// leadingStatus takes "429 rate limited" apart.
func leadingStatus(s string) (int, string) {
	if len(s) < 3 || len(s) > 3 && s[3] != ' ' {
		return 0, s
	}
	n, err := strconv.Atoi(s[:3])
	if err != nil || n < 400 || n > 599 {
		return 0, s
	}
	return n, strings.TrimSpace(s[3:])
}

// group is the first group of a match, "" without one.
func group(re *regexp.Regexp, s string) string {
	if m := re.FindStringSubmatch(s); len(m) > 1 {
		return m[1]
	}
	return ""
}
