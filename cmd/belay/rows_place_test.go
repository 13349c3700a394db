package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// place is an empty directory in which a check uses the real binary.
type place struct {
	in       io.Reader // what is typed; nil = nothing
	t        *testing.T
	root     string
	dir      string // in it the commands run
	env      []string
	out, err string // of the last command
	runs     int
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root := t.TempDir()
	p := &place{t: t, root: root, dir: filepath.Join(root, "work")}
	for _, d := range []string{p.dir, filepath.Join(root, "home")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{
		"PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(root, "home"), "BELAY_STATE=" + filepath.Join(root, "state"), "TZ=UTC", "WORK=" + root,
	}
	t.Cleanup(func() {
		if err := errors.Join(checkJournals(root), nothingLeft(root)); err != nil {
			t.Error(err)
		}
	})
	return p
}

// put writes a file, and the directories on its way.
func (p *place) put(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) exists(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

// belay runs the binary and holds its exit code against one.
func (p *place) belay(code int, args ...string) {
	p.t.Helper()
	var out, talk strings.Builder
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.dir, p.env, p.in, &out, &talk
	err := cmd.Run()
	p.out, p.err = out.String(), talk.String()
	if got := codeOf(err); got != code {
		p.t.Fatalf("belay %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, p.out, p.err)
	}
}

// says checks that the last command printed each of some texts.
func (p *place) says(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.out+p.err, text) {
			p.t.Errorf("%q was not printed:\n%s%s", text, p.out, p.err)
		}
	}
}

// validate checks a recipe, without its name line.
func (p *place) validate(code int, text string, args ...string) {
	p.t.Helper()
	p.put("r.yaml", "name: r\n"+text)
	p.belay(code, append([]string{"validate", "r.yaml"}, args...)...)
}

// run runs a recipe, without its name line, to its end.
func (p *place) run(code int, text string, args ...string) {
	p.t.Helper()
	p.put("r.yaml", "name: r\n"+text)
	p.start(code, "r.yaml", args...)
}

// start runs a file or a name to its end.
func (p *place) start(code int, name string, args ...string) {
	p.t.Helper()
	p.runs++
	p.belay(code, append([]string{"run", name, "--id", p.id()}, args...)...)
}

func (p *place) id() string { return fmt.Sprintf("r%d", p.runs) }

// printed holds what a step of the last run printed against a text.
func (p *place) printed(step, want string) {
	p.t.Helper()
	p.belay(0, "logs", p.id(), step)
	if p.out != want {
		p.t.Errorf("step %s printed %q, want %q", step, p.out, want)
	}
}

// told is what show tells about the steps of the last run, by step; those of
// the runs that it called are left out.
func (p *place) told() map[string]map[string]any {
	p.t.Helper()
	p.belay(0, "show", p.id(), "--json")
	steps := map[string]map[string]any{}
	for _, line := range strings.Split(strings.TrimSpace(p.out), "\n") {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		if o["run"] == p.id() {
			steps[fmt.Sprint(o["step"])] = o
		}
	}
	return steps
}

// phases holds the phases of steps of the last run: "a done", "b not_taken".
func (p *place) phases(want ...string) {
	p.t.Helper()
	steps := p.told()
	for _, w := range want {
		step, phase, _ := strings.Cut(w, " ")
		if got := fmt.Sprint(steps[step]["phase"]); got != phase {
			p.t.Errorf("step %s is %s, want %s", step, got, phase)
		}
	}
}

// exprs holds conditions against what they come to: true, false, or a part of
// the message of an error.
func (p *place) exprs(want string, conditions ...string) {
	p.t.Helper()
	for _, c := range conditions {
		args := []string{"expr", c}
		for _, s := range []string{
			"flag=true", "off=false", "s=hello", "n=42", "zero=0", "empty=", "none=null", "my-var=1",
			`lst=["a","b"]`, "nolist=[]", `obj={"k":"hello","deep":{"x":[1,2]}}`, "noobj={}",
		} {
			args = append(args, "--set", s)
		}
		if want == "true" || want == "false" {
			p.belay(0, args...)
			if p.out != want+"\n" {
				p.t.Errorf("%s is %swant %s", c, p.out, want)
			}
			continue
		}
		p.belay(65, args...)
		p.says(want)
	}
}
