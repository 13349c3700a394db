package recipe

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

// Endings are the statuses that ends may give, the best first.
func Endings() []belay.Status {
	return []belay.Status{belay.Achieved, belay.Partial, belay.NotAchieved, belay.Hollow, belay.Stalemate, belay.Failed}
}

// readEnds reads the expression for the status of a run. The statuses themselves
// may stand in it as words.
func readEnds(p *parser, r *Recipe, k, v *yaml.Node) {
	words := func(name string) bool { return slices.Contains(Endings(), belay.Status(name)) }
	if e := p.topExpr(k, v, "result.status", words); e != nil {
		r.Ends, r.endsPlace = e, p.src.place(v)
	}
}

// topExpr reads an expression over the variables of a run; nil = there is none. Words
// that are no variables are not looked for.
func (p *parser) topExpr(k, v *yaml.Node, example string, word func(name string) bool) *expr.Expr {
	src, ok := p.filled(k, v)
	if !ok {
		return nil
	}
	if i := strings.Index(src, "{{"); i >= 0 {
		p.fail(p.src.inside(v, 1+len([]rune(src[:i]))), "write the name alone: "+k.Value+": "+example, "an expression reads variables by their names, without braces")
		return nil
	}
	e, err := expr.Parse(src)
	if err != nil {
		p.badText(k, v, err)
		return nil
	}
	at, step := p.src.place(v), p.to
	p.to = nil // it belongs to no step
	defer func() { p.to = step }()
	for _, read := range e.Reads() {
		if !word(read.Name) {
			p.note(use{name: read.Name, pos: at.offset(read.Offset), maybe: read.Optional})
		}
	}
	return e
}

// EndsAt is the position in the file of a character of ends.
func (r *Recipe) EndsAt(col int) Pos { return r.endsPlace.after(0, col-1) }
