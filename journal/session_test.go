package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

// playEnter enters a session as a real process would and says how it went. With
// a third argument it then starts a session below itself and passes on what
// that one says.
func playEnter(s *State, args []string) error {
	ancestors, err := proc.Ancestors(os.Getpid())
	if err != nil {
		return err
	}
	c := ledger.Claim{Run: belay.RunID(args[0]), Driver: s.self, Ancestors: ancestors}
	if len(args) > 1 && args[1] != "" { // a forged environment
		c.Env = ledger.Env{Tree: args[1], Depth: 0, MaxDepth: ptr(99), MaxSessions: ptr(99)}
	}
	place, err := s.Ledger().Enter(c)
	var limit *ledger.Limit
	switch {
	case errors.As(err, &limit):
		fmt.Println("limit", limit.Kind, limit.Have, limit.Max)
	case err != nil:
		fmt.Println("error", err)
	default:
		fmt.Println("in", place.Tree, place.Parent, place.Depth)
	}
	if len(args) > 2 {
		if err := below(s.Dir(), args[2:]); err != nil {
			return err
		}
		fmt.Println("ended below", args[0])
	}
	waitForRelease()
	return nil
}

// below starts a child session and copies its first line.
func below(dir string, args []string) error {
	cmd := exec.Command(os.Args[0], append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), childVar+"=enter")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil { // its input is empty: it ends when it has spoken
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Println(lines.Text())
	}
	return cmd.Wait()
}

func ptr(n int) *int { return &n }

// promise: G3
// Real processes: a child that forges its environment is found by ancestry.
func TestRealAncestry(t *testing.T) {
	s := newState(t)
	c := start(t, "enter", s.Dir(), "top", "", "mid", "forged", "low", "forged")
	for _, want := range []string{"in top  0", "in top top 1", "in top mid 2", "ended below mid", "ended below top"} {
		if got := c.line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c.kill()
	members, err := s.Ledger().Tree("low")
	must(t, err)
	for _, m := range members {
		if m.Alive {
			t.Errorf("%s is said to live: %+v", m.Run, m)
		}
	}
}

// promise: G3, G5
// Eight processes race for the slots that are left; dead ones free theirs.
func TestRaceForSlots(t *testing.T) {
	s := newState(t)
	_, err := s.Ledger().Enter(ledger.Claim{Run: "root", Driver: s.self, MaxSessions: 4}) // this process is their parent
	must(t, err)
	must(t, s.Close())
	for round := range 2 {
		var in, refused int
		var all []*child
		for n := range 8 {
			all = append(all, start(t, "enter", s.Dir(), fmt.Sprintf("kid%d-%d", round, n)))
		}
		for _, c := range all {
			switch line := c.line(); line {
			case "in root root 1":
				in++
			case "limit sessions 4 4":
				refused++
			default:
				t.Errorf("a child said %q", line)
			}
		}
		if in != 3 || refused != 5 {
			t.Errorf("round %d: %d came in and %d were refused, want 3 and 5", round, in, refused)
		}
		for _, c := range all {
			c.kill()
		}
	}
}

func TestProven(t *testing.T) {
	me := self(t)
	if proven(me) {
		t.Error("this process is said to be dead")
	}
	other := me
	other.Start++
	if !proven(other) || !proven(proc.Identity{}) {
		t.Error("a process with a pid that was used again is said to live")
	}
	other = me
	other.Boot = "another boot"
	if !proven(other) {
		t.Error("a process of another boot is said to live")
	}
}
