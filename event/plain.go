package event

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// plain reads the body of an attempt that ran and ended as most do, in one pass
// and without reflection: nearly all records of a long journal are of that kind, and
// the time to read it again is mostly that of its JSON. It knows the usual fields
// only, and gives up (nil) at any other, at every escape, null, and space, and at
// whatever is no JSON: then encoding/json reads the body. What it gives is what
// encoding/json would give.
func plain(kind string, body []byte) Event {
	p := &plainBody{rest: body}
	var e Event
	switch kind {
	case "attempt.started":
		e = p.attemptStarted()
	case "attempt.ended":
		e = p.attemptEnded()
	case "attempt.judged":
		e = p.attemptJudged()
	}
	if p.odd || len(p.rest) > 0 {
		return nil
	}
	return e
}

func (p *plainBody) attemptStarted() Event {
	var e AttemptStarted
	for name := p.open(); name != nil; name = p.next() {
		switch string(name) {
		case "key":
			e.Key = belay.Key(p.text())
		case "step":
			e.Path = belay.Path(p.text())
		case "role":
			e.Role = belay.Role(p.word(string(belay.RoleMain)))
		case "attempt":
			e.Attempt = int(p.number())
		case "once":
			e.Once = p.truth()
		case "child":
			e.Child = belay.RunID(p.text())
		default:
			p.odd = true
		}
	}
	return e
}

func (p *plainBody) attemptEnded() Event {
	var e AttemptEnded
	for name := p.open(); name != nil; name = p.next() {
		switch string(name) {
		case "key":
			e.Key = belay.Key(p.text())
		case "observation":
			p.observation(&e.Observation)
		default:
			p.odd = true
		}
	}
	return e
}

func (p *plainBody) observation(o *effect.Observation) {
	for name := p.open(); name != nil; name = p.next() {
		switch string(name) {
		case "began":
			o.Began = p.truth()
		case "exit":
			o.Exit = int(p.number())
		case "started":
			o.Started = p.moment()
		case "ended":
			o.Ended = p.moment()
		case "log_size":
			o.LogSize = p.number()
		case "log_sha":
			o.LogSha = p.text()
		case "log_kept":
			o.LogKept = p.number()
		case "tail":
			o.Tail = p.text()
		case "cpu_us":
			o.CPU = p.number()
		case "rss_kb":
			o.RSS = p.number()
		default:
			p.odd = true
		}
	}
}

func (p *plainBody) attemptJudged() Event {
	var e AttemptJudged
	for name := p.open(); name != nil; name = p.next() {
		switch string(name) {
		case "key":
			e.Key = belay.Key(p.text())
		case "verdict":
			p.verdict(&e.Verdict)
		default:
			p.odd = true
		}
	}
	return e
}

func (p *plainBody) verdict(v *effect.Verdict) {
	for name := p.open(); name != nil; name = p.next() {
		switch string(name) {
		case "ok":
			v.OK = p.truth()
		case "basis":
			v.Basis = effect.Basis(p.word(string(effect.BasisExit)))
		case "for":
			v.For = p.texts()
		case "against":
			v.Against = p.texts()
		case "confidence":
			v.Sure = int(p.number())
		default:
			p.odd = true
		}
	}
}

// plainBody is what is left of a body. Once something in it is odd, whatever is
// read of it means nothing.
type plainBody struct {
	rest []byte
	odd  bool
}

// has takes a byte if it comes next.
func (p *plainBody) has(c byte) bool {
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// must takes a byte that has to come next.
func (p *plainBody) must(c byte) {
	if !p.has(c) {
		p.odd = true
	}
}

// open begins an object and is the name of its first field.
func (p *plainBody) open() []byte {
	p.must('{')
	return p.name()
}

// next is the name of the field that follows, nil at the end of the object.
func (p *plainBody) next() []byte {
	if p.has('}') {
		return nil
	}
	p.must(',')
	return p.name()
}

// name is nil as well when something is odd, so that no loop goes on.
func (p *plainBody) name() []byte {
	s := p.quoted()
	p.must(':')
	if p.odd {
		return nil
	}
	return s
}

// quoted are the bytes of a string, never nil unless something is odd. They are
// good until the body is written over.
func (p *plainBody) quoted() []byte {
	p.must('"')
	for i, c := range p.rest {
		switch {
		case c == '"':
			s := p.rest[:i]
			p.rest = p.rest[i+1:]
			return p.valid(s)
		case c == '\\':
			return p.escaped(i)
		case c < ' ':
			p.odd = true
			return nil
		}
	}
	p.odd = true
	return nil
}

func (p *plainBody) valid(s []byte) []byte {
	if p.odd || !utf8.Valid(s) {
		p.odd = true
		return nil
	}
	return s
}

// escaped is the rest of a string that has its first escape at i: those of lines,
// tabs, quotes and backslashes. One by number is odd.
func (p *plainBody) escaped(i int) []byte {
	s := append([]byte(nil), p.rest[:i]...)
	for ; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '"':
			p.rest = p.rest[i+1:]
			return p.valid(s)
		case c < ' ':
			p.odd = true
			return nil
		case c == '\\' && i+1 < len(p.rest):
			i++
			at := strings.IndexByte(`nrt"\/`, p.rest[i])
			if at < 0 {
				p.odd = true
				return nil
			}
			c = "\n\r\t\"\\/"[at]
		}
		s = append(s, c)
	}
	p.odd = true
	return nil
}

func (p *plainBody) text() string { return string(p.quoted()) }

// word is a text that is mostly the same.
func (p *plainBody) word(usual string) string {
	if s := p.quoted(); string(s) != usual {
		return string(s)
	}
	return usual
}

// texts is a list of one at least.
func (p *plainBody) texts() []string {
	p.must('[')
	list := []string{p.word(exitZero)}
	for !p.odd && !p.has(']') {
		p.must(',')
		list = append(list, p.word(exitZero))
	}
	return list
}

// exitZero is the usual evidence for an attempt.
const exitZero = "exit 0"

func (p *plainBody) truth() bool {
	for _, word := range []string{"true", "false"} {
		if rest, ok := bytes.CutPrefix(p.rest, []byte(word)); ok {
			p.rest = rest
			return word == "true"
		}
	}
	p.odd = true
	return false
}

// number is a whole number that is not negative, of up to 18 digits.
func (p *plainBody) number() int64 {
	n, i := int64(0), 0
	for ; i < len(p.rest) && '0' <= p.rest[i] && p.rest[i] <= '9'; i++ {
		n = 10*n + int64(p.rest[i]-'0')
	}
	if i == 0 || i > 18 || i > 1 && p.rest[0] == '0' {
		p.odd = true
	}
	p.rest = p.rest[i:]
	return n
}

func (p *plainBody) moment() (t time.Time) {
	if err := t.UnmarshalText(p.quoted()); err != nil {
		p.odd = true // encoding/json says what is wrong with it
	}
	return t
}
