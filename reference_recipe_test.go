package belay_test

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

// keysPage is the page of all words of a recipe, from the table that the parser
// reads by.
func keysPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Recipe keys

A recipe is one YAML mapping in a ` + "`.yaml` or `.yml`" + ` file: UTF-8, one document, at most
16 MiB, no anchors or aliases. A key that is not on this page is an error with its line and
column. ` + "`belay schema`" + ` prints the same as a [JSON Schema](recipe.schema.json); with this line on
top of a recipe, with the path as seen from it, an editor completes and checks keys:

` + "```yaml\n# yaml-language-server: $schema=recipe.schema.json\n```" + `

Scripts and ` + "`{{placeholders}}`" + ` are explained in [templates](templates.md), conditions in
[expressions](expressions.md), secrets in [secrets](secrets.md). In ` + "`context`" + ` only ` + "`true`" + ` and
` + "`false`" + ` are booleans; ` + "`yes`, `no`, `on` and `off`" + ` are text. Names begin with a letter or ` + "`_`" + ` and go
on with letters, digits, ` + "`_` and `-`" + `.

YAML takes things from a value without quotes, and says nothing. Belay does: a value behind a ` + "`!`" + `
is an error (` + "`verify: ! grep -q TODO x`" + ` would lose the ` + "`!`" + `: write ` + "`verify: '! grep -q TODO x'`" + `), and so
are a script that a ` + "` #`" + ` cuts in two, a ` + "`\\b`" + ` in double quotes, and lines that become part of a comment
because they stand below ` + "`>`" + `. Belay warns of other lines that are joined into one command, of a text that ends
before a ` + "` #12`" + `, and of a number such as 1.10, which becomes 1.1. A script below ` + "`|`" + ` stays as it is.

## The recipe

`)
	b.WriteString(keyTable("top"))
	b.WriteString(`
## A step

A step has a ` + "`command`" + ` (type ` + "`bash`" + `), a ` + "`prompt`" + ` (type ` + "`agent`" + `) or the name of a ` + "`recipe`" + `. Steps whose
needs are settled run at the same time, up to 8 in the whole run. ` + "`needs`" + ` may name a later
step, as long as there is no cycle.

`)
	b.WriteString(keyTable("step"))
	head := "\n## Words for later\n\nThese are known and refused: this version does not act on them.\n\n"
	for _, k := range recipe.Keys() {
		if !k.Works {
			where := map[string]string{"top": "recipe", "step": "step"}[k.On]
			b.WriteString(head)
			head = ""
			fmt.Fprintf(&b, "- `%s` on a %s: %s\n", k.Name, where, cell(k.Doc))
		}
	}
	return b.String()
}

func keyTable(on string) string {
	var b strings.Builder
	head, line := "| key | holds | form | default | meaning |", "|---|---|---|---|---|"
	if on == "step" {
		head, line = "| key | on | holds | form | default | meaning |", "|---|---|---|---|---|---|"
	}
	b.WriteString(head + "\n" + line + "\n")
	for _, k := range recipe.Keys() {
		if k.On != on || !k.Works {
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", k.Name)
		if on == "step" {
			fmt.Fprintf(&b, " %s |", cell(stepsOf(k)))
		}
		doc := cell(k.Doc)
		if len(k.Enum) > 0 {
			doc += " One of `" + strings.Join(k.Enum, "`, `") + "`."
		}
		fmt.Fprintf(&b, " %s | %s | %s | %s |\n", cell(strings.Join(k.Types, ", ")), code(k.Form), code(k.Default), doc)
	}
	return b.String()
}

// stepsOf says which types of step take a key.
func stepsOf(k recipe.Key) string {
	if len(k.Steps) == len(belay.StepTypes()) {
		return "all"
	}
	return strings.Join(k.Steps, ", ")
}

func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + cell(s) + "`"
}

// differencesPage is the page of what is unlike the older runner.
func differencesPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Differences

Recipes of the older runner are read as they are, with these exceptions, each on purpose.
` + "`compat: true`" + ` in a recipe, or ` + "`--compat`" + ` on the command line, brings back the old way where the
last column says so; what would be unsafe never comes back. ` + "`belay validate --explain-differences`" + `
prints this list.

| name | the older runner | Belay | why | compat |
|---|---|---|---|---|
`)
	for _, d := range recipe.Differences() {
		back := ""
		if d.Compat {
			back = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", d.ID, cell(d.Theirs), cell(d.Ours), cell(d.Why), back)
	}
	return b.String()
}
