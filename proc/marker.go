package proc

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
)

// The environment by which a process of a run is known again.
const (
	markVar = "BELAY_MARK" // the run's folder
	keyVar  = "BELAY_KEY"  // the attempt
)

// nonceSize is the random part of a mark, in bytes.
const nonceSize = 8

// makeMark is the mark of the run's folder, made when it is first needed: the
// id of a run is its user's choice and may be taken in another folder too. The
// caller holds the keeper's lock.
func makeMark(dir string, run belay.RunID) (string, error) {
	mark, err := readMark(dir, run)
	if err != nil || mark != "" {
		return mark, err
	}
	path := filepath.Join(dir, markName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // torn: nobody carries it
		return "", fmt.Errorf("make mark: %w", err)
	}
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // it never fails
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("make mark: %w", err)
	}
	_, err = f.WriteString(string(run) + "-" + hex.EncodeToString(nonce))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("make mark: %w", err)
	}
	if mark, err = readMark(dir, run); err == nil && mark == "" {
		err = errors.New("make mark: it does not read back")
	}
	return mark, err
}

// readMark is the mark of the run's folder; "" when it has none that a process
// could carry.
func readMark(dir string, run belay.RunID) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, markName))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read mark: %w", err)
	}
	nonce, ok := strings.CutPrefix(string(b), string(run)+"-")
	if raw, err := hex.DecodeString(nonce); !ok || err != nil || len(raw) != nonceSize {
		return "", nil
	}
	return string(b), nil
}

// variable is the value of a name in a NUL-separated environment.
func variable(env []byte, name string) (string, bool) {
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(entry, []byte(name)); ok && len(v) > 0 && v[0] == '=' {
			return string(v[1:]), true
		}
	}
	return "", false
}

// marked tells whether the process carries exactly this mark.
func marked(pid int, mark string) bool { return mark != "" && markOf(pid) == mark }

// markOf is the mark that a process carries; "" for none.
func markOf(pid int) string {
	env, err := environ(pid)
	if err != nil {
		return "" // gone, or another user's
	}
	v, _ := variable(env, markVar)
	return v
}

// descendants is every process below the roots, the roots left out. stop holds
// pids below which nothing is looked for.
func descendants(all []process, roots map[int]bool, stop map[int]bool) []process {
	below := map[int][]process{}
	for _, p := range all {
		below[p.ppid] = append(below[p.ppid], p)
	}
	var found []process
	seen := map[int]bool{}
	var queue []int
	for pid := range roots {
		queue = append(queue, pid)
	}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, p := range below[pid] {
			if seen[p.pid] || stop[p.pid] || roots[p.pid] {
				continue
			}
			seen[p.pid] = true
			found = append(found, p)
			queue = append(queue, p.pid)
		}
	}
	return found
}
