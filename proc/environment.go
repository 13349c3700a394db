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
	hashed  map[string]string // PATH and name to where the program was found last; see find
}

// newEnvironment drops earlier entries of a name: programs differ in which of
// two they believe.
func newEnvironment(entries []string, mark string) *environment {
	e := &environment{index: map[string]int{}, hashed: map[string]string{}}
	for _, entry := range entries {
		e.entries = e.set(e.entries, entry, true)
	}
	e.entries = e.set(e.entries, markVar+"="+mark, true)
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

// find looks a program up in the PATH of an attempt's environment. Like a shell
// it remembers where it found one for as long as it is there. It is called
// under the keeper's lock.
func (e *environment) find(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, entry := range env {
		path, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		known := name + "\x00" + path
		if full := e.hashed[known]; full != "" && executable(full) {
			return full, nil
		}
		if full := searchPath(name, path); full != "" {
			e.hashed[known] = full
			return full, nil
		}
	}
	return "", &os.PathError{Op: "find in PATH", Path: name, Err: syscall.ENOENT}
}

// searchPath gives "" when there is none. Folders that are not absolute are
// passed over: what they mean depends on where one stands.
func searchPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if full := filepath.Join(dir, name); executable(full) {
			return full
		}
	}
	return ""
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}
