package belay_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const actionDir = ".github/actions/do"

// actionStep is a step of an action or of a job.
type actionStep struct {
	ID    string
	Uses  string
	Shell string
	Run   string
	Env   map[string]string
	With  map[string]any
}

type actionFile struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []actionStep
	}
}

type workflowFile struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Outputs     map[string]string
		Steps       []actionStep
	}
}

// parsedYAML reads a file of YAML.
func parsedYAML(t *testing.T, file string, to any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

var inExpression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// isShell checks that bash can read a script, and that nothing is put into its text: what
// somebody wrote into an issue would be code there.
func isShell(t *testing.T, where, script string) {
	t.Helper()
	if m := inExpression.FindString(script); m != "" {
		t.Errorf("%s: %s stands in the script; give it as a variable", where, m)
	}
	cmd := exec.Command("bash", "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", where, err, out)
	}
}

// TestAction: the inputs of the action reach its script through the environment, all of them
// are used, and what its steps and outputs name is there.
func TestAction(t *testing.T) {
	t.Parallel()
	var a actionFile
	parsedYAML(t, filepath.Join(actionDir, "action.yml"), &a)
	if a.Runs.Using != "composite" || len(a.Inputs) < 4 || len(a.Outputs) < 2 || len(a.Runs.Steps) < 2 {
		t.Fatalf("%+v", a)
	}
	used, set, ids := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range a.Runs.Steps {
		if ids[s.ID] = true; s.Shell != "bash" || s.Run == "" {
			t.Errorf("%+v", s)
		}
		isShell(t, s.ID, s.Run)
		for name, v := range s.Env {
			set[name] = true
			for _, m := range inExpression.FindAllStringSubmatch(v, -1) {
				if input, is := strings.CutPrefix(m[1], "inputs."); is {
					used[input] = true
				}
			}
		}
		for _, m := range regexp.MustCompile(`\$GITHUB_ACTION_PATH(/[A-Za-z0-9_./-]+)`).FindAllStringSubmatch(s.Run, -1) {
			if _, err := os.Stat(filepath.Join(actionDir, m[1])); err != nil {
				t.Error(err)
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(a.Inputs)); !slices.Equal(got, want) {
		t.Errorf("inputs that are used: %q, and there are %q", got, want)
	}
	run, err := os.ReadFile(filepath.Join(actionDir, "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{?(DO_[A-Z_]+)`).FindAllStringSubmatch(string(run), -1) {
		read[m[1]] = true
	}
	if !maps.Equal(read, set) {
		t.Errorf("the script reads %q, and the steps set %q", slices.Sorted(maps.Keys(read)), slices.Sorted(maps.Keys(set)))
	}
	for name, o := range a.Outputs {
		m := regexp.MustCompile(`^steps\.(\w+)\.outputs\.` + name + `$`).FindStringSubmatch(inExpression.FindStringSubmatch(o.Value)[1])
		if m == nil || !ids[m[1]] || !strings.Contains(string(run), name+"=%") {
			t.Errorf("output %s: %s", name, o.Value)
		}
	}
	for _, name := range []string{"run.sh", "comment.sh"} {
		if out, err := exec.Command("bash", "-n", filepath.Join(actionDir, name)).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestWorkflowExample: the workflow that people copy has no more permissions than it says,
// each job says its own, and it gives the action inputs that this has.
func TestWorkflowExample(t *testing.T) {
	t.Parallel()
	var a actionFile
	var w workflowFile
	parsedYAML(t, filepath.Join(actionDir, "action.yml"), &a)
	parsedYAML(t, filepath.Join(actionDir, "workflow.example.yml"), &w)
	if w.Permissions == nil || len(w.Permissions) > 0 || len(w.On) != 1 || w.On["issues"] == nil || len(w.Jobs) < 2 {
		t.Errorf("%+v", w)
	}
	calls := 0
	for name, j := range w.Jobs {
		if len(j.Permissions) == 0 {
			t.Errorf("job %s does not say its permissions", name)
		}
		for _, s := range j.Steps {
			isShell(t, name, s.Run)
			agents := strings.HasPrefix(s.Uses, "belay-run/belay/"+actionDir+"@")
			if !agents {
				continue
			}
			calls++
			for input := range s.With {
				if _, ok := a.Inputs[input]; !ok {
					t.Errorf("the action has no input %s", input)
				}
			}
			for scope, may := range j.Permissions { // agents get no token that can write
				if may != "read" {
					t.Errorf("job %s may %s %s", name, may, scope)
				}
			}
		}
		for output, v := range j.Outputs {
			if _, ok := a.Outputs[output]; !ok || !strings.Contains(v, ".outputs."+output) {
				t.Errorf("the action has no output %s: %s", output, v)
			}
		}
	}
	if calls != 1 {
		t.Errorf("the action is used %d times", calls)
	}
}

// TestRootContainerfile: what it copies and builds is there, and it ends as a user who is not
// root and whose state directory is private.
func TestRootContainerfile(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	copies := 0
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != "COPY" || strings.HasPrefix(f[1], "--from=") {
			continue
		}
		for _, source := range f[1 : len(f)-1] {
			copies++
			if _, err := os.Stat(source); err != nil {
				t.Error(err)
			}
		}
	}
	m := regexp.MustCompile(`go build .* -o /belay (\./\S+)`).FindStringSubmatch(string(b))
	if m == nil || copies < 2 {
		t.Fatalf("%d copies, built: %q", copies, m)
	}
	if _, err := os.Stat(filepath.Join(m[1], "main.go")); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"COPY --from=build /belay ", `ENTRYPOINT ["belay"]`, "install -d -m 700 -o node -g node /state", "ENV BELAY_STATE=/state"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q", want)
		}
	}
	if i, j := strings.LastIndex(string(b), "\nUSER "), strings.LastIndex(string(b), "\nRUN "); i < j || strings.Contains(string(b)[i:], "root") {
		t.Error("it ends as root, or something is installed after it is not")
	}
}
