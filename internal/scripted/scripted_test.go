package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
)

// TestMain lets the test binary be the program, so that it can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("SCRIPTED_TEST") != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func play(t *testing.T, script string, env map[string]string) ([]agent.ScriptedRecord, int, error) {
	t.Helper()
	var out bytes.Buffer
	code, err := Play(t.Context(), Scene{
		Script: []byte(script), Name: "s", Prompt: strings.NewReader("please fix the tests"),
		Out: &out, Dir: t.TempDir(), Getenv: func(name string) string { return env[name] },
	})
	var records []agent.ScriptedRecord
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r agent.ScriptedRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%q is no record: %v", lines.Text(), err)
		}
		records = append(records, r)
	}
	return records, code, err
}

func kinds(list []agent.ScriptedRecord) string {
	var words []string
	for _, r := range list {
		words = append(words, string(r.Type))
	}
	return strings.Join(words, " ")
}

func TestPlay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		kinds  string
		last   agent.ScriptedRecord
		code   int
	}{
		"the last words are the answer": {"- say: hello", "session text final", agent.ScriptedRecord{Text: "hello", Stop: belay.StopDone}, 0},
		"an answer in words":            {"- answer: done", "session final", agent.ScriptedRecord{Text: "done", Stop: belay.StopDone}, 0},
		"an answer as a value":          {"- answer: {ok: true, n: 3}", "session final", agent.ScriptedRecord{Text: `{"n":3,"ok":true}`, Stop: belay.StopDone}, 0},
		"a claim":                       {"- hollow: I have fixed everything", "session text final", agent.ScriptedRecord{Text: "I have fixed everything", Stop: belay.StopDone}, 0},
		"a refusal":                     {"- refuse: I will not", "session final", agent.ScriptedRecord{Text: "I will not", Stop: belay.StopRefused}, 0},
		"a cut":                         {"- say: half\n- truncate", "session text final", agent.ScriptedRecord{Text: "half", Stop: belay.StopTruncated}, 0},
		"a fault": {"- error: {class: rate_limit, status: 429, retry_after: 3s}", "session final", agent.ScriptedRecord{
			Stop: belay.StopError, Error: &agent.ScriptedFault{Class: belay.ClassRateLimit, Status: 429, RetryAfterMS: 3000},
		}, 1},
		"an exit":         {"- exit: 7", "session", agent.ScriptedRecord{}, 7},
		"no end":          {"- say: x\n- no_final: true", "session text", agent.ScriptedRecord{}, 0},
		"retries":         {"- retry: 2", "session retry retry final", agent.ScriptedRecord{Stop: belay.StopDone}, 0},
		"tokens":          {"- tokens: {input: 5, output: 2, cost: 0.01}", "session usage final", agent.ScriptedRecord{Stop: belay.StopDone}, 0},
		"a denial":        {"- deny: Bash", "session tool done final", agent.ScriptedRecord{Stop: belay.StopDone}, 0},
		"by a word":       {"cases: [{when: nothing, acts: [exit: 3]}, {when: fix the, acts: [exit: 4]}]", "session", agent.ScriptedRecord{}, 4},
		"a case for all":  {"cases: [{when: nothing, acts: [exit: 3]}, {acts: [exit: 5]}]", "session", agent.ScriptedRecord{}, 5},
		"a sleep":         {"- sleep: 1ms", "session final", agent.ScriptedRecord{Stop: belay.StopDone}, 0},
		"the name of all": {"steps: {other: [exit: 1], '*': [exit: 6]}", "session", agent.ScriptedRecord{}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, code, err := play(t, c.script, nil)
			if err != nil || code != c.code || kinds(records) != c.kinds {
				t.Fatalf("code %d, %v, records %q, want %d and %q", code, err, kinds(records), c.code, c.kinds)
			}
			last := records[len(records)-1]
			c.last.Type = agent.ScriptedFinal
			if last.Type == agent.ScriptedFinal && !reflect.DeepEqual(last, c.last) {
				t.Fatalf("last record %+v, want %+v", last, c.last)
			}
		})
	}
}

// A tool is denied, unless it is allowed by name.
func TestDenials(t *testing.T) {
	t.Parallel()
	for allowed, want := range map[string]bool{"": true, "Write": true, "Write\nBash": false, "Bash": false, "Bash(git *)": true} {
		records, _, err := play(t, "- deny: Bash", map[string]string{agent.ScriptedTools: allowed})
		if err != nil || kinds(records) != "session tool done final" {
			t.Fatalf("%v, records %q", err, kinds(records))
		}
		if c := records[2].Tool; c.Denied != want || c.Failed != want {
			t.Errorf("allowed %q: %+v, want denied %v", allowed, c, want)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	const script = "steps: {build: [exit: 3], a/build: [exit: 4]}"
	for path, want := range map[string]int{"build": 3, "x/build": 3, "a/build": 4} {
		if _, code, err := play(t, script, map[string]string{"BELAY_STEP": path}); err != nil || code != want {
			t.Errorf("%s: exit %d, %v, want %d", path, code, err, want)
		}
	}
}

// Which start it is: by its own count, and by the attempt where that is told.
func TestStarts(t *testing.T) {
	t.Parallel()
	const script = "attempts: [[exit: 1], [exit: 2], [exit: 3]]"
	env := map[string]string{StateVar: t.TempDir()}
	for _, want := range []int{1, 2, 3, 3} {
		if _, code, err := play(t, script, env); err != nil || code != want {
			t.Fatalf("exit %d, %v, want %d", code, err, want)
		}
	}
	env = map[string]string{"BELAY_ATTEMPT": "2", agent.ScriptedHome: filepath.Join(t.TempDir(), "home")}
	for _, want := range []int{2, 3} {
		if _, code, err := play(t, script, env); err != nil || code != want {
			t.Fatalf("attempt 2: exit %d, %v, want %d", code, err, want)
		}
	}
}

func TestBadScripts(t *testing.T) {
	t.Parallel()
	for script, line := range map[string]int{
		"- say: x\n- dance: true":             2,
		"- say: x\n- say: y\n  run: z":        2,
		"- write: {pth: x}":                   1,
		"- sleep: soon":                       1,
		"- error: {class: bad_luck}":          1,
		"- fork: away":                        1,
		"\n- signal: NOPE":                    2,
		"- flood: much":                       1,
		"attempts:\n- [say: x]\n- [oops: y]":  3,
		"steps:\n  a: [say: x]\n  b: [up: y]": 3,
		"acts: []\nextra: 1":                  2,
		"just words":                          1,
	} {
		records, code, err := play(t, script, nil)
		var wrong *Bad
		if !errors.As(err, &wrong) || wrong.Line != line || code != 65 || len(records) != 0 {
			t.Errorf("%q: code %d, %v, %d records; want a mistake in line %d, 65 and none", script, code, err, len(records), line)
		}
	}
	if _, code, err := play(t, "- [", nil); err == nil || code != 65 {
		t.Errorf("no YAML: code %d, %v", code, err)
	}
}

// What it does is real: a file, a command that fails, a commit.
func TestWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := filepath.Join(t.TempDir(), "s.yaml")
	text := "- write: {path: a/b.txt, text: one}\n- append: {path: a/b.txt, text: two}\n- run: test -f a/b.txt && exit 3\n- commit: all of it\n- garbage: 2000\n- flood: 100K\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "SCRIPTED_TEST=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a/b.txt")); string(b) != "onetwo" {
		t.Fatalf("the file holds %q", b)
	}
	if b, err := exec.Command("git", "-C", dir, "log", "--format=%s").Output(); err != nil || string(b) != "all of it\n" {
		t.Fatalf("commits %q, %v", b, err)
	}
	if len(out) < 102_000 || !bytes.Contains(out, []byte(`"command":"test -f a/b.txt \u0026\u0026 exit 3","exit":3,"failed":true`)) {
		t.Fatalf("%d bytes: %.2000s", len(out), out)
	}
}

// The ways to leave a child behind really do.
func TestFork(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"setsid", "nohup", "double", "daemon"} {
		pidFile := filepath.Join(t.TempDir(), "pid")
		_, code, err := play(t, "- fork: {how: "+how+", pid: "+pidFile+"}", nil)
		if err != nil || code != 0 {
			t.Fatalf("%s: exit %d, %v", how, code, err)
		}
		b, err := os.ReadFile(pidFile)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("%s: its child %d is not there: %v", how, pid, err)
		}
	}
}

func TestDiesOfASignal(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(script, []byte("- say: x\n- signal: KILL\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], script)
	cmd.Env = append(os.Environ(), "SCRIPTED_TEST=1")
	err := cmd.Run()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it ended with %v", err)
	}
}
