package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
)

// Aside is where it is kept what people were told of a run while the state directory cannot
// be written: a private folder that lies in the memory of the machine or on another disk. It
// need not outlive the machine.
type Aside struct {
	Places []string // directories to try, the best first; in each a folder of this user is made
	State  string   // the state directory
}

const (
	maxAside  = 1 << 20             // bytes of what is kept of one run
	keepAside = 60 * 24 * time.Hour // what nobody asked for since is removed
)

// Recall is what is kept of a run, in all places: who wrote it may have had other ones.
func (a Aside) Recall(run belay.RunID) (texts []string) {
	for _, dir := range a.folders() {
		f, err := os.OpenFile(filepath.Join(dir, a.name(run)), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		if text, err := io.ReadAll(io.LimitReader(f, maxAside)); err == nil {
			texts = append(texts, string(text))
		}
		_ = f.Close() // only read
	}
	return texts
}

// Keep keeps it in the first place that takes it, and tells whether there is one.
func (a Aside) Keep(run belay.RunID, text string) bool {
	for _, place := range a.Places {
		dir := folderIn(place)
		if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) || !private(dir) {
			continue
		}
		sweep(dir)
		if write(dir, a.name(run), text) == nil {
			return true
		}
	}
	return false
}

// Forget removes what is kept of a run.
func (a Aside) Forget(run belay.RunID) {
	for _, dir := range a.folders() {
		_ = os.Remove(filepath.Join(dir, a.name(run))) // mostly it is not there
	}
}

// Some tells whether something is kept of a run; the answer is as old as the function.
func (a Aside) Some() func(belay.RunID) bool {
	names := map[string]bool{}
	for _, dir := range a.folders() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // nothing can be recalled from there
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	return func(run belay.RunID) bool { return len(names) > 0 && names[a.name(run)] }
}

func (a Aside) name(run belay.RunID) string {
	sum := sha256.Sum256([]byte(a.State + "\n" + string(run)))
	return hex.EncodeToString(sum[:16])
}

// folders are the folders of this user that are there and can be trusted.
func (a Aside) folders() (list []string) {
	for _, place := range a.Places {
		if dir := folderIn(place); private(dir) {
			list = append(list, dir)
		}
	}
	return list
}

func folderIn(place string) string {
	return filepath.Join(place, "belay-"+strconv.Itoa(os.Geteuid()))
}

// private tells whether a folder is one of this user that nobody else can write or read:
// the directory around it may be everybody's.
func private(dir string) bool {
	var is unix.Stat_t
	return unix.Lstat(dir, &is) == nil && is.Mode&unix.S_IFMT == unix.S_IFDIR && is.Mode&0o077 == 0 && int(is.Uid) == os.Geteuid()
}

// write replaces a file in one step.
func write(dir, name, text string) error {
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // a later sweep removes it otherwise
	}
	return err
}

// sweep removes what is long over.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // who writes there says so
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepAside {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
}
