package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// plainRefs tells whether refs are files here, as gitrepository-layout tells: then
// what git would say about one can be read.
func (p place) plainRefs() bool { return !exists(filepath.Join(p.all, "reftable")) }

// readRef is the commit of a branch, "" when there is none. It is sure or says no:
// then git is to be asked.
func (p place) readRef(branch string) (id string, sure bool) {
	return p.readRefOf("refs/heads/" + branch)
}

// readCommit is the commit that HEAD or a ref stands at, "" when there is none. It is
// sure or says no, as readRef: of other names, and of objects that are not at hand in
// a file of their own.
func (p place) readCommit(name string) (id string, sure bool) {
	switch {
	case name == "HEAD":
		id, _, sure = p.readHead(p.own)
	case strings.HasPrefix(name, "refs/heads/"), strings.HasPrefix(name, refRoot):
		id, sure = p.readRefOf(name)
	}
	if sure && id != "" && id != p.zero {
		_, sure = p.looseTree(id)
		return id, sure
	}
	return "", sure
}

// readRefOf is what a ref of all worktrees stands at.
func (p place) readRefOf(name string) (id string, sure bool) {
	if !p.plainRefs() || !refName(name) {
		return "", false
	}
	b, err := os.ReadFile(filepath.Join(p.all, name))
	id = strings.TrimSpace(string(b))
	if err == nil {
		return id, isID(id)
	}
	if !missing(err) && !errors.Is(err, syscall.EISDIR) { // a folder has no ref of its own
		return "", false
	}
	b, err = os.ReadFile(filepath.Join(p.all, "packed-refs"))
	if err != nil {
		return "", errors.Is(err, fs.ErrNotExist)
	}
	for line := range strings.Lines(string(b)) {
		if id, of, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); of == name {
			return id, isID(id)
		}
	}
	return "", true
}

// readRefs are all refs below some folders, with what each stands at. It is sure or says
// no, as readRef.
func (p place) readRefs(folders ...string) (list map[string]string, sure bool) {
	if !p.plainRefs() {
		return nil, false
	}
	list = map[string]string{}
	b, err := os.ReadFile(filepath.Join(p.all, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	for line := range strings.Lines(string(b)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if isID(id) && slices.ContainsFunc(folders, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") }) {
			list[name] = id
		}
	}
	for _, folder := range folders {
		root := filepath.Join(p.all, folder)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
				if path == root && errors.Is(err, fs.ErrNotExist) {
					return nil
				}
				return err
			}
			b, err := os.ReadFile(path)
			id := strings.TrimSpace(string(b))
			if err != nil || !isID(id) { // git may be at work on it, or it leads to another ref
				return errAskGit
			}
			list[folder+strings.TrimPrefix(path, root)] = id
			return nil
		})
		if err != nil {
			return nil, false
		}
	}
	return list, true
}

// readHead is what HEAD of a work tree stands at, by its git folder: a commit, and
// the branch unless it is detached. A branch without a commit stands at nothing.
func (p place) readHead(own string) (head, branch string, sure bool) {
	file := filepath.Join(own, "HEAD")
	if fi, err := os.Lstat(file); err != nil || !fi.Mode().IsRegular() {
		return "", "", false
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", false
	}
	text := strings.TrimSpace(string(b))
	if isID(text) {
		return text, "", true
	}
	branch, ok := strings.CutPrefix(text, "ref: refs/heads/")
	if !ok {
		return "", "", false
	}
	head, sure = p.readRef(branch)
	if head == "" {
		head = p.zero
	}
	return head, branch, sure
}

// readWorktrees are the worktrees that git has notes of, the main one first. It is
// sure or says no, as readRef.
func (p place) readWorktrees() (list []linked, sure bool) {
	main, plain := strings.CutSuffix(p.all, "/.git")
	if !plain || !p.plainRefs() || strings.Contains(strings.ToLower(p.settings()), "bare = true") || p.settings() == "" {
		return nil, false
	}
	w := linked{path: main}
	if w.head, w.branch, sure = p.readHead(p.all); !sure {
		return nil, false
	}
	list = append(list, w)
	root := filepath.Join(p.all, "worktrees")
	notes, err := os.ReadDir(root)
	if err != nil {
		return list, errors.Is(err, fs.ErrNotExist)
	}
	for _, d := range notes {
		own := filepath.Join(root, d.Name())
		b, err := os.ReadFile(filepath.Join(own, "gitdir"))
		if err != nil {
			return nil, false // git may be at work on it
		}
		w := linked{locked: exists(filepath.Join(own, "locked"))}
		w.path = strings.TrimSuffix(joined(own, strings.TrimSpace(string(b))), "/.git")
		if w.head, w.branch, sure = p.readHead(own); !sure {
			return nil, false
		}
		list = append(list, w)
	}
	return list, true
}
