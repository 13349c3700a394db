package belay_test

import (
	"testing"

	"github.com/belay-run/belay"
)

// Every key that is made can be taken apart again, whatever dots its names have.
func TestParseKey(t *testing.T) {
	t.Parallel()
	for _, want := range []belay.KeyParts{
		{Run: "r", Path: "build", Role: belay.RoleMain, Attempt: 1},
		{Run: "r/a.b.2/c.1", Path: "x.3", Role: belay.RoleMain, Attempt: 12},
		{Run: "r", Path: "build", Role: belay.RoleRepair, Attempt: 2, Topic: belay.TopicAgent},
		{Run: "r", Path: belay.Path("v1.2").WithHook("post_step"), Role: belay.RoleHook, Attempt: 1},
		{Run: "r", Path: "build", Role: belay.RoleMerge, Attempt: 1, Topic: belay.TopicTree},
		{Run: "r", Path: "v1.2", Topic: belay.TopicWorktree},
		{Run: "r", Topic: belay.TopicWorktree},
		{Run: "r/all.1", Topic: belay.TopicList},
	} {
		got, ok := belay.ParseKey(want.Key())
		if !ok || got != want {
			t.Errorf("%s: %+v, %v", want.Key(), got, ok)
		}
	}
	for _, bad := range []belay.Key{"", "r", "r:", "r:build", "r:build.", "r:build.x", "r:build@repair"} {
		if got, ok := belay.ParseKey(bad); ok {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

// What is named of a run can be taken apart, and what names no run is as it was typed.
func TestCutRun(t *testing.T) {
	t.Parallel()
	if run, name, ok := belay.CutRun(belay.RunID("r/a.1").Of("v1:2")); !ok || run != "r/a.1" || name != "v1:2" {
		t.Errorf("%s, %s, %v", run, name, ok)
	}
	if run, name, ok := belay.CutRun("r"); ok || run != "r" || name != "" {
		t.Errorf("%s, %s, %v", run, name, ok)
	}
}

func TestRunParent(t *testing.T) {
	t.Parallel()
	got, ok := belay.RunID("r/a.1/v1.2.3").Parent()
	if want := (belay.KeyParts{Run: "r/a.1", Path: "v1.2", Role: belay.RoleMain, Attempt: 3}); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, ok := belay.RunID("r").Parent(); ok {
		t.Error("a root has no parent")
	}
	if belay.RunID("r/a.10").Under("r/a.1") || !belay.RunID("r/a.1/b.1").Under("r/a.1") {
		t.Error("a run is under another by whole names")
	}
}
