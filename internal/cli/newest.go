package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

// leftOut is which run a command means when RUN is left out: the newest of this directory,
// or of those with one of these statuses that somebody may have to do something about.
type leftOut struct {
	words  string // what is said of it
	open   bool   // one that needs somebody comes first
	of     []belay.Status
	rests  bool // and no process drives it, not even one that waits for an answer
	always bool // where there is none, the newest
}

// leftOuts has a row for each command that does without RUN. One that takes a run away
// asks for it by name.
func leftOuts() map[string]leftOut {
	const newest = "the newest of this directory"
	look := leftOut{words: newest, always: true}
	needs := leftOut{words: newest + " that needs attention", open: true, always: true}
	rests := needs
	rests.rests = true
	runs := leftOut{words: newest + " that is still running", open: true, of: []belay.Status{belay.Running, belay.Parked}}
	return map[string]leftOut{
		"rerun": look, "export": look, "audit": look, "judge": look, "clear": needs,
		"show": look, "logs": look, "history": look, "receipt": look,
		"why": needs, "resume": rests, "answer": {}, "approve": {}, "reject": {}, // the run whose question they answer
		"pause": runs, "stop": runs, "attach": look,
	}
}

// runByDefault lets a person leave out RUN. Which run is meant is said.
func (a *app) runByDefault(root *cobra.Command) {
	rows := leftOuts()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "cancel" || cmd.Name() == "rm" {
			a.asksForRun(cmd)
		}
		row, known := rows[cmd.Name()]
		if !known {
			continue
		}
		enough, run := cmd.Args, cmd.RunE
		lacks := func(cmd *cobra.Command, given []string) bool { return a.lacksRun(cmd, enough, given) }
		cmd.Args = func(cmd *cobra.Command, given []string) error {
			if lacks(cmd, given) {
				return nil
			}
			return enough(cmd, given)
		}
		cmd.RunE = func(cmd *cobra.Command, given []string) error {
			switch {
			case lacks(cmd, given) && row.words == "":
				var err error
				if given, err = a.namesItem(cmd, given); err != nil {
					return err
				}
			case lacks(cmd, given):
				id, err := a.newestRun(row)
				if err != nil {
					return err
				}
				given = append([]string{string(id)}, given...)
			case len(given) == 1 && namesStep(cmd):
				var err error
				if given, err = a.stepAlone(given[0]); err != nil {
					return err
				}
			}
			return run(cmd, given)
		}
		cmd.Use = strings.Replace(cmd.Use, " RUN", " [RUN]", 1)
	}
}

// newestRun is the run that a command means which was given none.
func (a *app) newestRun(row leftOut) (_ belay.RunID, err error) {
	ws, err := a.open()
	if err != nil {
		return "", err
	}
	defer closing(&err, "close state", ws.close)
	dir, err := workDir("")
	if err != nil {
		return "", err
	}
	in := journal.InDir(dir)
	here := func(s journal.Summary) bool { return !s.Gone && in(s.Dir) }
	if row.open {
		open, err := ws.state.OpenRuns(row.of...)
		if err != nil {
			return "", err
		}
		means := func(s journal.Summary) bool { return here(s) && a.means(ws.state, row, s) }
		if i := slices.IndexFunc(open, means); i >= 0 {
			a.say("run %s of recipe %s, %s", open[i].ID, open[i].Name, row.words)
			a.named = true
			return open[i].ID, nil
		}
	}
	if !row.always {
		return "", exit.New(exit.Invalid, "find run", fmt.Errorf("no run of directory %s is under way", dir), "list all runs with belay runs, and name one")
	}
	sums, err := ws.state.RunsIn(dir)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(sums, here)
	if i < 0 {
		return "", exit.New(exit.Invalid, "find run", fmt.Errorf("no run was started in directory %s", dir), "list all runs with belay runs, and name one")
	}
	a.say("run %s of recipe %s, the newest of this directory", sums[i].ID, sums[i].Name)
	a.named = true
	return sums[i].ID, nil
}

// means tells whether a command that is given no run may mean this open one. Nobody has to
// do anything about a run that a process drives, unless it asks.
func (a *app) means(st *journal.State, row leftOut, s journal.Summary) bool {
	driver := s.Driver
	if s.Beat.Pid != 0 {
		driver = s.Beat.Driver()
	}
	driven := s.Beginning || s.Status == belay.Running && driver.Alive()
	return len(row.of) > 0 || !driven || !row.rests && !s.Beginning && len(a.letters(st, s)) > 0
}

// grouped sorts the commands of the help by what they are for.
func grouped(root *cobra.Command) {
	for _, g := range []struct{ id, title, commands string }{
		{"start", "Start and continue runs:", "do run resume rerun rehearse demo"},
		{"look", "See what happened:", "why show attach logs runs inbox receipt history tree"},
		{"decide", "Decide and control:", "answer approve reject clear pause stop cancel"},
		{"unattended", "Run unattended:", "watch notify issue"},
		{"write", "Write recipes:", "new validate explain graph recipes expr calls schema"},
		{"keep", "Keep the machine in order:", "doctor gc rm prune audit export import"},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		names := strings.Fields(g.commands)
		for _, cmd := range root.Commands() {
			if slices.Contains(names, cmd.Name()) {
				cmd.GroupID = g.id
			}
		}
	}
}
