package cli

import (
	"strings"

	"github.com/belay-run/belay/recipe"
)

// differenceLine is a difference as --json prints it.
type differenceLine struct {
	Kind   string `json:"kind"` // difference
	ID     string `json:"id"`
	Theirs string `json:"theirs"`
	Ours   string `json:"ours"`
	Why    string `json:"why"`
	Compat bool   `json:"compat"` // compat: true brings their way back
}

// differences prints in what belay reads a recipe unlike the older runner, on
// purpose.
func (a *app) differences(asJSON bool) {
	for _, d := range recipe.Differences() {
		if asJSON {
			a.object(differenceLine{"difference", d.ID, d.Theirs, d.Ours, d.Why, d.Compat})
			continue
		}
		a.out.line("%s", d.ID)
		for _, row := range [][2]string{{"theirs", d.Theirs}, {"ours", d.Ours}, {"why", d.Why}} {
			a.out.line("  %-7s %s", row[0], strings.Join(strings.Fields(row[1]), " "))
		}
		if d.Compat {
			a.out.line("  %-7s %s", "compat", "compat: true brings their way back")
		}
	}
}
