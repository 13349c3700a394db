package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/verdict"
	"github.com/belay-run/belay/worktree"
)

type judgeOptions struct {
	transcript string
	repo       string
	base       string
	expect     string
	agent      string
	hollow     string
	exit       int
	json       bool
	exitCode   bool
}

func (a *app) judgeCommand() *cobra.Command {
	var o judgeOptions
	cmd := command("judge [RUN STEP]", "judge an attempt of an agent by its evidence", 0, 2,
		func(ctx context.Context, cmd *cobra.Command, args []string) error { return a.judge(ctx, cmd, args, o) })
	cmd.Long = `judge shows the verdict about the last attempt of an agent step: done, hollow or
failed, with the evidence for and against it and how sure it is. The agents that
helped with a step are named by their role: STEP@repair, STEP@plan, STEP@recovery.

With --transcript it judges what an agent printed (stream-json of claude, --json
of codex, …; or plain text) against a git repository: what changed since --base.`
	f := cmd.Flags()
	f.StringVar(&o.transcript, "transcript", "", "a file with what an agent printed; - is stdin")
	f.StringVar(&o.repo, "repo", ".", "the repository that it worked in")
	f.StringVar(&o.base, "base", "HEAD", "the revision that its work is measured against")
	f.StringVar(&o.expect, "expect", "change", "what it had to leave behind: change, tests, pr, answer or none")
	f.StringVar(&o.agent, "agent", "", "whose transcript it is: "+agent.Installable()+", scripted or command (default: found out)")
	f.StringVar(&o.hollow, "hollow", "evidence", "how a claim is judged: evidence, or classic (by its text alone)")
	f.IntVar(&o.exit, "exit", 0, "the exit code that the agent's program ended with")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with the code of the verdict")
	return cmd
}

// judgement is what judge prints.
type judgement struct {
	Verdict  string            `json:"verdict"`         // done, hollow, failed, unknown or given_back
	Basis    effect.Basis      `json:"basis,omitempty"` // what a good verdict rests on
	Code     int               `json:"exit_code"`
	Sure     int               `json:"confidence"`
	Expect   belay.Expect      `json:"expect"`
	Role     belay.Role        `json:"role,omitempty"` // of an agent that helped: repair, plan or recovery
	Failure  *belay.Failure    `json:"failure,omitempty"`
	For      []string          `json:"for"`
	Against  []string          `json:"against"`
	Stored   string            `json:"stored,omitempty"` // the verdict on record, when it is another
	Agent    string            `json:"agent"`
	Result   belay.AgentResult `json:"result"`
	Evidence belay.Evidence    `json:"evidence"`
}

func (a *app) judge(ctx context.Context, cmd *cobra.Command, args []string, o judgeOptions) error {
	if o.hollow != "evidence" && o.hollow != "classic" {
		return usage(cmd, fmt.Errorf("--hollow %q: evidence or classic", o.hollow))
	}
	switch expect := belay.Expect(o.expect); expect {
	case belay.ExpectChange, belay.ExpectTests, belay.ExpectPR, belay.ExpectAnswer, belay.ExpectNone:
	default:
		return usage(cmd, fmt.Errorf("--expect %q: change, tests, pr, answer or none", o.expect))
	}
	var j judgement
	var err error
	switch {
	case o.transcript != "" && len(args) == 0:
		j, err = a.judgeFile(ctx, o)
	case o.transcript == "" && len(args) == 2:
		j, err = a.judgeStep(args[0], belay.Path(args[1]), o)
	default:
		return usage(cmd, errors.New("judge needs RUN and STEP, or --transcript FILE"))
	}
	if err != nil {
		return err
	}
	if err := a.printJudgement(j, o.json); err != nil {
		return err
	}
	if o.exitCode {
		return quietly(j.Code)
	}
	return nil
}

// judgeStep judges the last attempt of a step anew, from its record.
func (a *app) judgeStep(run string, p belay.Path, o judgeOptions) (j judgement, err error) {
	st, err := a.openState()
	if err != nil {
		return j, err
	}
	defer closing(&err, "close state", st.Close)
	s, err := tell(st, run)
	if err != nil {
		return j, err
	}
	defer closing(&err, "close journal", s.close)
	if _, _, _, helper := helperNamed(p); helper {
		return a.judgeHelper(s, p)
	}
	v, err := s.step(p)
	if err != nil {
		return j, err
	}
	if story.Recovered(v.StepView) { // its own attempt failed, and another's verdict made it done
		return a.judgeHelper(s, p+"@"+belay.Path(belay.RoleRecovery))
	}
	tree := s.Tree
	if v.Main == nil {
		if tree, v, err = s.before(v); err != nil {
			return j, err
		}
	}
	if last := s.unobserved(v); last != nil {
		j = helperJudged(last)
		j.Role, j.Basis, j.Expect = "", last.Verdict.Basis, tree.Run(v.Run).Expected(v.Path)
		return j, nil
	}
	if v.Main == nil || v.Main.Agent == nil {
		return j, exit.New(exit.Invalid, "judge", fmt.Errorf("step %s has no attempt of an agent to judge", p),
			"see what it did with "+a.name()+" show "+string(s.id)+" "+string(p))
	}
	c, _ := tree.Run(v.Run).Case(v.Path)
	c.Classic = c.Classic || o.hollow == "classic"
	j = judged(c, verdict.Of(c))
	if v.Verdict != nil {
		if was := verdictWord(*v.Verdict); was != j.Verdict {
			j.Stored = was
		}
	}
	return j, nil
}

// unobserved is the last attempt of an agent step when it has a verdict and nobody
// saw its end: it was judged by what it left, and the verdict on record is all
// that there is.
func (s *runView) unobserved(v story.Placed) *story.Attempt {
	var last *story.Attempt
	for _, f := range s.Step(v.At()).Attempts {
		if f.Role == belay.RoleMain {
			last = f
		}
	}
	if last == nil || last.Observation != nil || last.Verdict == nil || last.Agent == "" {
		return nil
	}
	return last
}

// before is the tree as it stood when the last attempt of a step was over and
// judged, for a step that has put that attempt aside: it waits to run again, or
// runs.
func (s *runView) before(v story.Placed) (*flow.Tree, story.Placed, error) {
	last := s.Judged(v.At())
	if last == 0 {
		return s.Tree, v, nil
	}
	tree, err := engine.Fold(s.id.Root(), s.recs[:last], s.view)
	if err != nil {
		return nil, v, fmt.Errorf("fold the records up to that attempt: %w", err)
	}
	v.StepView, _ = tree.Run(v.Run).Step(v.Path) // it is there: its attempt was
	return tree, v, nil
}

// judgeFile judges a transcript against a repository.
func (a *app) judgeFile(ctx context.Context, o judgeOptions) (judgement, error) {
	var seen supervise.Witness
	kind, result, err := readTranscript(o, &seen)
	if err != nil {
		hint := ""
		if errors.Is(err, errEmpty) {
			hint = "give judge what the agent printed: its records, or its answer as text"
		}
		return judgement{}, exit.New(exit.Invalid, "read transcript", err, hint)
	}
	tree := worktree.Tree{Dir: o.repo}
	base, err := tree.At(ctx, o.base)
	if err != nil {
		return judgement{}, exit.New(exit.Invalid, "judge", err, "name a git repository with --repo and a revision of it with --base")
	}
	now := tree.State(ctx)
	var calls []belay.ToolCall
	result.Tools, calls = seen.Calls(result)
	report := &effect.AgentReport{Name: string(kind), Result: result, Evidence: tree.Since(ctx, base, now, calls)}
	code := o.exit
	if ad, ok := agent.New(kind); ok && ad.Traits().Final && !result.Final && code == 0 {
		code = 1 // as the attendant does: without its last record a run has not ended well
	}
	c := verdict.Case{
		Step: "transcript", Type: belay.TypeAgent, Expect: belay.Expect(o.expect), Classic: o.hollow == "classic",
		Main: effect.Observation{Began: true, Exit: code, Agent: report},
	}
	return judged(c, verdict.Of(c)), nil
}

// readTranscript reads what an agent printed through the reader of its kind.
func readTranscript(o judgeOptions, seen *supervise.Witness) (agent.Kind, belay.AgentResult, error) {
	in := io.Reader(os.Stdin)
	if o.transcript != "-" {
		f, err := os.Open(o.transcript)
		if err != nil {
			return "", belay.AgentResult{}, err
		}
		defer func() { _ = f.Close() }() // read only: nothing to lose
		in = f
	}
	src, err := io.ReadAll(io.LimitReader(in, maxTranscript+1))
	if err != nil {
		return "", belay.AgentResult{}, err
	}
	if len(src) > maxTranscript {
		return "", belay.AgentResult{}, fmt.Errorf("it has more than %d bytes", maxTranscript)
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return "", belay.AgentResult{}, errEmpty
	}
	kind := agent.Kind(o.agent)
	if kind == "" {
		kind = agent.Guess(src)
	}
	ad, ok := agent.New(kind)
	if !ok {
		return "", belay.AgentResult{}, fmt.Errorf("there is no reader for %q", o.agent)
	}
	r := readLines(ad.Reader(), string(src), o.exit, seen)
	r.Excerpt, r.TextSize = agent.Excerpt(r.Text), int64(len(r.Text))
	return kind, r, nil
}

const maxTranscript = 256 << 20

// errEmpty is a file that says nothing: the wrong one, or one that nobody wrote
// to. To judge an agent by it would judge by the repository alone.
var errEmpty = errors.New("there is nothing in it")

func readLines(r agent.Reader, src string, exit int, seen *supervise.Witness) belay.AgentResult {
	s := bufio.NewReader(strings.NewReader(src))
	for {
		line, err := s.ReadString('\n')
		if line != "" {
			for _, s := range r.Line([]byte(strings.TrimSuffix(line, "\n"))) {
				seen.Hear(s)
			}
		}
		if err != nil {
			return r.End(agent.Exit{Code: exit, At: time.Now()})
		}
	}
}

func judged(c verdict.Case, v effect.Verdict) judgement {
	j := judgement{
		Verdict: verdictWord(v), Basis: v.Basis, Code: flow.CodeOf(v), Sure: v.Sure, Expect: c.Expect, Failure: v.Failure,
		For: append([]string{}, v.For...), Against: append([]string{}, v.Against...),
		Agent: c.Main.Agent.Name, Result: c.Main.Agent.Result, Evidence: c.Main.Agent.Evidence,
	}
	return j
}

// verdictWord is a verdict in one word.
func verdictWord(v effect.Verdict) string {
	switch {
	case v.OK:
		return "done"
	case v.Unknown:
		return "unknown"
	case v.GivenBack:
		return "given_back"
	case v.Failure.Kind == belay.HollowSuccess:
		return "hollow"
	}
	return "failed"
}

func (a *app) printJudgement(j judgement, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.out).Encode(j)
	}
	switch {
	case j.Role != "":
		a.out.line("%s (%s by %s, %d %% sure)", j.Verdict, j.Role, j.Agent, j.Sure)
	default:
		word := j.Verdict
		if j.Basis == effect.BasisAnswer {
			word = story.AnsweredWord + ", not checked"
		}
		a.out.line("%s (%d %% sure; expected: %s)", word, j.Sure, j.Expect)
	}
	if j.Failure != nil {
		text := j.Failure.Words()
		if a.verbose {
			text = j.Failure.Error()
		}
		a.out.line("  %s", text)
		if j.Failure.Hint != "" {
			a.out.line("  hint              %s", j.Failure.Hint)
		}
	}
	for _, e := range j.For {
		a.out.line("  evidence for      %s", e)
	}
	for _, e := range j.Against {
		a.out.line("  evidence against  %s", e)
	}
	if j.Stored != "" {
		a.out.line("  the verdict on record is %s", j.Stored)
	}
	return nil
}
