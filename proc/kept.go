package proc

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/belay-run/belay"
)

// The words by which the command line of a keeper, and of the first process of
// an agent's namespace, says which run it holds. Who descends from one is known
// by them: they stand in the process itself, so neither another environment nor
// another state directory hides them.
const (
	KeeperWord    = "keeper"
	NamespaceWord = "nsinit"
	keptFlag      = "--kept"
)

// whoseWithin is how long a keeper may take to say who belongs to it: one that
// is stopped must not stop a person.
const whoseWithin = 2 * time.Second

// lineageTries is how often a walk begins again because a parent ended meanwhile.
const lineageTries = 8

// Relative is a process that the calling one descends from.
type Relative struct {
	Identity
	Argv []string // empty where it cannot be read
}

// Kept names a keeper that the calling process descends from.
type Kept struct {
	Keeper Identity // zero where a namespace hides it
	Dir    string   // of the run
	Socket string
}

// NamespaceArgs are the arguments of NSInit before the program: they name the
// keeper, which is out of sight in the namespace.
func NamespaceArgs(dir, socket string) []string {
	return []string{NamespaceWord, keptFlag, dir, socket, "--"}
}

// Lineage is the chain of parents of this process, nearest first, and whether
// that is all of it: a namespace, or a system that hides processes, cuts it off.
func Lineage() (chain []Relative, whole bool, err error) {
	for try := 1; ; try++ {
		chain, err = lineage()
		switch {
		case err == nil:
			return chain, firstNamespace(), nil
		case !errors.Is(err, ErrGone):
			return nil, false, fmt.Errorf("walk ancestors: %w", err)
		case try == lineageTries: // not one that ended just now: it is hidden
			return chain, false, nil
		}
	}
}

func lineage() ([]Relative, error) {
	ids, err := Ancestors(ownPID())
	chain := make([]Relative, 0, len(ids))
	for _, id := range ids {
		argv, _ := commandLine(id.Pid) // what ended meanwhile has none; the walk says so
		chain = append(chain, Relative{Identity: id, Argv: argv})
	}
	return chain, err
}

// KeptBy picks the keepers out of a lineage, nearest first.
func KeptBy(chain []Relative) []Kept {
	var list []Kept
	for _, r := range chain {
		if dir, socket, ok := keeperArgs(r.Argv); ok {
			list = append(list, Kept{Keeper: r.Identity, Dir: dir, Socket: socket})
		} else if dir, socket, ok := namespaceArgs(r.Argv); ok {
			list = append(list, Kept{Dir: dir, Socket: socket})
		}
	}
	return list
}

// keeperArgs reads the command line of a keeper.
func keeperArgs(argv []string) (dir, socket string, ok bool) {
	n := len(argv)
	if n < 4 || argv[n-3] != KeeperWord {
		return "", "", false
	}
	return named(argv[n-2], argv[n-1])
}

// namespaceArgs reads that of the first process of a namespace.
func namespaceArgs(argv []string) (dir, socket string, ok bool) {
	if len(argv) < 5 || argv[1] != NamespaceWord || argv[2] != keptFlag {
		return "", "", false
	}
	return named(argv[3], argv[4])
}

func named(dir, socket string) (string, string, bool) {
	return dir, socket, filepath.IsAbs(dir) && filepath.IsAbs(socket)
}

// Attempt asks the keeper which of its attempts the calling process belongs to.
// It is "" for a process that left its attempt, and where the keeper does not
// answer.
func (k Kept) Attempt() belay.Key { return ask(k.Socket).Key }

// Holds asks the keeper at a socket whether the calling process descends from
// it. The kernel tells the keeper who asks, also out of a namespace.
func Holds(socket string) bool { return ask(socket).Kin }

func ask(socket string) owner {
	l, err := dial(socket)
	if err != nil {
		return owner{} // nobody is there
	}
	defer l.conn.Close()
	var r reply
	err = errors.Join(l.conn.SetDeadline(time.Now().Add(whoseWithin)), l.send(request{Whose: &struct{}{}}))
	if err != nil || l.receive(&r) != nil || r.Owner == nil {
		return owner{} // it hangs, or is of an older Belay
	}
	return *r.Owner
}

// whose answers which attempt the process at the other end belongs to.
func (k *keeper) whose(c *link) bool {
	pid, err := peerPID(c.conn)
	if err != nil {
		return false
	}
	o := k.kinOf(pid)
	return c.send(reply{Owner: &o}) == nil
}

// kinOf tells whether the process descends from this keeper, and from the
// leader of which attempt.
func (k *keeper) kinOf(pid int) owner {
	chain, err := Ancestors(pid)
	if err != nil {
		return owner{} // it ended
	}
	self := ownPID()
	for _, parent := range chain {
		if parent.Pid == self {
			k.mu.Lock()
			defer k.mu.Unlock()
			if a := k.leaders[pid]; a != nil {
				return owner{Kin: true, Key: a.s.Key}
			}
			return owner{Kin: true} // it left its attempt
		}
		pid = parent.Pid
	}
	return owner{}
}
