package model

import "encoding/json"

// chat speaks OpenAI's Chat Completions API.
type chat struct{}

func (chat) read(_ string, body []byte) ask {
	var q struct {
		Model  string
		Stream bool
		Tools  []struct {
			Function struct{ Name string }
		}
		Messages []struct{ Role string }
	}
	_ = json.Unmarshal(body, &q) // what is not there is zero: the service never argues
	a := ask{model: q.Model, stream: q.Stream}
	for _, t := range q.Tools {
		a.tools = append(a.tools, t.Function.Name)
	}
	for _, m := range q.Messages {
		a.answered = m.Role == "tool"
	}
	return a
}

func (chat) chunk(delta object, reason any) event {
	return event{"", object{
		"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": "mock-model",
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}},
	}}
}

func (d chat) begin(ask) []event {
	return []event{d.chunk(object{"role": "assistant", "content": ""}, nil)}
}

func (chat) open() []event { return nil }

func (d chat) say(words string) event { return d.chunk(object{"content": words}, nil) }

func (chat) shut(string) []event { return nil }

func (d chat) ask(c *call) []event {
	return []event{d.chunk(object{"tool_calls": []any{d.call(c)}}, nil)}
}

func (chat) call(c *call) object {
	args := c.args
	if c.custom != "" {
		args = map[string]any{"input": c.custom}
	}
	return object{"index": 0, "id": callID, "type": "function", "function": object{"name": c.name, "arguments": text(args)}}
}

func (d chat) end(_ ask, r reply) []event {
	last := d.chunk(object{}, d.reason(r))
	last.data.(object)["usage"] = d.usage()
	return []event{last, {"", done}}
}

func (d chat) whole(a ask, r reply) any {
	message := object{"role": "assistant", "content": r.text()}
	if r.call != nil {
		message["tool_calls"] = []any{d.call(r.call)}
	}
	return object{
		"id": "chatcmpl-scripted", "object": "chat.completion", "created": 1, "model": a.model, "usage": d.usage(),
		"choices": []any{object{"index": 0, "message": message, "finish_reason": d.reason(r)}},
	}
}

func (chat) usage() object {
	return object{"prompt_tokens": inputTokens, "completion_tokens": outputTokens, "total_tokens": inputTokens + outputTokens}
}

func (chat) reason(r reply) string {
	if r.call != nil {
		return "tool_calls"
	}
	switch r.stop {
	case stopLength:
		return "length"
	case stopRefusal:
		return "content_filter"
	case stopEnd:
	}
	return "stop"
}

func (chat) fail(f fault) (int, any) { return openaiFail(f) }
