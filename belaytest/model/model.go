// Package model is a fake of the model services that agent CLIs call, for
// tests: an HTTP server on loopback that answers as Anthropic Messages, OpenAI
// Responses, OpenAI Chat Completions and Gemini do, and that fails in the ways
// they fail, on order. The CLIs that talk to it are the real ones. It knows no
// model, checks no key, keeps no header, and listens on 127.0.0.1 alone.
package model

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Behaviour is the closed list of what the service does with a request.
type Behaviour string

const (
	Text        Behaviour = "text"        // answers with the script's text
	Tool        Behaviour = "tool"        // asks for a tool that writes a file, then answers
	HTTP401     Behaviour = "401"         // a bad key
	HTTP403     Behaviour = "403"         // a key that may not
	HTTP404     Behaviour = "404"         // no such model
	HTTP429     Behaviour = "429"         // too many requests; retry after 2 s
	HTTP429Long Behaviour = "429long"     // the same; retry after an hour
	Quota       Behaviour = "quota"       // the account is used up
	HTTP500     Behaviour = "500"         // an inner error
	HTTP529     Behaviour = "529"         // overloaded
	Ctx400      Behaviour = "ctx400"      // the prompt is too long
	Refusal     Behaviour = "refusal"     // the model will not
	MaxTok      Behaviour = "maxtok"      // the answer is cut at the limit of its length
	Empty       Behaviour = "empty"       // an answer without a word
	Drop        Behaviour = "drop"        // the connection is cut in the middle of an answer
	Hang        Behaviour = "hang"        // not even headers
	HangMid     Behaviour = "hangmid"     // the stream stops in the middle, the connection stays
	Forever     Behaviour = "forever"     // the answer never ends
	Flaky529x2  Behaviour = "flaky529x2"  // overloaded twice, then fine
	ToolThen500 Behaviour = "toolthen500" // asks for a tool, then only inner errors
	Denied      Behaviour = "denied"      // asks to write a file, and claims success whatever came of it
	Background  Behaviour = "background"  // asks for a command that stays behind, then answers
)

// Behaviours is the whole list.
func Behaviours() []Behaviour {
	return []Behaviour{
		Text, Tool, HTTP401, HTTP403, HTTP404, HTTP429, HTTP429Long, Quota, HTTP500, HTTP529, Ctx400,
		Refusal, MaxTok, Empty, Drop, Hang, HangMid, Forever, Flaky529x2, ToolThen500, Denied, Background,
	}
}

// Script says what the service does.
type Script struct {
	Steps   []Behaviour // by number of the request; the last one goes on for all that follow
	Text    string      // the final answer; "Done." when empty
	File    string      // what the tool writes; not absolute: below the directory that the CLI works in
	Content string      // what is written into it
	Command string      // what Background starts; it must put itself into the background

	Down time.Duration // for so long from its first call on it is overloaded, whatever the steps say

	Parts []Part // for prompts that differ; the rest of the script is for those that none of them knows
}

// Part is what the service does when it is asked for one thing of several. A
// part counts its own requests.
type Part struct {
	Has string // words that are in the prompt and in no other; the first part that fits is taken
	Script
}

// Say is the script of one behaviour for all requests.
func Say(b Behaviour) Script { return Script{Steps: []Behaviour{b}} }

// check refuses a script that the service could not play.
func (s Script) check() error {
	if len(s.Steps) == 0 {
		return fmt.Errorf("script of the model: no step")
	}
	for _, b := range s.Steps {
		if !slices.Contains(Behaviours(), b) {
			return fmt.Errorf("script of the model: no behaviour %q; there are %s", b, names())
		}
	}
	for _, p := range s.Parts {
		if p.Has == "" || len(p.Parts) > 0 {
			return fmt.Errorf("script of the model: a part without words, or with parts of its own")
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("part %q: %w", p.Has, err)
		}
	}
	return nil
}

// part finds the part for a request; -1 = none.
func (s Script) part(body []byte) int {
	return slices.IndexFunc(s.Parts, func(p Part) bool { return bytes.Contains(body, []byte(p.Has)) })
}

func names() string {
	var out []string
	for _, b := range Behaviours() {
		out = append(out, string(b))
	}
	return strings.Join(out, ", ")
}

func (s Script) text() string {
	if s.Text == "" {
		return "Done."
	}
	return s.Text
}

func (s Script) command() string {
	if s.Command == "" {
		return "nohup tail -f /dev/null >/dev/null 2>&1 &"
	}
	return s.Command
}

// at is the behaviour for the nth request, which is counted from 1.
func (s Script) at(n int) Behaviour {
	b := s.Steps[min(n, len(s.Steps))-1]
	if b == Flaky529x2 {
		if n <= 2 {
			return HTTP529
		}
		return Text
	}
	return b
}
