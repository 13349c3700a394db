package agent

import (
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Codes of errors of the Agent Client Protocol that say what is wrong.
const (
	acpAuth      = -32000
	acpNotFound  = -32002
	acpNoMethod  = -32601
	acpBadParams = -32602
	acpCancelled = -32800
)

// ACPError is what an error that an agent of the Agent Client Protocol answers
// with says: a code of the protocol, or the HTTP status of the model behind it;
// a sentence; and data in any form. Only what is known of the error is set; the
// cause is not cut yet.
func ACPError(code int, message string, data any, at time.Time) belay.AgentResult {
	detail := acpDetail(data)
	if strings.HasPrefix(detail.text, "peer disconnected") { // the library's words for it
		message, detail.text = "the agent ended before it answered", ""
	}
	f := fault{text: joined(message, detail.text), code: detail.code, status: detail.status}
	if code >= 400 && code <= 599 {
		f.status = code
	}
	peeled := message
	if detail.text != "" {
		peeled = detail.text
	}
	if body := inner(peeled); body != nil {
		p := providerFault(body)
		peeled = p.text
		if p.status != 0 {
			f.status = p.status
		}
		if f.code == "" {
			f.code = p.code
		}
	}
	peeled = strings.TrimPrefix(peeled, "Internal error: ")
	f = f.judged(peeled, acpRules())
	if f.class == belay.ClassUnknown {
		f.class = acpClass(code)
	}
	r := belay.AgentResult{
		Error: true, Stop: belay.StopError, Class: f.class, Status: f.status, Cause: f.text, RetryAfter: waitIn(f.text),
	}
	if r.RetryAfter == 0 {
		r.Reset = resetIn(f.text, at)
	}
	return r
}

// acpRules are those of Gemini, which is known to speak the protocol, and which
// tells there that a model is missing with the status of another fault.
func acpRules() []rule {
	return append(geminiRules(), rule{"models/", belay.ClassInvalidInput})
}

func acpClass(code int) belay.Class {
	switch code {
	case acpAuth:
		return belay.ClassAuth
	case acpNotFound, acpNoMethod, acpBadParams: // a session that is gone is one of these
		return belay.ClassInvalidInput
	case acpCancelled:
		return belay.ClassCancelled
	}
	return belay.ClassUnknown
}

// acpDetail reads the data of an error: a text, or an object with one under a
// name that agents use.
func acpDetail(data any) fault {
	switch d := data.(type) {
	case string:
		return fault{text: d}
	case map[string]any:
		r := record(d)
		f := providerFault(r)
		for _, name := range []string{"details", "detail", "error", "reason"} {
			if f.text == "" {
				f.text = r.str(name)
			}
		}
		for _, name := range []string{"status", "statusCode", "status_code", "code"} {
			if f.status == 0 {
				f.status = r.status(name)
			}
		}
		return f
	}
	return fault{}
}

// joined is a sentence with what more is told of it.
func joined(message, detail string) string {
	switch {
	case detail == "" || strings.Contains(message, detail):
		return message
	case message == "":
		return detail
	}
	return message + ": " + detail
}
