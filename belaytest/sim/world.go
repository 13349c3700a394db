package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

// The bounds of one run: past them it counts as stuck.
const (
	maxEvents  = 50_000
	maxVirtual = 60 * 24 * time.Hour
)

// beginning is when every world begins.
var beginning = time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)

// lag is something that takes time.
type lag int

const (
	lagMessage lag = iota // between driver and keeper
	lagMail               // until the driver looks into its mailbox
	lagStart              // until a keeper is up
	lagResume             // until somebody resumes a run whose driver died
	lagPerson             // until a person acts
)

// point is a place in a turn at which a driver may die.
type point string

const (
	beforeAppend  point = "before the append"
	afterAppend   point = "after the append"
	betweenDeeds  point = "between two effects"
	beforeTheFold point = "while it loads"
)

// chaos decides everything that the brain and the keeper do not.
type chaos interface {
	next(w *world) *happening              // what happens next; nil: nothing is left
	lag(l lag) time.Duration               // how long something takes
	dies(w *world, at point) bool          // whether the driver dies here
	diskFull(w *world) bool                // whether an append fails
	survivors(least, most int) int         // lines of the keeper's log that outlive a power cut
	behave(w *world, j effect.Job) program // what a process does
	strike(w *world)                       // faults and wishes between two happenings
	rested(w *world, s belay.Status)       // nobody drives the run any more
}

// world is everything outside the brain.
type world struct {
	classes *verdict.Classifier
	chaos   chaos
	bug     Bug
	codec   bool        // records are read back from their bytes
	bound   int         // bytes of records in a turn; 0 = as usual
	twins   bool        // each turn is made a second time, by a tree built from the records
	snaps   func() bool // whether a driver keeps a snapshot after this turn; nil = never
	kept    []byte      // the last one; nil = none
	root    belay.RunID
	limits  belay.Limits
	sources []string
	prog    *recipe.Recipe // of the root
	lib     flow.Library
	brain   flow.Library // what the brain is given: lib, unless a bug is planted
	vars    map[string]belay.Value

	now    time.Time
	agenda agenda
	boot   int

	disk    []event.Record
	mailbox []event.Request
	mails   int            // requests so far, for their ids
	counted map[string]int // lost attempts as the index has them
	ledger  []line         // the keeper's log
	blobs   map[string]string
	files   map[string]string // what scripts see
	effects map[string]bool   // "run:step" whose work is there

	driver  *driver
	drivers int // so far
	keeper  *keeper
	procs   []*process // alive, in the order of their birth

	truth  *truth
	stats  Stats
	trace  *trace
	broken *Violation

	scripted  bool // processes are scripts; what their work is, is not known here
	abandoned bool // nobody wants to know how it ends
}

// book is a set of recipes, the root first.
type book struct {
	names   []string
	sources []string
	parsed  []*recipe.Recipe
	linear  bool                // one step follows the other everywhere
	classes *verdict.Classifier // for all trees
}

// parse reads the sources; a source that is no recipe is a mistake of the
// caller.
func (b *book) parse() error {
	b.classes = verdict.NewClassifier()
	for i, src := range b.sources {
		r, problems := recipe.Parse(b.names[i]+".yaml", []byte(src))
		if r == nil {
			return fmt.Errorf("%s", problems[0].Format([]byte(src)))
		}
		b.parsed = append(b.parsed, r)
	}
	return nil
}

func newWorld(c chaos, b book, bug Bug) *world {
	w := &world{
		chaos: c, bug: bug, root: "sim", limits: belay.DefaultLimits(), sources: b.sources,
		lib:  flow.Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}},
		vars: map[string]belay.Value{}, now: beginning, agenda: agenda{last: map[string]time.Time{}},
		counted: map[string]int{}, blobs: map[string]string{}, files: map[string]string{}, effects: map[string]bool{},
	}
	w.classes = b.classes
	w.truth = newTruth(w)
	for i, r := range b.parsed {
		w.lib.Recipes[r.Digest] = r
		if i > 0 {
			w.lib.Names[b.names[i]] = r.Digest
		}
	}
	w.prog = b.parsed[0]
	for _, v := range w.prog.Context {
		w.vars[v.Name] = belay.Value{JSON: v.JSON}
	}
	if n := w.prog.Recursion.MaxDepth; n > 0 {
		w.limits.MaxDepth = n
	}
	if n := w.prog.Recursion.MaxTotalSteps; n > 0 {
		w.limits.MaxTotalSteps = n
	}
	w.brain = w.lib
	if bug == OnceIgnored {
		w.brain = withoutOnce(w.lib)
	}
	return w
}

// withoutOnce is a library in which no step says once.
func withoutOnce(lib flow.Library) flow.Library {
	out := flow.Library{Recipes: map[string]*recipe.Recipe{}, Names: lib.Names}
	for digest, r := range lib.Recipes {
		c := *r
		c.Steps = slices.Clone(r.Steps)
		for i := range c.Steps {
			c.Steps[i].Once = false
		}
		out.Recipes[digest] = &c
	}
	return out
}

// run drives the world from the first record to its rest.
func (w *world) run() {
	w.drive(flow.Fact{Run: w.root, Event: w.first()})
	for w.broken == nil {
		h := w.chaos.next(w)
		if h == nil {
			break
		}
		w.agenda.remove(h)
		if h.at.After(w.now) {
			w.now = h.at
		}
		w.stats.Events++
		if w.stats.Events > maxEvents || w.now.Sub(beginning) > maxVirtual {
			w.violate("liveness", "no rest after %d events and %s", w.stats.Events, w.now.Sub(beginning))
			break
		}
		if w.trace != nil {
			w.say("%s", h.what)
		}
		h.do()
		if w.broken == nil {
			w.chaos.strike(w)
		}
	}
	if w.broken == nil && !w.abandoned {
		w.atRest()
	}
}

// first is the first record of the root run.
func (w *world) first() event.RunStarted {
	return event.RunStarted{
		Schema: event.Schema, Name: w.prog.Name, Recipe: w.prog.Digest, File: w.prog.File,
		Frozen: w.lib.Names, Vars: w.vars, Dir: "/world", Limits: w.limits, Version: "sim",
	}
}

// atRest checks what must hold when nothing can happen any more.
func (w *world) atRest() {
	if w.driver != nil {
		w.violate("liveness", "the driver waits for something that never comes (until %s)", w.driver.turn.Until)
		return
	}
	if s := w.truth.status; s == belay.Running || (s == belay.Stopped || s == belay.Paused) && !w.scripted {
		w.violate("liveness", "nobody drives the run, and it is %s", s)
		return
	}
	if len(w.procs) > 0 {
		w.violate("nothing outlives its run", "%s still runs", w.procs[0].job.Key)
	}
	w.truth.end()
	for _, v := range audit.Check(w.disk) {
		w.violate("audit: "+v.Rule, "%s", v)
	}
}

func (w *world) violate(rule, format string, args ...any) {
	if w.broken == nil {
		w.broken = &Violation{Rule: rule, What: fmt.Sprintf(format, args...)}
		w.say("VIOLATION %s", w.broken)
	}
}

func (w *world) say(format string, args ...any) {
	if w.trace != nil {
		at := w.now.Sub(beginning)
		w.trace.lines = append(w.trace.lines, fmt.Sprintf("%12s  ", at)+fmt.Sprintf(format, args...))
	}
}

// after makes something happen later.
func (w *world) after(d time.Duration, h *happening) *happening {
	h.at = w.now.Add(d)
	return w.agenda.add(h)
}

// append is the disk: all records of a turn, or none.
func (w *world) append(recs []event.Record, epoch int64) {
	for i := range recs {
		r := recs[i]
		if _, answer := r.Event.(event.AnswerGiven); answer && w.bug == Unwritten {
			continue
		}
		r.Seq, r.Epoch = int64(len(w.disk)+1), epoch
		w.disk = append(w.disk, r)
		if w.trace != nil {
			w.say("  %3d %s %s", r.Seq, r.Run, describe(r.Event))
		}
		if e, ok := r.Event.(event.RunCleared); ok && e.What == event.CountAttempts {
			w.clear(r.Run, e.Path)
		}
		w.truth.record(r)
	}
	w.truth.committed()
}

// clear takes back what the index counts against the steps of a run, or against
// one.
func (w *world) clear(run belay.RunID, p belay.Path) {
	maps.DeleteFunc(w.counted, func(name string, _ int) bool {
		return name == stepName(run, p) || p == "" && strings.HasPrefix(name, stepName(run, ""))
	})
}

func describe(e event.Event) string {
	b, err := json.Marshal(e)
	if err != nil {
		return e.Kind() + " " + err.Error()
	}
	const most = 240
	if len(b) > most {
		b = append(b[:most:most], "…"...)
	}
	return e.Kind() + " " + string(b)
}

// fold builds the tree of a list of records.
func fold(root belay.RunID, lib flow.Library, recs []event.Record, classes *verdict.Classifier) (*flow.Tree, error) {
	tree := flow.NewTree(root, lib)
	tree.Classifying(classes)
	for _, r := range recs {
		if err := tree.Apply(r); err != nil {
			return nil, fmt.Errorf("record %d: %w", r.Seq, err)
		}
	}
	return tree, nil
}

// load is what a new driver reads from the disk.
func (w *world) load() (*flow.Tree, error) {
	recs := w.disk
	if w.bug == DoneLost {
		recs = forgetDone(recs)
	}
	if w.codec {
		var err error
		if recs, err = recode(recs); err != nil {
			return nil, err
		}
	}
	return w.tree(recs)
}

// tree is what a driver makes of the records, with the snapshot of the one before
// it where there is one.
func (w *world) tree(recs []event.Record) (*flow.Tree, error) {
	if w.kept == nil || w.bug == DoneLost {
		return w.bounded(fold(w.root, w.brain, recs, w.classes))
	}
	tree, err := flow.Restore(w.root, w.brain, w.kept)
	if err != nil {
		return nil, err
	}
	w.stats.Restored++
	tree.Classifying(w.classes)
	return w.bounded(tree, tree.Follow(recs[tree.Folded():]))
}

// bounded is a tree with the bound of the run.
func (w *world) bounded(tree *flow.Tree, err error) (*flow.Tree, error) {
	if err == nil && w.bound > 0 {
		tree.Bound(w.bound)
	}
	return tree, err
}

// keep keeps a snapshot of a tree whose records are on disk.
func (w *world) keep(tree *flow.Tree) {
	if w.snaps == nil || !w.snaps() {
		return
	}
	if n := tree.Folded(); n != int64(len(w.disk)) {
		w.violate("a tree is what its records say", "it was folded from %d of %d", n, len(w.disk))
	}
	var err error
	if w.kept, err = tree.Snapshot(); err != nil {
		w.violate("a snapshot can be taken", "%v", err)
	}
}

// forgetDone drops the last verdict that made a step done, and what came with
// and after it.
func forgetDone(recs []event.Record) []event.Record {
	for i := len(recs) - 1; i > 0; i-- {
		if j, ok := recs[i].Event.(event.AttemptJudged); ok && j.Verdict.OK {
			return recs[:i]
		}
	}
	return recs
}

// recode sends records through their bytes.
func recode(recs []event.Record) ([]event.Record, error) {
	out := make([]event.Record, len(recs))
	for i, r := range recs {
		b, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("encode record %d: %w", r.Seq, err)
		}
		if err := json.Unmarshal(b, &out[i]); err != nil {
			return nil, fmt.Errorf("decode record %d: %w", r.Seq, err)
		}
	}
	return out, nil
}

// powerCut ends everything that is not on disk.
func (w *world) powerCut() {
	w.stats.PowerCuts++
	w.say("power cut")
	if w.driver != nil {
		w.driver.alive, w.driver = false, nil
	}
	w.keeper = nil
	w.procs = nil
	w.agenda.wipe()
	least := 0
	for i, l := range w.ledger {
		if l.synced {
			least = i + 1
		}
	}
	w.ledger = w.ledger[:w.chaos.survivors(least, len(w.ledger))]
	w.boot++
	w.resumeLater()
}

// resumeLater has somebody resume the run.
func (w *world) resumeLater() {
	w.after(w.chaos.lag(lagResume), &happening{what: "resume", outlives: true, do: func() {
		switch {
		case w.driver != nil:
		case w.truth.status.Terminal():
			w.chaos.rested(w, w.truth.status)
		case len(w.disk) == 0: // it never began: it is started, not resumed
			w.drive(flow.Fact{Run: w.root, Event: w.first()})
		default:
			w.drive()
		}
	}})
}

// post puts a request into the run's mailbox.
func (w *world) post(r event.Request) {
	w.mails++
	r.ID = fmt.Sprintf("m%d", w.mails)
	w.say("mail %s: %s %s %s %s", r.ID, r.Ask, r.Run, r.Step, r.Choice)
	w.mailbox = append(w.mailbox, r)
	w.mailCall()
}

// mailCall lets the driver look into its mailbox.
func (w *world) mailCall() {
	d := w.driver
	if d == nil || !d.attached {
		return
	}
	w.after(w.chaos.lag(lagMail), &happening{what: "read mail", lane: "mail", do: func() {
		if d.alive && d.attached {
			d.readMail()
		}
	}})
}
