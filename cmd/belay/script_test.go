package main_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/journal"
)

// program is the binary under test, built once by TestMain.
var program string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == talkerName {
		os.Exit(talkACP(os.Args[1:]))
	}
	if filepath.Base(os.Args[0]) == receiverName {
		os.Exit(receive(os.Args[1:]))
	}
	if filepath.Base(os.Args[0]) == forgeName {
		os.Exit(playForge(os.Args[1:]))
	}
	flag.Parse()
	heedSignals()
	if err := scratch.SideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(scratch.Use(func() int { return withProgram(m.Run) }))
}

// longestFirst lists files so that those with the longest pauses, which are the ones
// of agents, are not left for the end: of tests that wait for their turn, the last
// one is started first.
func longestFirst(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	agents := func(file string) bool { return strings.HasPrefix(filepath.Base(file), "agent-") }
	return append(slices.DeleteFunc(slices.Clone(files), agents),
		slices.DeleteFunc(files, func(file string) bool { return !agents(file) })...)
}

// heedSignals takes back that a signal is ignored, as SIGHUP is under nohup and
// SIGINT in the background of a script: every program that a test starts would
// inherit that, and belay respects it.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "belay-bin-")
	if err == nil {
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "belay")
		build := exec.Command("go", append(append([]string{"build"}, buildFlags()...), "-o", program, ".")...)
		build.Env = append(os.Environ(), buildEnv)
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		err = build.Run()
	}
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, "template", "hooks"), 0o700), linkTalker(dir), linkForge(dir), linkReceiver(dir), os.Setenv("PROGRAM_UNDER_TEST", program), os.Setenv("GORACE", raceLog(dir)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build belay:", err)
		return 1
	}
	return max(run(), races(dir))
}

// raceLog sends what the race detector finds in any process of the program to
// files: many of them have no terminal, and their exit code is another's. A
// program that watches itself would wait a second before each of its exits.
func raceLog(dir string) string {
	return "atexit_sleep_ms=10 log_path=" + filepath.Join(dir, "race")
}

// races prints what was found, and is the exit code that follows.
func races(dir string) int {
	files, err := filepath.Glob(filepath.Join(dir, "race.*"))
	for _, name := range files {
		found, bad := os.ReadFile(name)
		err = errors.Join(err, bad)
		fmt.Fprintf(os.Stderr, "%s\n", found)
	}
	if err != nil || len(files) > 0 {
		fmt.Fprintln(os.Stderr, "data races in the program:", len(files), err)
		return 1
	}
	return 0
}

// TestScript runs the scripts against the real binary. Every journal that a
// script leaves behind is audited, and nothing of it may be left running.
func TestScript(t *testing.T) {
	t.Parallel()
	runScripts(t, false)
}

// TestLongScript runs those that say of themselves that they are long.
func TestLongScript(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	runScripts(t, true)
}

// isLong tells whether a script says in its opening lines that it is a long one.
func isLong(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			return false
		}
		if strings.TrimSpace(line) == "# long" {
			return true
		}
	}
	return false
}

func runScripts(t *testing.T, long bool) {
	t.Helper()
	files := longestFirst(t, filepath.Join("testdata", "script", "*.txtar"))
	testscript.Run(t, testscript.Params{
		Files:               slices.DeleteFunc(files, func(file string) bool { return isLong(t, file) != long }),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"start":    startIn,
			"signal":   signalTo,
			"finish":   finish,
			"waitfor":  waitFor,
			"jsonl":    jsonLines,
			"jsonlast": jsonLast,
			"record":   record,
			"mkfile":   mkfile,
		},
	})
}

func setup(env *testscript.Env) error {
	action, err := filepath.Abs("../../.github/actions/do")
	if err != nil {
		return err
	}
	env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	env.Setenv("BIN", filepath.Dir(program))
	env.Setenv("FORGE", forgeFolder())
	env.Setenv("ACTION", action)
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("BELAY_STATE", filepath.Join(env.WorkDir, "state"))
	env.Setenv("TZ", "UTC")
	env.Setenv("GIT_TEMPLATE_DIR", filepath.Join(filepath.Dir(program), "template")) // a new repository needs no examples of hooks
	env.Setenv("BELAY_AGENTS_PATIENCE", "3s")                                        // what is down in a test stays down
	env.Setenv("GORACE", os.Getenv("GORACE"))
	env.Setenv("GOCACHE", goCache())
	env.Setenv("RUSTUP_HOME", rustupHome())
	env.Values[jobsKey{}] = &jobs{by: map[string]*job{}}
	t, work := env.T(), env.WorkDir
	env.Defer(func() {
		if err := errors.Join(checkJournals(work), nothingLeft(work)); err != nil {
			t.Fatal(err)
		}
	})
	return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o700)
}

// rustupHome is where rustup keeps the toolchains that its cargo starts.
func rustupHome() string {
	if dir := os.Getenv("RUSTUP_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".rustup")
}

// goCache is where go keeps what it built: with a home of its own a script that
// runs go would build it all again.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "go-build")
	}
	return filepath.Join(dir, "go-build")
}

// goModCache is where Go keeps the modules that it has fetched, for a HOME that has none.
func goModCache() string {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// condition answers what a script may depend on.
func condition(cond string) (bool, error) {
	if cond == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// checkJournals holds every journal under a directory against the rules. A
// script that damages one on purpose puts a file named damaged beside it.
func checkJournals(work string) error {
	return filepath.WalkDir(work, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "journal.db" {
			return nil // a directory that a script closed is not read
		}
		dir := filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(dir, "damaged")); err == nil {
			return nil
		}
		view, err := journal.OpenView(dir)
		if err != nil {
			return fmt.Errorf("journal of %s: %w", dir, err)
		}
		defer view.Close()
		recs, err := view.Load()
		if never := (*journal.Unbegun)(nil); errors.As(err, &never) {
			return nil // there is nothing to be checked
		}
		if err != nil {
			return fmt.Errorf("journal of %s: %w", dir, err)
		}
		for _, v := range audit.Check(recs) {
			err = errors.Join(err, fmt.Errorf("journal of %s: %v", dir, v))
		}
		return err
	})
}

// exits runs belay and holds its exit code against the first argument.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	if got := codeOf(err); fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s: exit code %d (%v), want %s", strings.Join(args[1:], " "), got, err, args[0])
	}
}

// codeOf is the exit code of a process; -1 for one that a signal ended.
func codeOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -2
}

// text is what a script names: stdout, stderr or a file.
func text(ts *testscript.TestScript, name string) string { return ts.ReadFile(name) }

// objects are the lines of a text, each of which must be one JSON object.
func objects(ts *testscript.TestScript, name string) []map[string]any {
	var list []map[string]any
	for i, line := range strings.Split(strings.TrimSuffix(text(ts, name), "\n"), "\n") {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			ts.Fatalf("%s: line %d is no JSON object: %v\n%s", name, i+1, err, line)
		}
		list = append(list, o)
	}
	return list
}

// jsonLines checks that each line is an object and that one of them has all the
// given fields: jsonl stdout kind=run.started name=hello.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: jsonl FILE [FIELD=VALUE…]")
	}
	found := false
	for _, o := range objects(ts, args[0]) {
		found = found || missing(o, args[1:]) == ""
	}
	if found == neg {
		ts.Fatalf("%s: lines with %v: found %v", args[0], args[1:], found)
	}
}

// jsonLast checks the fields of the last line.
func jsonLast(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: jsonlast FILE FIELD=VALUE…")
	}
	list := objects(ts, args[0])
	if m := missing(list[len(list)-1], args[1:]); m != "" {
		ts.Fatalf("%s: the last line has no %s: %v", args[0], m, list[len(list)-1])
	}
}

// missing is the first of the wanted fields that an object does not have. A
// field of a field is named with a dot.
func missing(o map[string]any, want []string) string {
	for _, w := range want {
		name, value, _ := strings.Cut(w, "=")
		var at any = o
		for _, part := range strings.Split(name, ".") {
			m, ok := at.(map[string]any)
			if !ok {
				return w
			}
			at = m[part]
		}
		if fmt.Sprint(at) != value {
			return w
		}
	}
	return ""
}

// mkfile makes a file of a size, or from a repeated text: mkfile FILE N TEXT.
func mkfile(ts *testscript.TestScript, neg bool, args []string) {
	var n int
	if neg || len(args) != 3 {
		ts.Fatalf("usage: mkfile FILE TIMES TEXT")
	}
	if _, err := fmt.Sscan(args[1], &n); err != nil {
		ts.Fatalf("mkfile: %v", err)
	}
	part := strings.NewReplacer(`\n`, "\n", `\0`, "\x00").Replace(args[2])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(part, n)), 0o600))
}
