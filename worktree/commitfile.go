package worktree

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // it is how git names its objects
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxObject is how long an object may be to be read here.
const maxObject = 1 << 20

// treeOf is the tree of a commit. Most looks ask it of a commit that was made a
// moment ago, and lies in a file of its own: that is read here, and believed when its
// bytes have the name of the commit. Else git is asked.
func (p place) treeOf(ctx context.Context, commit string) (string, error) {
	if tree, ok := p.looseTree(commit); ok {
		return tree, nil
	}
	return p.line(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
}

// treesOf are the trees of commits; one that is not there is left out.
func (p place) treesOf(ctx context.Context, commits ...string) (map[string]string, error) {
	trees := map[string]string{}
	for _, id := range commits {
		if tree, ok := p.looseTree(id); ok {
			trees[id] = tree
		} else if id != "" {
			seen, err := p.describe(ctx, commits)
			for id, c := range seen {
				trees[id] = c.tree
			}
			return trees, err
		}
	}
	return trees, nil
}

func (p place) looseTree(commit string) (string, bool) {
	body, ok := p.loose("commit", commit)
	if !ok {
		return "", false
	}
	line, _, _ := strings.Cut(string(body), "\n")
	tree, ok := strings.CutPrefix(line, "tree ")
	return tree, ok && isID(tree)
}

// looseCommit is what a commit says that lies in a file of its own.
func (p place) looseCommit(id string) (c described, ok bool) {
	body, ok := p.loose("commit", id)
	if !ok || exists(filepath.Join(p.all, "shallow")) || exists(filepath.Join(p.all, "info", "grafts")) { // there git tells other parents
		return c, false
	}
	for line := range strings.Lines(string(body)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "tree" && c.tree == "":
			c.tree = value
		case key == "parent":
			c.parents = append(c.parents, value)
		default:
			return c, isID(c.tree) // the author follows
		}
	}
	return c, false
}

// straight are the commits after one up to a later one, the newest first, where each
// follows the other and all lie in files of their own. It is sure or says no: then git
// is to be asked.
func (p place) straight(from, to string, most int) (ids []string, sure bool) {
	for id := to; id != from; {
		c, ok := p.looseCommit(id)
		if !ok || len(c.parents) != 1 || len(ids) == most {
			return nil, false // the first one of all, one that joins two, or too many
		}
		ids = append(ids, id)
		id = c.parents[0]
	}
	return ids, true
}

// meeting is the commit that two have in common; an error where there is none.
func (p place) meeting(ctx context.Context, before, now string) (string, error) {
	if _, sure := p.straight(before, now, maxCommits); sure {
		return before, nil
	}
	return p.line(ctx, "merge-base", before, now)
}

// looseNames are the names in the top folder of a tree.
func (p place) looseNames(tree string) (names []string, ok bool) {
	body, ok := p.loose("tree", tree)
	for ok && len(body) > 0 {
		head, rest, found := bytes.Cut(body, []byte{0})
		_, name, spaced := bytes.Cut(head, []byte{' '})
		if !found || !spaced || len(rest) < len(p.zero)/2 {
			return nil, false
		}
		names = append(names, string(name))
		body = rest[len(p.zero)/2:]
	}
	return names, ok
}

// loose is an object that lies in a file of its own, without its head. It is believed
// when its bytes have its name.
func (p place) loose(kind, id string) (body []byte, ok bool) {
	if !isID(id) || len(id) != len(p.zero) || p.replaced() {
		return nil, false
	}
	f, err := os.Open(filepath.Join(p.all, "objects", id[:2], id[2:]))
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }() // only read
	z, err := zlib.NewReader(f)
	if err != nil {
		return nil, false
	}
	b, err := io.ReadAll(io.LimitReader(z, maxObject))
	if err != nil || p.digest(b) != id {
		return nil, false
	}
	head, body, _ := bytes.Cut(b, []byte{0})
	return body, bytes.HasPrefix(head, []byte(kind+" "))
}

// replaced tells whether another object may stand in the place of one: git replace
// was used, or nobody here knows how refs are kept.
func (p place) replaced() bool {
	if exists(filepath.Join(p.all, "refs", "replace")) || !p.plainRefs() {
		return true
	}
	b, err := os.ReadFile(filepath.Join(p.all, "packed-refs"))
	return err != nil && !os.IsNotExist(err) || bytes.Contains(b, []byte(" refs/replace/"))
}

// digest is the name that git gives to the bytes of an object with its head.
func (p place) digest(b []byte) string {
	if len(p.zero) == sha256.Size*2 {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:])
	}
	sum := sha1.Sum(b) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// commitText is a commit as git keeps it, without its head.
func commitText(tree, parent, who, message string) string {
	text := "tree " + tree + "\n"
	if parent != "" {
		text += "parent " + parent + "\n"
	}
	return text + "author " + who + "\ncommitter " + who + "\n\n" + message + "\n"
}

// commitsOf makes commits of trees: one of the first, and of each other one on top of
// that. They depend on nothing but the trees. One call of git writes them all.
func (p place) commitsOf(ctx context.Context, trees ...string) ([]string, error) {
	dir, err := os.MkdirTemp("", "belay-commits-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover in the temp folder harms nobody
	var ids []string
	var names strings.Builder
	for i, tree := range trees {
		parent := ""
		if i > 0 {
			parent = ids[0]
		}
		text := commitText(tree, parent, "Belay <belay@localhost> 1 +0000", []string{"base", "run", "step"}[min(i, 2)])
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		ids = append(ids, p.digest(fmt.Appendf(nil, "commit %d\x00%s", len(text), text)))
		names.WriteString(quoted(file) + "\n")
	}
	out, err := p.feed(ctx, []byte(names.String()), "hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	if got := strings.Fields(out); strings.Join(got, " ") != strings.Join(ids, " ") {
		return nil, fmt.Errorf("git names commits %q, not %q", got, ids)
	}
	return ids, nil
}
