package agent

import (
	"testing"

	"github.com/belay-run/belay"
)

// OpenCode retries without a record; its log is where a call that failed is
// told, with the session that nothing else names yet.
//
// promise: F2
func TestTheLogOfOpenCodeTellsOfRetries(t *testing.T) {
	t.Parallel()
	const (
		fell  = `timestamp=2026-11-15T14:15:10.801Z level=ERROR run=223f message="stream error" providerID=mock modelID=m session.id=ses_1 small=false agent=build mode=primary error.error="AI_APICallError: Rate limit reached for \"requests\""`
		small = `timestamp=2026-11-15T14:15:10.801Z level=ERROR run=223f message="stream error" providerID=mock modelID=m session.id=ses_2 small=true agent=title mode=primary error.error="AI_APICallError: no"`
		other = `timestamp=2026-11-15T14:15:10.801Z level=ERROR run=223f message=process session.id=ses_1 error="Rate limit reached"`
		text  = `{"type":"text","sessionID":"ses_1","part":{"text":"on we go"}}`
		last  = `{"type":"error","sessionID":"ses_1","error":{"name":"APIError","data":{"message":"Rate limit reached for requests","statusCode":429,"isRetryable":true}}}`
	)
	for name, c := range map[string]struct {
		lines   []string // of stderr, but for those that begin with a brace
		retries int
		class   belay.Class
		session string
	}{
		"while it waits":      {[]string{fell}, 1, belay.ClassRateLimit, "ses_1"},
		"it went on":          {[]string{fell, fell, text}, 2, belay.ClassNone, "ses_1"},
		"it gave up":          {[]string{fell, fell, last, other}, 1, belay.ClassRateLimit, "ses_1"},
		"told after its end":  {[]string{fell, last, fell}, 0, belay.ClassRateLimit, "ses_1"},
		"a side call":         {[]string{small}, 0, belay.ClassUnknown, ""},
		"another line of log": {[]string{other}, 0, belay.ClassUnknown, ""},
	} {
		a, _ := New(OpenCode)
		r := a.Reader()
		var signs []Sign
		for _, line := range c.lines {
			if line[0] == '{' {
				r.Line([]byte(line))
				continue
			}
			signs = append(signs, r.Stderr([]byte(line))...)
		}
		code := 1
		if c.class == belay.ClassNone {
			code = 0
		}
		got := r.End(Exit{Code: code, At: noon})
		if got.Retries != c.retries || got.Class != c.class || got.Session != c.session {
			t.Errorf("%s: %d retries, class %q, session %q", name, got.Retries, got.Class, got.Session)
		}
		if c.lines[0] == fell && (len(signs) == 0 || signs[0].Kind != SignRetry || signs[0].Session != "ses_1" || signs[0].Text != `Rate limit reached for "requests"`) {
			t.Errorf("%s: %+v", name, signs)
		}
	}
}
