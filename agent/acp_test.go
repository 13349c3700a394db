package agent

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// What an agent of the protocol answers with is told by its code, by the status
// of the service behind it, or by the words of that service.
// promise: H3
func TestACPError(t *testing.T) {
	t.Parallel()
	type data = map[string]any
	for name, c := range map[string]struct {
		code    int
		message string
		data    any
		class   belay.Class
		status  int
		cause   string
	}{
		"login":            {-32000, "Authentication required", nil, belay.ClassAuth, 0, "Authentication required"},
		"session is gone":  {-32002, "Resource not found: s1", nil, belay.ClassInvalidInput, 0, "Resource not found: s1"},
		"cancelled":        {-32800, "Request cancelled", nil, belay.ClassCancelled, 0, "Request cancelled"},
		"anything":         {-32603, "Internal error", data{"error": "boom"}, belay.ClassUnknown, 0, "Internal error: boom"},
		"it is gone":       {-32603, "Internal error", data{"error": "peer disconnected before response"}, belay.ClassUnknown, 0, "the agent ended before it answered"},
		"said twice":       {-32603, "Internal error: boom", data{"details": "boom"}, belay.ClassUnknown, 0, "Internal error: boom"},
		"no data":          {-32603, "Internal error", 7, belay.ClassUnknown, 0, "Internal error"},
		"status as code":   {429, "Rate limit exceeded. Try again later.", nil, belay.ClassRateLimit, 429, "Rate limit exceeded. Try again later."},
		"server":           {500, "An internal error has occurred.", nil, belay.ClassTransient, 500, "An internal error has occurred."},
		"words before 400": {400, "The input token count (9) exceeds the maximum", nil, belay.ClassTokenLimit, 400, "The input token count (9) exceeds the maximum"},
		"words in data":    {-32603, "Internal error", "prompt is too long: 2 > 1", belay.ClassTokenLimit, 0, "Internal error: prompt is too long: 2 > 1"},
		"status in data":   {-32603, "Internal error", data{"statusCode": 529.0}, belay.ClassTransient, 529, "Internal error"},
		"body in message":  {-32603, `{"error":{"code":401,"message":"API key not valid."}}`, nil, belay.ClassAuth, 401, `{"error":{"code":401,"message":"API key not valid."}}`},
		"body in data":     {-32603, "Internal error", data{"error": data{"type": "overloaded_error", "message": "Overloaded"}}, belay.ClassTransient, 0, "Internal error: Overloaded"},
		"no such model":    {500, "models/x is not found for API version v1beta", nil, belay.ClassInvalidInput, 500, "models/x is not found for API version v1beta"},
		"used up":          {429, "You exceeded your current quota, please", nil, belay.ClassQuota, 429, "You exceeded your current quota, please"},
		"a cut stream":     {500, "terminated", nil, belay.ClassTransient, 500, "terminated"},
	} {
		r := ACPError(c.code, c.message, c.data, time.Time{})
		if r.Class != c.class || r.Status != c.status || r.Cause != c.cause || !r.Error || r.Stop != belay.StopError {
			t.Errorf("%s: class %q, status %d, cause %q, want %q, %d, %q", name, r.Class, r.Status, r.Cause, c.class, c.status, c.cause)
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if r := ACPError(429, "Try again in 7 seconds", nil, at); r.RetryAfter != 7*time.Second {
		t.Errorf("retry after %s", r.RetryAfter)
	}
	if r := ACPError(429, "Limit. Resets at 2026-01-02T04:00:00Z", nil, at); r.Reset.Hour() != 4 {
		t.Errorf("reset at %s", r.Reset)
	}
}
