package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// object is JSON on its way out.
type object = map[string]any

// event is one server-sent event; a name is given only where the service does.
type event struct {
	name string
	data any
}

// done is the line that ends a stream of Chat Completions.
const done = "[DONE]"

// What is the same in every answer.
const (
	callID       = "call_scripted"
	itemID       = "item_scripted"
	inputTokens  = 1000
	outputTokens = 50
)

// pace is the time between two words of an endless answer.
const pace = 50 * time.Millisecond

// dialect is one API: how a request is read, and an answer written. A streamed
// answer is begin; open, say..., shut (words) or ask (a call); end.
type dialect interface {
	read(path string, body []byte) ask
	begin(ask) []event
	open() []event
	say(words string) event
	shut(said string) []event
	ask(*call) []event
	end(ask, reply) []event
	whole(ask, reply) any
	fail(fault) (status int, body any)
}

// text is JSON as a string.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // only values of this package come here
		return fmt.Sprintf("%q", err)
	}
	return string(b)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintln(w, text(v))
}

// send writes events and pushes them out at once.
func send(w http.ResponseWriter, events ...event) error {
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data := done
		if e.data != done {
			data = text(e.data)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	return http.NewResponseController(w).Flush()
}
