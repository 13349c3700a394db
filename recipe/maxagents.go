package recipe

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

// readMaxAgents reads how many agents a run may start. A number that is the same in
// every run is looked at here.
func readMaxAgents(p *parser, r *Recipe, k, v *yaml.Node) {
	e := p.topExpr(k, v, "plan.max_agents", func(string) bool { return false })
	if e == nil {
		return
	}
	if len(e.Names()) == 0 {
		n, ok := Agents(e, func(string) (any, bool) { return nil, false })
		if !ok || n > belay.MostAgents {
			p.fail(posOf(v), "", "%q is a whole number from 1 to %d, or an expression that gives one", k.Value, belay.MostAgents)
			return
		}
	}
	r.MaxAgents = e
}

// Agents is the number of agents that max_agents gives; false while it gives none.
func Agents(e *expr.Expr, look expr.Lookup) (int, bool) {
	v, err := e.Eval(look)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(expr.TextOf(v)))
	return n, err == nil && n > 0
}
