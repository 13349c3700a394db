package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/failpoint"
)

// noteSuffix ends the name of a note beside a file in conflict that cannot hold
// marks. Who resolves the conflict deletes the note.
const noteSuffix = ".belay-conflict"

// puzzleName is the file in a worktree's git folder that says what was put into
// it to be resolved.
const puzzleName = "belay-conflict.json"

// puzzle is a conflict that was put into a worktree to be resolved there.
type puzzle struct {
	Labels []string     `json:"labels"` // the names of the two sides in the marks
	Files  []puzzleFile `json:"files"`
}

// puzzleFile is one file in conflict.
type puzzleFile struct {
	Path  []byte `json:"path"`            // in bytes: it need not be text
	Marks int    `json:"marks,omitempty"` // lines that look like marks and belong to the file
}

// Conflict puts a conflict into the worktree of the step, so that an agent there
// can resolve it: the files become those of the merge, with the marks of git
// where both sides changed the same lines, and with a note beside a file that
// cannot hold marks. From then on the worktree's work is measured from the run's
// tree as it is now: when all marks and notes are gone, Merge is clean unless
// that tree changes again. Without a conflict nothing is done.
//
// It gives the files in conflict. Like Merge it can be asked again with its key.
func Conflict(ctx context.Context, o MergeOrder) (MergeResult, error) {
	m, err := openMerge(ctx, o, "-conflict")
	if err == nil {
		defer m.release()
		var r MergeResult
		if r, err = m.conflict(ctx); err == nil {
			return r, nil
		}
	}
	return MergeResult{}, fmt.Errorf("put a conflict into the worktree: %w", err)
}

func (m *merger) conflict(ctx context.Context) (MergeResult, error) {
	p, there, err := readPlan(m.file, m.o.Key)
	if err != nil || there && p.Done {
		return p.Answer, err
	}
	if !there {
		if p, err = m.conflictPlan(ctx); err != nil || p.Answer.Outcome != OutcomeConflict || p.Puzzle == nil {
			return p.Answer, err
		}
		if err := p.write(m.file); err != nil {
			return MergeResult{}, err
		}
		failpoint.Hit("worktree.conflict_after_plan")
	}
	others, err := m.step.apply(ctx, p.Ours, p.Result, m.o, m.seen, false)
	if err != nil {
		return MergeResult{}, err
	}
	if len(others) > 0 { // what the run's tree has for it would be lost
		return MergeResult{}, fmt.Errorf("%s was changed in the worktree meanwhile", shown(others[0].path))
	}
	failpoint.Hit("worktree.conflict_after_files")
	b, err := json.Marshal(p.Puzzle)
	if err == nil {
		err = writeSynced(m.puzzleFile(), b)
	}
	if err != nil {
		return MergeResult{}, err
	}
	m.own.Base = &p.Next
	if err := m.run.mark(ctx, m.branch, m.own); err != nil {
		return MergeResult{}, err
	}
	failpoint.Hit("worktree.conflict_before_done")
	p.Done = true
	return p.Answer, p.write(m.file)
}

// conflictPlan works out what the worktree becomes. Ours and Result are states of
// the worktree here, for it is the one that is written.
func (m *merger) conflictPlan(ctx context.Context) (plan, error) {
	ours, theirs, err := m.looks(ctx)
	if err != nil {
		return plan{}, err
	}
	left, err := m.unresolved(ctx, theirs.Tree)
	if err != nil || len(left) > 0 { // what is there is still to be resolved
		return plan{Answer: conflicted(left)}, err
	}
	t, big, err := m.run.threeTrees(ctx, m.own.Base.Tree, ours.Tree, theirs.Tree)
	if err != nil || len(big) > 0 {
		return plan{Answer: conflicted(big)}, err
	}
	f, err := m.carried(ctx, *m.own.Base, theirs.Head, t)
	if err != nil {
		return plan{}, err
	}
	w, err := m.run.threeWay(ctx, f.three)
	if err != nil || len(w.clashes) == 0 {
		return plan{Answer: MergeResult{Outcome: OutcomeNothing}}, err
	}
	tree, z, err := m.pose(ctx, w)
	if err != nil {
		return plan{}, err
	}
	edits, err := m.step.edits(ctx, t.theirs, tree)
	if err != nil {
		return plan{}, err
	}
	stuck, seen, err := m.step.blocked(ctx, edits)
	if err != nil || len(stuck) > 0 {
		return plan{Answer: conflicted(stuck)}, err
	}
	m.seen = seen
	next := Base{Tree: ours.Tree, Commit: theirs.Head, Head: theirs.Head, Branch: ours.Branch, Stand: f.stand}
	return plan{Key: m.o.Key, Ours: t.theirs, Result: tree, Next: next, Puzzle: &z, Answer: conflicted(w.clashes)}, nil
}

// pose makes the tree of a conflict one to be resolved: each file has marks or a
// note beside it.
func (m *merger) pose(ctx context.Context, w woven) (string, puzzle, error) {
	z := puzzle{Labels: []string{w.ours, w.theirs}}
	notes := map[string]string{}
	var gone []delta
	for _, c := range w.clashes {
		f := puzzleFile{Path: []byte(c.Path)}
		for _, stage := range w.stages[c.Path] {
			text, err := m.run.blob(ctx, strings.Fields(stage))
			if err != nil {
				return "", z, err
			}
			f.Marks = max(f.Marks, marks(text))
		}
		text, _, err := m.run.fileIn(ctx, w.tree, c.Path)
		if err != nil {
			return "", z, err
		}
		if !z.labelled(text) {
			notes[c.Path+noteSuffix] = note(c, w.stages[c.Path])
			if !z.labelled(c.Path) && !sided(w.stages[c.Path], runsStage) {
				gone = append(gone, delta{path: c.Path})
			}
		}
		z.Files = append(z.Files, f)
	}
	tree, err := m.run.edited(ctx, w.tree, gone) // until somebody decides, the file is as in the run's tree
	if err == nil {
		tree, err = m.run.addFiles(ctx, tree, notes)
	}
	return tree, z, err
}

// The stages of a file in conflict, as git numbers them.
const (
	basesStage = "1"
	runsStage  = "2"
	stepsStage = "3"
)

// sided tells whether a file in conflict exists on a side.
func sided(stages []string, side string) bool {
	return slices.ContainsFunc(stages, func(s string) bool { return strings.HasSuffix(s, " "+side) })
}

// note is the text beside a file that cannot hold marks.
func note(c Clash, stages []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s cannot be merged: %s.\n\n", shown(c.Path), c.Why)
	for _, side := range []struct{ stage, where string }{
		{basesStage, "before both changes"}, {runsStage, "in the run's tree"}, {stepsStage, "as this step left it"},
	} {
		is := "none"
		for _, stage := range stages {
			if f := strings.Fields(stage); len(f) == 3 && f[2] == side.stage {
				is = "git cat-file blob " + f[1]
			}
		}
		fmt.Fprintf(&b, "The file %s: %s\n", side.where, is)
	}
	b.WriteString("\nHere it is as in the run's tree: what this step did to it is not in it. Make the file what it should be, then delete this note.\n")
	return b.String()
}

// blob is the content of an entry "mode id stage" that is a file.
func (g git) blob(ctx context.Context, f []string) (string, error) {
	if len(f) < 2 || !regular(f[0]) {
		return "", nil
	}
	return g.run(ctx, "cat-file", "blob", f[1])
}

// fileIn is the content of a file in a tree, and whether there is one.
func (g git) fileIn(ctx context.Context, tree, path string) (string, bool, error) {
	out, err := g.with("GIT_LITERAL_PATHSPECS=1").run(ctx, "ls-tree", "-z", "--full-tree", tree, "--", path)
	if err != nil || out == "" {
		return "", false, err
	}
	about, _, _ := strings.Cut(out, "\t")
	f := strings.Fields(about)
	if len(f) != 3 || f[1] != "blob" {
		return "", false, nil
	}
	text, err := g.blob(ctx, []string{f[0], f[2]})
	return text, true, err
}

// addFiles is a tree with more files.
func (p place) addFiles(ctx context.Context, tree string, files map[string]string) (string, error) {
	var list []delta
	for path, text := range files {
		id, err := p.feed(ctx, []byte(text), "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return "", err
		}
		list = append(list, delta{path: path, now: "100644 " + strings.TrimSpace(id)})
	}
	return p.edited(ctx, tree, list)
}

// marks counts the lines that look like marks of a conflict.
func marks(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		for _, m := range []string{"<<<<<<<", "|||||||", ">>>>>>>"} {
			if rest, ok := strings.CutPrefix(line, m); ok && (rest == "" || strings.ContainsRune(" \r\n", rune(rest[0]))) {
				n++
			}
		}
	}
	return n
}

// labelled tells whether a text has marks with the names of the sides.
func (z puzzle) labelled(text string) bool {
	for _, label := range z.Labels {
		if strings.Contains(text, label) {
			return true
		}
	}
	return false
}

func (m *merger) puzzleFile() string { return filepath.Join(m.step.own, puzzleName) }

// posed is the conflict that was put into the worktree; one without files is none.
func (m *merger) posed() (puzzle, error) {
	var z puzzle
	b, err := os.ReadFile(m.puzzleFile())
	if errors.Is(err, fs.ErrNotExist) {
		return z, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &z)
	}
	if err != nil {
		return z, fmt.Errorf("read what is to be resolved: %w", err)
	}
	return z, nil
}

// thrownAway are the files of a conflict that was resolved in such a way that
// nothing of the step's own work is left.
func (m *merger) thrownAway() ([]Clash, error) {
	z, err := m.posed()
	var list []Clash
	for _, f := range z.Files {
		list = append(list, Clash{Path: string(f.Path), Why: "nothing of this step's own work is left after the conflict was resolved"})
	}
	return list, err
}

// unresolved are the files of a conflict in the worktree that still have marks or
// a note.
func (m *merger) unresolved(ctx context.Context, tree string) ([]Clash, error) {
	z, err := m.posed()
	if err != nil {
		return nil, err
	}
	var left []Clash
	for _, f := range z.Files {
		path := string(f.Path)
		text, there, err := m.step.fileIn(ctx, tree, path)
		if err != nil {
			return nil, err
		}
		_, noted, err := m.step.fileIn(ctx, tree, path+noteSuffix)
		if err != nil {
			return nil, err
		}
		switch {
		case z.labelled(text) || marks(text) > f.Marks:
			left = append(left, Clash{Path: path, Why: "the marks of a conflict are still in it"})
		case there && z.labelled(path):
			left = append(left, Clash{Path: path, Why: "a file that git named for the conflict is still there"})
		case noted:
			left = append(left, Clash{Path: path, Why: "the note " + shown(path+noteSuffix) + " is still there"})
		}
	}
	return left, nil
}

// resolved forgets a conflict that was resolved and merged.
func (m *merger) resolved() error {
	if err := os.Remove(m.puzzleFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
