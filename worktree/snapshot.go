package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

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
func (t Tree) Snapshot(ctx context.Context, p belay.Print, ref, message string) (string, error) {
	if !p.Repo || p.Tree == "" {
		return "", errors.New("snapshot: the print is not one of a repository")
	}
	at, err := t.snapshots(ctx, ref)
	if err != nil {
		return "", err
	}
	tree, missing, err := at.kept(ctx, p.Tree)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	p.Tree = tree
	if why := notKept(missing); why != "" {
		message += "\n\n" + why
	}
	old, err := at.line(ctx, "for-each-ref", "--format=%(objectname) %(tree) %(parent)", ref)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	if id, rest, _ := strings.Cut(old, " "); rest == p.Tree+" "+p.Head {
		return id, nil
	}
	id, err := commitTree(ctx, at.with(author("")...), p, message)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	if _, err := at.run(ctx, "update-ref", "--end-of-options", ref, id); err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	return id, nil
}

// snapshots is the repository, when the ref is one that this room may write.
func (t Tree) snapshots(ctx context.Context, ref string) (git, error) {
	at := git{program: t.Git, dir: t.Dir}
	if !strings.HasPrefix(ref, refRoot) {
		return at, fmt.Errorf("snapshot: %q is not below %s", ref, refRoot)
	}
	if _, err := at.run(ctx, "check-ref-format", ref); err != nil {
		return at, fmt.Errorf("snapshot: %q is no name of a ref: %w", ref, err)
	}
	return at, nil
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

// commitTree makes the commit of a print, and nothing that refers to it.
func commitTree(ctx context.Context, g git, p belay.Print, message string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", p.Tree}
	if p.Head != "" {
		args = append(args, "-p", p.Head)
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

// DropSnapshot takes a snapshot away that was looked at as a commit; one that is
// another by now stays, and is an error. One that is not there is none.
func (t Tree) DropSnapshot(ctx context.Context, ref, was string) error {
	at, err := t.snapshots(ctx, ref)
	if err != nil {
		return err
	}
	if id, err := at.line(ctx, "for-each-ref", "--format=%(objectname)", ref); err == nil && id == "" {
		return nil
	}
	if _, err := at.run(ctx, "update-ref", "-d", ref, was); err != nil {
		return fmt.Errorf("drop snapshot: %w", err)
	}
	return nil
}
