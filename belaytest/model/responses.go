package model

import (
	"encoding/json"
	"strings"
)

// responses speaks OpenAI's Responses API.
type responses struct{}

func (responses) read(_ string, body []byte) ask {
	var q struct {
		Model  string
		Stream bool
		Tools  []struct{ Name, Type string }
		Input  json.RawMessage
	}
	_ = json.Unmarshal(body, &q) // what is not there is zero: the service never argues
	a := ask{model: q.Model, stream: q.Stream}
	for _, t := range q.Tools {
		if t.Name == "" {
			t.Name = t.Type
		}
		a.tools = append(a.tools, t.Name)
	}
	var items []struct{ Type, Role string }
	_ = json.Unmarshal(q.Input, &items) // a plain string has no items
	for _, it := range items {
		switch {
		case strings.HasSuffix(it.Type, "_call_output"):
			a.answered = true
		case it.Role == "assistant" || it.Role == "user":
			a.answered = false
		}
	}
	return a
}

func (responses) head(a ask, status string) object {
	return object{"id": "resp_scripted", "object": "response", "model": a.model, "status": status, "output": []any{}}
}

func (d responses) begin(a ask) []event {
	return []event{{"response.created", object{"type": "response.created", "response": d.head(a, "in_progress")}}}
}

func (d responses) open() []event {
	return []event{{"response.output_item.added", object{
		"type": "response.output_item.added", "output_index": 0, "item": d.message("", "in_progress"),
	}}}
}

func (responses) say(words string) event {
	return event{"response.output_text.delta", object{
		"type": "response.output_text.delta", "item_id": itemID, "output_index": 0, "content_index": 0, "delta": words,
	}}
}

func (d responses) shut(said string) []event {
	return []event{{"response.output_item.done", object{
		"type": "response.output_item.done", "output_index": 0, "item": d.message(said, "completed"),
	}}}
}

func (d responses) ask(c *call) []event {
	return []event{{"response.output_item.done", object{
		"type": "response.output_item.done", "output_index": 0, "item": d.call(c),
	}}}
}

func (d responses) end(a ask, r reply) []event {
	name := "response.completed"
	if r.stop == stopLength {
		name = "response.incomplete"
	}
	return []event{{name, object{"type": name, "response": d.whole(a, r)}}}
}

func (d responses) whole(a ask, r reply) any {
	out := d.head(a, "completed")
	if r.stop == stopLength {
		out["status"] = "incomplete"
		out["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	out["usage"] = object{
		"input_tokens": inputTokens, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": outputTokens, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": inputTokens + outputTokens,
	}
	switch {
	case r.call != nil:
		out["output"] = []any{d.call(r.call)}
	case r.stop == stopRefusal:
		out["output"] = []any{object{"type": "message", "id": itemID, "role": "assistant", "status": "completed", "content": []any{
			object{"type": "refusal", "refusal": "I can't help with that."},
		}}}
	case r.text() != "":
		out["output"] = []any{d.message(r.text(), "completed")}
	}
	return out
}

func (responses) message(said, status string) object {
	content := []any{}
	if said != "" {
		content = append(content, object{"type": "output_text", "text": said, "annotations": []any{}})
	}
	return object{"type": "message", "id": itemID, "role": "assistant", "status": status, "content": content}
}

func (responses) call(c *call) object {
	if c.custom != "" {
		return object{"type": "custom_tool_call", "id": itemID, "call_id": callID, "name": c.name, "input": c.custom, "status": "completed"}
	}
	return object{"type": "function_call", "id": itemID, "call_id": callID, "name": c.name, "arguments": text(c.args), "status": "completed"}
}

func (responses) fail(f fault) (int, any) { return openaiFail(f) }

func openaiFail(f fault) (int, any) {
	w := f.openai()
	var code any
	if w.code != "" {
		code = w.code
	}
	return w.status, object{"error": object{"message": w.text, "type": w.kind, "code": code, "param": nil}}
}
