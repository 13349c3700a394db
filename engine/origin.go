package engine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

// Origin says whose step this process is in. The processes prove it: neither
// the environment nor the state directory that somebody named is asked.
type Origin struct {
	Ancestors []proc.Identity // nearest first
	Keepers   []Holder        // that this process descends from, nearest first
}

// Holder is a keeper and the run that it holds.
type Holder struct {
	proc.Kept
	State string // the state directory of the run
	Run   belay.RunID
}

// FindOrigin looks where this process comes from. Where the chain of its
// parents cannot be seen to its end (another PID namespace), the keepers of the
// state directory st, and of the user's usual one, are asked.
func FindOrigin(st *journal.State) (Origin, error) {
	chain, whole, err := proc.Lineage()
	if err != nil {
		return Origin{}, fmt.Errorf("look at ancestors: %w", err)
	}
	var o Origin
	for _, r := range chain {
		o.Ancestors = append(o.Ancestors, r.Identity)
	}
	for _, k := range proc.KeptBy(chain) {
		o.Keepers = append(o.Keepers, holderOf(k))
	}
	if len(o.Keepers) == 0 && !whole {
		o.Keepers = askAround(st)
	}
	return o, nil
}

func holderOf(k proc.Kept) Holder {
	state, run := journal.RunOfFolder(k.Dir)
	return Holder{Kept: k, State: state, Run: run}
}

// askAround asks the keepers that can be found whether this process is theirs.
func askAround(st *journal.State) []Holder {
	var found []Holder
	for _, dir := range []string{st.Dir(), usualState()} {
		for _, k := range journal.Keepers(dir) {
			if proc.Holds(k.Socket) {
				found = append(found, holderOf(k))
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// usualState is the state directory of this user when nobody says another. The
// environment is not asked.
func usualState() string {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return ""
	}
	return filepath.Join(u.HomeDir, ".local", "state", "belay")
}

// Started tells whether the step that this process is in started a run, or a
// run that started it, and so on.
func (o Origin) Started(st *journal.State, id belay.RunID) bool {
	if len(o.Keepers) == 0 {
		return false
	}
	mine := o.Keepers[0].Attempt()
	if mine == "" {
		return false // it left its step
	}
	run, step := mine.Step()
	for range maxLevels {
		s, err := st.SessionOf(id.Root())
		if err != nil || s.Starter == "" {
			return false
		}
		if r, p := s.Starter.Step(); r == run && p == step && s.Parent.Root() != id.Root() {
			return true
		}
		id = s.Parent
	}
	return false
}

// maxLevels bounds the walk up a tree of sessions.
const maxLevels = 64

// books are where the sessions and the budget of a run's tree are counted. That
// is the run's own state directory, unless the run was started inside a step of
// a run of another one: then it is that of the outermost, or any directory would
// be a new tree with a new budget.
type books struct {
	state *journal.State
	name  belay.RunID // of this run in them
	other bool        // they are not those of the run's own state directory
}

// openBooks finds the books of a run that comes from where origin says.
func (o *Open) openBooks(origin Origin) error {
	if o.books.other {
		return nil // known since the run was made
	}
	dir := o.session.Home
	if n := len(origin.Keepers); n > 0 {
		dir = homeOf(origin.Keepers[n-1])
	}
	if dir == "" || sameDir(dir, o.local.State.Dir()) {
		return nil
	}
	if _, err := os.Stat(dir); err != nil && len(origin.Keepers) == 0 {
		return nil //nolint:nilerr // see above
	}
	st, err := journal.OpenState(dir)
	if err != nil {
		return fmt.Errorf("count the run where its tree is counted: %w", err)
	}
	if o.session.Name == "" || o.session.Home != dir {
		o.session.Name = belay.RunID(string(o.ID) + "@" + nonce())
	}
	o.session.Home = dir
	o.books = books{state: st, name: o.session.Name, other: true}
	return nil
}

// homeOf is the state directory in which the tree of a run is counted.
func homeOf(h Holder) string {
	st, err := journal.OpenState(h.State)
	if err != nil {
		return h.State // opening it again says why
	}
	defer func() { _ = st.Close() }() // only read
	if s, err := st.SessionOf(h.Run); err == nil && s.Home != "" {
		return s.Home
	}
	return h.State
}

// kin are the names of the runs in the books that this process descends from,
// nearest first.
func (o *Open) kin(origin Origin) []belay.RunID {
	var names []belay.RunID
	for _, h := range origin.Keepers {
		if sameDir(h.State, o.books.state.Dir()) {
			names = append(names, h.Run)
			continue
		}
		st, err := journal.OpenState(h.State)
		if err != nil {
			continue // it is counted by its depth
		}
		if s, err := st.SessionOf(h.Run); err == nil && s.Name != "" {
			names = append(names, s.Name)
		}
		_ = st.Close() // only read
	}
	return names
}

// key is the name under which an attempt is counted in the books.
func (b books) key(k belay.Key) belay.Key { return belay.Key(b.prefix()) + k }

// prefix keeps runs apart that have the same id in other directories.
func (b books) prefix() string {
	if !b.other {
		return ""
	}
	return string(b.name) + " "
}

// close closes books that are not the run's own.
func (b books) close() error {
	if !b.other {
		return nil
	}
	return errors.Join(b.state.Ledger().Leave(b.name, true), b.state.Close())
}

func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return a == b || errX == nil && errY == nil && os.SameFile(x, y)
}

func nonce() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return hex.EncodeToString(b)
}
