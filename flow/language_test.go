package flow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

// startWith begins a run with more in its first record.
func startWith(t *testing.T, src string, change func(*event.RunStarted), subs ...string) *world {
	t.Helper()
	lib := Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	root := load(t, "root", src, lib)
	for i := 0; i+1 < len(subs); i += 2 {
		load(t, subs[i], subs[i+1], lib)
	}
	first := event.RunStarted{
		Schema: event.Schema, Name: root.Name, Recipe: root.Digest, Dir: "/d",
		Vars: map[string]belay.Value{}, Limits: belay.DefaultLimits(),
	}
	for _, v := range root.Context {
		first.Vars[v.Name] = belay.Value{JSON: v.JSON}
	}
	change(&first)
	w := &world{t: t, lib: lib, now: start, tree: NewTree("r", lib), jobs: map[belay.Key]effect.Job{}}
	w.turn(Fact{"r", first}, Fact{"r", event.RunAttached{Epoch: 1}})
	return w
}

// promise: L
func TestArgs(t *testing.T) {
	t.Parallel()
	w := begin(t, `name: n
context: {who: ann, deep: {list: [1, 2]}}
steps:
- {id: a, command: "echo {{who}} {{deep.list[1]}} $(( {{deep.list[0]}} ))", verify: "test {{who}}"}
`)
	j := w.jobs["r:a.1"]
	got := map[string]bool{}
	for _, v := range j.Args {
		got[string(v.JSON)] = true
	}
	if len(j.Args) != 3 || !got[`"ann"`] || !got[`"2"`] || !got[`"1"`] {
		t.Errorf("args %v", j.Args)
	}
	if len(j.Ints) != 1 || string(j.Args[j.Ints[0]].JSON) != `"1"` {
		t.Errorf("ints %v", j.Ints)
	}
	w.exit("r:a.1", 0)
	if v := w.jobs["r:a@verify.1"]; len(v.Args) != 1 {
		t.Errorf("args of the check: %v", v.Args)
	}
}

// A value that lies outside the records is handed on as it is.
func TestArgsOfBigValues(t *testing.T) {
	t.Parallel()
	big := belay.Value{Sha: "abc", Size: 1 << 20}
	w := startWith(t, "name: n\ncontext: {v: ''}\nsteps:\n- {id: a, command: \"echo {{v}}\"}\n- {id: b, command: \"echo {{v | trim}}\"}\n",
		func(e *event.RunStarted) { e.Vars["v"] = big })
	for _, v := range w.jobs["r:a.1"].Args {
		if v.Sha != big.Sha {
			t.Errorf("got %+v", v)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	const src = "name: n\nsteps:\n- {id: a, needs: [], command: x, when_tags: [fast]}\n- {id: b, needs: [], command: x, when_tags: [slow, odd]}\n- {id: c, needs: [], command: x}\n"
	for _, c := range []struct {
		include, exclude string
		want             string
	}{
		{"", "", "r:a.1 r:b.1 r:c.1"},
		{"fast", "", "r:a.1 r:c.1"},
		{"", "odd", "r:a.1 r:c.1"},
		{"slow", "odd", "r:c.1"},
		{"none", "", "r:c.1"},
	} {
		w := startWith(t, src, func(e *event.RunStarted) { e.Include, e.Exclude = strings.Fields(c.include), strings.Fields(c.exclude) })
		if got := w.starts(); got != c.want {
			t.Errorf("include %q, exclude %q: started %q, want %q", c.include, c.exclude, got, c.want)
		}
	}
}

const hooked = `name: n
hooks: {pre_step: before, post_step: after, on_error: bad}
steps:
- {id: a, command: x, retry: 2}
- {id: b, command: y}
`

func TestHooks(t *testing.T) {
	t.Parallel()
	w := begin(t, hooked)
	w.wantStarts("r:a@pre_step@hook.1")
	w.exit("r:a@pre_step@hook.1", 1) // never judged
	w.wantStarts("r:a.1")
	w.exit("r:a.1", 1)
	w.wantStarts("r:a.2") // not greeted again
	w.exit("r:a.2", 0)
	w.wantStarts("r:a@post_step@hook.1")
	if env := w.jobs["r:a@post_step@hook.1"].Env; env["BELAY_HOOK_STEP"] != "a" || env["BELAY_HOOK_STATUS"] != "done" || env["BELAY_HOOK_ERROR"] != "" {
		t.Errorf("environment %v", env)
	}
	w.exit("r:a@post_step@hook.1", 0)
	w.wantStarts("r:b@pre_step@hook.1")
	w.exit("r:b@pre_step@hook.1", 0)
	w.exit("r:b.1", 7)
	w.wantStarts("r:b@on_error@hook.1")
	if env := w.jobs["r:b@on_error@hook.1"].Env; env["BELAY_HOOK_STATUS"] != "failed" || !strings.Contains(env["BELAY_HOOK_ERROR"], "exit 7") {
		t.Errorf("environment %v", env)
	}
	w.wantStatus(belay.Running, 0)
	w.exit("r:b@on_error@hook.1", 0)
	w.wantStatus(belay.Failed, exit.Failed)
	w.turn(w.tree.Reopen("me", "again")...)
	w.wantStarts("r:b@pre_step@hook.2")
}

// promise: K2
func TestHooksAfterACrash(t *testing.T) {
	t.Parallel()
	w := begin(t, hooked)
	w.reload(map[belay.Key]fault.Found{"r:a@pre_step@hook.1": fault.Unborn})
	w.wantStarts("r:a@pre_step@hook.1")
	w.reload(map[belay.Key]fault.Found{"r:a@pre_step@hook.1": fault.Lost})
	w.wantStarts("r:a@pre_step@hook.2") // a lost hook comes again
	w.reload(map[belay.Key]fault.Found{"r:a@pre_step@hook.2": fault.Lost})
	w.reload(map[belay.Key]fault.Found{"r:a@pre_step@hook.3": fault.Lost})
	w.wantStarts("r:a.1") // but not for ever
	w.exit("r:a.1", 0)
	w.reload(map[belay.Key]fault.Found{"r:a@post_step@hook.1": fault.Adopted})
	w.wantStarts("")
	w.exit("r:a@post_step@hook.1", 0)
	w.wantStarts("r:b@pre_step@hook.1")
	w.turn(request("c", event.RequestCancel, ""))
	w.end("r:b@pre_step@hook.1", effect.Observation{Signal: 15, KilledBy: fault.KilledCancel})
	w.wantStatus(belay.Aborted, exit.Aborted)
}

// promise: L
func TestForeach(t *testing.T) {
	t.Parallel()
	w := begin(t, `name: n
context: {list: [10, {"k": "v"}, "x y"]}
steps:
- {id: a, foreach: list, as: it, max_parallel: 2, command: "echo {{it}}", output: out, retry: 2}
- {id: b, command: "echo $OUT"}
`)
	w.wantStarts("r/a.1:item-1.1 r/a.1:item-2.1")
	if v := w.jobs["r/a.1:item-2.1"].Vars["it"]; string(v.JSON) != `{"k": "v"}` && string(v.JSON) != `{"k":"v"}` {
		t.Errorf("the second item is %s", v.JSON)
	}
	out := func(k belay.Key, raw string) {
		w.end(k, effect.Observation{Began: true, Output: &belay.Value{JSON: json.RawMessage(raw)}})
	}
	out("r/a.1:item-2.1", `2`)
	w.wantStarts("r/a.1:item-3.1")
	w.exit("r/a.1:item-3.1", 1)
	w.wantStarts("r/a.1:item-3.2") // it keeps its place
	w.reload(map[belay.Key]fault.Found{"r/a.1:item-1.1": fault.Adopted, "r/a.1:item-3.2": fault.Adopted})
	out("r/a.1:item-3.2", `"three"`)
	out("r/a.1:item-1.1", `1`)
	w.wantStarts("r:b.1")
	if got := string(w.jobs["r:b.1"].Vars["out"].JSON); got != `[1,2,"three"]` {
		t.Errorf("the list is %s", got)
	}
}

func TestForeachBounds(t *testing.T) {
	t.Parallel()
	long := "[" + strings.Repeat("1,", recipe.MaxItems) + "1]"
	for name, v := range map[string]belay.Value{
		"no list": {JSON: json.RawMessage(`{"a": 1}`)}, "too long": {JSON: json.RawMessage(long)},
	} {
		w := startWith(t, "name: n\ncontext: {list: []}\nsteps:\n- {id: a, foreach: list, command: x}\n",
			func(e *event.RunStarted) { e.Vars["list"] = v })
		w.wantStatus(belay.Failed, exit.Failed)
		if w.starts() != "" {
			t.Errorf("%s: started %s", name, w.starts())
		}
	}
	w := begin(t, "name: n\nallow_empty: true\ncontext: {list: []}\nsteps:\n- {id: a, foreach: list, command: x, output: out}\n")
	w.wantStatus(belay.Achieved, 0)
	if got := string(w.tree.Run("r").Vars()["out"].JSON); got != "[]" {
		t.Errorf("no items give %s", got)
	}
}

// A thousand items do not count as steps of nested recipes, and are quick.
func TestForeachMany(t *testing.T) {
	t.Parallel()
	w := startWith(t, "name: n\ncontext: {list: []}\nsteps:\n- {id: a, foreach: list, max_parallel: 1, command: x}\n",
		func(e *event.RunStarted) {
			e.Vars["list"] = belay.Value{JSON: json.RawMessage("[" + strings.Repeat("1,", recipe.MaxItems-1) + "1]")}
			e.Limits.MaxTotalSteps = 3
		})
	for i := 1; i <= recipe.MaxItems; i++ {
		k := belay.Key(fmt.Sprintf("r/a.1:item-%d.1", i))
		w.wantStarts(string(k))
		w.exit(k, 0)
	}
	w.wantStatus(belay.Achieved, 0)
}

// promise: L
func TestHiddenValuesStopWhoReadsThem(t *testing.T) {
	t.Parallel()
	const first = "name: n\ncontext: {tok: '', copy: ''}\nsteps:\n- {id: make, command: x, output: tok}\n"
	for name, step := range map[string]string{
		"a placeholder":   `{id: use, command: "echo {{tok}}"}`,
		"a variable":      `{id: use, command: "echo $TOK"}`,
		"a long name":     `{id: use, command: "echo $RECIPE_VAR_tok"}`,
		"a file":          `{id: use, command: "cat $TOK_FILE"}`,
		"a condition":     `{id: use, command: "true", condition: "tok == 'x'"}`,
		"a check":         `{id: use, command: "true", verify: "test {{tok}}"}`,
		"a directory":     `{id: use, command: "true", working_dir: "{{tok}}"}`,
		"handed down":     `{id: use, recipe: sub, context: {copy: "{{tok}}"}}`,
		"read by a child": `{id: use, recipe: reader}`,
	} {
		w := begin(t, first+"- "+step+"\n", "sub", "name: sub\nsteps:\n- {id: s, command: x}\n",
			"reader", "name: reader\ncontext: {tok: ''}\nsteps:\n- {id: s, command: \"echo $TOK\"}\n")
		w.end("r:make.1", effect.Observation{Began: true, Output: &belay.Value{JSON: json.RawMessage(`"[REDACTED]"`)}, Hidden: []string{effect.Stdout}})
		w.wantStarts("")
		w.wantStatus(belay.Failed, exit.Failed)
		use, _ := w.tree.Run("r").Step("use")
		if use.Failure == nil || !strings.Contains(use.Failure.Cause, "make") || !strings.Contains(use.Failure.Cause, "tok") {
			t.Errorf("%s: failure %+v", name, use.Failure)
		}
	}
	w := begin(t, first+"- {id: other, command: \"echo fine\"}\n")
	w.end("r:make.1", effect.Observation{Began: true, Output: &belay.Value{JSON: json.RawMessage(`"[REDACTED]"`)}, Hidden: []string{effect.Stdout}})
	w.wantStarts("r:other.1")
	if _, there := w.jobs["r:other.1"].Vars["tok"]; there {
		t.Error("a step that does not ask for it gets a value with a hole in it")
	}
}

func TestHiddenValuesComeUp(t *testing.T) {
	t.Parallel()
	w := begin(t, "name: n\ncontext: {tok: ''}\nsteps:\n- {id: call, recipe: sub}\n- {id: use, command: \"echo {{tok}}\"}\n",
		"sub", "name: sub\nsteps:\n- {id: s, command: x, output: tok}\n")
	w.end("r/call.1:s.1", effect.Observation{Began: true, Output: &belay.Value{JSON: json.RawMessage(`"x"`)}, Hidden: []string{effect.Stdout}})
	w.wantStatus(belay.Failed, exit.Failed)
}

func TestCompatMissingNames(t *testing.T) {
	t.Parallel()
	w := startWith(t, "name: n\ncompat: true\nsteps:\n- {id: a, command: \"echo {{gone}} {{gone | default('d')}}\"}\n- {id: b, condition: \"gone == 'x'\", command: x}\n",
		func(*event.RunStarted) {})
	var values []string
	for _, v := range w.jobs["r:a.1"].Args {
		values = append(values, string(v.JSON))
	}
	if got := strings.Join(values, " "); got != `"" "d"` && got != `"d" ""` {
		t.Errorf("values %s", got)
	}
	w.exit("r:a.1", 0)
	w.wantStatus(belay.Achieved, 0)
}

func TestRehearse(t *testing.T) {
	t.Parallel()
	lib := Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	root := load(t, "root", `name: n
context: {mode: fast, list: [1, 2], n: x}
steps:
- {id: make, command: x, output: made, working_dir: "in-{{mode}}"}
- {id: no, command: x, condition: "mode == 'slow'"}
- {id: maybe, command: "echo {{made}}", condition: "made > 1"}
- {id: call, recipe: sub, context: {got: "{{made}}", want: "{{mode}}"}}
- {id: sum, command: "echo $(( {{n}} ))"}
- {id: late, command: x, condition: "deep == 1"}
`, lib)
	load(t, "sub", "name: sub\ncontext: {got: '', want: '', deep: 0}\nsteps:\n- {id: s, command: x, condition: \"got == 1\", output: deep}\n- {id: t, command: x, condition: \"want == 'slow'\"}\n", lib)
	first := event.RunStarted{Schema: event.Schema, Recipe: root.Digest, Dir: "/d", Limits: belay.DefaultLimits(), Vars: map[string]belay.Value{}}
	for _, v := range root.Context {
		first.Vars[v.Name] = belay.Value{JSON: v.JSON}
	}
	steps, err := Rehearse(lib, first, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		line := s.Step + " " + string(s.Take)
		if s.Problem != "" {
			line += " problem"
		}
		got = append(got, line)
	}
	want := "make taken, no not taken, maybe depends, call taken, call/s depends, call/t not taken, sum taken problem, late depends"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if steps[0].Dir != "/d/in-fast" {
		t.Errorf("directory %s", steps[0].Dir)
	}
}

func TestSubRecipeRules(t *testing.T) {
	t.Parallel()
	const sub = "name: sub\ncontext_validation: {must: nonempty}\nsteps:\n- {id: s, command: x}\n"
	w := begin(t, "name: n\ncontext: {must: ' '}\nsteps:\n- {id: a, recipe: sub}\n", "sub", sub)
	w.wantStatus(belay.Failed, exit.Failed)
	w = begin(t, "name: n\ncontext: {must: ' '}\nsteps:\n- {id: a, recipe: sub, context: {must: v}}\n", "sub", sub)
	w.wantStarts("r/a.1:s.1")
}
