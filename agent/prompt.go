package agent

import (
	"strings"

	"github.com/belay-run/belay"
)

// Brief is what an agent is told.
type Brief struct {
	Persona string // text of the persona; "" = none
	Prompt  string
	Expect  belay.Expect
	Cut     string // how an earlier attempt was cut off, in words; "" = there was none
	Resumed bool   // the session of that attempt goes on, so that the task is known
	Note    string // what happened before, and what is wanted now; "" = nothing
	Closes  bool   // the answer is to end with a closing line
	JSON    bool   // the answer is read as JSON
}

// rules are the same for every agent.
const rules = `# How you work here

You do one step of a larger run that another program leads.
- Nobody reads along and nobody can answer. Do not ask questions and do not wait
  for an approval: decide for yourself, go on, and say at the end what you decided.
- Do only this step. Do not start another orchestration, workflow or agent
  program of this kind, and do not start this one again.
- Leave nothing running in the background when you end.
- At the end say exactly what you did and what you did not do. If something could
  not be done, say so plainly; a true "not done" is worth more than a false "done".`

// Compose puts together what an agent is told. A session that goes on gets
// only what is new to it.
func Compose(b Brief) string {
	end := ""
	if b.Closes {
		end = closing
	}
	if b.Resumed {
		if b.Cut == "" && b.Note != "" { // it came to an end of its own
			return join(before(b.Note), "Go on with the task where you left off. The rules and what is expected have not changed.", b.expected(), end)
		}
		return join(cutOff(b.Cut), before(b.Note), "Go on with the task where you left off. The rules and what is expected have not changed.", b.expected(), end)
	}
	parts := []string{b.Persona, rules, "# The task\n\n" + strings.TrimSpace(b.Prompt), b.expected()}
	if b.Cut != "" {
		parts = append(parts, handOver(b.Cut))
	}
	return join(append(parts, before(b.Note), end)...)
}

// before is what an attempt is told about those before it.
func before(note string) string {
	if note = strings.TrimSpace(note); note == "" {
		return ""
	}
	return "# What happened before\n\n" + note
}

// OnlyJSON asks a session that has answered to say it again as JSON with these keys.
func OnlyJSON(lack string, keys []string) string {
	return join("# Your answer "+lack, onlyJSON, keysOf(keys))
}

// WithJSON asks the whole task anew, of an agent that cannot go on with a session.
func WithJSON(prompt string, keys []string) string { return join(prompt, onlyJSON, keysOf(keys)) }

func keysOf(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return "It is an object with " + strings.Join(keys, ", ") + "."
}

const onlyJSON = `IMPORTANT: the next steps read your answer as JSON. Answer now with one valid JSON
value and nothing else: no words around it, no Markdown fence. Do no further work.`

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

// expected says in words what must be there at the end.
func (b Brief) expected() string {
	switch b.Expect {
	case belay.ExpectAnswer:
		if b.JSON {
			return "# What is expected\n\nYour final answer as JSON, in the form that the task gives. The next steps read it."
		}
		return "# What is expected\n\nA final answer in words. It is what the next steps work with."
	case belay.ExpectChange:
		return "# What is expected\n\nA change of the files in the working directory, or a commit. It is checked by looking\n" +
			"at the files: a report alone does not count."
	case belay.ExpectTests:
		return "# What is expected\n\nTests that pass. They are run after you have ended, whatever you say about them.\n" +
			"Do not change or remove a test to make it pass."
	case belay.ExpectPR:
		return "# What is expected\n\nA pull request that you opened. End with its address."
	case belay.ExpectNone:
	}
	return ""
}

// cutOff is told to a session that goes on.
func cutOff(how string) string {
	if how == "" {
		how = "it is not known how"
	}
	return "# You were interrupted\n\n" +
		"Your last turn was cut off: " + how + ".\n" +
		"A command or an edit that was under way may have taken effect, in part or not at all,\n" +
		"whatever your history says about it. Look at the present state before you do it again."
}

// handOver is told to a new session that takes over.
func handOver(how string) string {
	return "# Someone began before you\n\n" +
		"An earlier attempt at this task was cut off: " + how + ".\n" +
		"Its conversation is lost. What it changed may still be there: look at the files, at\n" +
		"`git status` and at the last commits first. Keep what is right and go on from there.\n" +
		"Commands that were under way may have taken effect, in part or not at all: look before\n" +
		"you do anything again that must not be done twice."
}
