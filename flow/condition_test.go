package flow

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// What became of the values of a condition does not matter once its step has
// begun, also when the attempt was never born or only its first hook ran.
// promise: L
func TestAConditionIsDecidedOnce(t *testing.T) {
	src := "name: n\ncontext: {go: 'yes'}\nsteps:\n- {id: set, needs: [], command: x, output: go}\n" +
		"- {id: a, needs: [], condition: go == 'yes', command: x}\n"
	for how, want := range map[fault.Found]string{fault.Unborn: "r:a.1", fault.Lost: "r:a.2"} {
		t.Run(string(how), func(t *testing.T) {
			w := begin(t, src)
			w.wantStarts("r:set.1 r:a.1")
			w.print("r:set.1", "no")
			w.reload(map[belay.Key]fault.Found{"r:a.1": how})
			w.wantStarts(want)
		})
	}
	t.Run("hook", func(t *testing.T) {
		w := begin(t, src+"hooks: {pre_step: ': {{go}}'}\n")
		w.wantStarts("r:set@pre_step@hook.1 r:a@pre_step@hook.1")
		w.exit("r:set@pre_step@hook.1", 0)
		w.print("r:set.1", "no")
		w.exit("r:a@pre_step@hook.1", 0)
		w.wantStarts("r:a.1")
	})
	t.Run("not begun", func(t *testing.T) {
		w := begin(t, "name: n\ncontext: {go: 'yes'}\nsteps:\n- {id: set, command: x, output: go}\n- {id: a, condition: go == 'yes', command: x}\n")
		w.print("r:set.1", "no")
		w.wantStarts("")
		if got := w.phase("a"); got != NotTaken {
			t.Errorf("a is %s", got)
		}
	})
}
