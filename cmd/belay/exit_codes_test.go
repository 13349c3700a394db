//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/exit"
)

// exitRow is a way to a code of the table: what has to be there before, and the
// command that ends with it. Both are text for bash; $ID is new each time.
type exitRow struct {
	code   int
	name   string
	before string
	ends   string // after "belay"
	run    bool   // it drives a recipe to its end: what goes wrong afterwards can be arranged
}

// exitRows are the rows of the table of exit codes. 2 is Go's own code of a
// panic: a build with failpoints shows it (crashPanic).
var exitRows = []exitRow{
	{exit.OK, "achieved", "", "run ok.yaml --id $ID", true},
	{exit.OK, "asked", "", "version", false},
	{exit.OK, "watched and achieved", "belay run ok.yaml --id $ID", "watch $ID --poll 20ms --window 5s", false},
	{exit.Failed, "a step fails", "", "run bad.yaml --id $ID", true},
	{exit.Stalemate, "rounds stand still", "", "run fix.yaml --id $ID", true},
	{exit.Stalemate, "refused again", "belay run fix.yaml --id $ID", "resume $ID", false},
	{exit.Aborted, "was cancelled", "belay run held.yaml --id $ID; belay cancel $ID", "resume $ID", false},
	{exit.Partial, "a step was skipped", "belay run held.yaml --id $ID; belay answer $ID a skip --why seen", "resume $ID", false},
	{exit.Hollow, "an agent did nothing", "", "run hollow.yaml --id $ID --max-replans 0 --agent scripted:idle.yaml", true},
	{exit.Damaged, "no journal", "belay run ok.yaml --id $ID; cp ok.yaml $BELAY_STATE/runs/$ID/journal.db", "resume $ID", false},
	{exit.Infra, "the machine", "", "run infra.yaml --id $ID", true},
	{exit.Busy, "driven by another", "belay run --detach long.yaml --id $ID; until [ -e $ID.began ]; do sleep 0.02; done", "resume $ID", false},
	{exit.Held, "a person must act", "", "run held.yaml --id $ID", true},
	{exit.Held, "watched and held", "belay run held.yaml --id $ID", "watch $ID --poll 20ms --window 5s", false},
	{exit.Window, "watched and running", "belay run --detach long.yaml --id $ID; until [ -e $ID.began ]; do sleep 0.02; done", "watch $ID --once", false},
	{exit.Watched, "watched and failed", "belay run bad.yaml --id $ID", "watch $ID --poll 20ms --window 5s", false},
	{exit.Watch, "the watch fails", "mkdir -p shared$ID; chmod 755 shared$ID", "--state $PWD/shared$ID watch --once", false},
	{exit.Usage, "no such flag", "", "run ok.yaml --nonsense", false},
	{exit.Invalid, "no such run", "", "resume nobody", false},
	{exit.Hangup, "SIGHUP", "", "run hup.yaml --id $ID", false},
	{exit.Interrupt, "SIGINT", "", "run int.yaml --id $ID", false},
	{exit.Interrupt, "SIGINT twice", "", "run twice.yaml --id $ID", false},
	{exit.Terminated, "SIGTERM", "", "run term.yaml --id $ID", false},
}

// exitTwist is what goes wrong beside the failure, or after it.
type exitTwist struct {
	name    string
	after   string // behind the command
	recipe  string // added to a recipe that is run: a hook that is done after the step failed
	success int    // what a command ends with that would be 0
	instead int    // comes before the run has ended: then this is its code, and the run can go on; 0 = it does not
	disk    bool   // the state directory has a small disk of its own
}

// breaks is a line of a recipe: a script that is done after a step, well or not.
func breaks(script string) string {
	return fmt.Sprintf("hooks: {post_step: %q, on_error: %q}\n", script, script)
}

// driver is the process that drives the run, as its beat names it.
const driver = `$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$BELAY_STATE/runs/$BELAY_RUN_ID/beat")`

var exitTwists = []exitTwist{
	{"nothing", "", "", exit.OK, 0, false},
	{"stdout closed", ">&-", "", exit.OK, 0, false}, // what was done is done; see asks
	{"stdout full", ">/dev/full", "", exit.Infra, 0, false},
	{"stdout full, JSON", "--json >/dev/full", "", exit.Infra, 0, false},
	{"stderr closed", "2>&-", "", exit.OK, 0, false},
	{"stderr full", "2>/dev/full", "", exit.OK, 0, false},
	{"both closed", ">&- 2>&-", "", exit.OK, 0, false},
	{"a hook fails", "", breaks("exit 7"), exit.OK, 0, false},
	{"the receipt cannot be written", "", breaks(`mkdir -p "$BELAY_STATE/runs/$BELAY_RUN_ID/receipt.json.part"`), exit.OK, 0, false},
	{"the index breaks", "", breaks(`for f in "$BELAY_STATE"/index.db*; do printf 'no database %.0s' {1..400} >"$f"; done`), exit.Infra, 0, false},
	{"SIGINT twice", "", breaks("kill -INT " + driver + "; sleep 0.05; kill -INT " + driver + "; sleep 0.05"), exit.Interrupt, exit.Interrupt, false},
	{"the disk is full", "", breaks(`cat /dev/zero >"$BELAY_STATE/ballast"`), exit.Infra, exit.Infra, true},
}

// Every code of the table is what the process ends with, whatever goes wrong
// beside the failure or after it; and nothing that failed ends in 0. A change tries
// every second of what can go wrong with each row; BELAY_SWEEPS=all tries everything.
//
// promise: X
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, want := range exit.Table() {
		if !slices.ContainsFunc(exitRows, func(r exitRow) bool { return r.code == want.Code }) && want.Code != exit.Panic {
			t.Errorf("no way to code %d: %s", want.Code, want.Meaning)
		}
	}
	for n, row := range exitRows {
		t.Run(fmt.Sprintf("%d %s", row.code, row.name), func(t *testing.T) {
			t.Parallel()
			for i, tw := range exitTwists {
				if tw.recipe != "" && !row.run || strings.Contains(tw.after, "--json") && !row.run && !strings.Contains(row.ends, "resume") {
					continue
				}
				if i > 0 && (n+i)%2 == 0 && !wholeSweep() {
					continue
				}
				b := newExitBench(t, tw.recipe)
				if tw.disk && !b.smallDisk(t) {
					continue
				}
				want := row.code
				if want == exit.OK {
					want = tw.success
				}
				if asks := row.ends == "version"; asks && strings.Contains(tw.after, ">&-") && !strings.HasPrefix(tw.after, "2") {
					want = exit.Infra // an answer is all that it has to give
				}
				got, said := b.bash(t, fmt.Sprintf("x%d", i), row, tw)
				if got != want && (tw.instead == 0 || got != tw.instead) {
					t.Errorf("%s: exit code %d, want %d\n%s", tw.name, got, want, said)
				}
			}
		})
	}
}

// exitBench is a folder with recipes, and a state directory of its own.
type exitBench struct{ dir string }

func newExitBench(t *testing.T, more string) exitBench {
	t.Helper()
	b := exitBench{t.TempDir()}
	t.Cleanup(func() { // before the folder goes
		if err := nothingLeft(b.dir); err != nil {
			t.Error(err)
		}
	})
	signals := func(how string) string {
		return "touch $BELAY_RUN_ID.began; kill " + how + " " + driver + "; sleep 60"
	}
	for name, step := range map[string]string{
		"ok":     `{id: a, command: "true"}`,
		"bad":    `{id: a, command: "false"}`,
		"held":   `{id: a, command: "false", on_failure: escalate}`,
		"infra":  `{id: a, command: "false", failure: infrastructure}`,
		"hollow": `{id: a, agent: scripted, prompt: fix it, expect: change}`,
		"fix":    `{id: a, command: echo same, output: said, repeat: {max: 5, until: last.output == 'other'}}`,
		"long":   `{id: a, command: "touch $BELAY_RUN_ID.began; sleep 60"}`,
		"hup":    fmt.Sprintf("{id: a, command: %q}", signals("-HUP")),
		"int":    fmt.Sprintf("{id: a, command: %q}", signals("-INT")),
		"term":   fmt.Sprintf("{id: a, command: %q}", signals("-TERM")),
		"twice":  fmt.Sprintf("{id: a, command: %q}", "trap '' TERM; kill -INT "+driver+"; sleep 0.2; "+signals("-INT")),
	} {
		b.put(t, name+".yaml", "name: "+name+"\n"+more+"steps:\n  - "+step+"\n")
	}
	b.put(t, "idle.yaml", "- answer: all done\n")
	return b
}

// smallDisk gives the state directory a disk of its own; false where this user
// may not mount one.
func (b exitBench) smallDisk(t *testing.T) bool {
	t.Helper()
	dir := filepath.Join(b.dir, "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		t.Logf("not tried with a full disk: %v", err)
		return false
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // the folder goes with the test
	return true
}

func (b exitBench) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// bash does what a row needs, then its command with a twist, and gives the code
// of that. What is still running is cancelled.
func (b exitBench) bash(t *testing.T, id string, row exitRow, tw exitTwist) (int, string) {
	t.Helper()
	text := row.before + "\nbelay " + row.ends + " " + tw.after + "\ncode=$?\n" +
		"[ ! -e $ID.began ] || belay cancel $ID >&2\nexit $code"
	cmd := exec.CommandContext(t.Context(), "bash", "-c", text)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "ID="+id, "WORK="+b.dir, "BELAY_STATE="+filepath.Join(b.dir, "state"), "HOME="+b.dir,
		"PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "BELAY_KILL_GRACE=300ms")
	out, err := cmd.CombinedOutput()
	return codeOf(err), string(out)
}
