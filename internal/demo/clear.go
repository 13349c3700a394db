package demo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

const (
	lingerFor = 5 * time.Second // for a keeper that is on its way out
	partFor   = 3 * time.Second // between the polite signal and the last one
)

// linger waits for the processes of the showing to leave by themselves, and
// gives the number of those that did not.
func (s *stage) linger() int {
	return len(s.until(lingerFor))
}

// until waits until no process is left, and gives those that are.
func (s *stage) until(within time.Duration) []proc.Identity {
	for end := time.Now().Add(within); ; time.Sleep(lookEvery) {
		left := s.processes()
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// leave ends every process that is left, and removes the folder unless a person
// wants to keep it.
func (s *stage) leave() error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGKILL} {
		left := s.processes()
		if len(left) == 0 {
			break
		}
		for _, p := range left {
			_ = p.Signal(sig) // it may be gone
		}
		s.until(cmp.Or(s.part, partFor))
	}
	var err error
	if n := len(s.processes()); n > 0 {
		err = fmt.Errorf("end the processes of the demo: %d still there", n)
	}
	if s.keep {
		return err
	}
	return errors.Join(err, journal.RemoveAll(s.folder))
}

// processes are those that carry the mark of this showing. Where there is no
// /proc nobody can tell, and the list is empty.
func (s *stage) processes() []proc.Identity {
	var list []proc.Identity
	mark := []byte(markVar + "=" + s.folder)
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !has(env, mark) {
			continue // another user's, or gone
		}
		if id, err := proc.Identify(pid); err == nil && id.Alive() {
			list = append(list, id)
		}
	}
	return list
}

func has(env, mark []byte) bool {
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(one, mark) {
			return true
		}
	}
	return false
}
