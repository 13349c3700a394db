package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/supervise"
)

const (
	probePrompt = "Answer with the one word: ready\n"
	probeWord   = "ready"
	maxAnswer   = 60
	endDelay    = 15 * time.Second // from the word to end to the end
)

// Probed names the agents that a probe asks.
func (p Patient) Probed() []string {
	var names []string
	for _, e := range p.probed() {
		names = append(names, e.Name)
	}
	return names
}

// probed are the agents that can be asked: those that are there. The scripted
// one without a script has nothing to say.
func (p Patient) probed() []agent.Agent {
	if !p.Probe || p.Roster == nil {
		return nil
	}
	var list []agent.Agent
	for _, name := range p.Roster.Names() {
		e, err := p.Roster.Find(name)
		if err == nil && (e.Kind != agent.Scripted || e.Script != "") {
			list = append(list, e)
		}
	}
	return list
}

// probe asks an agent for one word, in an empty folder and with an attendant,
// as a step would.
func (p Patient) probe(ctx context.Context, e agent.Agent) []Finding {
	f := Finding{Check: checkProbe + e.Name, Level: LevelWarn, Facts: map[string]string{}}
	dir, err := os.MkdirTemp(p.tempDir(), "belay-probe-")
	if err != nil {
		f.What, f.Cure = "no folder to ask it in: "+err.Error(), "see the finding "+checkTemp
		return []Finding{f}
	}
	defer func() { _ = os.RemoveAll(dir) }() // what cannot be removed is in the temporary folder
	began := time.Now()
	r, well, err := p.attend(ctx, e, dir)
	took := time.Since(began).Round(10 * time.Millisecond)
	if err != nil {
		f.What, f.Cure = "it could not be asked: "+err.Error(), "start it by hand and look what it says"
		return []Finding{f}
	}
	return []Finding{judgeProbe(f, e, r, well, took)}
}

// attend has an attendant look after the one question.
func (p Patient) attend(ctx context.Context, e agent.Agent, dir string) (r effect.AgentReport, well bool, err error) {
	work, order := filepath.Join(dir, "work"), filepath.Join(dir, "order.json")
	o := supervise.Order{
		Key: "doctor:probe.1", Run: "doctor", Step: "probe", Attempt: 1,
		Agent: e, Dir: work, Home: filepath.Join(dir, "home"), Prompt: filepath.Join(dir, "prompt"),
		Report: filepath.Join(dir, "report.json"), Notes: filepath.Join(dir, "notes"),
		Expect: belay.ExpectAnswer, Resumes: -1, Windows: supervise.Windows{Timeout: p.probeTimeout(), Gentle: p.patience() / 2},
		Contain: p.Within, Init: slices.Concat(p.Self, []string{"nsinit", "--"}),
	}
	o.Access = agent.AccessRead
	if e.Script != "" {
		o.Script = p.absolute(e.Script)
	}
	if err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(o.Prompt, []byte(probePrompt), 0o600), o.Write(order)); err != nil {
		return r, false, err
	}
	var talk head
	argv := slices.Concat(p.Self, []string{"attend", order})
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = p.Environ, work, &talk
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends the agent, then itself
	cmd.WaitDelay = endDelay
	ended := cmd.Run()
	r, err = supervise.ReadReport(o.Report)
	if err != nil {
		return r, false, fmt.Errorf("%w (%s)", err, reply{talk: talk.String(), err: ended}.trouble())
	}
	return r, ended == nil, nil
}

// judgeProbe weighs the answer. An agent that does not answer blocks nothing:
// another one may.
func judgeProbe(f Finding, e agent.Agent, r effect.AgentReport, well bool, took time.Duration) Finding {
	answer := strings.Join(strings.Fields(r.Result.Excerpt), " ")
	if runes := []rune(answer); len(runes) > maxAnswer {
		answer = string(runes[:maxAnswer]) + "…"
	}
	f.Facts["took"] = took.String()
	f.Facts["tokens"] = strconv.FormatInt(r.Result.Usage.Tokens(), 10)
	f.Facts["containment"] = strconv.Itoa(r.Level)
	for name, value := range map[string]string{"answer": answer, "model": r.Result.Model, "class": string(r.Result.Class), "ended": string(r.Ended)} {
		if value != "" {
			f.Facts[name] = value
		}
	}
	if r.Result.Usage.MicroUSD > 0 {
		f.Facts["usd"] = strconv.FormatFloat(float64(r.Result.Usage.MicroUSD)/1e6, 'f', -1, 64)
	}
	switch {
	case well && strings.Contains(strings.ToLower(answer), probeWord):
		f.Level, f.What = LevelOK, fmt.Sprintf("answered %q in %s with %d tokens", answer, took, r.Result.Usage.Tokens())
	case well && answer != "":
		f.Level, f.What = LevelNote, fmt.Sprintf("answered %q in %s: not the word it was asked for", answer, took)
		f.Cure = "check its model and its own settings"
	case well:
		f.What, f.Cure = fmt.Sprintf("ended well after %s and said nothing", took), "start it by hand and look what it says"
	default:
		f.What, f.Cure = trouble(r, took), cureOf(e, r.Result.Class)
	}
	return f
}

// trouble says how an agent ended that did not end well.
func trouble(r effect.AgentReport, took time.Duration) string {
	text := fmt.Sprintf("ended after %s with exit code %d", took, r.Result.Exit)
	if r.Ended != effect.EndedItself {
		text = fmt.Sprintf("was ended after %s (%s)", took, r.Ended)
	}
	if r.Result.Class != belay.ClassNone {
		text += fmt.Sprintf(", class %s", r.Result.Class)
	}
	if cause, _, _ := strings.Cut(strings.TrimSpace(r.Result.Cause), "\n"); cause != "" {
		text += fmt.Sprintf(": %.*s", maxWords, cause)
	}
	return text
}

// cureOf says what to do about a class of failure. Most say no more of an agent
// than that it has to be looked at.
func cureOf(e agent.Agent, c belay.Class) string {
	const (
		hand = "start it by hand and look what it says"
		paid = "the account is used up: add to it, wait for its reset, or name another agent"
		net  = "check the network and the service, then try again"
	)
	cures := map[belay.Class]string{
		belay.ClassAuth:           cmp.Or(agent.Known(e.Kind).Login.Cure, "log in with it"),
		belay.ClassRateLimit:      "try again later",
		belay.ClassQuota:          paid,
		belay.ClassBudget:         paid,
		belay.ClassTimeout:        net,
		belay.ClassTransient:      net,
		belay.ClassInvalidInput:   "check its model, args and program (agents." + e.Name + ") and its own settings",
		belay.ClassInfrastructure: "check the network, the disk and its program; " + hand,
		belay.ClassPermission:     "check its own settings: it was refused something that one word does not need",
	}
	return cmp.Or(cures[c], hand)
}
