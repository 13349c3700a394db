package sim

import (
	"fmt"
	"strings"
)

// The size of a generated set of recipes.
const (
	maxNesting = 3
	maxSteps   = 24
)

// generator writes recipes as a person would: as text.
type generator struct {
	dice
	steady bool
	linear bool // one step after the other
	book   book
	leaves []string // recipes that call nobody
	steps  int

	// what this seed's recipes make use of, in thousandths
	retry, timeout, verify, once, optional, condition, escalate, sub, needs, output int

	extra      dice // for what came later: seeds keep their recipes
	hook, each int

	later  dice // the same, once more
	repeat int

	last    dice // and again
	finally int
}

// generate writes the recipes of a seed. In steady ones no delay can change
// the outcome: nothing times out, and a required step fails only where one
// step follows the other.
func generate(seed uint64, steady bool) book {
	g := &generator{dice: newDice(seed, "recipe"), steady: steady}
	for _, feature := range []*int{
		&g.retry, &g.timeout, &g.verify, &g.once, &g.optional, &g.condition, &g.escalate, &g.sub, &g.needs, &g.output,
	} {
		*feature = of(g.dice, 0, 0, 150, 300, 600)
	}
	g.extra = newDice(seed, "hooks and items")
	g.hook, g.each = of(g.extra, 0, 0, 300, 600), of(g.extra, 0, 0, 150, 400)
	g.later = newDice(seed, "rounds")
	g.repeat = of(g.later, 0, 0, 150, 400)
	g.last = newDice(seed, "finally")
	g.finally = of(g.last, 0, 0, 0, 300, 700)
	g.output = max(g.output, g.condition)
	g.linear = g.maybe(400)
	if g.linear {
		g.needs = 0
	}
	g.book.linear = g.linear
	g.recipe("root", maxNesting)
	return g.book
}

// recipe writes one recipe and those it calls.
func (g *generator) recipe(name string, depth int) {
	at := len(g.book.names)
	g.book.names = append(g.book.names, name)
	g.book.sources = append(g.book.sources, "")
	n := 1 + g.IntN(6)
	if name != "root" {
		n = 1 + g.IntN(3)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", name)
	if g.maybe(150) || g.steady && !g.linear {
		b.WriteString("allow_empty: true\n")
	}
	if name == "root" && !g.steady && g.maybe(100) {
		fmt.Fprintf(&b, "recursion: {max_depth: %d, max_total_steps: %d}\n", 1+g.IntN(3), 1+g.IntN(6))
	}
	g.writeHooks(&b)
	b.WriteString("context:\n  flag: '1'\n  list: [1, 2, 3]\n  none: []\n")
	for i := range n {
		fmt.Fprintf(&b, "  %s: ''\n", outputName(name, i))
	}
	b.WriteString("steps:\n")
	calls := false
	above := make([]uint64, n) // what comes before a step, as bits
	for i := range n {
		calls = g.step(&b, name, i, depth, above) || calls
	}
	g.writeFinally(&b)
	if !calls {
		g.leaves = append(g.leaves, name)
	}
	g.book.sources[at] = b.String()
}

func outputName(recipe string, i int) string { return fmt.Sprintf("o_%s_%d", recipe, i) }

// step writes one step and tells whether it calls a recipe.
func (g *generator) step(b *strings.Builder, name string, i, depth int, above []uint64) bool {
	g.steps++
	fmt.Fprintf(b, "  - id: s%d\n", i)
	g.writeNeeds(b, i, above)
	call := ""
	if depth > 0 && g.steps < maxSteps && g.maybe(g.sub) {
		call = g.callee(depth)
	}
	if call != "" {
		fmt.Fprintf(b, "    recipe: %s\n", call)
	} else if g.asks() {
		g.writeApproval(b)
		return false
	} else {
		b.WriteString("    command: work\n")
		if g.maybe(g.once) {
			b.WriteString("    once: true\n")
		}
		if g.maybe(80) {
			b.WriteString("    failure: infrastructure\n")
		}
		if g.maybe(g.output) {
			fmt.Fprintf(b, "    output: %s\n", outputName(name, i))
		}
	}
	g.writeForeach(b)
	g.writeOptions(b)
	g.writeCondition(b, name, i, above)
	return call != ""
}

// callee is a recipe to call: a new one, or one that calls nobody.
func (g *generator) callee(depth int) string {
	apart := g.steady && !g.linear // two calls at a time would set the same variables
	if len(g.leaves) > 0 && !apart && g.maybe(300) {
		return of(g.dice, g.leaves...)
	}
	name := fmt.Sprintf("sub%d", len(g.book.names))
	g.recipe(name, depth-1)
	return name
}

func (g *generator) writeNeeds(b *strings.Builder, i int, above []uint64) {
	if !g.maybe(g.needs) {
		if i > 0 {
			above[i] = above[i-1] | 1<<(i-1)
		}
		return
	}
	var list []string
	for j := range i {
		if g.maybe(400) {
			list = append(list, fmt.Sprintf("s%d", j))
			above[i] |= above[j] | 1<<j
		}
	}
	fmt.Fprintf(b, "    needs: [%s]\n", strings.Join(list, ", "))
}

func (g *generator) writeHooks(b *strings.Builder) {
	var list []string
	for _, name := range []string{"pre_step", "post_step", "on_error"} {
		if g.extra.maybe(g.hook) {
			list = append(list, name+": hook")
		}
	}
	if len(list) > 0 {
		fmt.Fprintf(b, "hooks: {%s}\n", strings.Join(list, ", "))
	}
}

// writeForeach makes a step one for each item of a list. In steady recipes the
// items follow each other: which of them began when one failed is chance.
func (g *generator) writeForeach(b *strings.Builder) {
	if !g.extra.maybe(g.each) {
		g.writeRepeat(b)
		return
	}
	fmt.Fprintf(b, "    foreach: %s\n", of(g.extra, "list", "list", "list", "none"))
	if most := g.extra.IntN(3); g.steady || most > 0 {
		fmt.Fprintf(b, "    max_parallel: %d\n", max(1, most*btoi(!g.steady)))
	}
}

// writeRepeat makes a step rounds. In steady recipes whose steps run side by side the rounds
// do not fail: what had begun beside them by then would be chance.
func (g *generator) writeRepeat(b *strings.Builder) {
	if !g.later.maybe(g.repeat) {
		return
	}
	most, until := 1+g.later.IntN(4), of(g.later, "", ", until: last.ok", ", until: round == 2", ", until: last.status == 'none'")
	if g.steady && !g.linear {
		until = ", until: last.ok"
	}
	fmt.Fprintf(b, "    repeat: {max: %d%s}\n", most, until)
}

// writeFinally writes what a recipe does last. A callee is one that is there already.
func (g *generator) writeFinally(b *strings.Builder) {
	if !g.last.maybe(g.finally) {
		return
	}
	b.WriteString("finally:\n")
	for i := range 1 + g.last.IntN(2) {
		fmt.Fprintf(b, "  - id: f%d\n", i)
		if len(g.leaves) > 0 && !g.steady && g.last.maybe(250) {
			fmt.Fprintf(b, "    recipe: %s\n", of(g.last, g.leaves...))
			continue
		}
		b.WriteString("    command: work\n" + of(g.last, "", "", "    once: true\n", "    retry: 2\n", "    verify: check\n", "    output: last\n"))
		b.WriteString(of(g.last, "", "", "    condition: not run.ok\n", "    foreach: list\n"))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (g *generator) writeOptions(b *strings.Builder) {
	if g.maybe(g.retry) {
		fmt.Fprintf(b, "    retry: {max_attempts: %d, backoff: %s}\n", 2+g.IntN(3), of(g.dice, "0s", "100ms", "2s", "90s"))
	}
	if !g.steady && g.maybe(g.timeout) {
		fmt.Fprintf(b, "    timeout: %s\n", of(g.dice, "200ms", "1s", "5s", "30s"))
	}
	if g.maybe(g.verify) {
		b.WriteString("    verify: check\n")
	}
	if g.maybe(g.optional) {
		b.WriteString("    optional: true\n")
	}
	if g.maybe(g.escalate) {
		b.WriteString("    on_failure: escalate\n")
	}
}

// writeCondition writes a condition over what surely comes before the step.
func (g *generator) writeCondition(b *strings.Builder, name string, i int, above []uint64) {
	if !g.maybe(g.condition) {
		return
	}
	var known []string
	for j := range i {
		if above[i]&(1<<j) != 0 {
			known = append(known, outputName(name, j))
		}
	}
	known = append(known, "flag")
	fmt.Fprintf(b, "    condition: \"%s %s '%d'\"\n", of(g.dice, known...), of(g.dice, "==", "!="), g.IntN(3))
}

// asks tells whether a step is a question. A steady recipe has none: it needs nobody.
func (g *generator) asks() bool { return !g.steady && g.maybe(40) }

// writeApproval writes a question, which may time out.
func (g *generator) writeApproval(b *strings.Builder) {
	b.WriteString("    approve:\n      prompt: go on\n      choices: [approve, later]\n")
	if g.maybe(500) {
		fmt.Fprintf(b, "      timeout: 2s\n      on_timeout: %s\n", of(g.dice, "hold", "reject", "later"))
	}
}
