package worktree

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belay-run/belay"
)

const (
	maxHidden = 100_000                // files that git looks away from and that are read; where these are as they were, all are
	slack     = 100 * time.Millisecond // by which the clock of a file system may be behind
)

// moment is the time by the clock of the file system that holds git's folder,
// which is not always the clock of this machine. 0 = it cannot be told.
func (p place) moment() int64 {
	f, err := os.CreateTemp(p.own, "belay-clock-")
	if err != nil {
		return 0 // not ours to write in: then every change counts
	}
	fi, err := f.Stat()
	_ = f.Close()           // nothing was written
	_ = os.Remove(f.Name()) // git takes no notice of it
	if err != nil {
		return 0
	}
	_, changed := touched(fi)
	return changed
}

// touched is the device of a file, and when it was last changed in any way.
// Nobody can set that time back.
func touched(fi os.FileInfo) (dev uint64, at int64) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(st.Dev), changedAt(st) //nolint:unconvert // not the same type everywhere
}

// onlySeenOtherwise tells whether the changes between two prints are all in
// the eye: rules of what is ignored, filters, what is in the index, commits of a
// repository inside this one that hold the same files. That is so when no commit
// came, and every file that is said to be another one has the content that it
// had, or was there before the first look and was not touched since. In doubt it
// is work, but not for their number: the first file that is another one tells.
func onlySeenOtherwise(ctx context.Context, at place, e belay.Evidence, list []change) bool {
	if len(list) == 0 {
		return false
	}
	list, same := at.lessNested(ctx, e.Before.Tree, list)
	if !same || len(list) == 0 {
		return same
	}
	if e.Before.At == 0 || e.Before.Head != e.After.Head || len(e.Commits) > 0 {
		return false
	}
	fi, err := os.Stat(at.own)
	if err != nil {
		return false
	}
	dev, _ := touched(fi)
	d := dust{top: at.top, dev: dev, before: e.Before.At - int64(slack), folders: map[string]bool{}}
	var rest []hidden
	for _, c := range list {
		if d.lies(c.Path) && (c.old == "" || d.lies(c.old)) {
			continue
		}
		h, ok := at.hiding(c)
		if !ok {
			return false
		}
		if len(rest) < maxHidden {
			rest = append(rest, h)
		}
	}
	return at.asBefore(ctx, rest)
}

// dust lies on files that nobody touched since a moment.
type dust struct {
	top     string
	dev     uint64
	before  int64
	folders map[string]bool // those that were looked at
}

// lies tells whether a file is there, and neither it nor a folder on the way to
// it was touched: a file in a folder that was moved keeps its own time.
func (d dust) lies(path string) bool {
	fi, err := os.Lstat(filepath.Join(d.top, path))
	if err != nil || fi.IsDir() || !d.old(fi) {
		return false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		old, seen := d.folders[dir]
		if !seen {
			fi, err := os.Lstat(filepath.Join(d.top, dir))
			old = err == nil && fi.IsDir() && d.old(fi)
			d.folders[dir] = old
		}
		if !old || dir == "." {
			return old
		}
	}
}

func (d dust) old(fi os.FileInfo) bool {
	dev, at := touched(fi)
	return dev == d.dev && at != 0 && at < d.before
}
