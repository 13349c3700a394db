package ledger

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/proc"
)

// SessionSchema makes the tables of sessions, and of what is counted for runs and
// trees of sessions.
const SessionSchema = `
	CREATE TABLE sessions (
		run TEXT PRIMARY KEY, tree TEXT NOT NULL, parent TEXT NOT NULL, depth INTEGER NOT NULL,
		max_depth INTEGER NOT NULL, max_sessions INTEGER NOT NULL,
		pid INTEGER NOT NULL, start INTEGER NOT NULL, boot TEXT NOT NULL,
		keeper_pid INTEGER NOT NULL, keeper_start INTEGER NOT NULL, keeper_boot TEXT NOT NULL,
		state TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL
	) STRICT;
	CREATE INDEX sessions_tree ON sessions (tree);
	CREATE INDEX sessions_driver ON sessions (pid, start);
	CREATE INDEX sessions_keeper ON sessions (keeper_pid, keeper_start);
	CREATE TABLE caps (
		run TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (run, name)
	) STRICT`

// The limits of a session tree where nobody set others.
const (
	DefaultMaxDepth    = 3
	DefaultMaxSessions = 10
)

// Claim asks for a place in the tree of Belay processes that start each other.
type Claim struct {
	Run       belay.RunID
	Driver    proc.Identity
	Ancestors []proc.Identity // of the driver, nearest first
	Kin       []belay.RunID   // sessions whose keepers the driver descends from, nearest first
	Levels    int             // how many keepers those are; some may be unknown here
	// The limits that this session sets itself; 0 is the default.
	MaxDepth, MaxSessions int
	Env                   Env
}

// Env is what the environment says about the tree. Anyone may have written it,
// so it can tighten a limit and never loosen one.
type Env struct {
	Tree        string // the tree, or a run in it; used when no ancestor is known
	Depth       int    // the depth that this session is said to have
	MaxDepth    *int
	MaxSessions *int
	Malformed   string // the variable that could not be read, if any
}

// Member is a session of a tree.
type Member struct {
	Run     belay.RunID
	Session belay.Session
	Driver  proc.Identity
	Keeper  proc.Identity
	Alive   bool
	Started time.Time
	Ended   time.Time
}

// Enter gives a session its place, or a *Limit error. Who the parent is, is
// proven by the processes; looking, counting and entering are one transaction.
func (led *Ledger) Enter(claim Claim) (belay.Session, error) {
	var place belay.Session
	err := led.Store.Note("enter session", func(c Tx) error {
		parent, err := findParent(c, claim)
		if err != nil {
			return err
		}
		own, err := member(c, "run = ?", claim.Run.Root())
		if err != nil {
			return err
		}
		place = placeOf(claim, parent, own)
		alive, err := led.sweep(c, place.Tree, claim.Run.Root())
		if err != nil {
			return err
		}
		if limit := admit(claim, place, alive); limit != nil {
			return exit.New(exit.Infra, "enter session", limit,
				"see the sessions with belay tree; wait for one to end, or set other limits at the top of the tree")
		}
		return enter(c, claim, place, own)
	})
	if err != nil {
		return belay.Session{}, err
	}
	return place, nil
}

// findParent is the session of the nearest ancestor, or of the nearest keeper
// that is known by name, or the one that the environment names, or nil.
func findParent(c Tx, claim Claim) (*Member, error) {
	for _, a := range claim.Ancestors {
		// Not the run itself: who made a run and left it to a driver of its own is above that driver.
		m, err := member(c, `run <> ?4 AND ((pid = ?1 AND start = ?2 AND boot = ?3)
			OR (keeper_pid = ?1 AND keeper_start = ?2 AND keeper_boot = ?3))`, a.Pid, a.Start, a.Boot, claim.Run.Root())
		if m != nil || err != nil {
			return m, err
		}
	}
	for _, name := range claim.Kin {
		if m, err := member(c, "run = ?", name); m != nil || err != nil {
			return m, err
		}
	}
	if claim.Env.Tree == "" {
		return nil, nil
	}
	m, err := member(c, "run = ?", claim.Env.Tree)
	if m == nil && err == nil {
		m, err = member(c, "tree = ?", claim.Env.Tree)
	}
	if m != nil && m.Run == claim.Run.Root() {
		return nil, err // nobody is the parent of itself
	}
	return m, err
}

// placeOf decides where a session belongs and which limits hold for it: always
// the tightest of what is known.
func placeOf(claim Claim, parent, own *Member) belay.Session {
	place := belay.Session{
		Tree:        string(claim.Run.Root()),
		Depth:       max(0, claim.Env.Depth, claim.Levels),
		MaxDepth:    orDefault(claim.MaxDepth, DefaultMaxDepth),
		MaxSessions: orDefault(claim.MaxSessions, DefaultMaxSessions),
	}
	if n := claim.Env.MaxDepth; n != nil {
		place.MaxDepth = min(place.MaxDepth, *n)
	}
	if n := claim.Env.MaxSessions; n != nil {
		place.MaxSessions = min(place.MaxSessions, *n)
	}
	if own != nil { // resumed: it does not forget where it was
		place.Tree, place.Parent = own.Session.Tree, own.Session.Parent
		place = tighten(place, own.Session, own.Session.Depth)
	}
	if parent != nil {
		place.Tree, place.Parent = parent.Session.Tree, parent.Run
		place = tighten(place, parent.Session, parent.Session.Depth+1)
	}
	return place
}

func tighten(place, known belay.Session, depth int) belay.Session {
	place.Depth = max(place.Depth, depth)
	place.MaxDepth = min(place.MaxDepth, known.MaxDepth)
	place.MaxSessions = min(place.MaxSessions, known.MaxSessions)
	return place
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// admit decides whether there is room for a session in a tree with so many
// others alive.
func admit(claim Claim, place belay.Session, alive int) *Limit {
	switch {
	case claim.Env.Malformed != "":
		return &Limit{Kind: LimitDepth, Have: place.MaxDepth, Max: place.MaxDepth, Malformed: claim.Env.Malformed}
	case place.Depth > place.MaxDepth:
		return &Limit{Kind: LimitDepth, Have: place.Depth, Max: place.MaxDepth}
	case alive >= place.MaxSessions:
		return &Limit{Kind: LimitSessions, Have: alive, Max: place.MaxSessions}
	}
	return nil
}

// sweep ends the sessions of a tree whose processes are proven dead and counts
// the others, except the one that is asking.
func (led *Ledger) sweep(c Tx, tree string, but belay.RunID) (int, error) {
	members, err := membersOf(c, "tree = ? AND state = 'alive'", tree)
	if err != nil {
		return 0, err
	}
	alive := 0
	for _, m := range members {
		switch {
		case m.Run == but:
		case led.Dead(m.Driver) && led.Dead(m.Keeper):
			if err := end(c, m.Run); err != nil {
				return 0, err
			}
		default:
			alive++
		}
	}
	return alive, nil
}

func enter(c Tx, claim Claim, p belay.Session, own *Member) error {
	var keeper proc.Identity
	started := time.Now()
	if own != nil { // an old keeper may still hold processes of the run
		keeper, started = own.Keeper, own.Started
	}
	return PutSession(c, Member{
		Run: claim.Run.Root(), Session: p, Driver: claim.Driver, Keeper: keeper, Alive: true, Started: started,
	})
}

// PutSession keeps the row of a session.
func PutSession(c Tx, m Member) error {
	state := "ended"
	if m.Alive {
		state = "alive"
	}
	p := m.Session
	return c.Run("INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		m.Run, p.Tree, p.Parent, p.Depth, p.MaxDepth, p.MaxSessions,
		m.Driver.Pid, m.Driver.Start, m.Driver.Boot, m.Keeper.Pid, m.Keeper.Start, m.Keeper.Boot,
		state, m.Started, m.Ended)
}

func end(c Tx, id belay.RunID) error {
	return c.Run("UPDATE sessions SET state = 'ended', ended = ? WHERE run = ?", time.Now(), id)
}

// Leave ends a session and frees its slot. One that is over keeps its end, unless its run
// was driven since: whoever only opens a run to write something down did not make it longer.
func (led *Ledger) Leave(id belay.RunID, driven bool) error {
	return led.Store.Note("leave session", func(c Tx) error {
		own, err := member(c, "run = ?", id.Root())
		if err != nil || own == nil || !own.Alive && !driven {
			return err
		}
		return end(c, id.Root())
	})
}

// SetKeeper notes who keeps the processes of a session: what descends from it
// belongs to the session, and the session is not dead while it lives.
func (led *Ledger) SetKeeper(id belay.RunID, keeper proc.Identity) error {
	return led.Store.Note("note keeper", func(c Tx) error {
		return c.Run("UPDATE sessions SET keeper_pid = ?, keeper_start = ?, keeper_boot = ? WHERE run = ?",
			keeper.Pid, keeper.Start, keeper.Boot, id.Root())
	})
}

// Tree lists the sessions of the tree that a run is in, or all of them for "",
// parents before their children; none for a run that is unknown. Who is alive is proven now.
func (led *Ledger) Tree(id belay.RunID) ([]Member, error) {
	var members []Member
	err := led.Store.Read("list sessions", func(c Tx) error {
		var err error
		if id == "" {
			members, err = membersOf(c, "1")
			return err
		}
		members, err = membersOf(c, "tree = (SELECT tree FROM sessions WHERE run = ?)", id.Root())
		return err
	})
	for i := range members {
		m := &members[i]
		m.Alive = m.Alive && !(led.Dead(m.Driver) && led.Dead(m.Keeper))
	}
	return members, err
}

// Below are the runs that steps of a run started, and those that steps of them
// started, and so on, parents before their children.
func (led *Ledger) Below(id belay.RunID) (ids []belay.RunID, err error) {
	all, err := led.Tree(id)
	under := map[belay.RunID]bool{id.Root(): true}
	for _, m := range all {
		if under[m.Session.Parent.Root()] && !under[m.Run] {
			under[m.Run] = true
			ids = append(ids, m.Run)
		}
	}
	return ids, err
}

func member(c Tx, where string, args ...any) (*Member, error) {
	all, err := membersOf(c, where, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func membersOf(c Tx, where string, args ...any) ([]Member, error) {
	var all []Member
	err := c.Each("SELECT * FROM sessions WHERE "+where+" ORDER BY tree, depth, started, run", args,
		func(q Row) {
			all = append(all, Member{
				Run: belay.RunID(q.ColumnText(0)),
				Session: belay.Session{
					Tree: q.ColumnText(1), Parent: belay.RunID(q.ColumnText(2)), Depth: int(q.ColumnInt64(3)),
					MaxDepth: int(q.ColumnInt64(4)), MaxSessions: int(q.ColumnInt64(5)),
				},
				Driver: identityAt(q, 6), Keeper: identityAt(q, 9),
				Alive:   q.ColumnText(12) == "alive",
				Started: timeAt(q, 13), Ended: timeAt(q, 14),
			})
		})
	return all, err
}

// DrivenAbove is the run whose driver is the nearest of the processes, "" where
// none of them drives one. With rested it may be one that came to rest.
func (led *Ledger) DrivenAbove(chain []proc.Identity, rested bool) (id belay.RunID, err error) {
	where := "pid = ? AND start = ? AND boot = ?"
	if !rested {
		where += " AND state = 'alive'"
	}
	err = led.Store.Read("find session", func(c Tx) error {
		for _, p := range chain {
			m, err := member(c, where, p.Pid, p.Start, p.Boot)
			if err != nil || m != nil {
				id = runOf(m)
				return err
			}
		}
		return nil
	})
	return id, err
}

func runOf(m *Member) belay.RunID {
	if m == nil {
		return ""
	}
	return m.Run
}

// Join notes a session whose place was given in another state directory: there
// it is counted, here it is only shown.
func (led *Ledger) Join(claim Claim, place belay.Session) error {
	place.Tree += "@" + place.Home
	return led.Store.Change("join session", func(c Tx) error {
		own, err := member(c, "run = ?", claim.Run.Root())
		if err != nil {
			return err
		}
		return enter(c, claim, place, own)
	})
}
