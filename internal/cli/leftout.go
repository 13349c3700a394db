package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// askedRuns is how many runs of a directory are looked at for what they ask.
const askedRuns = 20

// lacksRun tells whether RUN was left out, from the words that were given instead.
func (a *app) lacksRun(cmd *cobra.Command, enough cobra.PositionalArgs, given []string) bool {
	changed := func(flag string) bool { f := cmd.Flags().Lookup(flag); return f != nil && f.Changed }
	switch cmd.Name() {
	case "stop", "audit":
		return !changed("all") && len(given) == 0
	case "judge":
		if changed("transcript") || len(given) != 1 {
			return false
		}
		is, _ := a.isRun(given[0])
		return !is
	case "clear":
		return len(given) == 0 && changed("why") || len(given) == 1 && isCount(given[0])
	case "approve", "reject":
		return len(given) == 0
	case "answer":
		return len(given) < 2 || len(given) == 2 && !strings.Contains(given[0], ":") && a.isStep(given[0])
	}
	return (enough(cmd, given) != nil || len(given) == 0) && enough(cmd, append([]string{"RUN"}, given...)) == nil
}

func isCount(word string) bool {
	what, _, _ := strings.Cut(word, ":")
	return slices.Contains(counts(), what)
}

// isRun tells whether a word is the id of a run, and whether it may mean one, as the
// beginning of an id does.
func (a *app) isRun(word string) (is, may bool) {
	st, err := a.openState()
	if err != nil {
		return true, true // what is wrong is said where it is read
	}
	defer func() { _ = st.Close() }() // read only: nothing to lose
	id, err := runID(st, word)
	var unknown *journal.Unknown
	return err == nil && (string(id) == word || strings.HasPrefix(word, "last")), !errors.As(err, &unknown)
}

// namesStep tells whether the only word of a command may name a step of the newest run.
func namesStep(cmd *cobra.Command) bool {
	whole := func(flag string) bool { f := cmd.Flags().Lookup(flag); return f != nil && f.Changed }
	return (cmd.Name() == "logs" || cmd.Name() == "show") && !whole("output") && !whole("records")
}

// stepAlone puts the newest run of this directory before a word that names no run, but a
// step of that one.
func (a *app) stepAlone(word string) ([]string, error) {
	given := []string{word}
	st, err := a.openState()
	if err != nil {
		return given, nil //nolint:nilerr // what is wrong is said where the run is read
	}
	defer func() { _ = st.Close() }() // read only: nothing to lose
	_, none := runID(st, word)
	var unknown *journal.Unknown
	if !errors.As(none, &unknown) {
		return given, nil // it is a run, or the command says what is wrong with the name
	}
	id, err := lastRun(st, "", "")
	if err != nil {
		return given, nil //nolint:nilerr // there is no run here: the word was meant as one
	}
	s, err := tell(st, string(id))
	if err != nil {
		return given, nil //nolint:nilerr // it cannot be read: the word is taken as a run
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	if _, err := s.part(belay.Path(word)); err == nil {
		a.say("run %s of recipe %s, the newest of this directory", id, s.Tree.Started().Name)
		return []string{string(id), word}, nil
	}
	if a.program.Engine != nil {
		return given, nil // another machine may have started it: the command itself looks
	}
	return nil, exit.New(exit.Invalid, "find run", fmt.Errorf("no run %q, and run %s, the newest of this directory, has no such step", word, id),
		fmt.Sprintf("list the runs with %s runs; a step stands behind its run, as in %s logs last %s", a.name(), a.name(), story.Quote(word)))
}

// isStep tells whether the first word of an answer is a step and not a run: no run is
// called so, and a step of this name is asked about or no run begins so.
func (a *app) isStep(word string) bool {
	is, may := a.isRun(word)
	if is || !may {
		return !is
	}
	all, _, err := a.askedHere()
	return err == nil && slices.ContainsFunc(all, func(q story.Asked) bool { return word == q.Place.Name() || word == string(q.Path) })
}

// namesItem are the words of an answer with the item that they are about: the open
// question of this directory that they fit, of its newest run that has one.
func (a *app) namesItem(cmd *cobra.Command, given []string) ([]string, error) {
	all, dir, err := a.askedHere()
	if err != nil {
		return nil, err
	}
	run := belay.RunID("")
	var fit []story.Asked
	for _, q := range all {
		if fits(cmd.Name(), given, q) && (run == "" || q.Run.Root() == run) {
			run, fit = q.Run.Root(), append(fit, q)
		}
	}
	switch {
	case len(all) == 0:
		return nil, exit.New(exit.Invalid, "", fmt.Errorf("no run of directory %s waits for an answer", dir), "list what waits in all runs with "+a.name()+" inbox")
	case len(fit) == 0 || len(given) == 0 && cmd.Name() == "answer":
		code, err := exit.Invalid, fmt.Errorf("no question of this directory is answered with %q", strings.Join(given, " "))
		switch {
		case len(given) == 0 && cmd.Name() == "answer":
			code, err = exit.Usage, errors.New("answer needs an answer")
		case len(given) == 0:
			err = fmt.Errorf("no question of this directory can be answered with %s", cmd.Name())
		}
		return nil, exit.New(code, "", err, "type "+a.typed(all))
	case len(fit) > 1:
		return nil, exit.New(exit.Usage, "", fmt.Errorf("run %s asks %d questions that this may answer", run, len(fit)), "type "+a.typed(fit))
	}
	q := fit[0]
	a.say("item %s of run %s: %s", q.ID, run, q.Ask)
	if n := len(given); n > 0 {
		return []string{q.Item(), given[n-1]}, nil
	}
	return []string{q.Item()}, nil
}

// itemOf is the item of a run that was named without one: the only open question that
// this command may answer.
func (a *app) itemOf(act, run string) (item string, err error) {
	st, err := a.openState()
	if err != nil {
		return "", err
	}
	defer closing(&err, "close state", st.Close)
	s, err := tell(st, run)
	if err != nil {
		return "", err
	}
	defer closing(&err, "close run", s.close)
	var fit []story.Asked
	for _, q := range s.Questions(s.steps(), time.Now()) {
		if fits(act, nil, q) {
			fit = append(fit, q)
		}
	}
	switch len(fit) {
	case 0:
		return "", exit.New(exit.Invalid, "", fmt.Errorf("run %s asks nothing that can be answered with %s", s.Root, act), "see what it waits for with "+a.name()+" why "+string(s.Root))
	case 1:
		a.say("item %s of run %s: %s", fit[0].ID, s.Root, fit[0].Ask)
		return fit[0].Item(), nil
	}
	return "", exit.New(exit.Usage, "", fmt.Errorf("run %s asks %d questions that this may answer", s.Root, len(fit)), "type "+a.typed(fit))
}

// typed are the commands that answer questions.
func (a *app) typed(list []story.Asked) string {
	var words []string
	for _, q := range list[:min(len(list), 3)] {
		words = append(words, q.Command().Text(a.name()))
	}
	return strings.Join(words, ", or ")
}

// fits tells whether words may answer a question: [STEP] CHOICE of answer, and
// nothing of the others.
func fits(act string, given []string, q story.Asked) bool {
	switch {
	case q.TimedOut:
		return false
	case act == "approve":
		return slices.Contains(q.Choices, belay.ChoiceApprove)
	case act == "reject":
		return q.About != event.ItemHeld
	case len(given) == 2 && given[0] != q.Place.Name() && given[0] != string(q.Path):
		return false
	}
	return len(given) == 0 || q.About == event.ItemInput || slices.Contains(q.Choices, given[len(given)-1])
}

// askedHere are the open questions of the runs of this directory, the newest run first.
func (a *app) askedHere() (list []story.Asked, dir string, err error) {
	st, err := a.openState()
	if err != nil {
		return nil, "", err
	}
	defer closing(&err, "close state", st.Close)
	if dir, err = workDir(""); err != nil {
		return nil, "", err
	}
	open, err := st.OpenRuns(belay.Held, belay.Running, belay.Parked, belay.Paused, belay.Stopped)
	looked, in := 0, journal.InDir(dir)
	for _, sum := range open {
		if sum.Gone || !in(sum.Dir) || looked == askedRuns {
			continue
		}
		looked++
		s, e := tell(st, string(sum.ID))
		if e != nil {
			continue // a run that cannot be read is a matter of belay audit
		}
		list = append(list, s.Questions(s.steps(), time.Now())...)
		_ = s.close() // read only: nothing to lose
	}
	return list, dir, err
}

// asksForRun says which run the newest is where a command wants it by name, because
// what it does cannot be undone.
func (a *app) asksForRun(cmd *cobra.Command) {
	enough := cmd.Args
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		err := enough(cmd, given)
		if err == nil || len(given) > 0 {
			return err
		}
		sum, found := a.newestFor(cmd.Name() == "rm")
		if !found {
			return err
		}
		return exit.New(exit.Usage, "", errors.New(cmd.Name()+" needs RUN: what it does cannot be undone"),
			fmt.Sprintf("the newest such run of this directory is %s of recipe %s: %s %s %s", sum.ID, sum.Name, a.name(), cmd.Name(), sum.ID))
	}
}

// newestFor is the newest run of this directory that has ended for good, or that has not.
func (a *app) newestFor(ended bool) (sum journal.Summary, found bool) {
	st, err := a.openState()
	if err != nil {
		return sum, false
	}
	defer func() { _ = st.Close() }() // read only: nothing to lose
	dir, err := workDir("")
	if err != nil {
		return sum, false
	}
	sums, err := st.RunsIn(dir)
	i := slices.IndexFunc(sums, func(s journal.Summary) bool { return !s.Gone && s.Status.Terminal() == ended })
	if err != nil || i < 0 {
		return sum, false
	}
	return sums[i], true
}
