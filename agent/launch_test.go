package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Every command line, by kind, access and session: what a person would have to
// check by eye is in one file.
func TestCommandLinesAreAsWritten(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, kind := range Kinds() {
		a, ok := New(kind)
		if !ok {
			continue
		}
		for _, access := range []Access{AccessRead, AccessEdit, AccessFull} {
			for _, how := range []string{"new", "resume"} {
				task := Task{
					Agent: Agent{Program: []string{"/opt/" + string(kind)}, Args: []string{"--own"}, Model: "m1", Access: access, Script: "/repo/script.yaml"},
					Dir:   "/repo", Home: "/home/x/run", Prompt: "do $(it); now",
				}
				if how == "new" {
					task.Session = "id-1"
				} else {
					task.Resume = "id-1"
				}
				l, err := a.Launch(task)
				if err != nil {
					t.Fatalf("%s %s %s: %v", kind, access, how, err)
				}
				fmt.Fprintf(&b, "%s %s %s: stdin=%v\n  %s\n", kind, access, how, l.Stdin, strings.Join(l.Argv, "\n    "))
				if access != AccessEdit || how != "new" {
					continue
				}
				fmt.Fprintf(&b, "  env %s\n  unset %s\n", strings.Join(l.Env, " "), strings.Join(l.Unset, " "))
				for _, f := range slices.Sorted(maps.Keys(l.Files)) {
					fmt.Fprintf(&b, "  file %s %s", f, l.Files[f])
				}
				if d := l.Defaults; d != nil {
					fmt.Fprintf(&b, "  defaults %s=%s, unless %v or %s, root %v: %s", d.Env, d.File, d.Yields, d.System, d.Root, d.Text)
				}
				fmt.Fprintf(&b, "  results %v\n", l.Results)
			}
		}
	}
	golden(t, "launches.golden", b.String())
}

// Single tools are told to the CLIs that know such a thing, where they are not
// all allowed anyway; the others are started as without them.
func TestSingleToolsAreTold(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, kind := range Kinds() {
		a, ok := New(kind)
		if !ok {
			continue
		}
		told := false
		defer func() {
			if told != HeedsTools(kind) {
				t.Errorf("%s: heeds tools: %v, is told them: %v", kind, HeedsTools(kind), told)
			}
		}()
		for _, access := range []Access{AccessRead, AccessEdit, AccessFull} {
			task := Task{Agent: Agent{Program: []string{"/opt/" + string(kind)}, Access: access, Script: "/s"}, Dir: "/repo", Home: "/home/x/run", Prompt: "go"}
			without, err := a.Launch(task)
			if err != nil {
				t.Fatal(err)
			}
			task.Tools = []string{"Bash", "Edit(docs/**)", "mcp__wiki"}
			with, err := a.Launch(task)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %s:", kind, access)
			if slices.Equal(with.Argv, without.Argv) && slices.Equal(with.Env, without.Env) {
				b.WriteString(" as without\n")
				continue
			}
			told = true
			fmt.Fprintf(&b, "\n  %s\n  env %q\n", strings.Join(with.Argv, "\n    "), with.Env[len(with.Env)-1])
		}
	}
	golden(t, "tools.golden", b.String())
}

// The user's login and settings are used: no launch moves them, and each takes
// away the marks of an agent around it.
func TestLaunchesLeaveTheUsersHomeAlone(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		a, ok := New(kind)
		if !ok {
			continue
		}
		l, err := a.Launch(Task{Agent: Agent{Program: []string{"x"}, Access: AccessFull, Script: "s"}, Home: "/h"})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Env {
			name, _, _ := strings.Cut(e, "=")
			switch name {
			case "HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "QWEN_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT":
				t.Errorf("%s: sets %s", kind, e)
			}
		}
		if kind != Scripted && !slices.Contains(l.Unset, "CLAUDECODE") {
			t.Errorf("%s: keeps CLAUDECODE", kind)
		}
		for f := range l.Files {
			if !strings.HasPrefix(f, "/h/") {
				t.Errorf("%s: writes %s", kind, f)
			}
		}
	}
}

func TestACopilotPromptThatIsTooLongGoesToAFile(t *testing.T) {
	t.Parallel()
	for _, n := range []int{maxArgument, maxArgument + 1} {
		prompt := strings.Repeat("x", n)
		l, err := copilot{}.Launch(Task{Agent: Agent{Program: []string{"copilot"}, Access: AccessEdit}, Home: "/h", Prompt: prompt})
		if err != nil {
			t.Fatal(err)
		}
		last := l.Argv[len(l.Argv)-1]
		if long := n > maxArgument; long != (l.Files["/h/prompt.md"] == prompt) || long != strings.Contains(last, "/h/prompt.md") || long == (last == prompt) {
			t.Errorf("prompt of %d bytes: files %d, last argument of %d bytes", n, len(l.Files), len(last))
		}
	}
}

// Qwen takes no UUID of the version that Belay makes, and must find a session
// again by what it was given.
func TestQwenIsGivenIDsThatItTakes(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"c082cddd-444d-8cbb-a4e7-0c0a53e6b43e": "c082cddd-444d-5cbb-a4e7-0c0a53e6b43e",
		"c082cddd-444d-5cbb-a4e7-0c0a53e6b43e": "c082cddd-444d-5cbb-a4e7-0c0a53e6b43e",
		"latest":                               "latest",
	} {
		for _, task := range []Task{{Session: id}, {Resume: id}} {
			task.Program, task.Home, task.Access = []string{"x"}, "/h", AccessEdit
			l, err := qwen{}.Launch(task)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Argv[len(l.Argv)-1]; got != want {
				t.Errorf("%q: got %q, want %q", id, got, want)
			}
		}
	}
}

func TestBadTasksAreRefused(t *testing.T) {
	t.Parallel()
	good := Task{Agent: Agent{Program: []string{"x"}, Access: AccessEdit}, Home: "/h"}
	for name, change := range map[string]func(*Task){
		"no program":            func(t *Task) { t.Program = nil },
		"home is relative":      func(t *Task) { t.Home = "h" },
		"no access":             func(t *Task) { t.Access = "" },
		"a flag for a session":  func(t *Task) { t.Resume = "--dangerously-skip-permissions" },
		"a flag for a model":    func(t *Task) { t.Model = "-c" },
		"two lines for a model": func(t *Task) { t.Model = "a\nb" },
		"a flag for a tool":     func(t *Task) { t.Tools = []string{"Bash", "--yolo"} },
		"no name for a tool":    func(t *Task) { t.Tools = []string{""} },
	} {
		for _, kind := range recorded() {
			task := good
			change(&task)
			a, _ := New(kind)
			if _, err := a.Launch(task); err == nil {
				t.Errorf("%s: %s is accepted", kind, name)
			}
		}
	}
	if _, ok := New(ACP); ok {
		t.Error("there is an adapter for acp")
	}
	if _, ok := New("nobody"); ok {
		t.Error("there is an adapter for a kind that is none")
	}
}

// Qwen offers nothing that writes files as long as edit is not allowed; what is
// allowed for some files only is not made more than that.
func TestQwenWritesWithEditAlone(t *testing.T) {
	t.Parallel()
	got := qwenTools([]string{"write_file", "edit", "Edit(docs/**)", "read_file"})
	if want := []string{"write_file", "edit", "Edit(docs/**)", "read_file"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := qwenTools([]string{"Edit(docs/**)"}); len(got) != 1 {
		t.Errorf("got %q", got)
	}
	if got := qwenTools([]string{"write_file"}); !slices.Equal(got, []string{"write_file", "edit"}) {
		t.Errorf("got %q", got)
	}
}

func TestACopilotPromptHasNoZeroByte(t *testing.T) {
	t.Parallel()
	l, err := copilot{}.Launch(Task{Agent: Agent{Program: []string{"copilot"}, Access: AccessEdit}, Home: "/h", Prompt: "a\x00b"})
	if err != nil || l.Argv[len(l.Argv)-1] != "a\uFFFDb" {
		t.Errorf("%q, %v", l.Argv, err)
	}
}
