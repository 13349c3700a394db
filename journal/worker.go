package journal

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/ondisk"
)

// workerName is the lock of the worker, and workerIDName has what other workers know the
// state directory by.
const (
	workerName   = "worker.lock"
	workerIDName = "worker.id"
)

// WorkerLock is the right to be the worker of a state directory. The kernel gives it back
// at the death of its process.
type WorkerLock struct {
	ID   string // of the state directory: no other one has it
	lock lock
}

// LockWorker takes the right to be the worker of this state directory: two would each find
// runs there that they have not seen.
func (s *State) LockWorker() (*WorkerLock, error) {
	f, by, err := claim("lock the state directory", s.in(workerName))
	if by != nil {
		who := "another worker"
		if by.Pid != 0 {
			who = fmt.Sprintf("another worker, process %d,", by.Pid)
		}
		return nil, exit.New(exit.Infra, "work", fmt.Errorf("%s works with the state directory %s", who, s.dir),
			"each worker needs a state directory of its own: name another one with --state, and another --host")
	}
	if err != nil {
		return nil, err
	}
	writeHolder(f, s.self)
	l := &WorkerLock{lock: lock{file: f}}
	if l.ID, err = s.workerID(); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// workerID is made by the first worker.
func (s *State) workerID() (string, error) {
	path := s.in(workerIDName)
	if b, err := os.ReadFile(path); err == nil && len(b) > 1 {
		return strings.TrimSpace(string(b)), nil
	}
	id := rand.Text()
	tmp := path + ".new"
	err := os.WriteFile(tmp, []byte(id+"\n"), fileMode)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err == nil {
		err = ondisk.Names(s.dir)
	}
	if err != nil {
		return "", unwritten("name the state directory", path, err)
	}
	return id, nil
}

// Release gives the right back.
func (l *WorkerLock) Release() {
	_ = l.lock.release() // the end of the process does it otherwise
}
