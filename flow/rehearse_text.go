package flow

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

// placeholder says what is wrong with a placeholder of a script of step i.
func (c *scene) placeholder(i int, u *recipe.Use, line *Rehearsed) error {
	if c.depends(u.Value) {
		return nil
	}
	var text string
	var err error
	if c.vars.isSecret(u.Value) {
		known := false
		name, _ := u.Value.Alone()
		if text, known = c.env(name); !known {
			return c.noSecret(i, name, u, line)
		}
	} else {
		text, err = u.Value.Render(c.scope(i).texts())
	}
	if u.Integer && err == nil && !recipe.WholeNumber(text) {
		err = errors.New("it stands in arithmetic and is not a whole decimal number")
	}
	if err != nil {
		err = c.misfit(i, "script: "+u.Value.String(), u.Value, func(int) recipe.Pos { return u.Pos }, err)
	}
	return err
}

// noSecret says that a secret is not in the environment, when the step that
// reads it would be taken: one that depends on an output may never read it.
func (c *scene) noSecret(i int, name string, u *recipe.Use, line *Rehearsed) error {
	if line.Take != TakeYes || !c.certain && !c.spared {
		return nil
	}
	if !line.Spared {
		at := c.where(i, u.Pos)
		line.Unmet, line.Hint = &at, fmt.Sprintf("export %s=… first", inEnvironment(name))
	}
	err := fmt.Errorf("%s is a secret and not in the environment", name)
	return c.misfit(i, "script: "+u.Value.String(), u.Value, func(int) recipe.Pos { return u.Pos }, err)
}

// items says how many items a foreach would have.
func (c *scene) items(i int, line *Rehearsed) {
	def := &c.prog.Steps[i]
	if by, ok := c.pending([]string{def.List()}); ok {
		line.Why = fmt.Sprintf("for each of %s, the output of %s", def.Foreach, by)
		return
	}
	list, _, err := c.listOf(c.index[def.ID])
	if err != nil {
		line.Problem = "foreach: " + err.Error()
		return
	}
	items, problem := itemsOf(list)
	if problem == "" {
		_, problem = itemNeeds(items)
	}
	if problem != "" {
		line.Problem = fmt.Sprintf("foreach: %s %s", def.ListName(), problem)
		return
	}
	line.Why = fmt.Sprintf("for each of the %d in %s", len(items), def.ListName())
	c.eachItem(i, items, line)
}

// eachItem looks at the texts of a step with every item of a list that is
// known, until one has a problem.
func (c *scene) eachItem(i int, items []json.RawMessage, line *Rehearsed) {
	def := &c.prog.Steps[i]
	if line.Problem != "" || def.Type.Agent() {
		return
	}
	around, dir := c.vars, line.Dir
	by, hides := c.unknown[def.As]
	delete(c.unknown, def.As)
	defer func() {
		c.vars, line.Dir = around, dir
		if hides {
			c.unknown[def.As] = by
		}
	}()
	for n, item := range items {
		c.vars = around.with(def.As, belay.Value{JSON: item})
		c.filled(i, line)
		if line.Problem != "" {
			line.Problem = fmt.Sprintf("item %d: %s", n+1, line.Problem)
			return
		}
	}
}
