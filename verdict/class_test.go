package verdict

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

// The ladder stops at the first rung that decides, and says which it was.
// promise: F7 F10
func TestLadder(t *testing.T) {
	t.Parallel()
	const full = "write: No space left on device"
	agent := func(a belay.AgentResult) *belay.AgentResult { return &a }
	c := NewClassifier()
	for _, r := range []struct {
		name  string
		facts Facts
		class belay.Class
		move  belay.Act
		level belay.Level
	}{
		{"we cancelled it, whatever it says", Facts{Act: ActCancel, Exit: 1, Text: full}, belay.ClassCancelled, belay.ActStop, belay.LevelAct},
		{"our clock, no work", Facts{Act: ActDeadline, Exit: 143}, belay.ClassTimeout, belay.ActDecompose, belay.LevelAct},
		{"our clock, with work", Facts{Act: ActStall, Progress: true, Exit: 143}, belay.ClassTimeout, belay.ActRetry, belay.LevelAct},
		{"killed, and the machine says that memory ran out", Facts{Exit: 137, Probes: Probes{OOMKill: yes()}}, belay.ClassInfrastructure, belay.ActRetry, belay.LevelProbe},
		{"our ledger", Facts{Act: ActBudget}, belay.ClassBudget, belay.ActEscalate, belay.LevelAct},
		{"typed before text", Facts{Agent: agent(belay.AgentResult{Class: belay.ClassAuth}), Exit: 1, Text: full}, belay.ClassAuth, belay.ActEscalate, belay.LevelTyped},
		{"a short wait", Facts{Agent: agent(belay.AgentResult{Class: belay.ClassRateLimit, RetryAfter: time.Minute}), Exit: 1}, belay.ClassRateLimit, belay.ActRetryAfter, belay.LevelTyped},
		{"a long wait", Facts{Agent: agent(belay.AgentResult{Class: belay.ClassRateLimit, RetryAfter: time.Hour}), Exit: 1}, belay.ClassRateLimit, belay.ActFailover, belay.LevelTyped},
		{"turns used up with work", Facts{Agent: agent(belay.AgentResult{Class: belay.ClassTurnLimit}), Progress: true, Exit: 1}, belay.ClassTurnLimit, belay.ActResume, belay.LevelTyped},
		{"turns used up for nothing", Facts{Agent: agent(belay.AgentResult{Class: belay.ClassTurnLimit}), Exit: 1}, belay.ClassTurnLimit, belay.ActDecompose, belay.LevelTyped},
		{"it refused", Facts{Agent: agent(belay.AgentResult{Stop: belay.StopRefused, Class: belay.ClassTransient}), Exit: 1}, belay.ClassRefusal, belay.ActFailover, belay.LevelTyped},
		{"it was cut", Facts{Agent: agent(belay.AgentResult{Stop: belay.StopTruncated}), Exit: 1}, belay.ClassTokenLimit, belay.ActDecompose, belay.LevelTyped},
		{"an untyped agent error is read", Facts{Agent: agent(belay.AgentResult{Class: belay.ClassUnknown, Cause: "rate limit reached"}), Exit: 1}, belay.ClassRateLimit, belay.ActRetryAfter, belay.LevelText},
		{"52 of curl", Facts{Tool: "curl", Exit: 52}, belay.ClassTransient, belay.ActRetry, belay.LevelProcess},
		{"52 of gemini", Facts{Tool: "gemini", Exit: 52}, belay.ClassInvalidInput, belay.ActAbort, belay.LevelProcess},
		{"52 of nobody", Facts{Exit: 52}, belay.ClassUnknown, belay.ActRetry, belay.LevelUnknown},
		{"a signal", Facts{Exit: NoExit, Signal: 9}, belay.ClassInfrastructure, belay.ActRetry, belay.LevelProcess},
		{"a weak code gives way to the text", Facts{Tool: "cargo", Exit: 101, Text: "could not resolve host: x"}, belay.ClassInfrastructure, belay.ActRetry, belay.LevelText},
		{"a weak code alone", Facts{Tool: "cargo", Exit: 101, Text: "hm"}, belay.ClassWorkFailure, belay.ActRepair, belay.LevelProcess},
		{"a full disk was seen", Facts{Exit: 1, Text: "connection refused", Probes: Probes{DiskFull: yes()}}, belay.ClassInfrastructure, belay.ActEscalate, belay.LevelProbe},
		{"a read-only tree was seen", Facts{Exit: 1, Probes: Probes{ReadOnly: yes()}}, belay.ClassInfrastructure, belay.ActEscalate, belay.LevelProbe},
		{"memory was short", Facts{Exit: 1, Probes: Probes{OOMKill: yes()}}, belay.ClassInfrastructure, belay.ActRetry, belay.LevelProbe},
		{"all probes are green", Facts{Exit: 1, Text: full, Probes: Probes{DiskFull: no(), OOMKill: no()}}, belay.ClassInfrastructure, belay.ActEscalate, belay.LevelText},
		{"words of a test are quoted", Facts{Exit: 1, Text: "--- FAIL: TestA (0.00s)\n    a_test.go:3: " + full}, belay.ClassWorkFailure, belay.ActRepair, belay.LevelText},
		{"a test that says what it got", Facts{Exit: 1, Text: "FAIL: TestLogin expected 200 got 500"}, belay.ClassWorkFailure, belay.ActRepair, belay.LevelText},
		{"words of another tool", Facts{Tool: "curl", Exit: 22, Text: "ELIFECYCLE"}, belay.ClassInvalidInput, belay.ActRepair, belay.LevelProcess},
		{"nothing helps", Facts{Exit: 1, Text: "hm"}, belay.ClassUnknown, belay.ActRetry, belay.LevelUnknown},
	} {
		f := c.Classify(r.facts)
		if f.Class != r.class || f.Move != r.move || f.Level != r.level || f.Rule == "" || f.Fingerprint == "" {
			t.Errorf("%s: %+v, want %s/%s by %s", r.name, f, r.class, r.move, r.level)
		}
	}
}

// promise: F10
func TestOnlyTheLastLinesCount(t *testing.T) {
	t.Parallel()
	c := NewClassifier()
	text := "no space left on device\n" + strings.Repeat("fine\n", lastLines)
	if f := c.Classify(Facts{Exit: 1, Text: text}); f.Class != belay.ClassUnknown {
		t.Errorf("a line %d lines before the end decided: %+v", lastLines, f)
	}
	if f := c.Classify(Facts{Exit: 1, Text: strings.Repeat("fine\n", 1000) + "\x1b[31mno space left on device\x1b[0m\r\n"}); f.Rule != "disk.full" {
		t.Errorf("the last line did not decide: %+v", f)
	}
}

// The same failure again, and nothing had changed: not the same once more.
// promise: F10
func TestTheSameAgainIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	c := NewClassifier()
	first := c.Classify(Facts{Exit: 7, Text: "curl: (7) Failed to connect to 127.0.0.1 port 1 after 6 ms"})
	if first.Move != belay.ActRetry {
		t.Fatalf("%+v", first)
	}
	again := Facts{Exit: 7, Text: "curl: (7) Failed to connect to 127.0.0.1 port 1 after 9 ms", Earlier: Earlier{Fingerprint: first.Fingerprint}}
	if f := c.Classify(again); f.Level != belay.LevelRepeat || f.Move != belay.ActEscalate || f.Class != belay.ClassTransient || f.Rule != "repeat.exit.curl.7" {
		t.Errorf("the same again: %+v", f)
	}
	again.Agent = &belay.AgentResult{}
	if f := c.Classify(again); f.Move != belay.ActFailover {
		t.Errorf("of an agent: %+v", f)
	}
	again.Agent, again.Earlier.Changed = nil, true
	if f := c.Classify(again); f.Level != belay.LevelProcess || f.Move != belay.ActRetry {
		t.Errorf("after a change: %+v", f)
	}
}

// A second failure that nobody can explain is not the same one because of that.
// promise: F10
func TestAnotherUnknownIsNotTheSame(t *testing.T) {
	t.Parallel()
	c := NewClassifier()
	first := c.Classify(Facts{Exit: 1, Text: "the glorp is zorked"})
	other := Facts{Exit: 1, Text: "no blurb in the frob", Earlier: Earlier{Fingerprint: first.Fingerprint, Unknowns: 1}}
	if f := c.Classify(other); f.Level != belay.LevelUnknown || f.Rule != "unknown" || f.Move != belay.ActEscalate || f.Fingerprint == first.Fingerprint {
		t.Errorf("another one: %+v", f)
	}
	other.Text = "the glorp is zorked"
	if f := c.Classify(other); f.Level != belay.LevelRepeat || f.Rule != "repeat.unknown" || f.Move != belay.ActEscalate {
		t.Errorf("the same: %+v", f)
	}
}

// Whatever a tool says and however it ends: what nobody can explain is tried
// once more and not twice, with the same words or with others.
// promise: F10
func TestTheUnknownCostsOneAttempt(t *testing.T) {
	t.Parallel()
	c := NewClassifier()
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("some glorp error happened at 12:30 in /a/b zork ünïcode \x00 \xff {} [ ( ! timeout lock 500 denied")
	unknown := 0
	for range 1500 {
		var text []string
		for range rnd.IntN(6) {
			text = append(text, words[rnd.IntN(len(words))])
		}
		facts := Facts{Exit: rnd.IntN(258) - 1, Text: strings.Join(text, " ")}
		tries := 0
		for f := c.Classify(facts); f.Class == belay.ClassUnknown && f.Move == belay.ActRetry; f = c.Classify(facts) {
			if tries++; tries > 1 {
				t.Fatalf("exit %d, %q: tried %d times", facts.Exit, facts.Text, tries)
			}
			unknown++
			if facts.Earlier.Unknowns = 1; rnd.IntN(2) == 0 {
				facts.Text += " other words"
			} else { // known by its fingerprint alone
				facts.Earlier = Earlier{Fingerprint: f.Fingerprint}
			}
		}
	}
	if unknown < 100 {
		t.Fatalf("only %d unknown failures: the test looks at too little", unknown)
	}
}

// promise: F10
func TestFingerprintIsStable(t *testing.T) {
	t.Parallel()
	c := NewClassifier()
	of := func(f Facts) string { return c.Classify(f).Fingerprint }
	one := Facts{Exit: 1, Repo: "/home/ann/app", Text: "2026-01-02T03:04:05Z run 4f3a9c1 of /home/ann/app/main.zz: glorp in /tmp/x-123/y after 1.5s, id 11111111-2222-3333-4444-555555555555 at 0xc000012"}
	two := Facts{Exit: 1, Repo: "/srv/ci/7", Text: "2027-11-12T13:14:15Z run 99e1b02 of /srv/ci/7/main.zz: glorp in /var/tmp/q/z after 22s, id 91111111-a222-3333-b444-555555555556 at 0xc0ffee12"}
	if of(one) != of(two) {
		t.Errorf("two machines:\n%q\n%q", essence(one.Text, one.Repo), essence(two.Text, two.Repo))
	}
	for what, other := range map[string]Facts{
		"another file":      {Exit: 1, Repo: one.Repo, Text: strings.Replace(one.Text, "main.zz", "other.zz", 1)},
		"another word":      {Exit: 1, Repo: one.Repo, Text: strings.Replace(one.Text, "glorp", "zork", 1)},
		"another exit code": {Exit: 2, Repo: one.Repo, Text: one.Text},
		"another tool":      {Exit: 1, Repo: one.Repo, Text: one.Text, Tool: "zork"},
		"another signal":    {Exit: 1, Repo: one.Repo, Text: one.Text, Signal: 15},
	} {
		if of(other) == of(one) {
			t.Errorf("%s: the same fingerprint", what)
		}
	}
	if got := of(Facts{Exit: 1, Text: "hm"}); got != "328655743e9ed8a5" {
		t.Errorf("the fingerprint of old records changed: %s", got)
	}
}

// promise: F10
func TestRulesAreWellFormed(t *testing.T) {
	t.Parallel()
	classes := map[belay.Class]bool{}
	ids := map[string]bool{}
	tools := map[string]bool{outputTool: true, "": true}
	for _, m := range marks() {
		tools[m.tool] = true
	}
	for _, r := range Rules() {
		if r.ID == "" || ids[r.ID] {
			t.Errorf("the id %q is missing or there twice", r.ID)
		}
		ids[r.ID], classes[r.Class] = true, true
		if !tools[r.Tool] {
			t.Errorf("%s: nothing tells that %q speaks", r.ID, r.Tool)
		}
		if r.Class == belay.ClassNone || r.Class == belay.ClassUnknown {
			t.Errorf("%s: class %q", r.ID, r.Class)
		}
	}
	if len(classes) < 17 {
		t.Errorf("rules for %d classes only", len(classes))
	}
}

func FuzzClassify(f *testing.F) {
	c := NewClassifier()
	f.Add("fatal: hm", 128)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, exit int) {
		got := c.Classify(Facts{Text: text, Exit: exit})
		if got.Class == belay.ClassNone || got.Move == "" || got.Level == "" || got.Rule == "" {
			t.Fatalf("%+v", got)
		}
		if exit != 0 && got.Class == belay.ClassBenign && got.Rule != "exit.141" {
			t.Fatalf("exit %d is called harmless: %+v", exit, got)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.Classify(Facts{Text: text, Exit: exit})) {
			t.Fatal("two answers for one failure")
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	c := NewClassifier()
	for b.Loop() {
		c.Classify(Facts{Exit: 1, Text: "glorp"})
	}
}

func BenchmarkNewClassifier(b *testing.B) {
	for b.Loop() {
		newClassifier(Rules())
	}
}
