package model

import (
	"encoding/json"
	"path"
	"strings"
)

// gemini speaks generateContent and streamGenerateContent.
type gemini struct{}

func (gemini) read(url string, body []byte) ask {
	name, method, _ := strings.Cut(path.Base(url), ":")
	var q struct {
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
		Contents []struct {
			Parts []struct {
				FunctionResponse json.RawMessage
			}
		}
	}
	_ = json.Unmarshal(body, &q) // what is not there is zero: the service never argues
	a := ask{model: name, stream: method == "streamGenerateContent"}
	for _, t := range q.Tools {
		for _, f := range t.FunctionDeclarations {
			a.tools = append(a.tools, f.Name)
		}
	}
	if n := len(q.Contents); n > 0 {
		for _, p := range q.Contents[n-1].Parts {
			a.answered = a.answered || len(p.FunctionResponse) > 0
		}
	}
	return a
}

func (gemini) chunk(parts []any, reason string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	return object{
		"candidates": []any{candidate}, "modelVersion": "mock-model", "responseId": "scripted",
		"usageMetadata": object{
			"promptTokenCount": inputTokens, "candidatesTokenCount": outputTokens, "totalTokenCount": inputTokens + outputTokens,
		},
	}
}

func (gemini) begin(ask) []event { return nil }

func (gemini) open() []event { return nil }

func (d gemini) say(words string) event {
	return event{"", d.chunk([]any{object{"text": words}}, "")}
}

func (gemini) shut(string) []event { return nil }

func (d gemini) ask(c *call) []event { return []event{{"", d.chunk([]any{d.call(c)}, "")}} }

func (gemini) call(c *call) object {
	return object{"functionCall": object{"id": callID, "name": c.name, "args": c.args}}
}

func (d gemini) end(_ ask, r reply) []event {
	return []event{{"", d.chunk([]any{}, d.reason(r))}}
}

func (d gemini) whole(_ ask, r reply) any {
	parts := []any{}
	if r.call != nil {
		parts = append(parts, d.call(r.call))
	} else if t := r.text(); t != "" {
		parts = append(parts, object{"text": t})
	}
	return d.chunk(parts, d.reason(r))
}

func (gemini) reason(r reply) string {
	switch r.stop {
	case stopLength:
		return "MAX_TOKENS"
	case stopRefusal:
		return "SAFETY"
	case stopEnd:
	}
	return "STOP"
}

func (gemini) fail(f fault) (int, any) {
	w := f.gemini()
	e := object{"code": w.status, "message": w.text, "status": w.kind}
	if after := f.retryAfter(); after != "" {
		e["details"] = []any{object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": after + "s"}}
	}
	if f == faultQuota {
		e["details"] = []any{object{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{
			object{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"},
		}}}
	}
	return w.status, object{"error": e}
}
