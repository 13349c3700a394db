package proc

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/belay-run/belay"
)

// environment is the base environment of all attempts of a run, indexed once.
type environment struct {
	entries []string
	index   map[string]int
}

// newEnvironment drops earlier entries of a name: programs differ in which of
// two they believe.
func newEnvironment(entries []string, run belay.RunID) *environment {
	e := &environment{index: map[string]int{}}
	for _, entry := range entries {
		e.entries = e.set(e.entries, entry, true)
	}
	e.entries = e.set(e.entries, markVar+"="+string(run), true)
	e.entries = e.set(e.entries, keyVar+"=", true)
	return e
}

func (e *environment) set(to []string, entry string, keep bool) []string {
	name, _, _ := strings.Cut(entry, "=")
	if i, ok := e.index[name]; ok {
		to[i] = entry
		return to
	}
	if keep {
		e.index[name] = len(to)
	}
	return append(to, entry)
}

// with is the environment of one attempt.
func (e *environment) with(delta []string, key belay.Key) []string {
	env := make([]string, len(e.entries), len(e.entries)+len(delta))
	copy(env, e.entries)
	added := map[string]int{}
	for _, entry := range delta {
		name, _, _ := strings.Cut(entry, "=")
		if i, ok := added[name]; ok {
			env[i] = entry
			continue
		}
		if name == markVar || name == keyVar {
			continue // the marks are not the attempt's to change
		}
		n := len(env)
		if env = e.set(env, entry, false); len(env) > n {
			added[name] = n
		}
	}
	env[e.index[keyVar]] = keyVar + "=" + string(key)
	return env
}

// findProgram looks a program up in the PATH of the environment. Folders that
// are not absolute are passed over: what they mean depends on where one stands.
func findProgram(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, entry := range env {
		path, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if !filepath.IsAbs(dir) {
				continue
			}
			full := filepath.Join(dir, name)
			if st, err := os.Stat(full); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
				return full, nil
			}
		}
	}
	return "", &os.PathError{Op: "find in PATH", Path: name, Err: syscall.ENOENT}
}
