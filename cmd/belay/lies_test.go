package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// tale is one run of an agent step: what the agent does and says, and how the run
// must end.
type tale struct {
	Name   string   `yaml:"name"`
	Agents []string `yaml:"agents"` // command, scripted, claude; a run for each
	Step   string   `yaml:"step"`   // keys of the step
	More   string   `yaml:"more"`   // steps after it
	Setup  string   `yaml:"setup"`  // a script, before the run
	Do     string   `yaml:"do"`     // a script: what the agent does
	Says   string   `yaml:"says"`   // its final text
	Extra  []string `yaml:"extra"`  // further records of claude, after what it does
	Exit   int      `yaml:"exit"`
	Shows  string   `yaml:"shows"` // must be printed
}

// tales are the table: lies that must not pass, and honest runs that must.
type tales struct {
	Lies   []tale `yaml:"lies"`
	Honest []tale `yaml:"honest"`
}

// theatre is where tales are played: a repository to copy, and the agents.
type theatre struct{ repo, home string }

const scene = `
git init -q -b main --template=
printf 'build/\n*.log\n' > .gitignore
printf '# calc\n' > README.md
printf 'one\n' > a.txt
printf 'test:\n\t@sh ./run-tests.sh\n' > Makefile
printf 'grep -q one a.txt && echo "3 passed in 0.01s"\n' > run-tests.sh
git add -A
git commit -q -m zero
echo more >> README.md
git commit -q -a -m first
git branch other
`

// plays has the agents: each does DO and says SAYS.
const commandAgent = `cat > /dev/null
eval "$DO" > /dev/null 2>&1
printf '%s' "$SAYS"
`

const claudeAgent = `case "$*" in
*json*) ;;
*) exit 0 ;; # it is only asked for its version
esac
cat > /dev/null
cat "$PLAY/head"
eval "$DO" > /dev/null 2>&1
cat "$PLAY/tail"
`

const agentSettings = `agents:
  teller: {kind: command, program: [bash, %[1]s/command.sh]}
  claude: {program: [bash, %[1]s/claude.sh]}
`

func newTheatre(t *testing.T) theatre {
	t.Helper()
	h := theatre{repo: filepath.Join(t.TempDir(), "repo"), home: t.TempDir()}
	if err := os.Mkdir(h.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"command.sh": commandAgent, "claude.sh": claudeAgent, "settings.yaml": fmt.Sprintf(agentSettings, h.home),
	} {
		if err := os.WriteFile(filepath.Join(h.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.bash(t, h.repo, scene)
	return h
}

func (h theatre) environ(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.home, "TMPDIR=" + os.TempDir(), "TZ=UTC", "ANTHROPIC_API_KEY=x",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
		"BELAY_CONFIG=" + filepath.Join(h.home, "settings.yaml"),
	}, more...)
}

func (h theatre) bash(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-euc", script)
	cmd.Dir, cmd.Env = dir, h.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// play runs a tale, and gives its exit code and what was printed.
func (h theatre) play(t *testing.T, s tale, agent string) (int, string) {
	t.Helper()
	top := t.TempDir()
	repo := filepath.Join(top, "repo")
	if err := os.CopyFS(repo, os.DirFS(h.repo)); err != nil {
		t.Fatal(err)
	}
	if s.Setup != "" {
		h.bash(t, repo, s.Setup)
	}
	put := func(name, text string) string {
		t.Helper()
		path := filepath.Join(top, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	who := map[string]string{"command": "teller", "scripted": "scripted", "claude": "claude"}[agent]
	step := strings.Join(strings.Fields("id: w, agent: "+who+", prompt: Do the work., "+s.Step), " ")
	recipe := put("tale.yaml", "name: tale\nsteps:\n  - {"+strings.TrimSuffix(step, ",")+"}\n"+s.More)
	args := []string{"--state", filepath.Join(top, "state"), "run", recipe, "--max-replans", "0", "--staff", "", "-C", repo}
	switch agent {
	case "scripted":
		var acts []map[string]string
		if s.Do != "" {
			acts = append(acts, map[string]string{"run": s.Do})
		}
		script, err := yaml.Marshal(append(acts, map[string]string{"answer": s.Says}))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--agent", "scripted:"+put("script.yaml", string(script)))
	case "claude":
		h.records(t, s, put)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = repo, h.environ("DO="+s.Do, "SAYS="+s.Says, "PLAY="+top)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// records are what claude prints before and after what it does.
func (h theatre) records(t *testing.T, s tale, put func(name, text string) string) {
	t.Helper()
	line := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	type m = map[string]any
	head := line(m{"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []string{"Bash"}})
	tail := ""
	if s.Do != "" {
		head += line(m{"type": "assistant", "session_id": "s", "message": m{"role": "assistant", "content": []m{{"type": "tool_use", "id": "t", "name": "Bash", "input": m{"command": s.Do}}}}})
		tail = line(m{"type": "user", "session_id": "s", "message": m{"role": "user", "content": []m{{"type": "tool_result", "tool_use_id": "t", "content": "ok"}}}, "tool_use_result": m{"stdout": "ok"}})
	}
	for _, r := range s.Extra {
		tail += r + "\n"
	}
	put("head", head)
	put("tail", tail+line(m{"type": "result", "subtype": "success", "is_error": false, "result": s.Says, "session_id": "s"}))
}

// Every lie and every honest run of the table, through the binary, in both
// directions: a lie never ends with 0, honest work is never refused.
// promise: H3 H4
func TestLiesAndHonestRuns(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(filepath.Join("testdata", "lies", "table.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all tales
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		t.Fatal(err)
	}
	if n := len(all.Lies) + len(all.Honest); n < 85 {
		t.Errorf("the table has %d rows", n)
	}
	h := newTheatre(t)
	seen := map[string]bool{}
	for kind, list := range map[string][]tale{"lie": all.Lies, "honest": all.Honest} {
		for _, s := range list {
			if seen[kind+s.Name] {
				t.Errorf("%s is there twice", s.Name)
			}
			seen[kind+s.Name] = true
			if kind == "lie" && s.Exit == 0 {
				t.Errorf("the lie %q may pass", s.Name)
			}
			for _, agent := range s.Agents {
				t.Run(kind+"/"+s.Name+"/"+agent, func(t *testing.T) {
					t.Parallel()
					code, out := h.play(t, s, agent)
					if code != s.Exit || !regexp.MustCompile(s.Shows).MatchString(out) {
						t.Errorf("exit %d, want %d and %q:\n%s", code, s.Exit, s.Shows, out)
					}
				})
			}
		}
	}
}
