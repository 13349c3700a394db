//go:build linux

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

// hintFiles are the recipes and the agents of all ways to come to rest.
var hintFiles = map[string]string{
	"bad.yaml":      `steps: [{id: a, command: "false"}]`,
	"deep.yaml":     `steps: [{id: call, recipe: bad, recovery: "off"}]`,
	"gap.yaml":      "context: {who: nobody}\nsteps: [{id: a, command: echo hi, condition: who == 'ann'}]",
	"gap-last.yaml": "context: {who: nobody}\nsteps: [{id: a, command: echo hi, condition: who == 'ann'}]\nfinally: [{id: z, command: echo last}]",
	"held.yaml":     `steps: [{id: a, command: "false", on_failure: escalate}]`,
	"nested.yaml":   `steps: [{id: call, recipe: held}]`,
	"two.yaml":      `steps: [{id: a, command: "false", on_failure: escalate}, {id: b, command: "false", on_failure: escalate, needs: []}]`,
	"once.yaml":     `steps: [{id: a, command: 'touch began; sleep 60', once: true}]`,
	"optional.yaml": `steps: [{id: a, command: "false", on_failure: escalate}, {id: b, command: "true"}]`,
	"ask.yaml":      `steps: [{id: ask, approve: {prompt: "Ship it?"}}, {id: b, command: "true"}]`,
	"which.yaml":    `steps: [{id: ask, approve: {prompt: "Where to?", choices: [staging, production]}}]`,
	"late.yaml":     `steps: [{id: ask, approve: {prompt: "Ship it?", timeout: 1500ms, on_timeout: reject}}]`,
	"wait.yaml":     `steps: [{id: ask, approve: {prompt: "Ship it?", timeout: 1h}}, {id: b, command: "true"}]`,
	"hold.yaml":     `steps: [{id: ask, approve: {prompt: "Ship it?", timeout: 300ms, on_timeout: hold}}]`,
	"fills.yaml":    `steps: [{id: a, command: '[ -e enough ] || cat /dev/zero >ballast', on_failure: escalate}]`,
	"long.yaml":     `steps: [{id: a, command: 'touch began; while [ -e slow ]; do sleep 0.02; done'}]`,
	"twice.yaml":    `steps: [{id: a, command: 'touch began; while [ -e slow ]; do sleep 0.02; done'}, {id: b, command: "true"}]`,
	"later.yaml":    `steps: [{id: flaky, command: '[ -e good ]', retry: {max_attempts: 9, backoff: 1500ms}}]`,
	"secret.yaml":   "secrets: [TOKEN]\n" + `steps: [{id: a, command: 'test "$TOKEN" = good'}]`,
	"rounds.yaml":   `steps: [{id: fix, command: cat answer, output: said, repeat: {max: 5, until: last.output == 'good'}}]`,
	"words.yaml":    "ends: said\n" + `steps: [{id: look, command: cat answer, output: said}]`,
	"given.yaml":    "context: {said: ''}\nends: said\n" + `steps: [{id: look, command: "true"}]`,
	"calls.yaml":    `steps: [{id: call, recipe: words, recovery: "off"}]`,
	"values.yaml":   "context: {who: '', n: 1, same: x}\ncontext_validation: {who: nonempty}\n" + `steps: [{id: a, command: 'touch began; while [ -e slow ]; do sleep 0.02; done'}, {id: b, command: "echo {{who}} {{n}} {{same}}"}]`,
	"change.yaml":   `steps: [{id: w, prompt: fix it, expect: change}]`,
	"loose.yaml":    `steps: [{id: call, recipe: bad}]`,
	"dear.yaml":     `steps: [{id: a, prompt: one, expect: answer}, {id: b, prompt: two, expect: answer}]`,
	"asks.yaml":     `steps: [{id: w, prompt: Change a file., expect: change}]`,
	"merge.yaml":    `steps: [{id: a, prompt: x, expect: change, parallel_group: g}, {id: b, prompt: x, expect: change, parallel_group: g, on_failure: escalate}]`,
}

var hintAgents = map[string]string{
	"idle.yaml":   "- answer: Done.\n",
	"input.yaml":  "- answer: \"I looked.\\nNEEDS_INPUT -- Which of the two files?\"\n",
	"writes.yaml": "steps:\n  a: [{run: 'echo one >answer'}, {answer: made it}]\n  b: [{run: 'echo two >answer'}, {answer: made it}]\n",
}

// hintWay is a way to bring run r to rest.
type hintWay struct {
	name   string
	status belay.Status // as why tells it
	setup  string       // in bash
	ends   bool         // the end of the setup's output tells the next command
	once   bool         // git knows its worktrees by their place: there is no copy, and one thing is typed
}

const (
	stops = `waits() { for i in $(seq 400); do [ -e "$1" ] && return; sleep 0.02; done; exit 1; }
drives() { touch slow; belay run "$@" --id r & waits began; }
driver() { sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$BELAY_STATE/runs/r/beat"; }
keeper() { sed -n 's/.*"keeper":{[^}]*"pid":\([0-9]*\).*/\1/p' "$BELAY_STATE/runs/r/keeper.log" | tail -n 1; }
dies() { kill -9 $1; while kill -0 $1 2>/dev/null; do sleep 0.02; done; }
repo() { git init -q -b main; git add -A; git -c user.name=a -c user.email=a@b.example commit -qm first; }
asks() { for i in $(seq 400); do belay inbox --json | grep -q '"approval"' && return; sleep 0.02; done; exit 1; }
stands() { for i in $(seq 400); do belay runs --json | grep -q '"status":"'$1'"' && return; sleep 0.02; done; exit 1; }
`
	alone = " --max-replans 0 --staff ''"
)

var hintWays = []hintWay{
	{"a step fails", belay.Failed, "belay run bad.yaml --id r", true, false},
	{"it fails three times", belay.Failed, "belay run bad.yaml --id r; belay resume r; belay resume r", true, false},
	{"a step of a sub-recipe fails", belay.Failed, "belay run deep.yaml --id r", true, false},
	{"no condition holds", belay.Failed, "belay run gap.yaml --id r --set who='b c'", true, false},
	{"no condition holds, and finally runs", belay.Failed, "belay run gap-last.yaml --id r", true, false},
	{"a step is held", belay.Held, "belay run held.yaml --id r", true, false},
	{"a step of a sub-recipe is held", belay.Held, "belay run nested.yaml --id r", true, false},
	{"two steps are held", belay.Held, "belay run two.yaml --id r", true, false},
	{"one of two is answered", belay.Held, "belay run two.yaml --id r; belay answer r a done --why seen", true, false},
	{"all is answered", belay.Held, "belay run held.yaml --id r; belay answer r a done --why seen", true, false},
	{"it is cut off, and must not run twice", belay.Held, "belay run once.yaml --id r & waits began; D=$(driver); dies $(keeper); dies $D; belay resume r", true, false},
	{"a step is left out", belay.Partial, "belay run optional.yaml --id r; belay answer r a skip --why no; belay resume r", true, false},
	{"an approval", belay.Held, "belay run ask.yaml --id r", true, false},
	{"an approval with choices", belay.Held, "belay run which.yaml --id r", true, false},
	{"an approval that is rejected", belay.Failed, "belay run ask.yaml --id r; belay reject r:ask --why no; belay resume r", true, false},
	{"an approval that timed out, and stays", belay.Held, "belay run hold.yaml --id r", true, false},
	{"a stop before an approval times out", belay.Stopped, "belay run late.yaml --id r & asks; belay stop r; sleep 1.5; wait", false, false},
	{"a stop", belay.Stopped, "drives long.yaml; belay stop r; rm slow; wait", true, false},
	{"a stop with an approval open", belay.Stopped, "belay run wait.yaml --id r & asks; belay stop r; wait", true, false},
	{"a pause", belay.Paused, "drives twice.yaml; belay pause r; rm slow; wait", true, false},
	{"a pause with an approval open", belay.Paused, "belay run ask.yaml --id r; belay pause r", true, false},
	{"it is cancelled", belay.Aborted, "drives values.yaml --set who=\"it's ann\" --set n=2; belay cancel r; rm slow; wait", true, false},
	{"its driver is killed", belay.Running, "drives long.yaml; K=$(keeper); dies $(driver); rm slow; while kill -0 $K 2>/dev/null; do sleep 0.02; done", false, false},
	{"it parks, and the watch goes", belay.Parked, "belay watch --all --poll 50ms --window 0 >/dev/null & W=$!; sleep 0.2; belay run later.yaml --id r --detach; stands PARKED; kill $W; wait $W; touch good", false, false},
	{"a variable is missing", belay.Failed, "TOKEN=bad belay run secret.yaml --id r", false, false},
	{"a variable is missing after a stop", belay.Stopped, "export TOKEN=good; drives long.yaml --secret TOKEN; belay stop r; rm slow; wait", false, false},
	{"rounds stand still", belay.Stalemate, "repo; belay run rounds.yaml --id r", true, false},
	{"rounds stand still without files to look at", belay.Stalemate, "belay run rounds.yaml --id r", true, false},
	{"a recipe says STALEMATE", belay.Stalemate, "echo STALEMATE >answer; belay run words.yaml --id r", true, false},
	{"a recipe says STALEMATE, and it is cleared", belay.Stalemate, "echo STALEMATE >answer; belay run words.yaml --id r; belay clear r attempts --why x", false, false},
	{"a recipe says PARTIAL", belay.Partial, "echo PARTIAL >answer; belay run words.yaml --id r", true, false},
	{"a recipe says NOT_ACHIEVED", belay.NotAchieved, "echo NOT_ACHIEVED >answer; belay run words.yaml --id r", true, false},
	{"a recipe says HOLLOW", belay.Hollow, "echo HOLLOW >answer; belay run words.yaml --id r", true, false},
	{"a recipe says FAILED", belay.Failed, "echo FAILED >answer; belay run words.yaml --id r", true, false},
	{"a value says STALEMATE", belay.Stalemate, "belay run given.yaml --id r --set said=STALEMATE", true, false},
	{"a sub-recipe says STALEMATE", belay.Stalemate, "echo STALEMATE >answer; belay run calls.yaml --id r", true, false},
	{"a sub-recipe says STALEMATE, and it is cleared", belay.Stalemate, "echo STALEMATE >answer; belay run calls.yaml --id r; belay clear r attempts --why x; belay resume r", true, false},
	{"an agent does nothing", belay.Hollow, "repo; belay run change.yaml --agent scripted:idle.yaml --id r" + alone, true, false},
	{"an agent does nothing, twice", belay.Hollow, "repo; belay run change.yaml --agent scripted:idle.yaml --id r" + alone + "; belay resume r", true, false},
	{"an agent does nothing, and is held for it", belay.Held, "repo; belay run change.yaml --agent scripted:idle.yaml --id r" + alone + "; belay resume r; belay resume r", true, false},
	{"what an agent recovered is not checked", belay.Partial, "belay run loose.yaml --agent scripted:idle.yaml --id r", true, false},
	{"an agent asks", belay.Held, "repo; belay run asks.yaml --agent scripted:input.yaml --id r" + alone, true, false},
	{"no agent may start any more", belay.Held, "belay run dear.yaml --agent scripted:idle.yaml --max-agents 1 --id r", true, false},
	{"two agents change the same", belay.Held, "repo; belay run merge.yaml --agent scripted:writes.yaml --id r" + alone, true, true},
}

// What is named as the next thing to type helps: every hint of every way in which a run
// comes to rest is typed as it stands, in a state as the run left it, with a choice that
// it names; with each of them with BELAY_SWEEPS=all. It is not refused, and the run goes on or is decided.
//
// promise: X, N2, V4
func TestLongEveryHintHelps(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for _, way := range hintWays {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			b := newHintBench(t)
			b.once = way.once
			out, _ := b.bash("state", stops+way.setup) // it ends as it ends
			why := b.why(t, out)
			if why.Status != way.status || len(why.Next.Commands) == 0 {
				t.Fatalf("%s with %q, want %s with a command\n%s", why.Status, why.Next.Commands, way.status, out)
			}
			if way.ends && !strings.Contains(out, "next: ") {
				t.Errorf("the end names nothing to type:\n%s", out)
			}
			if way.ends {
				for _, line := range nextLines(out) {
					b.looks(t, line)
				}
			}
			b.types(t, why.Next.Commands)
			for _, w := range why.Waits {
				if !w.TimedOut {
					b.types(t, slices.DeleteFunc([]string{w.Command, w.Then}, func(c string) bool { return c == "" }))
				}
			}
			for _, l := range b.inbox(t) {
				for _, c := range append(l.Commands, l.Command) {
					b.types(t, slices.DeleteFunc([]string{c, l.Then}, func(c string) bool { return c == "" }))
				}
				if l.Clear != "" {
					b.types(t, []string{l.Clear})
				}
			}
		})
	}
}

// A step that is held because the disk was full names resume: it helps once there is
// room again, and says so before.
//
// promise: X, N2
func TestHintOfAFullDisk(t *testing.T) {
	t.Parallel()
	b := newHintBench(t)
	disk := filepath.Join(b.dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("a full disk needs a disk of its own: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }) // the folder goes with the test
	out, code := b.bash("state", "cp fills.yaml disk; belay run fills.yaml -C disk --id r")
	why := b.why(t, out)
	if code != exit.Held || !slices.Equal(why.Next.Commands, []string{"belay resume r"}) || !strings.Contains(why.Next.Say, "make room on the disk") {
		t.Fatalf("exit code %d, %+v\n%s", code, why.Next, out)
	}
	if out, code := b.bash("state", "belay resume r"); code != exit.Held {
		t.Errorf("with no room: exit code %d\n%s", code, out)
	}
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	if why := b.why(t, out); !slices.Equal(why.Next.Commands, []string{"belay resume r"}) || strings.Contains(why.Next.Say, "make room") {
		t.Errorf("with room again: %+v", why.Next)
	}
	if out, code := b.bash("state", "touch disk/enough; belay resume r"); code != exit.OK {
		t.Errorf("with room again: exit code %d\n%s", code, out)
	}
}

// hintBench is a folder in which hints are typed.
type hintBench struct {
	dir   string
	typed map[string]bool
	n     int
	once  bool
}

func newHintBench(t *testing.T) *hintBench {
	t.Helper()
	b := &hintBench{dir: t.TempDir(), typed: map[string]bool{}}
	t.Cleanup(func() { // before the folder goes
		if err := nothingLeft(b.dir); err != nil {
			t.Error(err)
		}
	})
	files := map[string]string{"answer": "same\n", ".gitignore": "state*\nsaid*\n"}
	for name, text := range hintFiles {
		files[name] = "name: " + strings.TrimSuffix(name, ".yaml") + "\n" + text + "\n"
	}
	for name, text := range hintAgents {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// bash runs a script with a state directory of the bench.
func (b *hintBench) bash(state, script string) (string, int) {
	cmd := exec.Command("timeout", "60", "bash", "-c", script)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "BELAY_STATE="+filepath.Join(b.dir, state), "HOME="+b.dir, "BELAY_WATCH_PARK=300ms",
		"PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "BELAY_KILL_GRACE=300ms", "GIT_CONFIG_NOSYSTEM=1")
	file, err := os.CreateTemp(b.dir, "said") // who stays behind does not hold the test
	if err != nil {
		return err.Error(), exit.Infra
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	code := codeOf(cmd.Run())
	out, err := os.ReadFile(file.Name())
	if err != nil {
		return err.Error(), exit.Infra
	}
	return string(out), code
}

type hintWhy struct {
	Status belay.Status
	Next   struct {
		Say      string
		Commands []string
	}
	Waits []struct {
		Command, Then string
		TimedOut      bool `json:"timed_out"`
	}
}

func (b *hintBench) why(t *testing.T, said string) (w hintWhy) {
	t.Helper()
	out, _ := b.bash("state", "belay why r --json")
	if err := json.Unmarshal([]byte(out), &w); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, said)
	}
	return w
}

type hintLetter struct {
	Command, Then, Clear string
	Commands             []string
}

func (b *hintBench) inbox(t *testing.T) (list []hintLetter) {
	t.Helper()
	out, _ := b.bash("state", "belay inbox --json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return list
}

// nextLines are what the end of a run names to type.
func nextLines(out string) (lines []string) {
	for l := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(l), "next: "); ok {
			lines = []string{text} // the last one counts
		}
	}
	return lines
}

// looks types what a line offers beside the next commands: a look at something.
func (b *hintBench) looks(t *testing.T, line string) {
	t.Helper()
	if rest, ok := strings.CutPrefix(line, "look at "); ok {
		look, rest, _ := strings.Cut(rest, ", ")
		if out, code := b.bash("state", look); code != exit.OK {
			t.Errorf("%s: exit code %d\n%s", look, code, out)
		}
		line = rest
	}
	for _, deed := range []string{"fix the cause, then ", "find out why the agent did nothing, then ", "find out why its check shows nothing, then ", "allow new attempts: "} {
		line = strings.TrimPrefix(line, deed)
	}
	for _, offer := range strings.Split(line, ", or ") {
		if strings.HasPrefix(offer, "belay show") || strings.HasPrefix(offer, "belay logs") {
			if out, code := b.bash("state", offer); code != exit.OK {
				t.Errorf("%s: exit code %d\n%s", offer, code, out)
			}
			continue
		}
		b.types(t, strings.Split(offer, ", then "))
	}
}

// choiceList is one of several answers.
var choiceList = regexp.MustCompile(`[a-z_]+(\|[a-z_]+)+`)

// types types commands one after the other, once with each choice, in a copy of the state.
func (b *hintBench) types(t *testing.T, cmds []string) {
	t.Helper()
	all := strings.Join(cmds, "\n")
	if b.typed[all] {
		return
	}
	b.typed[all] = true
	if b.once && b.n > 0 {
		return
	}
	choices := []string{""}
	if list := choiceList.FindString(all); list != "" {
		if choices = strings.Split(list, "|"); !wholeSweep() || b.once {
			choices = choices[:1]
		}
	}
	for _, choice := range choices {
		b.n++
		state := fmt.Sprintf("state%d", b.n)
		if b.once {
			state = "state"
		} else if out, code := b.bash("state", "cp -a state "+state); code != 0 {
			t.Fatal(out)
		}
		for i, c := range cmds {
			c = choiceList.ReplaceAllString(c, choice)
			c = strings.NewReplacer("TEXT", "because", "=VALUE", "=good").Replace(c)
			b.acts(t, state, c, i == len(cmds)-1)
		}
	}
}

// acts types one command. It is not refused; what only looks answers, and all else is
// written down. The last one makes the run go on, or decides it.
func (b *hintBench) acts(t *testing.T, state, cmd string, last bool) {
	t.Helper()
	before := b.records(t, state)
	out, code := b.bash(state, cmd)
	after := b.records(t, state)
	var starts, ends, ids int
	for _, r := range after[min(len(before), len(after)):] {
		switch r.Event.(type) {
		case event.AttemptStarted, event.ItemOpened, event.ItemExpired:
			starts++
		case event.RunEnded:
			ends++
		}
	}
	runs, err := filepath.Glob(filepath.Join(b.dir, state, "runs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	ids = len(runs)
	word := regexp.MustCompile(`belay (\S+)`).FindStringSubmatch(cmd)
	fail := func(why string) {
		t.Errorf("%s: %s (exit code %d, %d new records)\n%s", cmd, why, code, len(after)-len(before), out)
	}
	switch {
	case word == nil:
		fail("it is no command of belay")
	case slices.Contains([]int{exit.Usage, exit.Invalid, exit.Busy, exit.Infra}, code) || strings.Contains(out, "belay: error:"):
		fail("it is refused")
	case word[1] == "why" || word[1] == "show":
		if code != exit.OK {
			fail("it does not answer")
		}
	case word[1] == "run":
		if ids < 2 {
			fail("no new run")
		}
	case len(after) == len(before):
		fail("nothing is on record")
	case (word[1] == "resume" || word[1] == "rerun") && last && starts+ends == 0:
		fail("nothing begins")
	}
}

func (b *hintBench) records(t *testing.T, state string) []event.Record {
	t.Helper()
	st, err := journal.OpenState(filepath.Join(b.dir, state))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	view, err := st.View("r")
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	recs, err := view.Load()
	if err != nil {
		t.Fatal(err)
	}
	return recs
}
