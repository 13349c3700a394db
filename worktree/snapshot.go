package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay"
)

// refRoot is where all snapshots are.
const refRoot = "refs/belay/"

// Kept is a snapshot that exists.
type Kept struct {
	Ref     string
	Commit  string
	Tree    string
	Parent  string // the commit that it stands on; "" = none
	At      time.Time
	Message string // its first line
}

// SnapshotRef is the name under which the work of an attempt is kept. Whatever
// git does not take in a name is escaped, so that different attempts never
// share one.
func SnapshotRef(run belay.RunID, step belay.Path, attempt int) string {
	return refRoot + refPart(string(run)) + "/" + refPart(string(step)) + "." + strconv.Itoa(attempt)
}

// refPart is a text as one part of the name of a ref.
func refPart(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if plain || c == '.' && i > 0 && s[i-1] != '.' && i < len(s)-1 && s[i:] != ".lock" {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() == 0 {
		return "%"
	}
	return b.String()
}

// Snapshot keeps the files of a print under a ref of refs/belay/: a commit of
// its tree on top of its HEAD. No branch, index or file is touched. Doing it
// again gives the same commit. The commit's id is given. Files that are too big
// to keep, not readable or hold a known secret are not in it, and the message names them.
func (t Tree) Snapshot(ctx context.Context, p belay.TreeState, ref, message string) (string, error) {
	if !p.Repo || p.Tree == "" {
		return "", errors.New("snapshot: the print is not one of a repository")
	}
	if _, err := t.snapshots(ref); err != nil {
		return "", err
	}
	at, err := find(ctx, t.Git, t.Dir)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	whole, old, err := at.wholeBeside(ctx, ref, p.Tree)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	if !whole {
		tree, missing, err := at.kept(ctx, p.Tree)
		if err != nil {
			return "", fmt.Errorf("snapshot: %w", err)
		}
		p.Tree = tree
		if why := notKept(missing); why != "" {
			message += "\n\n" + why
		}
	}
	if old != "" {
		seen, err := at.describe(ctx, []string{old})
		if err != nil {
			return "", fmt.Errorf("snapshot: %w", err)
		}
		if was := seen[old]; was.tree == p.Tree && strings.Join(was.parents, " ") == p.Head {
			return old, nil
		}
	}
	id, err := at.keepCommit(ctx, ref, p.Tree, p.Head, message)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	return id, nil
}

// snapshots is the repository, when the ref is one that this room may write.
func (t Tree) snapshots(ref string) (git, error) {
	at := git{program: t.Git, dir: t.Dir}
	if !strings.HasPrefix(ref, refRoot) {
		return at, fmt.Errorf("snapshot: %q is not below %s", ref, refRoot)
	}
	if !refName(ref) {
		return at, fmt.Errorf("snapshot: %q is no name of a ref", ref)
	}
	return at, nil
}

// refName tells whether git takes a text for the name of a ref. It is stricter than
// git: every name that SnapshotRef makes passes.
func refName(ref string) bool {
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") || strings.Contains(part, "..") {
			return false
		}
		for _, c := range part {
			if c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\{}@"`, c) {
				return false
			}
		}
	}
	return utf8.ValidString(ref)
}

// author is who commits: the machine has no say in it. A date makes the commit
// depend on nothing but its content.
func author(date string) []string {
	env := []string{
		"GIT_AUTHOR_NAME=Belay", "GIT_AUTHOR_EMAIL=belay@localhost",
		"GIT_COMMITTER_NAME=Belay", "GIT_COMMITTER_EMAIL=belay@localhost",
	}
	if date != "" {
		env = append(env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	return env
}

// commitTree makes the commit of a tree, and nothing that refers to it.
func commitTree(ctx context.Context, g git, tree, parent, message string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", tree}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	out, err := g.feed(ctx, []byte(message+"\n"), args...)
	return strings.TrimSpace(out), err
}

// Snapshots lists what is kept in the repository, in the order of names.
func (t Tree) Snapshots(ctx context.Context) ([]Kept, error) {
	at := git{program: t.Git, dir: t.Dir}
	out, err := at.run(ctx, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(tree)%00%(parent)%00%(committerdate:unix)%00%(contents:subject)", refRoot)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var list []Kept
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x00", 6)
		if len(f) != 6 {
			continue
		}
		sec, _ := strconv.ParseInt(f[4], 10, 64) // git printed it; without one the time is unknown
		list = append(list, Kept{Ref: f[0], Commit: f[1], Tree: f[2], Parent: f[3], At: time.Unix(sec, 0), Message: f[5]})
	}
	return list, nil
}

// DropSnapshot takes a snapshot away that was looked at as a commit, or "" for
// whatever is there; one that is another by now stays, and is an error. One that is
// not there is none.
func (t Tree) DropSnapshot(ctx context.Context, ref, was string) error {
	at, err := t.snapshots(ref)
	if err != nil {
		return err
	}
	if p, err := find(ctx, t.Git, t.Dir); err == nil && p.dropRef(ref, was) {
		return nil
	}
	args := []string{"update-ref", "-d", ref}
	if was != "" {
		id, err := at.line(ctx, "for-each-ref", "--format=%(objectname)", ref)
		if err == nil && id == "" {
			return nil
		}
		args = append(args, was)
	}
	if _, err := at.run(ctx, args...); err != nil { // without a commit, a ref that is not there is none
		return fmt.Errorf("drop snapshot: %w", err)
	}
	return nil
}
