package flow

import (
	"encoding/json"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// A list is decoded by the run that it comes from, however many items and
// child runs look at it; a value of their own is theirs.
func TestDecodedByItsOwner(t *testing.T) {
	list := belay.Value{JSON: json.RawMessage(`["a","b"]`)}
	root := newScope(map[string]belay.Value{"list": list, "it": {JSON: json.RawMessage(`["outside"]`)}})
	first := func(c *scope, name string) *any {
		t.Helper()
		v, ok := c.value(name)
		if !ok {
			t.Fatalf("no value of %s", name)
		}
		return &v.([]any)[0]
	}
	item := root.with("it", belay.Value{JSON: json.RawMessage(`["mine"]`)})
	child := newScope(item.vars)
	child.up = item.base()
	if first(root, "list") != first(item, "list") || first(root, "list") != first(child, "list") {
		t.Error("the list was decoded more than once")
	}
	if got := *first(item, "it"); got != "mine" {
		t.Errorf("the item is %v", got)
	}
	if got := *first(child, "it"); got != "mine" {
		t.Errorf("the child's item is %v", got)
	}
	if got := *first(root, "it"); got != "outside" {
		t.Errorf("outside of the items it is %v", got)
	}
	root.set("list", belay.Value{JSON: json.RawMessage(`["new"]`)})
	if got := *first(child, "list"); got != "a" {
		t.Errorf("what changes later reaches a child: %v", got)
	}
	if got := *first(root, "list"); got != "new" {
		t.Errorf("the new list is %v", got)
	}
}

// A child whose first record holds all variables, as they once did, has those.
func TestOldChildHasItsOwnVariables(t *testing.T) {
	s := newState("r/a.1", Library{})
	vars := map[string]belay.Value{"v": belay.Text("own")}
	got, err := s.inherited(event.RunStarted{Vars: vars})
	if err != nil || string(got["v"].JSON) != `"own"` {
		t.Errorf("variables %v, %v", got, err)
	}
	if _, err := s.inherited(event.RunStarted{Vars: vars, Inherit: true}); err == nil {
		t.Error("a child of nobody inherits")
	}
	s.handed = newScope(map[string]belay.Value{"v": belay.Text("parent"), "w": belay.Text("parent")})
	got, err = s.inherited(event.RunStarted{Vars: vars, Inherit: true})
	if err != nil || string(got["v"].JSON) != `"own"` || string(got["w"].JSON) != `"parent"` {
		t.Errorf("variables %v, %v", got, err)
	}
}
