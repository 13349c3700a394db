// Package output turns what a program or an agent printed into a value. It reads
// texts with bounds on time and memory, and keeps nothing.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of looking for JSON in a text: what people and programs print
// needs a fraction of it, and a hostile text does not get more.
const (
	maxTries = 20_000   // places at which JSON is looked for
	maxLooks = 64 << 20 // bytes read in all of them
)

// Extract finds the JSON in what a program or an agent printed: the whole text;
// else the first fenced block that holds JSON; else the first object in the
// text, or the first list where there is no object. What does not parse is
// passed over. The result is compact.
func Extract(text string) (json.RawMessage, bool) {
	if raw, ok := asJSONText(text); ok {
		return raw, true
	}
	if raw, ok := fenced(text); ok {
		return raw, true
	}
	s := &search{text: text, tries: maxTries, looks: maxLooks}
	if raw, ok := s.first('{'); ok {
		return raw, true
	}
	return s.first('[')
}

// Fit is the closed list of how a text fits a form.
type Fit string

const (
	Fits    Fit = "fits"    // it has one answer, with all keys
	Lacks   Fit = "lacks"   // it has no JSON, or none with all keys
	Differs Fit = "differs" // it has several values that could be the answer and are not the same, or one that says a key twice
)

// Formed finds the one answer in a text that must be JSON with these keys. Where there are
// several objects, or lists of them, the first is not the answer: the next one may take it
// back. What is empty, or there twice, says nothing. An object that has a key twice is two
// answers, too.
func Formed(text string, keys ...string) (json.RawMessage, Fit) {
	raw, ok := Extract(text)
	if !ok {
		return nil, Lacks
	}
	if _, whole := asJSONText(text); !whole {
		all := All(text)
		all = all[max(0, firstWith(all, keys)):] // what is before it is no answer; what is behind it may take it back
		if len(all) > 1 {
			return nil, Differs
		}
		if len(all) == 1 {
			raw = all[0]
		}
	}
	if repeats(raw, keys) {
		return nil, Differs
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil && len(keys) > 0 { // a list, or a value
		return raw, Lacks
	}
	for _, k := range keys {
		if _, ok := o[k]; !ok {
			return raw, Lacks
		}
	}
	return raw, Fits
}

// Blank tells whether an object has nothing in one of the keys: null, or a text in which
// nothing can be seen.
func Blank(raw json.RawMessage, keys ...string) bool {
	var o map[string]any
	if json.Unmarshal(raw, &o) != nil {
		return false
	}
	return slices.ContainsFunc(keys, func(k string) bool {
		v, there := o[k]
		text, is := v.(string)
		return there && (v == nil || is && Visible(text) == "")
	})
}

// Visible is a text without space around it, "" of one with nothing that can be
// seen: zero-width signs are no answer.
func Visible(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '\u2800' }) {
		return strings.TrimSpace(text)
	}
	return ""
}

// repeats tells whether an object anywhere in JSON has a key twice. The keys of the form
// are the same in large and small letters.
func repeats(raw json.RawMessage, keys []string) bool {
	type level struct {
		names map[string]bool // nil = a list
		value bool            // a key was read, and what it has comes next
	}
	var open []level
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		t, err := d.Token()
		if err != nil {
			return false // all of it was read
		}
		if at := len(open) - 1; at >= 0 && open[at].names != nil {
			name, is := t.(string)
			if is && !open[at].value {
				if form := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, name) }); at == 0 && form >= 0 {
					name = keys[form]
				}
				if open[at].names[name] {
					return true
				}
				open[at].names[name], open[at].value = true, true
				continue
			}
			open[at].value = false
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}

// All are the objects and the lists of objects in a text that are not in each other, each
// once and without empty ones.
func All(text string) []json.RawMessage {
	s := &search{text: text, tries: maxTries, looks: maxLooks}
	var list []json.RawMessage
	seen := map[string]bool{}
	for at := 0; at < len(s.text); {
		i := strings.IndexAny(s.text[at:], "{[")
		if i < 0 {
			break
		}
		at += i
		if s.tries--; s.tries < 0 || s.looks < 0 {
			break
		}
		raw, size := s.value(at)
		at += max(size, 1)
		var of []map[string]json.RawMessage
		switch {
		case len(raw) <= len("{}"):
			continue
		case raw[0] == '[' && json.Unmarshal(raw, &of) != nil: // a list of something else is prose: [1]
			continue
		}
		if one := sameForm(raw); !seen[one] {
			seen[one] = true
			list = append(list, raw)
		}
	}
	return list
}

// sameForm is JSON with its keys in order, to compare it.
func sameForm(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil { // it was read before
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// Typed is the value of an output: the JSON that the whole of it is, else the
// text itself. A number that no value can hold, or one such as 007, stays a text.
func Typed(text string) json.RawMessage {
	if raw, ok := asJSONText(text); ok {
		return raw
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)                 // a value goes to scripts, not into a page
	if err := enc.Encode(text); err != nil { // a string always encodes
		return json.RawMessage(`""`)
	}
	return json.RawMessage(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// asJSONText reads a text that is JSON as a whole.
func asJSONText(text string) (json.RawMessage, bool) {
	text = strings.Trim(text, " \t\r\n") // the blanks of JSON: with any other the whole is a text
	if text == "" || !strings.ContainsRune(`{["-0123456789tfn`, rune(text[0])) {
		return nil, false // most texts are known by their first letter
	}
	return compact([]byte(text))
}

// compact checks that JSON holds only what a value can hold, and leaves the
// blanks out.
func compact(raw []byte) (json.RawMessage, bool) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, false
	}
	var v any
	if json.Unmarshal(raw, &v) != nil { // a number out of range
		return nil, false
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil { // it is valid
		return nil, false
	}
	return b.Bytes(), true
}

// fenced reads the blocks between ``` that are marked as JSON or not at all.
func fenced(text string) (json.RawMessage, bool) {
	const fence = "```"
	for range maxTries {
		_, after, found := strings.Cut(text, fence)
		if !found {
			return nil, false
		}
		body, rest, closed := strings.Cut(after, fence)
		if !closed {
			return nil, false
		}
		label := len(body) - len(strings.TrimLeft(body, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		switch strings.ToLower(body[:label]) {
		case "json", "jsonc":
			body = body[label:]
		}
		if raw, ok := asJSONText(body); ok {
			return raw, true
		}
		text = rest
	}
	return nil, false
}

// search looks for JSON that begins anywhere in a text.
type search struct {
	text         string
	tries, looks int
}

// first is the first JSON that begins with the given bracket.
func (s *search) first(bracket byte) (json.RawMessage, bool) {
	for at := 0; at < len(s.text); at++ {
		i := strings.IndexByte(s.text[at:], bracket)
		if i < 0 {
			return nil, false
		}
		at += i
		if s.tries--; s.tries < 0 || s.looks < 0 {
			return nil, false
		}
		if raw, ok := s.read(at); ok {
			return raw, true
		}
	}
	return nil, false
}

// read takes the JSON that begins at a place; it stops at the first character
// that cannot belong to it.
func (s *search) read(at int) (json.RawMessage, bool) {
	raw, size := s.value(at)
	return raw, size > 0
}

// value is that JSON and how many bytes of the text it is; 0 = there is none.
func (s *search) value(at int) (json.RawMessage, int) {
	dec := json.NewDecoder(strings.NewReader(s.text[at:]))
	var raw json.RawMessage
	err := dec.Decode(&raw)
	var bad *json.SyntaxError
	switch {
	case err == nil:
		s.looks -= len(raw)
		if small, ok := compact(raw); ok {
			return small, int(dec.InputOffset())
		}
	case errors.As(err, &bad):
		s.looks -= int(bad.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.looks -= len(s.text) - at
	}
	return nil, 0
}

// firstWith is the place of the first value that is an object with one of the keys; -1 = there
// is none.
func firstWith(all []json.RawMessage, keys []string) int {
	return slices.IndexFunc(all, func(raw json.RawMessage) bool {
		var o map[string]json.RawMessage
		return json.Unmarshal(raw, &o) == nil && slices.ContainsFunc(keys, func(k string) bool { _, ok := o[k]; return ok })
	})
}
