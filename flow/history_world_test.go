package flow

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

// history is one random walk of a tree: a world that answers at random, dies at
// random, and has a person in it who does something now and then.
type history struct {
	chance
	rules   *verdict.Classifier
	lib     Library
	src     map[string]string
	tree    *Tree
	out     Turn
	now     time.Time
	epoch   int64
	recs    []event.Record
	asked   []effect.Ask // questions that are out
	taken   int64        // how often somebody else had the working tree
	granted map[belay.Key]bool
	jobs    map[belay.Key]effect.Job      // every one that was begun
	asks    []effect.Ask                  // every question there was
	before  map[string]effect.Observation // how the last attempt of each step and role ended
	luck    int                           // of a hundred attempts, so many do well
	people  int                           // what the person will still do
	ids     int
	bound   int // bytes of records in a turn; 0 = as usual
	twins   bool
	snaps   chance      // when a snapshot is taken
	kept    []byte      // the last one; nil = none yet
	plant   func(*Tree) // what is done to a tree that was restored; nil = nothing
}

// newHistory draws the recipes of a run and begins it.
func newHistory(seed, n uint64, rules *verdict.Classifier) (*history, error) {
	h := &history{
		rules:  rules,
		chance: newChance(seed, n), now: start, granted: map[belay.Key]bool{}, before: map[string]effect.Observation{}, jobs: map[belay.Key]effect.Job{},
		lib: Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}, src: map[string]string{},
	}
	h.twins = n%4 == 0 || os.Getenv("BELAY_HISTORIES")+os.Getenv("BELAY_HISTORY") != "" // it costs as much as all the rest
	h.bound = pick(newChance(seed, n+1<<32), 0, 0, 1, 2000)
	h.snaps = newChance(seed, n+2<<32)
	h.luck, h.people = pick(h.chance, 0, 10, 30, 60, 90), h.IntN(6)
	if err := h.load("leaf", nil); err != nil {
		return h, err
	}
	if err := h.load("sub", []string{"leaf"}); err != nil {
		return h, err
	}
	if err := h.load("root", []string{"leaf", "sub"}); err != nil {
		return h, err
	}
	e := h.drawnStart()
	root := h.lib.Recipes[h.lib.Names["root"]]
	e.Name, e.Recipe, e.Vars = root.Name, root.Digest, map[string]belay.Value{"list": {JSON: []byte("[1,2]")}}
	h.tree, h.epoch = h.newTree(), 1
	return h, h.turn(Fact{"r", e}, Fact{"r", event.RunAttached{Epoch: h.epoch}})
}

// newTree is a tree whose rules about failures are ready: making them costs more
// than a whole history.
func (h *history) newTree() *Tree {
	t := NewTree("r", h.lib)
	t.classes = h.rules
	if h.bound > 0 {
		t.Bound(h.bound)
	}
	return t
}

func (h *history) load(name string, subs []string) error {
	h.src[name] = h.drawnRecipe(name, subs)
	r, problems := recipe.Parse(name+".yaml", []byte(h.src[name]))
	if r == nil {
		return fmt.Errorf("%s does not parse: %v", name, problems)
	}
	h.lib.Recipes[r.Digest], h.lib.Names[name] = r, r.Digest
	return nil
}

// turn takes in facts, as a driver does.
func (h *history) turn(facts ...Fact) error {
	twins, err := h.others()
	if err != nil {
		return err
	}
	out, err := h.tree.Turn(h.now, facts...)
	if err != nil {
		return err
	}
	for how, twin := range twins {
		if err := h.compare(how, twin, out, facts); err != nil {
			return err
		}
	}
	h.out = out
	h.asked = slices.DeleteFunc(h.asked, func(a effect.Ask) bool { return !h.tree.runs[runOf(a.Key)].trees[a.Key] })
	for _, r := range out.Records {
		r.Seq, r.Epoch = int64(len(h.recs)+1), h.epoch
		h.recs = append(h.recs, r)
		if e, ok := r.Event.(event.RunCleared); ok && e.What == event.CountBudget {
			clear(h.granted)
		}
	}
	for _, c := range out.Effects {
		switch c := c.(type) {
		case effect.Do:
			h.jobs[c.Job.Key] = c.Job
		case effect.Ask:
			h.asked = append(h.asked, c)
			if !slices.ContainsFunc(h.asks, func(a effect.Ask) bool { return a.Key == c.Key }) {
				h.asks = append(h.asks, c)
			}
		case effect.Kill: // what is killed ends when its turn comes
		}
	}
	if h.twins && h.snaps.in(4) {
		return h.keep()
	}
	return nil
}

// others are trees that are to make the same turn: one that was built from the
// records alone, and one from a snapshot and the records after it.
func (h *history) others() (map[string]*Tree, error) {
	if !h.twins {
		return nil, nil
	}
	all := map[string]*Tree{}
	var err error
	if all["built from the records"], err = h.folded(false); err != nil || h.kept == nil {
		return all, err
	}
	again, err := h.restored()
	if err == nil && h.plant != nil {
		h.plant(again)
	}
	all["restored from a snapshot"] = again
	return all, err
}

// keep takes a snapshot. What is restored from it has the same snapshot.
func (h *history) keep() (err error) {
	if h.kept, err = h.tree.Snapshot(); err != nil {
		return err
	}
	t, err := h.restored()
	if err != nil {
		return err
	}
	if b, err := t.Snapshot(); err != nil || !bytes.Equal(b, h.kept) {
		return fmt.Errorf("after record %d a restored tree has another snapshot (%w)", len(h.recs), err)
	}
	return nil
}

// restored is the tree of the last snapshot and the records after it.
func (h *history) restored() (*Tree, error) {
	t, err := Restore("r", h.lib, h.kept)
	if err != nil {
		return nil, err
	}
	t.classes = h.rules
	if h.bound > 0 {
		t.Bound(h.bound)
	}
	return t, t.Follow(h.recs[t.Folded():])
}

// compare makes the same turn with another tree.
func (h *history) compare(how string, twin *Tree, out Turn, facts []Fact) error {
	again, err := twin.Turn(h.now, facts...)
	if err != nil {
		return fmt.Errorf("a tree %s cannot make the next turn: %w", how, err)
	}
	if d := apart("", reflect.ValueOf(again), reflect.ValueOf(out)); d != "" {
		return fmt.Errorf("after record %d a tree %s makes another turn: %s", len(h.recs), how, d)
	}
	return nil
}

// step does one random thing; false means that nothing is left to be done.
func (h *history) step() (bool, error) {
	h.now = h.now.Add(time.Duration(h.IntN(3)) * time.Second)
	open := h.tree.Open()
	if h.out.More && !h.in(20) {
		return true, h.turn()
	}
	if h.in(12) && h.tree.Run("r").Result() == nil {
		return true, h.crash()
	}
	if h.people > 0 && h.in(15) {
		return true, h.person()
	}
	switch n := len(open) + len(h.asked); {
	case n > 0:
		at := h.IntN(n)
		if at < len(open) {
			return true, h.end(open[at])
		}
		a := h.asked[at-len(open)]
		tree, isTree := a.Question.(effect.AskTree)
		if isTree && !h.tree.Awaits(a.Key) { // as a driver does
			h.asked = append(h.asked[:at-len(open):at-len(open)], h.asked[at-len(open)+1:]...)
			return true, nil
		}
		if isTree && h.in(4) { // others have it: it stays asked for
			return true, h.turn(Fact{runOf(a.Key), event.AnswerGiven{Key: a.Key, Answer: effect.AnswerTree{Dir: tree.Dir, By: "other"}}})
		}
		h.asked = append(h.asked[:at-len(open):at-len(open)], h.asked[at-len(open)+1:]...)
		return true, h.turn(Fact{runOf(a.Key), event.AnswerGiven{Key: a.Key, Answer: h.answer(a)}})
	case !h.out.Until.IsZero():
		if h.out.Until.After(h.now) {
			h.now = h.out.Until
		}
		return true, h.turn()
	case h.people > 0:
		return true, h.person()
	}
	if h.out.More {
		return true, h.turn()
	}
	return false, nil
}

func runOf(k belay.Key) belay.RunID {
	run, _, _ := strings.Cut(string(k), ":")
	return belay.RunID(run)
}

// end lets an attempt end.
func (h *history) end(k belay.Key) error {
	j := h.jobs[k]
	var facts []Fact
	if j.Agent != nil && h.in(3) {
		facts = append(facts, Fact{j.Run, event.AttemptNoted{Key: k, What: effect.NoteSession, Text: "S-" + string(k)}})
	}
	return h.turn(append(facts, Fact{j.Run, event.AttemptEnded{Key: k, Observation: h.seen(k)}})...)
}

// seen is what is seen of the end of an attempt.
func (h *history) seen(k belay.Key) effect.Observation {
	j := h.jobs[k]
	run := h.tree.Run(j.Run)
	if by := run.steps[run.open[k]].stopping; by != fault.KilledNot && !h.in(5) {
		return effect.Observation{Began: true, Signal: 15, Exit: 143, KilledBy: by}
	}
	if j.Role == belay.RoleMerge {
		return h.mergeSeen()
	}
	at := string(j.Run) + ":" + string(j.Path) + "@" + string(j.Role)
	if o, ok := h.before[at]; ok && h.in(2) && !h.well() {
		return o // the same again
	}
	if j.Agent != nil {
		h.before[at] = h.agentSeen(j)
	} else {
		h.before[at] = h.shellSeen(j)
	}
	return h.before[at]
}

// mergeSeen is what is seen of a merge.
func (h *history) mergeSeen() effect.Observation {
	switch {
	case h.in(10):
		return effect.Observation{Began: true, Exit: 8, Tail: "another git command works in the tree"}
	case h.in(4):
		return effect.Observation{Began: true, Merge: &effect.Merged{Outcome: effect.MergeConflict, Conflicts: []effect.Conflict{{Path: "f", Why: "both"}}}}
	}
	return effect.Observation{Began: true, Merge: &effect.Merged{Outcome: effect.MergeDone, Files: 1}}
}

// crash ends the driver and lets another take over: what was asked is gone, and
// what was open is found in one of four ways.
func (h *history) crash() error {
	h.asked = nil
	fresh, err := h.folded(true)
	if h.kept != nil && h.snaps.in(2) {
		fresh, err = h.restored()
	}
	if err != nil {
		return err
	}
	h.tree, h.epoch = fresh, h.epoch+1
	facts := []Fact{{"r", event.RunAttached{Epoch: h.epoch}}}
	for _, k := range h.tree.Open() {
		how := pick(h.chance, fault.Adopted, fault.Harvested, fault.Unborn, fault.Lost)
		facts = append(facts, Fact{runOf(k), event.AttemptFound{Key: k, How: how}})
		if how == fault.Harvested {
			facts = append(facts, Fact{runOf(k), event.AttemptEnded{Key: k, Observation: h.seen(k)}})
		}
	}
	return h.turn(facts...)
}

// folded is the tree of the records so far, from the start; as the disk gives
// them back, if wanted.
func (h *history) folded(disk bool) (*Tree, error) {
	t := h.newTree()
	for _, r := range h.recs {
		if disk {
			b, err := r.MarshalJSON()
			if err != nil {
				return nil, err
			}
			var back event.Record
			if err := back.UnmarshalJSON(b); err != nil {
				return nil, err
			}
			r = back
		}
		if err := t.Apply(r); err != nil {
			return nil, fmt.Errorf("fold again: %w", err)
		}
	}
	return t, nil
}

// person does something that people do.
func (h *history) person() error {
	h.people--
	root := h.tree.Run("r")
	if res := root.Result(); res != nil {
		if res.Status == belay.Achieved || h.in(4) {
			return h.clear("r", root)
		}
		return h.turn(h.tree.Reopen("ann", "again")...)
	}
	if h.out.Status == belay.Stopped {
		return h.crash() // somebody resumes it
	}
	var held []Fact
	for _, id := range h.tree.Runs() {
		for _, v := range h.tree.Run(id).Steps() {
			if v.Item != "" && h.tree.Run(id).Result() == nil {
				held = append(held, Fact{id, h.request(id, event.RequestAnswer, v.Path, pick(h.chance, "done", "again", "again", "fail", "skip"))})
			}
		}
	}
	switch {
	case len(held) > 0 && !h.in(4):
		return h.turn(held[h.IntN(len(held))])
	case h.in(10):
		return h.turn(Fact{"r", h.request("r", pick(h.chance, event.RequestCancel, event.RequestStop), "", "")})
	}
	return h.clear("r", root)
}

// clear takes a count back.
func (h *history) clear(run belay.RunID, s *State) error {
	e := h.request(run, event.RequestClear, "", "")
	e.Request.What = pick(h.chance, event.CountAttempts, event.CountAttempts, event.CountBudget, event.CountBreakers)
	if e.Request.What == event.CountAttempts && h.in(2) {
		e.Request.Step = s.prog.Steps[h.IntN(len(s.prog.Steps))].ID
	}
	return h.turn(Fact{run, e})
}

func (h *history) request(run belay.RunID, ask event.RequestKind, step belay.Path, choice string) event.RequestReceived {
	h.ids++
	return event.RequestReceived{Request: event.Request{
		ID: fmt.Sprint("q", h.ids), Run: run, By: "ann", Ask: ask, Step: step, Choice: choice, Why: "because",
	}}
}
