package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/internal/spelling"
)

// The limits of the numbers in a recipe: more is a slip of the keyboard.
const (
	maxCount    = 1_000_000
	maxAttempts = 1_000
	maxDuration = 366 * 24 * time.Hour
)

// wrong reports a value of another type than the key wants.
func (p *parser) wrong(k, v *yaml.Node, want, hint string) {
	at := posOf(v)
	if isNull(v) {
		at = posOf(k) // an empty value has no place of its own
	}
	p.fail(at, hint, "%q needs %s, found %s", k.Value, want, kindOf(v))
}

// text reads a text; any plain value is one, and nothing is the empty text.
func (p *parser) text(k, v *yaml.Node) string {
	if v.Kind != yaml.ScalarNode {
		p.wrong(k, v, "a text", p.inQuotes(k, v))
		return ""
	}
	if isNull(v) {
		return ""
	}
	return v.Value
}

// filled reads a text that must not be empty.
func (p *parser) filled(k, v *yaml.Node) (string, bool) {
	s := p.text(k, v)
	if v.Kind != yaml.ScalarNode {
		return "", false
	}
	if strings.TrimSpace(s) == "" {
		p.fail(posOf(k), "", "%q is empty", k.Value)
		return "", false
	}
	return s, true
}

// texts reads a list of texts; nothing is an empty one.
func (p *parser) texts(k, v *yaml.Node) []string {
	if isNull(v) {
		return nil
	}
	if v.Kind != yaml.SequenceNode {
		p.wrong(k, v, "a list of texts", fmt.Sprintf("write %s: [one, two]", k.Value))
		return nil
	}
	list := make([]string, 0, len(v.Content))
	for _, c := range v.Content {
		if c.Kind != yaml.ScalarNode || isNull(c) {
			p.fail(posOf(c), "", "%q needs texts, found %s", k.Value, kindOf(c))
			continue
		}
		list = append(list, c.Value)
	}
	return list
}

// labels reads a list of labels of workers.
func (p *parser) labels(k, v *yaml.Node) []string {
	list := p.texts(k, v)
	for _, l := range list {
		if len(l) > maxName || !idForm(l) {
			p.fail(posOf(v), "", "%q cannot be a label: it is a letter, a digit or _, then letters, digits, _, . and -", clip(l))
		}
	}
	return list
}

// mapping tells whether v is a mapping; nothing is an empty one.
func (p *parser) mapping(k, v *yaml.Node) bool {
	if isNull(v) {
		return false
	}
	if v.Kind != yaml.MappingNode {
		p.wrong(k, v, "a mapping", "")
		return false
	}
	return true
}

func (p *parser) boolean(k, v *yaml.Node) bool {
	b, ok := boolean(v)
	if ok {
		return b
	}
	at, hint := posOf(v), ""
	switch {
	case isNull(v):
		at = posOf(k)
	case v.Kind == yaml.ScalarNode:
		switch strings.ToLower(v.Value) {
		case "yes", "on", "true", "1":
			hint = "write true, without quotes"
		case "no", "off", "false", "0":
			hint = "write false, without quotes"
		}
	}
	p.fail(at, hint, "%q needs true or false", k.Value)
	return false
}

// count reads a whole number from 1 to most.
func (p *parser) count(k, v *yaml.Node, most int) int {
	if !isPlain(v) || !wholeForm(v.Value) {
		at, hint := posOf(v), ""
		if isNull(v) {
			at = posOf(k)
		} else if wholeForm(v.Value) {
			hint = "write it without quotes"
		}
		p.fail(at, hint, "%q needs a whole number", k.Value)
		return 0
	}
	n, err := strconv.Atoi(v.Value)
	if err != nil || n < 1 || n > most {
		p.fail(posOf(v), "", "%q must be from 1 to %d", k.Value, most)
		return 0
	}
	return n
}

// duration reads a number of seconds or a text such as 5m.
func (p *parser) duration(k, v *yaml.Node) (time.Duration, bool) {
	const hint = `write 90 for seconds, or "500ms", "5m", "1h30m"`
	var d time.Duration
	switch {
	case v.Kind != yaml.ScalarNode || isNull(v):
		p.wrong(k, v, "a duration", hint)
		return 0, false
	case isPlain(v) && wholeForm(v.Value):
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil || n > int64(maxDuration/time.Second) || n < -int64(maxDuration/time.Second) {
			n = int64(maxDuration/time.Second) + 1
		}
		d = time.Duration(n) * time.Second
	default:
		var err error
		if d, err = time.ParseDuration(v.Value); err != nil || wholeForm(v.Value) {
			p.fail(posOf(v), hint, "%q needs a duration, found %q", k.Value, clip(v.Value))
			return 0, false
		}
	}
	if d > maxDuration {
		p.fail(posOf(v), hint, "%q is longer than a year", k.Value)
		return 0, false
	}
	return d, true
}

// choice reads one of a few words.
func (p *parser) choice(k, v *yaml.Node, words ...string) string {
	if v.Kind == yaml.ScalarNode && !isNull(v) {
		if slices.Contains(words, v.Value) {
			return v.Value
		}
		hint := switched(v.Value, words)
		if hint == "" {
			hint = didYouMean(spelling.Near(v.Value, words))
		}
		p.fail(posOf(v), hint, "%q is one of %s, found %q", k.Value, strings.Join(words, ", "), clip(v.Value))
		return ""
	}
	p.wrong(k, v, "one of "+strings.Join(words, ", "), "")
	return ""
}

// clip keeps a value from filling the message.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// template reads a text with {{names}} and notes the names.
func (p *parser) template(k, v *yaml.Node, src string) *expr.Text {
	p.cut(k, v)
	t, err := expr.ParseText(src)
	if err != nil {
		p.badHoles(k, v, src, err)
		return nil
	}
	p.readsValue(v, t)
	return t
}

// badHoles reports every placeholder of a text that is wrong, and notes what
// the others read.
func (p *parser) badHoles(k, v *yaml.Node, src string, err error) {
	place, wrong := p.src.place(v), false
	for _, h := range expr.Holes(src) {
		if h.Err != nil && !p.full() {
			wrong = true
			p.fail(place.offset(h.Start), "", "%s: %s", k.Value, h.Err.Msg)
			continue
		}
		if h.Value != nil {
			p.readsText(place.offset(h.Start), h.Value)
		}
	}
	if !wrong && !p.full() {
		p.badText(k, v, err)
	}
}

func (p *parser) badText(k, v *yaml.Node, err error) {
	msg := err.Error()
	var e *expr.Error
	if errors.As(err, &e) {
		msg = e.Msg // the column is in the position
	}
	p.fail(p.src.inside(v, expr.Column(err)), "", "%s: %s", k.Value, msg)
}
