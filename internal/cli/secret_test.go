package cli

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/belay-run/belay/internal/library"
)

// Values are looked at with what finds secrets, which is made once: for each value anew, a file of
// many values would take as long as it has values times the variables of the environment.
func TestSecretsAreReadOnce(t *testing.T) { //nolint:paralleltest // allocations are counted
	a := &app{}
	for i := range 50 {
		a.environ = append(a.environ, fmt.Sprintf("VARIABLE_%d=value %d", i, i), fmt.Sprintf("TOKEN_%d=some-token-%d", i, i))
	}
	cost := func(n int) float64 {
		vars := map[string]json.RawMessage{}
		for i := range n {
			vars[fmt.Sprintf("name_%d", i)] = json.RawMessage(`"harmless"`)
		}
		return testing.AllocsPerRun(2, func() {
			if err := a.secretSets(vars, &library.Set{}, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := cost(100), cost(1100); (many-few)/1000 > 20 {
		t.Errorf("each of many values takes %.0f allocations", (many-few)/1000)
	}
	err := a.secretSets(map[string]json.RawMessage{"x": json.RawMessage(`"it is some-token-7, there"`)}, &library.Set{}, nil)
	if want := "--set x: the value holds that of the secret $TOKEN_7, and what is set is written to the journal"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
