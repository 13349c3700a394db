package belay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-run/belay/task"
)

func callsPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Functions for call steps

A step with ` + "`call: NAME`" + ` calls a function that Belay ships. It looks at what ` + "`with:`" + ` gives
it and at nothing else: the same inputs give the same result each time. No process is started, and
what it gives is on record like what a script prints. ` + "`output:`" + ` names the variable that gets it.

` + "```yaml" + `
- id: name-it
  call: branch-name
  with: {text: "{{task}}", issue: 12}
  output: named
- id: say
  command: echo {{named.branch}}
` + "```" + `

A text under ` + "`with:`" + ` that is one placeholder and nothing else stands for the value itself: a list
stays a list. JSON that lies in a text is read as if it did not, so it does not matter whether a step
before printed an object or a text that holds one. ` + "`null`" + `, and an empty text where no text is wanted,
is as good as left out.

Names of functions and inputs, inputs that are missing and values that are written down are checked
before the run. A value that turns out wrong in the run fails the step (` + "`bash_failure`" + `, class
` + "`invalid_input`" + `); it is not tried again and nobody is asked to mend it, because it would fail again.

` + "`belay calls`" + ` prints this list, ` + "`belay calls NAME`" + ` one of them.

| function | what it gives |
|---|---|
`)
	for _, f := range task.Functions() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", f.Name, f.Name, f.Does)
	}
	for _, f := range task.Functions() {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s\n\n| input | type | meaning |\n|---|---|---|\n", f.Name, f.Does)
		for _, in := range f.Inputs {
			need := ""
			if in.Must {
				need = ", required"
			}
			fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", in.Name, in.Type, need, cell(in.Doc))
		}
		b.WriteString("\n| output | type | meaning |\n|---|---|---|\n")
		for _, out := range f.Outputs {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", out.Name, out.Type, cell(out.Doc))
		}
		fmt.Fprintf(&b, "\n```json\n%s\n```\n\ngives\n\n```json\n%s\n```\n", indented(f.Example.With), indented(f.Example.Gives))
	}
	return b.String()
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
