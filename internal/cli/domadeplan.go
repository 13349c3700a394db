package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// madePlan is a plan that a run of belay do --plan made.
type madePlan struct {
	task           string
	criteria, plan json.RawMessage
}

// carrierID is the id of the run that carries out the plan of another one. It follows from
// that one, so that there is one of them: only one process can make the folder of a run.
// A later run that is given the id of a plan which was removed has another time.
func carrierID(plan belay.RunID, begun time.Time) belay.RunID {
	sum := sha256.Sum256([]byte(string(plan) + "\n" + strconv.FormatInt(begun.UnixNano(), 10)))
	return belay.RunID(hex.EncodeToString(sum[:5]))
}

// carrier is the run that carries out the plan of a run, and whether it has begun.
func carrier(st *journal.State, tree *flow.Tree, plan belay.RunID) (id belay.RunID, begun bool) {
	_, at := tree.Run(plan).Started()
	id = carrierID(plan, at)
	view, err := st.View(id)
	if err == nil {
		_ = view.Close() // read only: nothing to lose
	}
	var unknown *journal.Unknown
	if errors.As(err, &unknown) {
		_, err = st.FindArchived(string(id))
		return id, err == nil
	}
	return id, st.Begun(id)
}

// carryOut has the plan of a run carried out, by one run: the first time it is started,
// then it is gone on with. The lock of the plan is held until that run has its folder.
func (a *app) carryOut(ctx context.Context, cmd *cobra.Command, ws *workshop, o *engine.Open, ro resumeOptions) error {
	work, begun := carrier(ws.state, o.Tree, o.ID)
	if !begun {
		err := a.startWork(ctx, cmd, o, work, ro)
		if !errors.Is(err, journal.ErrExists) { // else it begins just now, or is in the archive
			return err
		}
	}
	if err := o.Close(); err != nil {
		return err
	}
	if !ro.json {
		a.sayCarried(ws.state, o, work)
	}
	return a.resume(ctx, cmd, string(work), ro)
}

// sayCarried says which run carries out a plan, and how the task is done once more.
func (a *app) sayCarried(st *journal.State, o *engine.Open, work belay.RunID) {
	s, err := glance(st, work)
	if err == nil && (s.Status == belay.Achieved || s.Status == belay.Aborted) {
		again := story.TaskOf(o.Tree, blobs(o.Blob)).Again(o.Tree.Started(), here())
		a.say("run %s carried out the plan of run %s, and a plan is carried out once; to do the task again: %s", work, o.ID, again.Text(a.name()))
		return
	}
	a.say("run %s carries out the plan of run %s", work, o.ID)
}

// startWork starts the run that carries out a plan. The plan was read by who asks for
// it: it is not reviewed again.
func (a *app) startWork(ctx context.Context, cmd *cobra.Command, o *engine.Open, work belay.RunID, ro resumeOptions) (err error) {
	giveBack := sync.OnceValue(o.Close)
	defer func() { err = errors.Join(err, giveBack()) }()
	vars, read := o.Tree.Run(o.ID).Vars(), blobs(o.Blob)
	raw := func(name string) json.RawMessage {
		v := vars[name]
		if v.Inline() {
			return v.JSON
		}
		return read(v)
	}
	get := func(name string, into any) { story.Decode(vars[name], read, into) } // one that is not there keeps its default
	do := doOptions{rounds: doRounds, publish: "none", noReview: true, decided: &madePlan{criteria: raw("criteria"), plan: raw("plan")}}
	tests := true
	get("task_description", &do.decided.task)
	get("task_title", &do.title)
	get("flags", &do.given)
	get("task_file", &do.whole)
	get("task_bytes", &do.bytes)
	get("max_rounds", &do.rounds)
	get("publish", &do.publish)
	get("single", &do.single)
	get("trust_reflection", &do.trust)
	get("track", &do.track)
	get(inPlaceVar, &do.inPlace)
	if err := a.takeWhole(&do, o.ID, work); err != nil {
		return err
	}
	var plan struct{ Type string }
	get("plan", &plan)
	if do.taskType = plan.Type; plan.Type != development {
		do.publish, do.track = "none", false // what was asked for in case it is one
	}
	if get("has_tests", &tests); !tests && plan.Type == development {
		do.expect = string(belay.ExpectChange)
	}
	started := o.Tree.Started()
	do.dir, do.agents.agent, do.json, do.secrets = started.Dir, started.Agent, ro.json, ro.secrets
	do.agents.hollow = "evidence"
	do.like, do.shelves, do.maxParallel = &started, started.Shelves, started.Limits.MaxParallel
	for _, name := range started.Secrets {
		if a.env(name) != "" && !slices.Contains(do.secrets, name) {
			do.secrets = append(do.secrets, name)
		}
	}
	do.id, do.made = string(work), func() error { // of two at once, one is told this
		if !ro.json {
			a.say("a new run carries out the plan of run %s", o.ID)
		}
		return giveBack()
	}
	return a.do(ctx, cmd, nil, do)
}

// sameAs gives a run the budget, the recoveries and the staff that another one was
// started with, whatever flags and settings say now. Who is not here any more cannot
// take over.
func (a *app) sameAs(was event.RunStarted, spec *engine.Spec) {
	spec.Budget, spec.MaxReplans, spec.Patience = was.Limits.Budget, was.Limits.MaxReplans, was.Limits.Patience
	if was.Limits.RecipeAgents {
		spec.Budget.MaxAgents = 0 // the recipe says it
	}
	spec.Classic, spec.MaxRetries = was.Classic, was.MaxRetries
	spec.Policy, spec.Recovery = cmp.Or(was.Policy, "belay"), cmp.Or(was.Recovery, "on")
	spec.Staff = slices.DeleteFunc(slices.Clone(was.Staff), func(name string) bool {
		_, err := a.agents.Find(name)
		return err != nil
	})
}
