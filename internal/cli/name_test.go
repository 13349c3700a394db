package cli

import "testing"

// TestNameOfTheProgram: what people are told to type has the name of the program that tells
// them; what only sounds like that is left as it is.
func TestNameOfTheProgram(t *testing.T) {
	t.Parallel()
	const text = "list the runs with belay runs (belay COMMAND --help), or say belay --help; belay knows: /usr/bin/belay run, belay resume r1"
	a := &app{program: Program{Name: "belay-other"}}
	if got, want := a.ours(text), "list the runs with belay-other runs (belay-other COMMAND --help), or say belay-other --help; belay knows: /usr/bin/belay run, belay-other resume r1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&app{}).ours(text); got != text {
		t.Errorf("belay itself says %q", got)
	}
	lines := a.oursIn([]string{"  hint: belay doctor says how", "a step said: belay doctor"})
	if lines[0] != "  hint: belay-other doctor says how" || lines[1] != "a step said: belay doctor" {
		t.Errorf("%q", lines)
	}
	a.state = "/s"
	if a.name() != "belay-other --state /s" {
		t.Errorf("%q", a.name())
	}
}
