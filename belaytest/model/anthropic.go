package model

import "encoding/json"

// anthropic speaks the Messages API.
type anthropic struct{}

func (anthropic) read(_ string, body []byte) ask {
	var q struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &q) // what is not there is zero: the service never argues
	a := ask{model: q.Model, stream: q.Stream}
	for _, t := range q.Tools {
		a.tools = append(a.tools, t.Name)
	}
	for _, m := range q.Messages {
		if m.Role == "assistant" {
			a.answered = false
			continue
		}
		var blocks []struct{ Type string }
		_ = json.Unmarshal(m.Content, &blocks) // a plain string has no blocks
		for _, b := range blocks {
			a.answered = a.answered || b.Type == "tool_result"
		}
	}
	return a
}

func (anthropic) begin(a ask) []event {
	return []event{
		{"message_start", object{"type": "message_start", "message": object{
			"id": "msg_scripted", "type": "message", "role": "assistant", "model": a.model, "content": []any{},
			"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": inputTokens, "output_tokens": 1},
		}}},
	}
}

func (anthropic) open() []event {
	return []event{{"content_block_start", object{
		"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""},
	}}}
}

func (anthropic) say(words string) event {
	return event{"content_block_delta", object{
		"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": words},
	}}
}

func (anthropic) shut(string) []event {
	return []event{{"content_block_stop", object{"type": "content_block_stop", "index": 0}}}
}

func (d anthropic) ask(c *call) []event {
	return []event{
		{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": object{
			"type": "tool_use", "id": callID, "name": c.name, "input": object{},
		}}},
		{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": object{
			"type": "input_json_delta", "partial_json": text(c.args),
		}}},
		{"content_block_stop", object{"type": "content_block_stop", "index": 0}},
	}
}

func (d anthropic) end(_ ask, r reply) []event {
	return []event{
		{"message_delta", object{
			"type": "message_delta", "usage": object{"output_tokens": outputTokens},
			"delta": object{"stop_reason": d.reason(r), "stop_sequence": nil},
		}},
		{"message_stop", object{"type": "message_stop"}},
	}
}

func (d anthropic) whole(a ask, r reply) any {
	content := []any{}
	if r.call != nil {
		content = append(content, object{"type": "tool_use", "id": callID, "name": r.call.name, "input": r.call.args})
	} else if t := r.text(); t != "" {
		content = append(content, object{"type": "text", "text": t})
	}
	return object{
		"id": "msg_scripted", "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": d.reason(r), "stop_sequence": nil,
		"usage": object{"input_tokens": inputTokens, "output_tokens": outputTokens},
	}
}

func (anthropic) reason(r reply) string {
	if r.call != nil {
		return "tool_use"
	}
	switch r.stop {
	case stopLength:
		return "max_tokens"
	case stopRefusal:
		return "refusal"
	case stopEnd:
	}
	return "end_turn"
}

func (anthropic) fail(f fault) (int, any) {
	w := f.anthropic()
	return w.status, object{"type": "error", "error": object{"type": w.kind, "message": w.text}}
}
