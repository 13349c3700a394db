package flow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/verdict"
)

// mergeTimeout bounds one merge.
const mergeTimeout = 15 * time.Minute

// maxClashes is how many files in conflict a failure names.
const maxClashes = 10

// merge is what the fold knows of how a step's isolated work comes back.
type merge struct {
	due  bool                // the work is there, and not in the run's tree yet
	n    int                 // number of the last attempt
	told *effect.Observation // what was seen of it
}

// mergeKey names an attempt to bring the work of a step back.
func (s *State) mergeKey(i, n int) belay.Key {
	return belay.KeyOf(s.id, s.prog.Steps[i].ID, belay.RoleMerge, n)
}

// comesBack tells whether a step works in a tree of its own from which its work
// is brought back.
func (s *State) comesBack(i int) bool {
	h := s.homes[s.homeKey(i)]
	return h != nil && h.Merge && h.Dir != ""
}

// accomplish folds that the work of a step is there: done, once it is in the
// run's tree.
func (s *State) accomplish(i int) error {
	if !s.comesBack(i) {
		return s.finish(i, Done)
	}
	s.steps[i].merge.due = true
	return s.toMerge(i)
}

// toMerge has the work of a step brought back.
func (s *State) toMerge(i int) error {
	s.steps[i].merge.told = nil
	s.look(i)
	return s.move(i, Merging)
}

// nextMerge says what is next about a step whose work is to be brought back; the
// second result tells that it waits for room.
func (s *State) nextMerge(i int, now time.Time, room int) (command, bool) {
	st := &s.steps[i]
	switch {
	case st.merge.told != nil:
		return note{Event: event.AttemptJudged{Key: s.mergeKey(i, st.merge.n), Verdict: s.mergeVerdict(i)}}, false
	case s.cancel != nil || s.before(i):
		return nil, false
	case st.into.refused != "":
		return s.ask(i, fmt.Sprintf("the work of step %s cannot be merged: %s. Is it merged, shall it be tried again, has the step failed, or shall it be skipped?",
			s.prog.Steps[i].ID, st.into.refused)), false
	case room <= 0:
		return nil, true
	}
	if st.lost > 0 && s.lostOut(i, now) {
		return s.chosen(i, s.afterLost(i, now)), false
	}
	if c, open := s.nextTree(i, s.mergeKey(i, st.merge.n+1), &st.into, s.base()); c != nil || open {
		return c, false
	}
	return effect.Do{Job: s.mergeJob(i, st.merge.n+1)}, false
}

// before tells whether the work of a step that is listed earlier comes first. One
// that has not begun, that waits for a person or that can never go on is passed over.
func (s *State) before(i int) bool {
	for j := range i {
		st := &s.steps[j]
		if st.phase.settled() || st.phase == Held || !s.comesBack(j) {
			continue
		}
		if st.phase == Waiting && (st.attempt == 0 || s.givesUp()) {
			continue
		}
		return true
	}
	return false
}

// mergeJob is the attempt that brings the work of a step back.
func (s *State) mergeJob(i, n int) effect.Job {
	key := s.mergeKey(i, n)
	return effect.Job{
		Key: key, Run: s.id, Path: s.prog.Steps[i].ID, Attempt: n, Role: belay.RoleMerge,
		Dir: s.base(), Timeout: mergeTimeout, Depth: s.id.Depth(),
		Merge: &effect.MergeJob{Key: s.mergeName(i), Tree: s.base()},
	}
}

// mergeName names the work of a step that is brought back: the same for all
// attempts between two rounds of work.
func (s *State) mergeName(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt) + belay.Key(fmt.Sprintf("+%d", s.steps[i].helper.numbers[belay.RoleRepair]))
}

// mergeVerdict judges what became of a merge.
func (s *State) mergeVerdict(i int) effect.Verdict {
	def, st := &s.prog.Steps[i], &s.steps[i]
	o := st.merge.told
	fail := func(f belay.Failure) effect.Verdict {
		f.Op = "step " + string(def.ID)
		return effect.Verdict{Failure: &f, Against: []string{f.Cause}}
	}
	branch := s.homes[s.homeKey(i)].Ref
	switch m := o.Merge; {
	case m == nil || o.Exit != 0:
		cause := "its work could not be merged: " + unmergedWhy(o)
		return fail(belay.Failure{
			Kind: belay.Infrastructure, Class: belay.ClassInfrastructure, Level: belay.LevelProcess, Rule: "merge", Move: belay.ActEscalate,
			Cause: cause, Hint: "the work is on branch " + branch + "; mend what is in the way, then resume the run",
		})
	case m.Outcome == effect.MergeConflict:
		return fail(belay.Failure{
			Kind: s.ownKind(i), Class: belay.ClassMergeConflict, Level: belay.LevelProcess, Rule: "merge", Move: belay.ActRepair,
			Cause: "its work conflicts with other changes in " + clashes(*m),
			Hint:  s.unmergedHint(i),
			Print: "merge " + clashes(*m),
		})
	case m.Outcome == effect.MergeNothing:
		return effect.Verdict{OK: true, For: []string{"nothing to be merged"}}
	}
	v := effect.Verdict{OK: true, For: []string{mergedFiles(o.Merge.Files)}}
	if len(o.Merge.Left) > 0 {
		v.Against = []string{"uncommitted work that it took back stays in the tree: " + strings.Join(o.Merge.Left, ", ")}
	}
	if len(o.Merge.Replaced) > 0 {
		v.Against = append(v.Against, fmt.Sprintf("in the conflict it took away uncommitted lines of %s; as they were: git show %s:PATH",
			strings.Join(o.Merge.Replaced, ", "), o.Merge.Before))
	}
	return v
}

// unmergedHint says what a person can type about a conflict.
func (s *State) unmergedHint(i int) string {
	def, home := &s.prog.Steps[i], s.homes[s.homeKey(i)]
	merged, resolved := "", "belay resume "+string(s.id.Root())
	if def.Escalate {
		answer := fmt.Sprintf("belay answer %s %s ", s.id, def.ID)
		merged, resolved = ", then: "+answer+"done", answer+"again"
	}
	first := "commit what is in your tree"
	if unkept := unkeptPaths(s.steps[i].merge.told); unkept != "" {
		first = "move " + unkept + " to another place first, because git merge would write over it; commit what is in your tree"
	}
	return fmt.Sprintf("the work is on branch %s; %s and take it over with: git merge %s%s; or resolve the conflict in %s, then: %s",
		home.Ref, first, home.Ref, merged, home.Dir, resolved)
}

// unkeptPaths are the files in the way of a merge of which no commit has a copy.
func unkeptPaths(o *effect.Observation) string {
	if o == nil || o.Merge == nil {
		return ""
	}
	var paths []string
	for _, c := range o.Merge.Conflicts {
		if c.Unkept && len(paths) < maxClashes {
			paths = append(paths, c.Path)
		}
	}
	return strings.Join(paths, ", ")
}

func mergedFiles(n int) string {
	if n == 1 {
		return "merged: 1 file"
	}
	return fmt.Sprintf("merged: %d files", n)
}

// unmergedWhy is why a merge came to nothing.
func unmergedWhy(o *effect.Observation) string {
	switch tail := strings.TrimSpace(o.Tail); {
	case o.Detail != "":
		return o.Detail
	case o.KilledBy == fault.KilledDeadline:
		return "it took longer than " + mergeTimeout.String()
	case tail != "":
		return tail
	}
	return fmt.Sprintf("exit %d", o.Exit)
}

// clashes names the files in conflict.
func clashes(m effect.Merged) string {
	var names []string
	for n, c := range m.Conflicts {
		if n == maxClashes {
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", c.Path, c.Why))
	}
	text := strings.Join(names, ", ")
	if more := len(m.Conflicts) + m.More - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// startMerge folds the start of a merge.
func (s *State) startMerge(e event.AttemptStarted, at time.Time) error {
	return s.withStep(e.Path, func(i int) error {
		st := &s.steps[i]
		if st.phase != Merging || st.key != "" {
			return fmt.Errorf("run %s: %s starts, and there is nothing to be merged", s.id, e.Key)
		}
		s.drop(i)
		st.merge.n, st.merge.told = e.Attempt, nil
		st.child = ""
		s.opened(i, e, at)
		return nil
	})
}

// mergeGone folds a merge that never began, or whose end nobody saw. A lost one is
// done again: it goes on where it was left.
func (s *State) mergeGone(i int, unborn bool, count int) {
	st := &s.steps[i]
	if unborn {
		st.merge.n--
	} else {
		st.lost = max(st.lost+1, count)
	}
	s.close(i)
	s.giveBack(i)
	s.look(i)
}

// mergeEnded folds the end of a merge. One that was ended with its run comes
// again, and so does one that somebody killed: it goes on where it was left.
func (s *State) mergeEnded(i int, o effect.Observation) {
	st := &s.steps[i]
	switch {
	case o.KilledBy == fault.KilledStop || o.KilledBy == fault.KilledCancel:
	case o.KilledBy == fault.KilledGrace || o.KilledBy == fault.KilledLease || o.KilledBy == fault.KilledNot && o.Signal != 0:
		st.lost++
	default:
		st.merge.told = &o
	}
	s.close(i)
	s.look(i)
}

// mergedFor is the step that the verdict about a merge is for.
func (s *State) mergedFor(k belay.Key) (int, bool) {
	for _, i := range s.toSettle {
		if st := &s.steps[i]; st.phase == Merging && st.merge.told != nil && s.mergeKey(i, st.merge.n) == k {
			return i, true
		}
	}
	return 0, false
}

// judgedMerge folds what a merge amounts to.
func (s *State) judgedMerge(i int, v effect.Verdict, at time.Time) error {
	st := &s.steps[i]
	s.drop(i)
	st.merge.told = nil
	if v.OK {
		st.merge.due, st.failure = false, nil
		return s.finish(i, Done)
	}
	s.broke(i, v.Failure, at)
	s.look(i)
	return s.move(i, Broken)
}

// unfit tells whether the work of a step, with its conflict resolved, does not
// pass the step's check: then it is not merged.
func (s *State) unfit(i int) bool {
	def, st := &s.prog.Steps[i], &s.steps[i]
	return st.merge.due && def.Verify != nil && !(verdict.Spoke(st.verify) && st.verify.Exit == 0)
}

// resolved judges an agent that resolved a conflict by the step's check.
func (s *State) resolved(i int, v effect.Verdict) effect.Verdict {
	def := &s.prog.Steps[i]
	if !s.unfit(i) {
		v.For = append(slices.Clone(v.For), "verify: exit 0")
		return v
	}
	why := "the conflict was resolved, and the step's check does not pass"
	return effect.Verdict{For: v.For, Against: append(slices.Clone(v.Against), why), Failure: &belay.Failure{
		Kind: s.ownKind(i), Class: belay.ClassWorkFailure, Level: belay.LevelProcess, Rule: "merge", Op: "step " + string(def.ID), Cause: why,
	}}
}
