package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/watch"
)

// Notify is who is told about the runs of a recipe, and of what. It names no
// address: those, and what they are signed with, are the user's.
type Notify struct {
	On      []string // of what; nil = as the settings have it
	To      []string // who of those in the settings; nil = all
	Command []string // a program of the recipe's own and its arguments
}

// NotifyTargets are those whom the settings know.
func NotifyTargets() []string { return []string{"command", "desktop", "webhook", "slack", "ntfy"} }

func occasions() (list []string) {
	for _, o := range watch.Occasions() {
		list = append(list, string(o))
	}
	return list
}

var notifyKeys = newTable(
	map[string]string{"webhook": "to", "slack": "to", "ntfy": "to", "desktop": "to", "events": "on", "when": "on", "run": "command"},
	key[Notify]{name: "on", types: []string{typeTexts}, form: "[held, ended, stalled]", enum: occasions(), def: "that of the settings, else all three",
		doc:  "Of what people are told: held, ended, stalled. An empty list: of nothing.",
		read: func(p *parser, n *Notify, k, v *yaml.Node) { n.On = p.words(k, v, occasions()) }},
	key[Notify]{name: "to", types: []string{typeTexts}, form: "[desktop, webhook]", enum: NotifyTargets(), def: "all that the settings have",
		doc:  "Who is told, of those whom the settings know: command, desktop, webhook, slack, ntfy.",
		read: func(p *parser, n *Notify, k, v *yaml.Node) { n.To = p.words(k, v, NotifyTargets()) }},
	key[Notify]{name: "command", types: []string{typeTexts}, form: "[./tell.sh, --loud]",
		doc: "A program and its arguments, in place of that of the settings; it runs in the directory of the run, with the facts as JSON on its input and in BELAY_NOTICE_ variables.",
		read: func(p *parser, n *Notify, k, v *yaml.Node) {
			n.Command = p.texts(k, v)
			if len(n.Command) > 0 && strings.TrimSpace(n.Command[0]) == "" {
				p.fail(posOf(v), "", "the name of the program is empty")
			}
		}},
)

func readNotify(p *parser, r *Recipe, k, v *yaml.Node) {
	r.Notify = &Notify{}
	if p.mapping(k, v) {
		readKeys(p, v, notifyKeys, 0, r.Notify)
	}
}

// words reads a list of words of a closed list; never nil where one is given.
func (p *parser) words(k, v *yaml.Node, of []string) []string {
	if isNull(v) {
		return nil
	}
	list := p.texts(k, v)
	if v.Kind != yaml.SequenceNode {
		return list
	}
	for _, c := range v.Content {
		if c.Kind == yaml.ScalarNode && !isNull(c) {
			p.choice(k, c, of...)
		}
	}
	return list
}
