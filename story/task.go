package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// taskRecipe is the recipe that carries out a task in words.
const taskRecipe = "smart-orchestrator"

// taskRounds is its step that does the work in rounds.
const taskRounds = "rounds"

// roundRecipe is the recipe of one of its rounds.
const roundRecipe = "round"

// FlagStep is the step of a round that only reports that nothing was done: it is a
// failure on record, and no work that failed.
const FlagStep belay.Path = "flag-hollow"

// Task is what a run of belay do is about, and what it came to.
type Task struct {
	Text     string // as it was given; of a long one the beginning
	File     string // that has all of a long one
	Bytes    int64  // how long that is
	Type     string // "" while there is no plan
	Goal     string
	Criteria []TaskCriterion // of the plan; judged when a round was
	Planned  bool            // only the plan was asked for
	Rounds   int             // how many were judged
	Most     int             // how many it may have
	Best     int             // the number of the round that counts; 0 = none was chosen yet
	Last     bool            // it was the last one
	Commit   string          // that it left; "" = none
	Began    string          // the commit that the first round began with; "" = not known
	Back     bool            // in the directory itself its files were brought back
	Aside    string          // the folder with what later rounds left there; "" = nothing
	PutAway  []string        // the first of the files in it
	Away     int             // how many there are
	Line     string          // its status with the reason
	Met      int
	Limits   []string      // why it is PARTIAL at best, whatever its criteria say
	Flags    []string      // of the command that began it
	Warnings []string      // what is to be looked at before anybody relies on the proof
	Findings []TaskFinding // of the review of the round: those that are blocking
	Issues   []TaskIssue   // that the run filed, or added to
	Answer   string        // of a question, an investigation, an operation
	Pushed   string        // the branch that was pushed to origin; "" = none
	ByAgents []string      // branches at remotes that agents pushed to
	PR       string        // the address of its pull request
	Branch   string        // that has the work; "" = it was done in the directory itself
	Offered  bool          // the branch is that of the result, made of the commit that was judged
	Work     string        // the branch that agents worked on, where it is another one
	Dir      string        // of the worktree
}

// Left tells whether it left a commit that is another one than it began with.
func (t *Task) Left() bool { return t.Commit != "" && t.Commit != t.Began }

// TaskCriterion is a criterion with what became of it.
type TaskCriterion struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Check   string   `json:"check,omitempty"`
	Files   []string `json:"files,omitempty"`
	Verdict string   `json:"verdict,omitempty"` // met, unmet or unproven; "" = nobody judged it
	Why     string   `json:"why,omitempty"`
	Note    string   `json:"note,omitempty"`    // it is met, and its check names files of the work
	Trusted bool     `json:"trusted,omitempty"` // it is met because the reflecting agent says so
	Exit    *int     `json:"exit,omitempty"`    // of its check; nil = it was not run
	Printed string   `json:"printed,omitempty"` // the end of what its check printed

	Rewritten []string `json:"rewritten,omitempty"` // its check passes only since the work changed these, which it names
}

// Met tells whether there is evidence for it.
func (c TaskCriterion) Met() bool { return c.Verdict == "met" }

// Unproven tells whether only an agent says that it is met.
func (c TaskCriterion) Unproven() bool { return c.Verdict == "unproven" }

// TaskFinding is something that the review of the work found, and that is blocking.
type TaskFinding struct {
	Title     string `json:"title"`
	Where     string `json:"where,omitempty"`
	Why       string `json:"why,omitempty"`
	Addressed bool   `json:"addressed"` // files were changed for it; nobody reviewed them again
}

// Words are the finding, and what became of it.
func (f *TaskFinding) Words() string {
	text := f.Title
	if f.Where != "" {
		text += " (" + f.Where + ")"
	}
	if f.Addressed {
		return text + ": files were changed for it, and nobody reviewed it again"
	}
	return text + ": not fixed"
}

// TaskOf reads the task of a tree; nil for a run of any other recipe. read gives
// values that are too big for the records; one that it cannot read is left out.
func TaskOf(tree *flow.Tree, read func(belay.Value) []byte) *Task {
	if len(tree.Runs()) == 0 {
		return nil
	}
	root := tree.Run(tree.Runs()[0])
	started, _ := root.Started()
	if started.Name != taskRecipe {
		return nil
	}
	r := taskReader{tree, read}
	t := &Task{Planned: slices.Contains(started.Exclude, "work"), Most: 3}
	r.get(root, "task_description", &t.Text)
	r.get(root, "task_file", &t.File)
	r.get(root, "task_bytes", &t.Bytes)
	r.get(root, "max_rounds", &t.Most)
	r.get(root, "flags", &t.Flags)
	var plan struct {
		Type, Goal string
		Criteria   []TaskCriterion
	}
	r.get(root, "plan", &plan)
	t.Type, t.Goal, t.Criteria = plan.Type, plan.Goal, plan.Criteria
	for _, h := range root.Homes() {
		if h.OK && h.Dir != "" && !h.Copy {
			t.Branch, t.Dir = h.Ref, h.Dir
		}
	}
	var offered struct {
		Branch   string
		Warnings []string
	}
	r.get(root, "work_branch", &t.Work)
	r.get(root, "offered", &offered)
	if t.Offered = offered.Branch != ""; t.Offered {
		t.Branch = offered.Branch
	} else if t.Branch != "" && t.Work != "" {
		t.Branch = t.Work
	}
	var best struct {
		Round, Met   int
		Last         bool
		Line, Commit string
		Criteria     []TaskCriterion
		Warnings     []string
	}
	r.get(root, "best", &best)
	t.Best, t.Met, t.Line, t.Last, t.Commit = best.Round, best.Met, best.Line, best.Last, best.Commit
	rounds := r.rounds()
	t.Rounds = len(rounds)
	t.Began = r.began(rounds[1])
	round := rounds[t.Best]
	if round == nil {
		round = rounds[t.Rounds]
	}
	if round != nil {
		r.judged(t, round)
	}
	t.Warnings, t.Issues = append(append(t.Warnings, best.Warnings...), offered.Warnings...), r.issues()
	r.putAway(root, t)
	var published struct {
		Branch string
		PR     string `json:"pull_request"`
	}
	r.get(root, "published", &published)
	t.Pushed, t.PR = strings.TrimSpace(published.Branch), strings.TrimSpace(published.PR)
	if t.Branch == "" && (t.Type == "Development" || t.Type == "Operations") {
		var rest struct{ Lost []string }
		if round != nil {
			r.get(round, "rest", &rest)
		}
		t.Warnings = append(t.Warnings, swept(tree, started.Dir, rest.Lost, t.Type == "Development")...)
	}
	return t
}

// putAway reads which files were brought back, and which were put away for that.
func (r taskReader) putAway(root *flow.State, t *Task) {
	var kept struct {
		Files   int
		Aside   string
		PutAway []string `json:"put_away"`
		Away    int
	}
	r.get(root, "kept", &kept)
	t.Back, t.Aside, t.PutAway, t.Away = kept.Files > 0, kept.Aside, kept.PutAway, kept.Away
}

// began is the commit that a round began with.
func (r taskReader) began(round *flow.State) string {
	var base struct{ First string }
	if round != nil {
		r.get(round, "base", &base)
	}
	return base.First
}

// swept says what became of work that a person had not committed in the directory where
// agents worked: it was taken away, or somebody committed there, where no agent was to.
// The files that are told already are not told again. An operation may commit.
func swept(tree *flow.Tree, dir string, told []string, commits bool) []string {
	var list []string
	git := "git -C " + Quote(dir)
	made := map[string]bool{} // by agents
	for _, id := range tree.Runs() {
		for _, v := range tree.Run(id).Steps() {
			if v.Main == nil || v.Main.Agent == nil {
				continue
			}
			e := &v.Main.Agent.Evidence
			var gone []string
			for _, path := range e.Gone {
				if !made[path] && !slices.Contains(told, path) {
					gone = append(gone, path)
				}
			}
			for _, c := range e.Changed {
				made[c.Path] = true
			}
			if len(gone) > 0 && e.Earlier != "" {
				back := git + " checkout " + Quote(e.Earlier) + " --"
				for _, path := range gone {
					back += " " + Quote(":/"+path)
				}
				list = append(list, fmt.Sprintf("an agent took away uncommitted work of %s; bring it back: %s", strings.Join(gone, ", "), back))
			}
			if commits && len(e.Commits) > 0 && e.Before.Head != "" {
				list = append(list, fmt.Sprintf("somebody committed in %s during the run, where no agent was to commit; look whose it is: %s log -p %.12s..HEAD", dir, git, e.Before.Head))
			}
		}
	}
	return list
}

// Title is the first line of the task.
func (t *Task) Title() string {
	for l := range strings.Lines(t.Text) {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return t.Goal
}

// UsedUp tells whether the task ended with a verdict of its rounds: to go on with it
// would do nothing.
func (t *Task) UsedUp(s belay.Status) bool {
	return t.Best > 0 && (s == belay.Partial || s == belay.NotAchieved || s == belay.Hollow)
}

// onlyUnproven tells whether proof is all that is missing.
func (t *Task) onlyUnproven() bool {
	unmet := func(c TaskCriterion) bool { return !c.Met() && !c.Unproven() }
	return len(t.Limits) == 0 && slices.ContainsFunc(t.Criteria, TaskCriterion.Unproven) && !slices.ContainsFunc(t.Criteria, unmet)
}

// mostTyped is how long a task may be to stand in a command that is typed.
const mostTyped = 400

// Again is the command for a new run of the same task, from the directory here.
func (t *Task) Again(was event.RunStarted, here string) Command { return t.again(was, here, "") }

// again is the command for a new run of the task, from the directory here: with the flags
// of this one but those that it is to go without, and with more. An agent that is not
// found by itself is named.
func (t *Task) again(was event.RunStarted, here string, without string, more ...string) Command {
	c := Command{"do"}
	file := "FILE" // that has a task which has no place on a line
	for _, f := range t.Flags {
		name, value, has := strings.Cut(f, "=")
		if name == "--file" {
			file = Quote(value)
			continue
		}
		if f == without {
			continue
		}
		if c = append(c, name); has {
			c = append(c, Quote(value))
		}
	}
	named := func(flag string) bool {
		return slices.ContainsFunc(t.Flags, func(f string) bool { return strings.HasPrefix(f, flag+"=") })
	}
	if t.Planned {
		c = append(c, "--plan")
	}
	if was.Dir != here {
		c = append(c, "--dir", Quote(was.Dir))
	}
	if was.Agent != "" && !slices.Contains(agent.Kinds(), agent.Kind(was.Agent)) && !named("--agent") {
		c = append(c, "--agent", Quote(was.Agent))
	}
	if len(more) > 0 && !named(more[0]) {
		c = append(c, more...)
	}
	text := strings.TrimSpace(t.Text)
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case t.File != "":
		return append(c, "--file", Quote(t.File))
	case text == "" || utf8.RuneCountInString(text) > mostTyped || strings.ContainsFunc(text, odd):
		return append(c, "--file", file)
	case text[0] == '-':
		return append(c, "--", Quote(text))
	}
	return slices.Insert(c, 1, Quote(text))
}

type taskReader struct {
	tree *flow.Tree
	read func(belay.Value) []byte
}

// get reads a variable of a run; one that is not there, or has another form, leaves
// what is there.
func (r taskReader) get(s *flow.State, name string, into any) {
	if v, ok := s.Vars()[name]; ok {
		r.value(v, into)
	}
}

func (r taskReader) value(v belay.Value, into any) { Decode(v, r.read, into) }

// Decode reads a value, with read where it is not in the records: a text is as it is
// there, everything else is JSON. What cannot be read, or has another form, leaves what
// is there.
func Decode(v belay.Value, read func(belay.Value) []byte, into any) {
	raw := []byte(v.JSON)
	if !v.Inline() && read != nil {
		raw = read(v)
		if text, isText := into.(*string); isText {
			*text = string(raw)
			return
		}
	}
	_ = json.Unmarshal(raw, into) // it is told without
}

// rounds are the runs of the rounds that were judged, by their numbers.
func (r taskReader) rounds() map[int]*flow.State {
	list := map[int]*flow.State{}
	for _, id := range r.tree.Runs() {
		parent, ok := id.Parent()
		number, isRound := strings.CutPrefix(string(parent.Path), "round-")
		s := r.tree.Run(id)
		if started, _ := s.Started(); !ok || !isRound || started.Name != roundRecipe {
			continue
		}
		v, _ := s.Step("judge-round") // the variables of the round before are there, too
		if n, err := strconv.Atoi(number); err == nil && v.Phase == flow.Done {
			list[n] = s
		}
	}
	return list
}

// judged takes over what a round came to.
func (r taskReader) judged(t *Task, round *flow.State) {
	var j struct {
		Line     string
		Met      int
		Criteria []TaskCriterion
		Warnings []string
		Limits   []string
		Pushed   []string
	}
	r.get(round, "judged", &j)
	t.Warnings, t.Limits, t.ByAgents = j.Warnings, j.Limits, j.Pushed
	t.Findings = r.findings(round)
	if t.Best == 0 {
		t.Met, t.Line = j.Met, j.Line
	}
	for i := range t.Criteria {
		c := &t.Criteria[i]
		if at := slices.IndexFunc(j.Criteria, func(x TaskCriterion) bool { return x.ID == c.ID }); at >= 0 {
			x := j.Criteria[at]
			c.Verdict, c.Why, c.Note, c.Trusted, c.Rewritten = x.Verdict, x.Why, x.Note, x.Trusted, x.Rewritten
		}
		r.checked(c, round)
	}
	var qa, ops struct{ Answer answerText }
	var found, instead struct{ Findings struct{ Report string } }
	r.get(round, "qa_result", &qa)
	r.get(round, "operations_result", &ops)
	r.get(round, "investigation_result", &found)
	r.get(round, "adaptive_investigation", &instead)
	for _, text := range []string{string(qa.Answer), string(ops.Answer), found.Findings.Report, instead.Findings.Report} {
		if t.Answer == "" {
			t.Answer = strings.TrimSpace(text)
		}
	}
}

// answerText is what an agent answered: a text, or JSON as it stands.
type answerText string

func (a *answerText) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(a)) != nil {
		*a = answerText(data)
	}
	return nil
}

// findings are the blocking ones of the reviews in a round.
func (r taskReader) findings(round *flow.State) []TaskFinding {
	var list []TaskFinding
	var top belay.RunID
	for _, id := range r.tree.Runs() { // a run comes before those below it
		s := r.tree.Run(id)
		if s == round {
			top = id
		}
		if v, ok := s.Step("blocking-findings"); top == "" || !id.Under(top) || !ok || v.Phase != flow.Done {
			continue
		}
		var found struct{ Findings []TaskFinding }
		r.get(s, "found_blocking", &found)
		mended, _ := s.Step("address")
		for _, f := range found.Findings {
			f.Addressed = mended.Phase == flow.Done
			list = append(list, f)
		}
	}
	return list
}

// checked is what the check of a criterion came to in a round.
func (r taskReader) checked(c *TaskCriterion, round *flow.State) {
	v, ok := round.Step("check-criteria")
	if !ok || c.Check == "" {
		return
	}
	items := r.tree.Run(v.Child)
	if items == nil {
		return
	}
	for _, item := range items.Steps() {
		if item.Main == nil || item.Main.Output == nil {
			continue
		}
		var got struct {
			ID   string
			Exit *int
			Said string // the end of what it printed
		}
		r.value(*item.Main.Output, &got)
		if got.ID == c.ID && got.Exit != nil {
			c.Exit, c.Printed = got.Exit, cmp.Or(strings.TrimSpace(got.Said), withoutAnswer(item.Main.Tail))
		}
	}
}

// withoutAnswer is what a check printed without the line of JSON that tells its
// exit code.
func withoutAnswer(tail string) string {
	var lines []string
	for l := range strings.Lines(tail) {
		if !strings.HasPrefix(l, `{"id":`) {
			lines = append(lines, l)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}

// BackWords say that the files of the best round were brought back, and which files of
// later rounds were put away for that; "" = none were. Nobody can tell whether all of
// those are of agents: a person may have worked in the same directory.
func (t *Task) BackWords() string {
	if t.Aside == "" {
		return ""
	}
	text := fmt.Sprintf("the files are those of round %d; what was changed after it, by an agent or by somebody else, is in %s", t.Best, Quote(t.Aside))
	if len(t.PutAway) > 0 {
		text += ": " + strings.Join(t.PutAway, ", ")
	}
	if more := t.Away - len(t.PutAway); more > 0 && len(t.PutAway) > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
