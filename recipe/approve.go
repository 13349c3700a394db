package recipe

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

// Approval is a question to a person, which a step is. Its text is the prompt of
// the step.
type Approval struct {
	Choices   []string      // reject is always among them
	Who       []string      // names of users who may answer; empty = any person
	Timeout   time.Duration // 0 = none
	OnTimeout string        // hold, reject or one of Choices; never approve

	prompt     *expr.Text
	timeoutPos Pos
	onPos      Pos
}

// maxChoices is how many choices, and how many names, a question has.
const maxChoices = 20

var approveKeys = newTable(
	map[string]string{"question": "prompt", "text": "prompt", "message": "prompt", "options": "choices", "by": "who", "users": "who", "approvers": "who", "default": "on_timeout", "after": "timeout"},
	key[Approval]{name: "prompt", types: []string{typeText}, form: "TEXT", read: readQuestion,
		doc: "What the person is asked; {{names}} are filled in."},
	key[Approval]{name: "choices", bound: bounds{text: formChoice}, types: []string{typeTexts}, form: "[staging, production]", def: "[approve, reject]", read: readChoices,
		doc: "What can be answered, as single words. reject can always be answered; every other choice lets the run go on."},
	key[Approval]{name: "who", types: []string{typeTexts}, form: "[ada, bob]", def: "anybody who is a person", read: readWho,
		doc: "The users who may answer, by their names on this machine."},
	key[Approval]{name: "timeout", types: []string{typeDuration}, form: `90 or "24h"`, def: "none", read: readApproveTimeout,
		doc: "How long the run waits for an answer."},
	key[Approval]{name: "on_timeout", bound: bounds{text: formThen}, types: []string{typeText}, form: "hold, reject or a choice", def: "hold", read: readOnTimeout,
		doc: "What it means that nobody answered in time: hold leaves the question open and the run held, reject fails the step, a choice counts as answered. It cannot be approve."},
)

func readApprove(p *parser, d *draft, k, v *yaml.Node) {
	if v.Kind != yaml.MappingNode {
		p.wrong(k, v, "a mapping", "write approve: {prompt: 'Deploy {{version}}?'}")
		return
	}
	a := Approval{}
	found := readKeys(p, v, approveKeys, 0, &a)
	if !approveKeys.holds(&found, "prompt") {
		p.fail(posOf(k), "add prompt: with the question", "%q has no %q", "approve", "prompt")
	}
	if len(a.Choices) == 0 {
		a.Choices = []string{belay.ChoiceApprove}
	}
	if !slices.Contains(a.Choices, belay.ChoiceReject) {
		a.Choices = append(a.Choices, belay.ChoiceReject)
	}
	switch then := a.OnTimeout; {
	case then == belay.ChoiceApprove:
		p.fail(a.onPos, "write hold or reject, or give the way without approval a choice of its own", "nothing is approved because nobody answered")
	case then != "" && then != belay.TimeoutHold && !slices.Contains(a.Choices, then):
		p.fail(a.onPos, "write one of "+strings.Join(append([]string{belay.TimeoutHold}, a.Choices...), ", "), "%q is no choice of this question", clip(then))
	case then != "" && a.Timeout == 0 && a.timeoutPos == (Pos{}):
		p.fail(a.onPos, "add timeout:", "%q means something only with a %q", "on_timeout", "timeout")
	case then == "":
		a.OnTimeout = belay.TimeoutHold
	}
	d.Approve, d.Prompt = &a, a.prompt
}

func readQuestion(p *parser, a *Approval, k, v *yaml.Node) {
	if src, ok := p.filled(k, v); ok {
		a.prompt = p.template(k, v, src)
	}
}

func readChoices(p *parser, a *Approval, k, v *yaml.Node) {
	list := p.choiceWords(k, v)
	for i, c := range list {
		if c == belay.TimeoutHold {
			p.fail(posOf(v), "call it wait or later", "%q cannot be a choice: it is a word of %q", c, "on_timeout")
		}
		if slices.Contains(list[:i], c) {
			p.fail(posOf(v), "", "the choice %q is there twice", clip(c))
		}
	}
	if len(list) == 1 && list[0] == belay.ChoiceReject {
		p.fail(posOf(v), "add a choice that lets the run go on", "a question with one answer is no question")
	}
	a.Choices = list
}

func readWho(p *parser, a *Approval, k, v *yaml.Node) {
	a.Who = p.texts(k, v)
	switch {
	case v.Kind == yaml.SequenceNode && len(a.Who) == 0:
		p.fail(posOf(v), "leave it out for anybody", "nobody may answer this question")
	case len(a.Who) > maxChoices:
		p.fail(posOf(v), "", "%q has at most %d names", k.Value, maxChoices)
	case slices.ContainsFunc(a.Who, func(w string) bool { return strings.TrimSpace(w) == "" }):
		p.fail(posOf(v), "", "a name in %q is empty", k.Value)
	}
}

func readApproveTimeout(p *parser, a *Approval, k, v *yaml.Node) {
	a.timeoutPos = posOf(k)
	t, ok := p.duration(k, v)
	if ok && t <= 0 {
		p.fail(posOf(v), "leave it out for no timeout", "%q must be more than 0", k.Value)
		return
	}
	a.Timeout = t
}

func readOnTimeout(p *parser, a *Approval, k, v *yaml.Node) {
	a.onPos = posOf(v)
	a.OnTimeout, _ = p.filled(k, v)
}

// choiceWords reads a short list of single words.
func (p *parser) choiceWords(k, v *yaml.Node) []string {
	list := p.texts(k, v)
	if len(list) > maxChoices {
		p.fail(posOf(v), "", "%q has at most %d words", k.Value, maxChoices)
		return nil
	}
	for _, w := range list {
		if len(w) > maxName || !idForm(w) {
			p.fail(posOf(v), "write [ship-it, wait]", "%q cannot be a choice: it is a letter, a digit or _, then letters, digits, _, . and -", clip(w))
		}
	}
	return list
}
