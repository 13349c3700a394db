package flow

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/verdict"
)

// staleItem ends the id of the question whether an agent shall start although
// it failed twice in the same way and nothing has changed.
const staleItem = ".stale"

// budgetItem ends the id of the question whether an agent shall start over the
// budget.
const budgetItem = ".budget"

// agentKey names the question whether one more agent may start.
func (s *State) agentKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt+1).About(belay.TopicAgent)
}

// agentHistory is what the fold knows of the agents of one step.
type agentHistory struct {
	grant   *effect.AnswerAgent // may it start?
	broke   bool                // a person is asked for one
	pardon  bool                // a person allowed one start over the budget
	name    string              // who did the last attempt
	session string              // and in which session
	cut     string              // how that attempt was cut off, in words; "" = it ended by itself
	notes   int                 // records about the open attempt
	spent   bool                // its service has no retries left
	blocked bool                // its service is not to be called yet
	down    time.Time           // since when its service is down; zero = it is not
	patient bool                // it only waits for that
	named   time.Time           // until when it waits for that
	mark    string              // fingerprint of the last failure
	left    string              // the state of the work that it left
	base    *belay.TreeState    // from where the work of the next attempt is measured; nil = from its own beginning
}

// begin takes in that an attempt starts. The id of its record is a wish: a new
// session is there once the agent's attendant says so.
func (c *agentHistory) begin(e event.AttemptStarted) {
	c.name, c.session, c.notes = e.Agent, "", 0
	c.spent, c.blocked = false, false
	if e.Resume {
		c.session = e.Session
	}
}

// startAgent begins an agent step: its permit first, then the step itself.
func (s *State) startAgent(i int) command {
	st := &s.steps[i]
	if st.woken && st.same > 1 {
		return note{Event: event.ItemOpened{
			ID: fmt.Sprintf("%s.%d"+staleItem, s.prog.Steps[i].ID, st.attempt+st.extra+1), Path: s.prog.Steps[i].ID,
			Ask: fmt.Sprintf("step %s failed %d times in the same way, and nothing has changed since. Start its agent again, mark the step as failed or as done, or skip it?",
				s.prog.Steps[i].ID, st.same),
			Choices: []string{event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip, event.ChoiceDone},
		}}
	}
	if c := s.nextTests(i); c != nil {
		return c
	}
	if st.work.refused != "" {
		return s.refuse(i, belay.Infrastructure, st.work.refused, "give the run a worktree of its own with --isolate, or start it outside of the other")
	}
	dir, _ := s.dir(i) // a step whose directory has no name was refused before
	if c, open := s.nextTree(i, s.mainKey(i, st.attempt+1), &st.work, dir); c != nil || open {
		return c
	}
	if st.agent.grant == nil && !st.agent.pardon {
		return effect.Ask{Key: s.agentKey(i), Question: effect.AskAgent{Name: s.agentName(i), Retry: st.failed > 0 && !st.agent.patient}}
	}
	if g := st.agent.grant; g != nil && !g.OK && !st.agent.pardon {
		return note{Event: event.ItemOpened{
			ID: fmt.Sprintf("%s.%d"+budgetItem, s.prog.Steps[i].ID, st.attempt+st.extra+1), Path: s.prog.Steps[i].ID,
			Ask: fmt.Sprintf("step %s wants to start an agent: %s. Shall it start once more, has the step failed, or shall it be skipped? To give the run its budget once more: belay clear %s budget --why TEXT",
				s.prog.Steps[i].ID, g.Error, s.id.Root()),
			Choices: []string{event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip, event.ChoiceDone},
		}}
	}
	for _, name := range s.prog.Steps[i].Prompt.Names() {
		if s.vars.secret[name] {
			return s.refuse(i, belay.BashFailure, "a prompt holds no secret, and {{"+name+"}} is one",
				"the agent has it in its environment as $"+name)
		}
	}
	if _, err := s.prompt(i); err != nil {
		return s.refuse(i, belay.BashFailure, "prompt: "+err.Error(), "")
	}
	if s.agentName(i) == "" {
		return s.refuse(i, belay.Infrastructure, "no agent is named, and none was found on this machine",
			"install one ("+agent.Installable()+") and log in, or name one with --agent; belay doctor tells what is there")
	}
	return effect.Do{Job: s.job(i, belay.RoleMain, st.attempt+1)}
}

// agentName is who does a step: the one it names, else the run's.
func (s *State) agentName(i int) string {
	if c := s.steps[i].nextAttempt; c.agent != "" {
		return c.agent
	}
	if s.tree != nil && s.tree.instead != "" {
		return s.tree.instead
	}
	name := s.prog.Steps[i].Agent
	if p := s.profile(i); p.Agent != "" && (name == "" || s.steps[i].nextAttempt.role != "") {
		return p.Agent
	}
	return s.ownAgent(i)
}

// ownAgent is who does a step that no role and no recovery gave to somebody.
func (s *State) ownAgent(i int) string {
	name := s.prog.Steps[i].Agent
	if name == "" || strings.Contains(name, ":") || strings.HasPrefix(s.started.Agent, name+":") {
		return s.started.Agent // the run's, which may say more than the name: scripted:FILE
	}
	return name
}

// prompt is what the agent of a step is asked, in parts: a value that is not in
// the records is joined at the door.
func (s *State) prompt(i int) ([]belay.Value, error) {
	c := s.scope(i)
	var parts []belay.Value
	for _, piece := range s.prog.Steps[i].Prompt.Pieces() {
		v, err := s.render(i, c, piece)
		if err != nil {
			return nil, err
		}
		parts = append(parts, v)
	}
	return parts, nil
}

// agentJob is the agent's part of a job.
func (s *State) agentJob(i int) *effect.AgentJob {
	def, st := &s.prog.Steps[i], &s.steps[i]
	j := &effect.AgentJob{Name: s.agentName(i), Model: s.model(i), Expect: s.Expects(i), Unsaid: def.Expect == "", Base: st.agent.base, Blind: s.blind(i), Closes: def.JSON == effect.JSONAuto && !fromStdout(def.Outputs)}
	if strings.Contains(def.Agent, ":") {
		j.Persona = def.Agent
	}
	j.Guard = s.guarding(i, belay.RoleMain)
	s.steerJob(i, j)
	j.Prompt, _ = s.prompt(i) // a step whose prompt has no value was refused before it started
	switch {
	case st.nextAttempt.fresh:
		j.Cut = st.agent.cut
	case st.agent.cut != "" || st.nextAttempt.resume:
		j.Cut = st.agent.cut
		if st.agent.name == j.Name {
			j.Resume = st.agent.session
		}
	}
	return j
}

// model is the model that the agent of a step is told to use, "" for its own. Its
// name means something to one CLI only: the step's own is for the step's agent,
// that of a role for the role's agent, and who takes over is told none.
func (s *State) model(i int) string {
	def, c, p, who := &s.prog.Steps[i], &s.steps[i].nextAttempt, s.profile(i), s.agentName(i)
	own, role := def.Model, p.Model
	if p.Agent != "" && p.Agent != who {
		role = ""
	}
	switch {
	case c.agent != "", s.tree != nil && s.tree.instead != "":
		return ""
	case c.role == "":
		return cmp.Or(own, role)
	case who != s.ownAgent(i):
		return role
	}
	return cmp.Or(role, own)
}

// steerJob gives a job what the role of its step and the last recovery change.
func (s *State) steerJob(i int, j *effect.AgentJob) {
	st := &s.steps[i]
	p := s.profile(i)
	if j.Persona == "" || st.nextAttempt.role != "" {
		j.Persona = cmp.Or(p.Persona, j.Persona)
	}
	j.Access, j.Tools, j.Brief = p.Access, p.Tools, st.nextAttempt.brief
	if left := s.skippedBefore(i); len(left) > 0 {
		j.Brief = strings.TrimSpace(j.Brief + "\n\nSteps that this one builds on were left out: " + strings.Join(left, ", ") + ". Their results are not there.")
	}
}

// Expected is what a step must leave behind, by its path; "" = there is none.
func (s *State) Expected(p belay.Path) belay.Expect {
	i, ok := s.index[p]
	if !ok {
		return ""
	}
	return s.Expects(i)
}

// AnswerAlone tells whether a step says itself that it is to give an answer, and
// nothing else.
func (s *State) AnswerAlone(p belay.Path) bool {
	i, ok := s.index[p]
	return ok && s.prog.Steps[i].Expect == string(belay.ExpectAnswer)
}

// WritesTests tells whether a step is for an agent that writes tests.
func (s *State) WritesTests(p belay.Path) bool {
	i, ok := s.index[p]
	return ok && s.prog.Steps[i].Role == string(recovery.Tester)
}

// Expects is what step i must leave behind. Where it does not say, an answer is
// enough for an agent that may only read, and where somebody reads it.
func (s *State) Expects(i int) belay.Expect {
	def := &s.prog.Steps[i]
	switch own := s.lib.Recipes[s.started.Recipe]; {
	case def.Expect != "":
		return belay.Expect(def.Expect)
	case !def.Type.Agent() || s.vars.compat || s.profile(i).Access == readOnly || s.onlyRead(i):
	case own == nil || s.tree == nil:
	default:
		origin := s.origin(i)
		k := slices.IndexFunc(own.Steps, func(def recipe.Step) bool { return def.ID == origin })
		if k >= 0 {
			return s.tree.readers().Default(own, k, false)
		}
	}
	return belay.ExpectAnswer
}

// readOnly is the access of an agent that may change nothing.
const readOnly = "read"

// onlyRead tells whether the last attempt was made by an agent that may only
// read, by its settings on the machine.
func (s *State) onlyRead(i int) bool {
	o := s.steps[i].main
	return o != nil && o.Agent != nil && o.Agent.Access == readOnly
}

// readers knows who reads what the steps of the tree's recipes answer.
func (t *Tree) readers() *recipe.Readers {
	if t.reading == nil {
		t.reading = recipe.NewReaders(t.lib.Recipes[t.started.Recipe], func(name string) *recipe.Recipe { return t.lib.Recipes[t.lib.Names[name]] })
	}
	return t.reading
}

// sessionID is the id that an agent's session gets where it takes one: a UUID
// made of the tree and the attempt, so that it is the same after a crash.
func sessionID(tree string, k belay.Key) string {
	sum := sha256.Sum256([]byte(tree + " " + string(k)))
	b := sum[:16]
	b[6] = b[6]&0x0f | 0x80 // version 8: made by rules of one's own
	b[8] = b[8]&0x3f | 0x80
	x := hex.EncodeToString(b)
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}

// noted folds what became known of a running agent.
func (s *State) noted(e event.AttemptNoted) error {
	return s.withOpen(e.Key, func(i int) error {
		a := &s.steps[i].agent
		a.notes++
		if s.steps[i].phase == Helped {
			s.steps[i].helper.noted(e)
			return nil // nothing else of it goes on
		}
		switch e.What {
		case effect.NoteSession:
			a.session = e.Text
		case effect.NoteBase:
			a.keepBase(e.Base)
		case effect.NoteQuiet, effect.NoteInterrupt, effect.NoteResume, effect.NoteKill, effect.NoteRetry:
		}
		return nil
	})
}

// Noted is how many notes of a step's open attempt are records.
func (s *State) Noted(p belay.Path) int {
	if i, ok := s.index[p]; ok {
		return s.steps[i].agent.notes
	}
	return 0
}

// learn keeps what an agent's attempt leaves for the next one.
func (s *State) learn(i int, o *effect.Observation) {
	a := &s.steps[i].agent
	a.grant, a.pardon = nil, false
	a.cut = cutBy(o)
	a.baseAfter(o)
	if s.prog.Steps[i].Fallback != nil {
		s.steps[i].around.began(o)
	}
	if o != nil && o.Agent != nil && o.Agent.Result.Session != "" {
		a.session = o.Agent.Result.Session
	}
}

// learnLost keeps what a lost attempt leaves for the next one: nobody knows how
// it ended, but its attendant may have told what it did.
func (s *State) learnLost(i int, e event.AttemptFound) {
	s.learn(i, nil)
	if e.Left != nil {
		s.steps[i].agent.baseAfter(&effect.Observation{Began: true, Agent: &effect.AgentReport{Evidence: *e.Left}})
	}
}

// cutBy says how an attempt was cut off, so that its session can go on; "" for
// one that came to an end of its own.
func cutBy(o *effect.Observation) string {
	switch {
	case o == nil:
		return "the machine or the process that looked after it died"
	case o.KilledBy == fault.KilledDeadline || o.Agent != nil && o.Agent.Ended == effect.EndedDeadline:
		return "it passed its time limit"
	case o.KilledBy != fault.KilledNot:
		return "it was stopped by a person or with its run"
	case o.Agent == nil && o.Began:
		return "the process that looked after it died"
	case o.Agent == nil:
		return "" // nothing was started
	}
	switch o.Agent.Ended {
	case effect.EndedFirst, effect.EndedSilence, effect.EndedTool, effect.EndedBabble, effect.EndedRetries:
		return "it was ended because it did not move (" + string(o.Agent.Ended) + ")"
	case effect.EndedSignal:
		return "it was stopped"
	case effect.EndedItself, effect.EndedDeadline, effect.EndedOutput:
	}
	if class := o.Agent.Result.Class; class.Row().Service {
		return "the model's service failed (" + string(class) + ")"
	}
	return ""
}

// Case is what the last attempt of a step would be judged by now.
func (s *State) Case(p belay.Path) (verdict.Case, bool) {
	i, ok := s.index[p]
	if !ok || s.steps[i].main == nil {
		return verdict.Case{}, false
	}
	return s.caseOf(i), true
}

// CodeOf is the exit code that a verdict stands for when it is the last word
// about a run.
func CodeOf(v effect.Verdict) int {
	switch {
	case v.OK && v.Partial:
		return exit.Partial
	case v.OK:
		return exit.OK
	case v.Failure == nil:
		return exit.Held
	case v.Failure.Kind == belay.Infrastructure:
		return exit.Infra
	case v.Failure.Kind == belay.HollowSuccess:
		return exit.Hollow
	}
	return exit.Failed
}

// sealed gives the job of an agent the id of its session.
func (t *Tree) sealed(j effect.Job) effect.Job {
	if j.Agent != nil && t.started.Session != nil {
		j.Agent.Session = sessionID(t.started.Session.Tree, j.Key)
	}
	return j
}

// started is the record of an attempt that begins.
func started(j effect.Job) event.AttemptStarted {
	e := event.AttemptStarted{Key: j.Key, Path: j.Path, Role: j.Role, Attempt: j.Attempt, Once: j.Once}
	if a := j.Agent; a != nil {
		e.Agent, e.Session, e.Resume = a.Name, a.Session, a.Resume != ""
		if e.Resume {
			e.Session = a.Resume
		}
	}
	return e
}
