package belay

import "testing"

// What people read of a failure has the words of its class, and none of the names that
// records have for it, however deep they stand.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    Failure
		want string
	}{
		{Failure{Kind: HollowSuccess, Class: ClassHollow, Cause: "x"}, "x"},
		{Failure{Kind: Infrastructure, Class: ClassAuth, Cause: "x"}, "not logged in, or wrong credentials: x"},
		{Failure{Kind: Infrastructure, Class: ClassInfrastructure, Cause: "x"}, "the machine lacks something: x"},
		{Failure{Kind: Infrastructure, Class: ClassInfrastructure, Rule: RuleDeclared, Cause: "x"}, "x"},
		{Failure{Kind: AgentTimeout, Class: ClassTimeout, Cause: "x"}, "it took too long: x"},
		{Failure{Kind: BashFailure, Class: ClassRefusal, Cause: "x"}, "the model will not do it: x"},
		{Failure{Kind: BashFailure, Class: ClassWorkFailure, Cause: "x"}, "x"},
		{Failure{Kind: RecipeFailure, Cause: "step a: recipe_failure: step b: bash_failure: exit 3"}, "step a: step b: exit 3"},
		{Failure{Kind: RecipeFailure, Cause: "step a: infrastructure: exit 1"}, "step a: exit 1"},
	} {
		if got := c.f.Words(); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.f.Kind, c.f.Class, got, c.want)
		}
	}
	for _, kind := range FailureKinds() {
		for _, class := range Classes() {
			f := Failure{Kind: kind, Class: class, Op: "step s", Cause: "x"}
			if got, want := Plain(f.Error()), "step s: "+meaning(kind, class)+"x"; got != want && got != "step s: "+meaning(kind, ClassNone)+"x" {
				t.Errorf("%s: %q, want %q", f.Error(), got, want)
			}
		}
	}
}
