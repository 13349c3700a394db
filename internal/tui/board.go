// Package tui shows a run in a terminal: from its records it makes plain lines,
// a live view of what runs now, and a summary of how it stands. What is shown
// is a pure function of records and state; only Screen writes. It decides
// nothing, reads no journal, and lets no escape sequence of a step's output
// through.
package tui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// Board keeps what the next line or the live view needs to know.
type Board struct {
	tree     *flow.Tree
	open     map[belay.Key]*lane
	order    []belay.Key
	broken   map[place]broken
	waiting  map[place]retry
	blocked  map[place]string // why the agent of a step may not start yet
	forTrees map[place]string // steps that wait for a working tree, and who has it
	done     int
	failed   map[belay.RunID]int // steps that stay failed
}

// place is a step of a run.
type place struct {
	run  belay.RunID
	path belay.Path
}

// lane is an attempt that is open, or has ended and is not judged yet.
type lane struct {
	place
	key   belay.Key
	role  belay.Role
	n, of int
	since time.Time
	child bool
	agent string // who does it
	ended *belay.Observation
}

// broken is how the last attempt of a step went wrong. The tree is no witness
// for it: by the time a record is shown, the next attempt may have begun.
type broken struct {
	n       int
	took    string
	failure *belay.Failure // nil: the attempt was lost
	work    string         // of an agent: what it used and left
}

// retry is a step that will be started again.
type retry struct {
	n, of int
	due   time.Time
}

// NewBoard starts from a tree as it stands; attempts that are open in it are
// taken along.
func NewBoard(tree *flow.Tree) *Board {
	b := &Board{
		tree: tree, open: map[belay.Key]*lane{},
		broken: map[place]broken{}, waiting: map[place]retry{}, failed: map[belay.RunID]int{},
		blocked: map[place]string{}, forTrees: map[place]string{},
	}
	var well []place
	Walk(tree, "", func(run belay.RunID, _ int, v flow.StepView) {
		if v.Key != "" {
			role := belay.RoleMain
			at := place{run, v.Path}
			switch {
			case v.Hook != "":
				role, at.path = belay.RoleHook, v.Path+"@"+belay.Path(v.Hook)
			case v.Phase == flow.Checking:
				role = belay.RoleVerify
			}
			l := &lane{
				place: at, key: v.Key, role: role, n: v.Attempt, of: v.Attempts,
				since: v.Since, child: v.Child != "" && v.Type == belay.TypeRecipe,
			}
			if v.Phase == flow.Merging {
				l.place, l.n = placeOf(run, v.Key)
				l.role, l.of, l.child = belay.RoleMerge, l.n, false
			}
			if v.Phase == flow.Aided {
				l.place, l.n = placeOf(run, v.Key)
				_, l.role = helped(l.place)
				l.of, l.child = l.n, false
			}
			if v.Type == belay.TypeAgent && role == belay.RoleMain || v.Phase == flow.Aided {
				l.agent = "agent" // its name is in a record that was taken before
			}
			b.add(l)
		}
		b.count(run, v.Phase)
		if Recovered(v) {
			well = append(well, place{run, v.Path})
		}
	})
	for _, at := range well {
		b.forgive(at)
	}
	return b
}

func (b *Board) count(run belay.RunID, p flow.Phase) {
	switch p {
	case flow.Done:
		b.done++
	case flow.Failed:
		b.failed[run]++
	case flow.Waiting, flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Aided, flow.Merging, flow.Held, flow.NotTaken, flow.Skipped:
	}
}

func (b *Board) add(l *lane) {
	if b.open[l.key] == nil {
		b.order = append(b.order, l.key)
	}
	b.open[l.key] = l
}

func (b *Board) remove(k belay.Key) {
	delete(b.open, k)
	for i, o := range b.order {
		if o == k {
			b.order = append(b.order[:i:i], b.order[i+1:]...)
			return
		}
	}
}

// Take folds one record and gives the lines that it is worth.
func (b *Board) Take(r belay.Record) []Line {
	switch e := r.Event.(type) {
	case belay.AttemptStarted:
		at := beside(place{r.Run, e.Path}, e.Role)
		delete(b.waiting, at)
		if e.Role == belay.RoleMain {
			delete(b.broken, at)
			b.forgive(at)
		}
		b.add(&lane{
			place: at, key: e.Key, role: e.Role, n: e.Attempt, of: b.step(at).Attempts,
			since: r.At, child: e.Child != "", agent: AgentName(e.Agent),
		})
		return b.began(at, e)
	case belay.AttemptNoted:
		return b.noted(r.Run, e)
	case belay.AttemptFound:
		return b.found(e)
	case belay.AttemptEnded:
		if l := b.open[e.Key]; l != nil {
			l.ended = &e.Observation
			if Helps(l.role) {
				return b.aideEnded(l)
			}
			if l.role != belay.RoleMain && l.role != belay.RoleMerge {
				b.remove(e.Key)
			}
			if l.role == belay.RoleHook {
				return b.hookEnded(l)
			}
		}
	case belay.AttemptJudged:
		return b.judged(r.Run, e)
	case belay.AnswerGiven:
		return b.answer(r, e)
	case belay.RunEnded:
		maps.DeleteFunc(b.forTrees, func(at place, _ string) bool { return at.run == r.Run })
	case belay.RecoveryChosen:
		return b.recovery(place{r.Run, e.Path}, e.Plan, r.At)
	case belay.StepRefused:
		b.failed[r.Run]++
		return []Line{b.line("failed", place{r.Run, e.Path}, "", Reason(&e.Failure))}
	case belay.StepNotTaken:
		return []Line{b.line("not taken", place{r.Run, e.Path}, "", e.Why)}
	case belay.StepSkipped:
		return []Line{b.line("skipped", place{r.Run, e.Path}, "", e.Why)}
	case belay.ItemOpened:
		return []Line{b.line("held", place{r.Run, e.Path}, "", e.Ask)}
	case belay.ItemAnswered:
		text := e.Choice + " by " + e.By + ": " + e.Why
		if e.Check {
			text += "; its check decides"
		}
		return []Line{b.line("answered", place{r.Run, e.Path}, "", text)}
	case belay.RequestReceived:
		return request(e.Request)
	case belay.RequestRefused:
		return []Line{{Word: "refused", Step: "request", Text: e.Why}}
	}
	return nil
}

// request is a line for what a person asked; what a run asks of its child is
// not news.
func request(r belay.Request) []Line {
	if r.Run.Depth() > 0 || r.Ask == belay.WishAnswer {
		return nil
	}
	text := "asked by " + r.By
	if r.Why != "" {
		text += ": " + r.Why
	}
	return []Line{{Word: string(r.Ask), Text: text}}
}

func (b *Board) found(e belay.AttemptFound) []Line {
	l := b.open[e.Key]
	if l == nil {
		return nil
	}
	text := ""
	switch e.How {
	case belay.Adopted:
		text = "still running, not started again"
	case belay.Harvested:
		text = "ended meanwhile, its exit was kept"
	case belay.Unborn:
		text = "it never began"
		b.remove(e.Key)
	case belay.Lost:
		text = "its keeper died with it, the outcome is not known"
		if l.role != belay.RoleHook && !Helps(l.role) {
			b.broken[l.place] = broken{n: l.n}
		}
		b.remove(e.Key)
	}
	return []Line{b.line(string(e.How), l.place, "", text)}
}

func (b *Board) judged(run belay.RunID, e belay.AttemptJudged) []Line {
	l := b.open[e.Key]
	b.remove(e.Key)
	at, n := placeOf(run, e.Key)
	if _, role := helped(at); role != "" {
		return b.aideJudged(at, l, n, e.Verdict)
	}
	if path, ok := strings.CutSuffix(string(at.path), "@"+string(belay.RoleMerge)); ok {
		return b.mergeJudged(place{run, belay.Path(path)}, l, e.Verdict)
	}
	if path, ok := strings.CutSuffix(string(at.path), "@"+string(belay.RoleVerify)); ok { // judged only where a person called it done
		b.done++
		return []Line{b.line("done", place{run, belay.Path(path)}, l.took(), "its check passes, as a person said")}
	}
	took, again := l.took(), ""
	if n > 1 {
		again = fmt.Sprintf("attempt %d", n)
	}
	work := ""
	if r := l.agentOf(); r != nil {
		work = AgentWork(r)
	}
	v := e.Verdict
	switch {
	case v.OK && b.merges(at):
		return []Line{b.line("worked", at, took, joined("its work is merged next", again, work))}
	case v.OK:
		b.done++
		part := ""
		if v.Partial {
			part = partly(l, v)
		}
		if l != nil && l.ended != nil && l.ended.Degraded {
			return []Line{b.line("degraded", at, took, joined("no JSON in its output, which stays text", part, again, work))}
		}
		word := "done"
		if v.Basis == belay.BasisAnswer {
			word = Answered
		}
		return []Line{b.line(word, at, took, joined(part, again, work))}
	case v.GivenBack:
		return []Line{b.line("stopped", at, took, givenBack(l))}
	case v.Failure != nil:
		b.broken[at] = broken{n, took, v.Failure, work}
	}
	return nil
}

// partly says what is missing about a step that does not count in full.
func partly(l *lane, v belay.Verdict) string {
	if slices.Contains(v.For, flow.Joined) {
		return unjoined
	}
	if l != nil && l.ended != nil && l.ended.Child != nil && l.ended.Child.Reason != "" {
		return l.ended.Child.Reason
	}
	return "a part of it was left out"
}

// forgive takes back the failures in the child runs of a step that is started
// again, or done in spite of them.
func (b *Board) forgive(at place) {
	for run := range b.failed {
		rest, below := strings.CutPrefix(string(run), string(at.run)+"/"+string(at.path)+".")
		attempt, _, _ := strings.Cut(rest, "/")
		if _, err := strconv.Atoi(attempt); below && err == nil {
			delete(b.failed, run)
		}
	}
}

// joined is what there is to say of several things, in one phrase.
func joined(words ...string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return strings.Join(words, ", ")
}

// givenBack says what follows for an attempt that we ended: after a stop it is
// started again, after a cancel nothing is.
func givenBack(l *lane) string {
	if l != nil && l.ended != nil && l.ended.KilledBy == belay.KilledCancel {
		return "ended by cancel"
	}
	return "given back: it is started again at resume"
}

// placeOf is the step and the number that a main attempt's key names.
func placeOf(run belay.RunID, k belay.Key) (place, int) {
	path := strings.TrimPrefix(string(k), string(run)+":")
	i := max(strings.LastIndexByte(path, '.'), 0)
	n, err := strconv.Atoi(path[min(i+1, len(path)):])
	if err != nil {
		return place{run, belay.Path(path)}, 0 // not of our making: shown as it is
	}
	return place{run, belay.Path(path[:i])}, n
}

func (b *Board) step(at place) flow.StepView {
	s := b.tree.Run(at.run)
	if s == nil {
		return flow.StepView{}
	}
	v, _ := s.Step(at.path)
	return v
}

func (b *Board) line(word string, at place, took, text string) Line {
	return Line{Word: word, Step: StepName(at.run, at.path), Took: took, Text: text}
}

// StepName names a step from the root's view: the steps it is nested in, then
// itself. An attempt is named only where it is not the first.
func StepName(run belay.RunID, p belay.Path) string {
	parts := strings.Split(string(run), "/")[1:]
	for i, part := range parts {
		parts[i] = strings.TrimSuffix(part, ".1")
	}
	return strings.Join(append(parts, string(p)), "/")
}

// Walk visits the steps of a run and, under each, those of the child run of its
// last attempt. An empty run is the root.
func Walk(tree *flow.Tree, run belay.RunID, visit func(run belay.RunID, depth int, v flow.StepView)) {
	if run == "" {
		if len(tree.Runs()) == 0 {
			return
		}
		run = tree.Runs()[0]
	}
	walk(tree, run, 0, visit)
}

func walk(tree *flow.Tree, run belay.RunID, depth int, visit func(belay.RunID, int, flow.StepView)) {
	s := tree.Run(run)
	if s == nil {
		return
	}
	for _, v := range s.Steps() {
		visit(run, depth, v)
		if v.Child != "" {
			walk(tree, v.Child, depth+1, visit)
		}
	}
}
