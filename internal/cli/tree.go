package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
)

func (a *app) treeCommand() *cobra.Command {
	var asJSON bool
	cmd := command("tree [RUN]", "show which runs started which", 0, 1,
		func(_ context.Context, _ *cobra.Command, args []string) error { return a.tree(args, asJSON) })
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per session")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

// session is a run's place in the tree of runs that start each other.
type session struct {
	Run         belay.RunID `json:"run"`
	Tree        string      `json:"tree"`
	Parent      belay.RunID `json:"parent,omitempty"`
	Depth       int         `json:"depth"`
	MaxDepth    int         `json:"max_depth"`
	MaxSessions int         `json:"max_sessions"`
	State       string      `json:"state"` // alive or ended
	Started     time.Time   `json:"started,omitzero"`
	Ended       time.Time   `json:"ended,omitzero"`
	Pid         int         `json:"pid,omitempty"`
}

func (a *app) tree(args []string, asJSON bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	var id belay.RunID
	if len(args) > 0 {
		if id, err = runID(st, args[0]); err == nil {
			err = hasPart(st, id)
		}
		if err != nil {
			return err
		}
	}
	members, err := st.Ledger().Tree(id)
	if err == nil && id != "" && len(members) == 0 {
		err = exit.New(exit.Usage, "find run", &journal.Unknown{ID: string(id)}, "list the runs with belay runs")
	}
	if err != nil {
		return err
	}
	rows := [][]string{{"RUN", "PARENT", "DEPTH", "STATE", "STARTED", "ENDED"}}
	for _, m := range inOrder(members) {
		s := sessionOf(m)
		if asJSON {
			a.object(s)
			continue
		}
		rows = append(rows, s.row())
	}
	if !asJSON {
		a.table(rows, len(rows[0])-1)
	}
	return nil
}

// inOrder lists the sessions, each with its own behind it. One whose parent is
// not among them stands at the top.
func inOrder(all []ledger.Member) []ledger.Member {
	known := map[belay.RunID]bool{}
	for _, m := range all {
		known[m.Run] = true
	}
	under := map[belay.RunID][]ledger.Member{}
	for _, m := range all {
		p := m.Session.Parent
		if !known[p] || p == m.Run {
			p = ""
		}
		under[p] = append(under[p], m)
	}
	var list []ledger.Member
	var visit func(belay.RunID)
	visit = func(p belay.RunID) {
		for _, m := range under[p] {
			list = append(list, m)
			visit(m.Run)
		}
	}
	visit("")
	return list
}

func sessionOf(m ledger.Member) session {
	s := session{
		Run: m.Run, Tree: m.Session.Tree, Parent: m.Session.Parent, Depth: m.Session.Depth,
		MaxDepth: m.Session.MaxDepth, MaxSessions: m.Session.MaxSessions, State: "ended",
		Started: m.Started, Ended: m.Ended,
	}
	if m.Alive {
		s.State, s.Pid = "alive", m.Driver.Pid
	}
	return s
}

func (s session) row() []string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Local().Format(time.DateTime)
	}
	parent := string(s.Parent)
	if parent == "" {
		parent = "-"
	}
	return []string{
		strings.Repeat("  ", s.Depth) + string(s.Run), parent, strconv.Itoa(s.Depth),
		s.State, at(s.Started), at(s.Ended),
	}
}
