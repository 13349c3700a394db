package recipe

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tagged tells whether a value is written behind a tag. One that is a ! alone is
// only seen in the source: the YAML parser drops it without a word.
func (p *parser) tagged(n *yaml.Node) bool {
	if n.Style&yaml.TaggedStyle != 0 {
		return true
	}
	if n.Line < 1 || n.Line > len(p.src.starts) || !p.src.bang {
		return false
	}
	i := p.src.offset(posOf(n))
	return i < len(p.src.text) && p.src.text[i] == '!'
}

// tag reports the tag of a value, which stands under the key k; nil when that is
// not known.
func (p *parser) tag(k, n *yaml.Node) {
	key := ""
	if k != nil {
		key = k.Value
	}
	name, rest := "!", n.Value
	if n.Style&yaml.TaggedStyle != 0 {
		name = n.Tag
	}
	msg := "tags such as " + name + " are not supported"
	if name == "!" {
		msg = "this ! is a tag to YAML, not a part of the value"
	}
	switch {
	case name != "!" && (strings.HasPrefix(name, "!!") || !slices.Contains(scriptKeys, key) && !slices.Contains(conditionKeys, key)):
		p.fail(posOf(n), "quotes make a text of anything", "%s", msg)
		return
	case name != "!":
		rest = strings.TrimSpace(name[1:] + " " + rest)
	case n.Kind != yaml.ScalarNode:
		rest = ""
		if line := p.src.line(n.Line); !strings.ContainsAny(line[:p.src.offset(posOf(n))-p.src.starts[n.Line-1]], "{[") {
			rest = strings.TrimSpace(line[p.src.offset(posOf(n))-p.src.starts[n.Line-1]+1:])
		}
	case n.Style&quoted != 0 || !strings.Contains(p.src.line(n.Line), n.Value):
		rest = ""
	}
	p.fail(posOf(n), bangHint(key, rest), "%s", msg)
}

// Keys that hold a script, and those that hold a condition.
var (
	scriptKeys    = []string{"command", "verify", "pre_step", "post_step", "on_error"}
	conditionKeys = []string{"condition", "until"}
)

// bangHint is the cure of a value that begins with an exclamation mark.
func bangHint(key, rest string) string {
	before := ""
	if key != "" {
		before = key + ": "
	}
	switch {
	case slices.Contains(conditionKeys, key):
		if rest == "" || len(rest) > 60 {
			return "a condition says not instead of !"
		}
		return "a condition says not instead of !: " + before + "not " + rest
	case rest == "" || len(rest) > 60:
		return "put the value in quotes, or write it below a |"
	}
	return "put it in quotes: " + before + "'! " + strings.ReplaceAll(rest, "'", "''") + "'"
}
