package cli

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// keyTwice finds the first key that one object of a JSON text has twice, at any depth: the
// decoder would take the last one without a word. The text is valid JSON. It gives the bytes
// at which the first and the second begin.
func keyTwice(text []byte) (key string, first, at int, twice bool) {
	type object struct {
		keys map[string]int // the byte at which each begins; nil in a list
		next bool           // a key comes next
	}
	var open []object
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil { // io.EOF: the text is valid
			return "", 0, 0, false
		}
		in := &object{}
		if len(open) > 0 {
			in = &open[len(open)-1]
		}
		switch tok {
		case json.Delim('{'):
			in.next = in.keys != nil
			open = append(open, object{keys: map[string]int{}, next: true})
			continue
		case json.Delim('['):
			in.next = in.keys != nil
			open = append(open, object{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			continue
		}
		name, isText := tok.(string)
		if !in.next || !isText {
			in.next = in.keys != nil
			continue
		}
		in.next = false
		at := keyStart(text[:dec.InputOffset()])
		if first, twice := in.keys[name]; twice {
			return name, first, at, true
		}
		in.keys[name] = at
	}
}

// placeIn is the line and the column of a byte, both from 1.
func placeIn(text []byte, at int) (line, col int) {
	begin := 1 + bytes.LastIndexByte(text[:at], '\n')
	return 1 + bytes.Count(text[:at], []byte("\n")), 1 + utf8.RuneCount(text[begin:at])
}

// keyStart is where the quotes open of a key that ends a text.
func keyStart(text []byte) int {
	for i := len(text) - 2; i >= 0; i-- {
		if text[i] != '"' {
			continue
		}
		slashes := 0
		for j := i - 1; j >= 0 && text[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return 0
}
