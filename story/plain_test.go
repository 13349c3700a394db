package story

import (
	"testing"

	"github.com/belay-run/belay"
)

// What people read of a failure has the words of its class, and none of the names that
// records have for it, however deep they stand.
func TestWorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    belay.Failure
		want string
	}{
		{belay.Failure{Kind: belay.HollowSuccess, Class: belay.ClassHollow, Cause: "x"}, "x"},
		{belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassAuth, Cause: "x"}, "not logged in, or wrong credentials: x"},
		{belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassInfrastructure, Cause: "x"}, "the machine lacks something: x"},
		{belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassInfrastructure, Rule: belay.RuleDeclared, Cause: "x"}, "x"},
		{belay.Failure{Kind: belay.AgentTimeout, Class: belay.ClassTimeout, Cause: "x"}, "it took too long: x"},
		{belay.Failure{Kind: belay.BashFailure, Class: belay.ClassRefusal, Cause: "x"}, "the model will not do it: x"},
		{belay.Failure{Kind: belay.BashFailure, Class: belay.ClassWorkFailure, Cause: "x"}, "x"},
		{belay.Failure{Kind: belay.RecipeFailure, Cause: "step a: recipe_failure: step b: bash_failure: exit 3"}, "step a: step b: exit 3"},
		{belay.Failure{Kind: belay.RecipeFailure, Cause: "step a: infrastructure: exit 1"}, "step a: exit 1"},
	} {
		if got := Worded(&c.f); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.f.Kind, c.f.Class, got, c.want)
		}
	}
	for _, kind := range belay.FailureKinds() {
		for _, class := range belay.Classes() {
			f := belay.Failure{Kind: kind, Class: class, Op: "step s", Cause: "x"}
			if got, want := Plain(f.Error()), "step s: "+meaning(kind, class)+"x"; got != want && got != "step s: "+meaning(kind, belay.ClassNone)+"x" {
				t.Errorf("%s: %q, want %q", f.Error(), got, want)
			}
		}
	}
}
