package worktree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/belay-run/belay"
)

// unkeptRoot is the folder in the tree of a print where files stand that are
// too big to be kept, not readable or with a known secret in it: a line about each instead of its
// content. On their own paths nothing stands, so that no snapshot can ever put
// such a line in the place of a file.
const unkeptRoot = ".belay-not-kept"

// unkept is the entry of a file whose content does not go into the repository.
func (s shot) unkept(ctx context.Context, full string, fi os.FileInfo) (hand, error) {
	text := fmt.Sprintf("%d bytes, of %d\n", fi.Size(), fi.ModTime().UnixNano())
	if fi.Size() <= min(maxHashed, *s.left) {
		id, err := contentID(ctx, full, fi.Size())
		if ctx.Err() != nil {
			return hand{}, ctx.Err()
		}
		if err == nil { // else it is not readable, and its time has to do
			text = fmt.Sprintf("%d bytes, sha256 %s\n", fi.Size(), id)
			*s.left -= fi.Size()
		}
	}
	id, err := s.feed(ctx, []byte(text), "hash-object", "-w", "--stdin")
	h := s.gone()
	h.unkept = fileMode(fi) + " " + strings.TrimSpace(id)
	return h, err
}

// secretIn tells whether a known secret stands in a file. One that cannot be
// read shows nobody anything.
func (s shot) secretIn(ctx context.Context, path string) bool {
	if s.secret == nil {
		return false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0) // it may be a pipe by now
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	return s.secret(until(ctx, f))
}

// kept is the tree of a print without the lines about files that are not in
// it, and the paths of those files.
func (g git) kept(ctx context.Context, tree string) (string, []string, error) {
	if whole, known := wholes.get(tree, ""); known && whole {
		return tree, nil, nil
	}
	out, err := g.run(ctx, "ls-tree", "-z", "--full-tree", tree)
	if err != nil {
		return "", nil, err
	}
	var rest strings.Builder
	found := false
	for rec := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if _, name, _ := strings.Cut(rec, "\t"); name == unkeptRoot {
			found = true
		} else if rec != "" {
			rest.WriteString(rec + "\x00")
		}
	}
	if !found {
		wholes.put(tree, "", true)
		return tree, nil, nil
	}
	out, err = g.run(ctx, "ls-tree", "-r", "-z", "--full-tree", "--name-only", tree+":"+unkeptRoot)
	if err != nil {
		return "", nil, err
	}
	id, err := g.feed(ctx, []byte(rest.String()), "mktree", "-z", "--missing")
	return strings.TrimSpace(id), strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), err
}

// maxNamed is how many files that are not kept are named.
const maxNamed = 20

// notKept says which files are not in a snapshot; "" = all are.
func notKept(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var names []string
	for _, p := range paths[:min(len(paths), maxNamed)] {
		names = append(names, shown(p))
	}
	if more := len(paths) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "too big to keep, not readable or with a known secret in it, so in no snapshot: " + strings.Join(names, ", ")
}

// unkeptReasons says which files are in no snapshot, with the reason of each.
func unkeptReasons(top string, paths []string) []string {
	groups := map[string][]string{}
	for _, p := range paths {
		full, why := filepath.Join(top, p), "with a known secret in it"
		if fi, err := os.Lstat(full); err == nil && fi.Size() > maxContent {
			why = "too big to keep"
		} else if !readable(full) {
			why = "not readable"
		}
		groups[why] = append(groups[why], shown(p))
	}
	var list []string
	for _, why := range slices.Sorted(maps.Keys(groups)) {
		names := groups[why]
		if more := len(names) - maxNamed; more > 0 {
			names = append(names[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
		}
		list = append(list, why+", so in no snapshot: "+strings.Join(names, ", "))
	}
	return list
}

// unstubbed gives files that are not kept their own paths in a diff, and tells
// which of those there are now. One that was kept before, or is kept now, is
// one change and not two.
func unstubbed(list []change) ([]change, []string) {
	var out []change
	var paths []string
	at := map[string]int{}
	for _, c := range list {
		path, stub := strings.CutPrefix(c.Path, unkeptRoot+"/")
		c.old = strings.TrimPrefix(c.old, unkeptRoot+"/")
		if stub {
			c.Path, c.Added, c.Deleted, c.Sha = path, 0, 0, ""
			if c.Change != belay.FileDeleted {
				paths = append(paths, path)
			}
		}
		if i, twice := at[c.Path]; twice {
			if c.Change == belay.FileDeleted {
				c = out[i]
			}
			c.Change = belay.FileModified
			out[i] = c
			continue
		}
		at[c.Path] = len(out)
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b change) int { return strings.Compare(a.Path, b.Path) })
	return out, paths
}
