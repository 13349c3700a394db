package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// places is what git said about folders. To ask it is a process, and one look at a
// tree would ask three times. What was said holds while that is the same which git
// goes by: the entry .git, the folder that it leads to, the settings of the
// repository other than those of branches, and that there is no other .git on the
// way.
var places = struct {
	sync.Mutex
	of map[[2]string]recall
}{of: map[[2]string]recall{}}

// maxPlaces is how many folders are remembered.
const maxPlaces = 1000

type recall struct {
	place    place
	marks    [4]os.FileInfo
	settings string // "" = nobody can tell which of them are about branches
}

func recalled(program, dir string) (place, bool) {
	places.Lock()
	r, known := places.of[[2]string{program, dir}]
	places.Unlock()
	if !known {
		return place{}, false
	}
	marks, ok := r.place.marks(dir)
	for i := range marks {
		ok = ok && (same(marks[i], r.marks[i]) || i == configMark && r.settings != "" && r.settings == r.place.settings())
	}
	return r.place, ok
}

// settings are the settings of the repository without those of branches: Belay
// writes these itself, several times for a step. "" = it cannot be told.
func (p place) settings() string {
	b, err := os.ReadFile(filepath.Join(p.all, "config"))
	if err != nil || strings.Contains(strings.ReplaceAll(string(b), "\r", ""), "\\\n") { // a line that goes on may look like a head
		return ""
	}
	var rest strings.Builder
	branch := false
	for line := range strings.Lines(string(b)) {
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "[") {
			_, branch = sectionOfBranch(text)
		}
		if !branch {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

func remember(program, dir string, p place) {
	marks, ok := p.marks(dir)
	if !ok {
		return
	}
	places.Lock()
	defer places.Unlock()
	if len(places.of) >= maxPlaces {
		clear(places.of)
	}
	places.of[[2]string{program, dir}] = recall{p, marks, p.settings()}
}

// configMark is the file of the settings among the marks.
const configMark = 3

// marks are the files that git goes by; false when one of them is not there, or
// when another repository lies between a folder and the top.
func (p place) marks(dir string) (marks [4]os.FileInfo, ok bool) {
	for i, name := range []string{filepath.Join(p.top, ".git"), p.own, filepath.Join(p.own, "HEAD"), filepath.Join(p.all, "config")} {
		info, err := os.Lstat(name)
		if err != nil {
			return marks, false
		}
		marks[i] = info
	}
	for ; dir != p.top; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return marks, false
		}
	}
	return marks, true
}

// same tells whether a file is the one that it was. A folder changes with what is
// in it and is still the same.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode().Type() == b.Mode().Type() && (a.IsDir() || a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()))
}
