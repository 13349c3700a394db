package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// Carry is how the files of a run get to another machine: one commit that has, by its
// parents, the files of the checkout and of all worktrees as they are, the branches, and
// by its tree the marks of the worktrees and other files that go along. Files that git
// ignores, that are too big for a snapshot or hold a known secret stay behind.
type Carry struct {
	Dir    string // a folder in the checkout of the run
	Trees  string // the folder in which its worktrees are; "" = it has none
	Files  string // a folder whose files go along; "" = none
	Ref    string // the name of the commit on the remote, below refs/belay/
	All    bool   // all branches and snapshots, not only what is checked out
	Skip   []string
	Secret func(io.Reader) bool
}

// cargo is what the commit says about itself.
type cargo struct {
	Main   parked            `json:"main"`
	Trees  []parked          `json:"trees,omitempty"`
	Refs   map[string]string `json:"refs,omitempty"`
	Marks  map[string]string `json:"marks,omitempty"`  // of branches
	Root   string            `json:"root,omitempty"`   // where the worktrees were
	Origin string            `json:"origin,omitempty"` // what the repository was made from
}

// parked is one checkout.
type parked struct {
	Path   string `json:"path,omitempty"`   // below the folder of worktrees
	Branch string `json:"branch,omitempty"` // "" = none is checked out
	Head   string `json:"head"`
	Files  string `json:"files"` // a commit of the files
}

const (
	cargoName = "cargo.json"
	filesName = "files"
	carryName = "/carry." // of what packing and taking in keep in a repository
)

// carryDate makes the commit depend on nothing but what is in it.
const carryDate = "2000-01-01T00:00:00Z"

// Pack makes the commit, and names it. What did not change gives the same one.
func (c Carry) Pack(ctx context.Context) (string, error) {
	id, err := c.pack(ctx)
	if err != nil {
		return "", fmt.Errorf("pack the files of a run: %w", err)
	}
	return id, nil
}

func (c Carry) pack(ctx context.Context) (string, error) {
	p, err := find(ctx, "", c.Dir)
	if err != nil {
		return "", err
	}
	if _, err := (Tree{Dir: p.top}).snapshots(c.Ref); err != nil {
		return "", err
	}
	var load cargo
	if load.Main, err = c.park(ctx, p.top, "main"); err != nil {
		return "", err
	}
	if err := c.parkTrees(ctx, p, &load); err != nil {
		return "", err
	}
	if err := c.names(ctx, p, &load); err != nil {
		return "", err
	}
	load.Origin, _ = p.line(ctx, "config", "--get", "remote.origin.url") // none: it was not made from another one
	if strings.Contains(load.Origin, "@") && strings.Contains(load.Origin, "://") {
		load.Origin = "" // there may be a password in it
	}
	return c.commit(ctx, p, load)
}

// park keeps the files of one checkout as they are.
func (c Carry) park(ctx context.Context, dir, name string) (parked, error) {
	t := Tree{Dir: dir, Skip: c.Skip, Secret: c.Secret}
	s := t.State(ctx)
	switch {
	case s.Error != "":
		return parked{}, errors.New(s.Error)
	case !s.Repo || s.Head == "":
		return parked{}, errors.New("there is no commit yet")
	}
	id, err := t.Snapshot(ctx, s, c.local(name), "Files of a run, to go on elsewhere")
	return parked{Branch: s.Branch, Head: s.Head, Files: id}, err
}

// parkTrees keeps the worktrees of the run.
func (c Carry) parkTrees(ctx context.Context, p place, load *cargo) error {
	if c.Trees == "" {
		return nil
	}
	root, err := realPath(c.Trees)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	load.Root = root
	list, err := p.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		name, below := strings.CutPrefix(w.path, root+"/")
		if !below || w.path == p.top || !exists(w.path) {
			continue
		}
		one, err := c.park(ctx, w.path, name)
		if err != nil {
			return err
		}
		one.Path = name
		load.Trees = append(load.Trees, one)
	}
	load.Marks, err = p.git.marks(ctx)
	return err
}

// names lists the branches and snapshots that go along.
func (c Carry) names(ctx context.Context, p place, load *cargo) error {
	load.Refs = map[string]string{}
	if b := load.Main.Branch; b != "" {
		load.Refs["refs/heads/"+b] = load.Main.Head
	}
	if !c.All {
		return nil
	}
	out, err := p.run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", refRoot)
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.Contains(name, carryName) {
			load.Refs[name] = id
		}
	}
	return err
}

// commit makes the commit of a cargo.
func (c Carry) commit(ctx context.Context, p place, load cargo) (string, error) {
	text, err := json.Marshal(load)
	if err != nil {
		return "", err
	}
	about, err := p.feed(ctx, text, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	tree := "100644 blob " + strings.TrimSpace(about) + "\t" + cargoName + "\n"
	if files, err := c.files(ctx, p); err != nil {
		return "", err
	} else if files != "" {
		tree += "040000 tree " + files + "\t" + filesName + "\n"
	}
	top, err := p.feed(ctx, []byte(tree), "mktree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "--no-gpg-sign", strings.TrimSpace(top)}
	parents := []string{load.Main.Files}
	for _, t := range load.Trees {
		parents = append(parents, t.Files)
	}
	for _, id := range load.Refs {
		parents = append(parents, id)
	}
	slices.Sort(parents)
	for _, id := range slices.Compact(parents) {
		args = append(args, "-p", id)
	}
	id, err := p.with(author(carryDate)...).feed(ctx, []byte("A run, to go on elsewhere\n"), args...)
	if err != nil {
		return "", err
	}
	id = strings.TrimSpace(id)
	_, err = p.run(ctx, "update-ref", "--end-of-options", c.local("pack"), id)
	return id, err
}

// local is the name under which something of the cargo is kept in this repository.
func (c Carry) local(name string) string {
	return c.Ref[:strings.LastIndexByte(c.Ref, '/')] + carryName + refPart(name)
}

// files is the tree of the files that go along; "" = there are none.
func (c Carry) files(ctx context.Context, p place) (string, error) {
	if c.Files == "" {
		return "", nil
	}
	list, err := os.ReadDir(c.Files)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var names, paths strings.Builder
	var all []string
	for _, f := range list {
		if f.Type().IsRegular() {
			all = append(all, f.Name())
			paths.WriteString(filepath.Join(c.Files, f.Name()) + "\n")
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	out, err := p.feed(ctx, []byte(paths.String()), "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return "", err
	}
	for i, id := range strings.Fields(out) {
		names.WriteString("100644 blob " + id + "\t" + all[i] + "\n")
	}
	tree, err := p.feed(ctx, []byte(names.String()), "mktree")
	return strings.TrimSpace(tree), err
}

// Push sends the commit to a remote of git, under its name.
func (c Carry) Push(ctx context.Context, remote, commit string) error {
	if _, err := (git{dir: c.Dir}).run(ctx, "push", "--quiet", "--no-verify", "--end-of-options", remote, "+"+commit+":"+c.Ref); err != nil {
		return fmt.Errorf("push the files of a run: %w", err)
	}
	return nil
}

// Forget takes away the names that packing a checkout without worktrees made here.
func (c Carry) Forget(ctx context.Context) error {
	t := Tree{Dir: c.Dir}
	return errors.Join(t.DropSnapshot(ctx, c.local("pack"), ""), t.DropSnapshot(ctx, c.local("main"), ""))
}

// Deliver pushes what a run made under names of its own: its branches below heads/, and
// the files of its checkout, on top of its branch, as files. What was pushed before goes,
// but for the commit that carries it.
func (c Carry) Deliver(ctx context.Context, remote, commit string) error {
	g := git{dir: c.Dir}
	root := c.Ref[:strings.LastIndexByte(c.Ref, '/')+1]
	out, err := g.run(ctx, "ls-remote", "--refs", "--end-of-options", remote, root+"*")
	args := []string{
		"push", "--quiet", "--no-verify", "--end-of-options", remote,
		"+refs/heads/*:" + root + "heads/*", "+" + c.local("main") + ":" + root + "files",
	}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if name, below := strings.CutPrefix(f[len(f)-1], root); below && f[0] != commit && !strings.HasPrefix(name, "heads/") && name != "files" {
			args = append(args, ":"+root+name)
		}
	}
	if err == nil {
		_, err = g.run(ctx, args...)
	}
	if err != nil {
		return fmt.Errorf("push what a run made: %w", err)
	}
	return nil
}

// CarryRef is the name of a commit that carries a run.
func CarryRef(run belay.RunID, name string) string {
	return refRoot + refPart(string(run)) + "/" + refPart(name)
}
