package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// pair is a case of the labelled set, or two that differ in their evidence.
type pair struct {
	Name        string            `yaml:"name"`
	Transcripts []string          `yaml:"transcripts"` // captures (agent/behaviour), or hand-written ones; a pair of its own for each
	Expect      string            `yaml:"expect"`
	Mute        bool              `yaml:"mute"` // the transcript has no final text of the pair's
	Swap        map[string]string `yaml:"swap"` // texts in the transcript, for both sides
	Against     string            `yaml:"against"`
	A           *side             `yaml:"a"`
	B           *side             `yaml:"b"`
}

// side is one repository with its transcript.
type side struct {
	Label  string            `yaml:"label"`  // done, hollow or failed: what it is
	Judged string            `yaml:"judged"` // what the judge says, when it is known to be wrong
	Left   string            `yaml:"left"`   // a script: what the agent left in the repository
	Says   string            `yaml:"says"`
	Swap   map[string]string `yaml:"swap"`
}

func (s *side) want() string {
	if s.Judged != "" {
		return s.Judged
	}
	return s.Label
}

// judgement is what belay judge --json prints.
type judgement struct {
	Verdict string   `json:"verdict"`
	Code    int      `json:"exit_code"`
	Sure    int      `json:"confidence"`
	For     []string `json:"for"`
	Against []string `json:"against"`
}

// court is where cases are judged: a repository to copy, and the program.
type court struct{ home, repo string }

const seed = `
git init -q -b main --template=
printf 'build/\n' > .gitignore
printf '# calc\n' > README.md
printf '#!/bin/sh\nexec true\n' > run.sh
printf 'package calc\n\n// Add adds.\nfunc Add(a, b int) int { return a - b }\n' > calc.go
printf 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n' > calc_test.go
git add -A
git commit -q -m first
git tag start
`

func newCourt(t *testing.T) court {
	t.Helper()
	c := court{home: t.TempDir(), repo: filepath.Join(t.TempDir(), "repo")}
	if err := os.Mkdir(c.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	c.bash(t, c.repo, seed)
	return c
}

func (c court) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + os.TempDir(), "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
	}
}

func (c court) bash(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-euc", script)
	cmd.Dir, cmd.Env = dir, c.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// judge makes the repository and the transcript of a side, with a final text,
// and asks the program.
func (c court) judge(t *testing.T, p pair, s *side, transcript, says string, more ...string) judgement {
	t.Helper()
	top := t.TempDir()
	repo, outside := filepath.Join(top, "repo"), filepath.Join(top, "outside")
	if err := os.CopyFS(repo, os.DirFS(c.repo)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if s.Left != "" {
		c.bash(t, repo, s.Left)
	}
	src, exit := readTranscript(t, transcript)
	src = spoken(t, src, p, s, says)
	src = strings.NewReplacer("REPO", repo, "OUTSIDE", outside).Replace(src)
	file := filepath.Join(top, "transcript")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--state", filepath.Join(top, "state"), "judge", "--transcript", file, "--repo", repo, "--base", "start", "--expect", p.Expect, "--exit=" + exit, "--json"}
	cmd := exec.Command(program, append(args, more...)...)
	cmd.Env = c.environ()
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("belay judge: %v\n%s", err, talk.String())
	}
	var j judgement
	if err := json.Unmarshal(out, &j); err != nil {
		t.Fatalf("belay judge printed no object: %v\n%s", err, out)
	}
	return j
}

// readTranscript is what an agent printed, and its exit code.
func readTranscript(t *testing.T, name string) (text, exit string) {
	t.Helper()
	captured := strings.Contains(name, "/")
	file := filepath.Join("testdata", "judge", "transcripts", name+".jsonl")
	switch {
	case captured:
		file = filepath.Join("..", "..", "agent", "testdata", "captures", filepath.FromSlash(name)+".jsonl")
	case name == "words":
		file = filepath.Join("testdata", "judge", "transcripts", "words.txt")
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !captured {
		return string(src), "0"
	}
	end, err := os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".exit")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(end), "exit=%s", &exit); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(src), exit
}

// spoken puts the final text and the swaps into a transcript. Each must be
// there to be put somewhere else.
func spoken(t *testing.T, src string, p pair, s *side, says string) string {
	t.Helper()
	put := func(old, text string, quote bool) {
		t.Helper()
		if quote {
			old, text = inJSON(t, old), inJSON(t, text)
		}
		if !strings.Contains(src, old) {
			t.Fatalf("%s: there is no %q in the transcript", p.Name, old)
		}
		src = strings.ReplaceAll(src, old, text)
	}
	lines := strings.HasPrefix(src, "{")
	for _, swap := range []map[string]string{p.Swap, s.Swap} {
		for old, text := range swap {
			put(old, text, lines)
		}
	}
	if p.Mute {
		return src
	}
	for _, final := range []string{"MOCK-FINAL-ANSWER ok", "FINAL"} {
		if strings.Contains(src, final) {
			put(final, says, lines)
			return src
		}
	}
	t.Fatalf("%s: there is no final text in the transcript", p.Name)
	return ""
}

// inJSON is a text as it stands inside of a JSON string.
func inJSON(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.Trim(strings.TrimSpace(b.String()), `"`)
}

func readPairs(t *testing.T, files ...string) []pair {
	t.Helper()
	var all []pair
	for _, file := range files {
		src, err := os.ReadFile(filepath.Join("testdata", "judge", file))
		if err != nil {
			t.Fatal(err)
		}
		var list []pair
		dec := yaml.NewDecoder(bytes.NewReader(src))
		dec.KnownFields(true)
		if err := dec.Decode(&list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, list...)
	}
	return all
}

// tally counts cases by what they are and what they are judged to be.
type tally struct {
	sync.Mutex
	by       map[[2]string]int
	captured int
}

func (y *tally) add(label, judged, transcript string) {
	y.Lock()
	defer y.Unlock()
	y.by[[2]string{label, judged}]++
	if strings.Contains(transcript, "/") {
		y.captured++
	}
}

func (y *tally) String() string {
	words, all := []string{"done", "hollow", "failed"}, 0
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s%8s%8s%8s\n", "is \\ judged", words[0], words[1], words[2])
	for _, is := range words {
		fmt.Fprintf(&b, "%-16s", is)
		for _, judged := range words {
			all += y.by[[2]string{is, judged}]
			fmt.Fprintf(&b, "%8d", y.by[[2]string{is, judged}])
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d cases, %d of them made from captured runs\n", all, y.captured)
	return b.String()
}

// Every case of the labelled set, judged by the program, and the table of what
// came out.
// promise: H1 H2 H3 H4 H5
func TestLabelledSet(t *testing.T) {
	t.Parallel()
	c, sum := newCourt(t), &tally{by: map[[2]string]int{}}
	t.Run("cases", func(t *testing.T) {
		for _, p := range readPairs(t, "captures.yaml", "written.yaml", "alone.yaml") {
			for _, transcript := range p.Transcripts {
				for name, s := range map[string]*side{"a": p.A, "b": p.B} {
					if s == nil {
						continue
					}
					t.Run(p.Name+"/"+transcript+"/"+name, func(t *testing.T) {
						t.Parallel()
						c.oneCase(t, p, s, transcript, sum)
					})
				}
			}
		}
	})
	t.Logf("\n%s", sum)
	done := sum.by[[2]string{"hollow", "done"}] + sum.by[[2]string{"failed", "done"}]
	if done != 0 {
		t.Errorf("%d cases without work are judged done", done)
	}
	if n := sum.by[[2]string{"done", "hollow"}]; n > 2 {
		t.Errorf("%d cases of real work are judged hollow", n)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "judge", "table.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !t.Failed() && sum.String() != string(want) {
		t.Errorf("testdata/judge/table.txt is not this table:\n%s", sum)
	}
}

func (c court) oneCase(t *testing.T, p pair, s *side, transcript string, sum *tally) {
	t.Helper()
	j := c.judge(t, p, s, transcript, s.Says)
	sum.add(s.Label, j.Verdict, transcript)
	if j.Verdict != s.want() {
		t.Errorf("judged %s, and it is %s: for %q, against %q", j.Verdict, s.want(), j.For, j.Against)
	}
	if len(j.For)+len(j.Against) == 0 || j.Sure < 1 || j.Sure > 100 {
		t.Errorf("the verdict names no evidence, or no confidence: %+v", j)
	}
	if (j.Verdict == "done") != (j.Code == 0) || (j.Verdict == "hollow") != (j.Code == 6) {
		t.Errorf("%s has exit code %d", j.Verdict, j.Code)
	}
	if s == p.A && p.Against != "" && !strings.Contains(strings.Join(j.Against, "\n"), p.Against) {
		t.Errorf("nothing against it says %q: %q", p.Against, j.Against)
	}
}

// The final text of each twin, put into the transcript of the other, changes no
// verdict: what is left in the repository decides.
// promise: H3
func TestExchangedTextsChangeNoVerdict(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	for _, p := range readPairs(t, "captures.yaml", "written.yaml") {
		if p.Mute {
			continue
		}
		if p.A.Says == p.B.Says {
			t.Errorf("%s: both twins say the same, so there is nothing to exchange", p.Name)
		}
		for _, transcript := range p.Transcripts {
			t.Run(p.Name+"/"+transcript, func(t *testing.T) {
				t.Parallel()
				if j := c.judge(t, p, p.A, transcript, p.B.Says); j.Verdict != p.A.want() {
					t.Errorf("with the text of its twin, a is %s and no longer %s: against %q", j.Verdict, p.A.want(), j.Against)
				}
				if j := c.judge(t, p, p.B, transcript, p.A.Says); j.Verdict != p.B.want() {
					t.Errorf("with the text of its twin, b is %s and no longer %s: for %q", j.Verdict, p.B.want(), j.For)
				}
			})
		}
	}
}
