package recipe

import (
	"go.yaml.in/yaml/v3"
)

// together checks what keys of one step mean for each other.
func (p *parser) together(d *draft, n *yaml.Node, found *keySet) {
	p.fitInputs(d)
	if d.JSON != "" && d.jsonPos.Line > 0 && d.Output == "" && len(d.Outputs) == 0 {
		p.warn(d.jsonPos, "give the step output: with the name of a variable", "nothing keeps the JSON that is looked for")
	}
	if !stepKeys.holds(found, "foreach") {
		if d.As != "" {
			p.fail(d.asPos, "", "%q names the item of foreach:, which this step does not have", "as")
		}
		if d.MaxItems != 0 && d.maxPos.Line > 0 && !p.isDefault(d.maxPos) {
			p.fail(d.maxPos, "", "%q limits foreach:, which this step does not have", "max_parallel")
		}
		d.MaxItems = 0
	} else if d.As == "" && d.Foreach != "" {
		d.As = "item"
	}
	if d.Foreach != "" && len(d.Outputs) > 0 {
		p.fail(posOf(n), "use output:, which becomes the list of what the items printed; let each print JSON with all its results",
			"%q would be set by every item of foreach, one over the other", "outputs")
	}
	p.repeats(d)
	if d.Verify != nil && idle(d.Verify.Source) && d.verifyPos.Line > 0 {
		p.warn(d.verifyPos, "test for what the step leaves behind: a file, an answer, a commit", "this check always passes")
	}
	if d.Type.Agent() && d.Expect == "" && !stepKeys.holds(found, "expect") && d.Verify == nil && d.Output == "" && len(d.Outputs) == 0 {
		if p.compat { // an answer is enough there, and nobody reads it
			p.warn(posOf(n), "give it expect:, verify: or output:", "nothing tells whether this agent did anything")
		} else {
			p.warn(posOf(n), "say so with expect: change, or give it expect:, verify: or output:", "a change of files is expected of this agent, because its step does not say what to expect")
		}
	}
	if d.Group != "" && d.hasNeeds {
		p.fail(d.groupPos, "leave one of them out", "%q and %q cannot be combined: a group shares what it waits for", "parallel_group", "needs")
	}
}

// isDefault tells whether a position lies in the defaults of the file.
func (p *parser) isDefault(at Pos) bool {
	if p.defaults == nil || len(p.defaults.Content) == 0 {
		return false
	}
	first := posOf(p.defaults.Content[0])
	last := posOf(p.defaults.Content[len(p.defaults.Content)-1])
	return !before(at, first) && !before(last, at)
}

func before(a, b Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

// idle tells whether a script does nothing but succeed.
func idle(script string) bool {
	switch script {
	case "true", ":", "exit 0", "true\n", ":\n", "exit 0\n":
		return true
	}
	return false
}
