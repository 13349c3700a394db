package belaytest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// values: values that must not be in the records, because they are too big or
// because nobody may read them.
func values() []Case {
	const secret = "rather-secret-value-77"
	const big = "name: n\nsteps:\n- id: a\n  command: |\n    printf '%020000d' 7\n  output: x\n"
	both := phases{"a": flow.Done, "b": flow.Done}
	return []Case{
		{
			Name: "a condition over a big output", Needs: []Ability{BigValues},
			Recipe: big + "- {id: b, command: exit 0, condition: \"len(x) == 20000\"}\n- {id: c, command: exit 1, condition: \"x == '7'\"}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done, "c": flow.NotTaken},
			},
			Also: small,
		},
		{
			Name: "a big output goes down into a sub-recipe and comes up", Needs: []Ability{BigValues},
			Recipe: big + "- {id: s, recipe: sub, context: {y: 'so: {{x}}'}}\n- {id: b, command: exit 0, condition: \"len(z) == 20004\"}\n",
			Subs:   texts{"sub": "name: sub\ncontext: {y: ''}\nsteps:\n- {id: c, command: 'echo \"$Y\"', output: z}\n"},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "s": 1, "s.1/c": 1, "b": 1},
				Phases: phases{"a": flow.Done, "s": flow.Done, "s.1/c": flow.Done, "b": flow.Done},
			},
		},
		{
			Name: "a step for each item of a big list", Needs: []Ability{BigValues},
			Recipe: "name: n\nsteps:\n- id: a\n  command: |\n    printf '[\"%09000d\",\"%09000d\"]' 1 2\n  output: list\n" +
				"- {id: s, foreach: list, command: 'echo \"$ITEM\"'}\n- {id: b, command: exit 0, condition: len(list) == 2}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "s": 1, "s.1/item-1": 1, "s.1/item-2": 1, "b": 1},
				Phases: phases{"a": flow.Done, "s": flow.Done, "s.1/item-1": flow.Done, "s.1/item-2": flow.Done, "b": flow.Done},
			},
		},
		{
			Name: "a secret is in no record", Needs: []Ability{Secrets}, Env: texts{"PASS_WORD": secret},
			Recipe: "name: n\nsecrets: [pass_word]\nsteps:\n" +
				"- {id: a, command: 'echo \"it is $PASS_WORD\"; echo \"$PASS_WORD\" > work', output: x}\n" +
				"- {id: b, command: 'echo \"no $PASS_WORD\" >&2; exit 1', optional: true}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Failed},
				Files: texts{"work": secret + "\n"},
			},
			Also: without(secret),
		},
		{
			Name: "a secret that an agent tells is in no record", Needs: []Ability{Secrets, Agents}, Env: texts{"PASS_WORD": secret},
			Recipe: "name: n\nsecrets: [pass_word]\nsteps:\n- {id: a, type: agent, prompt: go, expect: answer, output: x}\n- {id: b, command: exit 0}\n",
			Agents: []Agent{{"worker", "- run: echo \"$PASS_WORD\"\n- say: I see " + secret + "\n- answer: it is " + secret + "\n"}},
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: both},
			Also:   without(secret),
		},
	}
}

// small: no record is bigger than values in records are.
func small(recs []event.Record) error {
	return eachText(recs, func(r event.Record, text string) error {
		if len(text) > belay.MaxInline {
			return fmt.Errorf("record %d (%s) has %d bytes", r.Seq, r.Event.Kind(), len(text))
		}
		return nil
	})
}

// without: a secret is in no record.
func without(secret string) func([]event.Record) error {
	return func(recs []event.Record) error {
		return eachText(recs, func(r event.Record, text string) error {
			if strings.Contains(text, secret) {
				return fmt.Errorf("the secret is in record %d (%s)", r.Seq, r.Event.Kind())
			}
			return nil
		})
	}
}

// eachText looks at all records as they are written down.
func eachText(recs []event.Record, look func(event.Record, string) error) error {
	for _, r := range recs {
		b, err := json.Marshal(r)
		if err == nil {
			err = look(r, string(b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
