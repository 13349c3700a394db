package model

import "path"

// ask is what the service needs to know of a request.
type ask struct {
	model    string
	stream   bool
	tools    []string // names of the tools that are offered
	answered bool     // the last thing in it is the result of a tool
	dir      string   // where the CLI works; "" = it does not say
}

// stop is why an answer ends.
type stop string

const (
	stopEnd     stop = "end"
	stopLength  stop = "length"
	stopRefusal stop = "refusal"
)

// reply is an answer with status 200: words, or a call, or nothing.
type reply struct {
	words []string
	call  *call
	stop  stop
}

func (r reply) text() string {
	var out string
	for _, w := range r.words {
		out += w
	}
	return out
}

// fate is what becomes of an answer on its way.
type fate string

const (
	arrives fate = "arrives"
	cut     fate = "cut"     // the connection breaks after the first words
	stalls  fate = "stalls"  // nothing more after the first words
	goesOn  fate = "goes_on" // words without an end
	silent  fate = "silent"  // no answer at all
)

// act is what is done with one request.
type act struct {
	fault fault // "" = none
	reply reply
	fate  fate
}

// decide turns a behaviour into an act. A tool is asked for only when none was
// answered: a CLI that makes side calls between them still ends.
func (s Script) decide(b Behaviour, a ask) act {
	answer := act{reply: reply{words: []string{s.text()}, stop: stopEnd}, fate: arrives}
	partial := reply{words: []string{"This is ", "half an "}, stop: stopEnd}
	switch b {
	case Text, Flaky529x2:
		return answer
	case Tool, Denied:
		return s.afterTool(a, s.write(a), answer)
	case Background:
		return s.afterTool(a, runCommand(a.tools, s.command()), answer)
	case ToolThen500:
		return s.afterTool(a, s.write(a), act{fault: faultServer})
	case HTTP401:
		return act{fault: faultAuth}
	case HTTP403:
		return act{fault: faultForbidden}
	case HTTP404:
		return act{fault: faultModel}
	case HTTP429:
		return act{fault: faultRate}
	case HTTP429Long:
		return act{fault: faultRateLong}
	case Quota:
		return act{fault: faultQuota}
	case HTTP500:
		return act{fault: faultServer}
	case HTTP529:
		return act{fault: faultOverload}
	case Ctx400:
		return act{fault: faultContext}
	case Refusal:
		return act{reply: reply{stop: stopRefusal}, fate: arrives}
	case MaxTok:
		return act{reply: reply{words: partial.words, stop: stopLength}, fate: arrives}
	case Empty:
		return act{reply: reply{stop: stopEnd}, fate: arrives}
	case Drop:
		return act{reply: partial, fate: cut}
	case Hang:
		return act{fate: silent}
	case HangMid:
		return act{reply: partial, fate: stalls}
	case Forever:
		return act{reply: partial, fate: goesOn}
	}
	return answer
}

// write is the call that writes the file of the script; nil = it cannot be.
func (s Script) write(a ask) *call {
	name := s.File
	if !path.IsAbs(name) && a.dir != "" {
		name = path.Join(a.dir, name)
	}
	return writeFile(a.tools, name, s.Content)
}

// afterTool asks for the tool first and goes on with then.
func (s Script) afterTool(a ask, c *call, then act) act {
	if a.answered || c == nil {
		return then
	}
	return act{reply: reply{call: c, stop: stopEnd}, fate: arrives}
}
