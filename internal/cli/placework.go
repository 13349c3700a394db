package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/task"
	"github.com/belay-run/belay/worktree"
)

// runPlace is the directory that a step of a run works in.
type runPlace struct {
	*app
	run   belay.RunID
	state string
}

// folder is that of the run.
func (r runPlace) folder() string { return filepath.Join(r.state, "runs", string(r.run)) }

// list is the file with a list of files.
func (r runPlace) list(name string) string { return filepath.Join(r.folder(), "files-"+name) }

func infra(what string, err error) error {
	if err == nil {
		return nil
	}
	return exit.New(exit.Infra, what, err, "")
}

// gone answers a step of a recipe that an earlier Belay put on record. The work stays where
// it is, which the last lines of a run say.
func (r runPlace) gone(verb string) error {
	return exit.New(exit.Infra, "", fmt.Errorf("an earlier Belay began run %s, and its recipe calls belay place %s, which is gone: resume it with that Belay", r.run, verb), "")
}

func (r runPlace) own(ctx context.Context) error {
	h, ok := worktree.HomeOf(ctx, ".", r.run)
	if !ok {
		return quietly(exit.Failed)
	}
	r.out.line("%s", h.Branch)
	return nil
}

func (r runPlace) private(ctx context.Context) error {
	if _, ok := worktree.HomeOf(ctx, ".", r.run); !ok {
		return nil
	}
	h, err := worktree.Private(ctx, ".", r.run)
	if err == nil {
		r.out.line("%s", h.Work)
	}
	return infra("make a branch", err)
}

// begin tells where the work of a round begins. In a directory that is somebody else's
// the files are listed; what a round before left there is kept, so that it can be brought
// back.
func (r runPlace) begin(ctx context.Context, name, origin, first, kind, home string) error {
	h, err := homeIn(home)
	if err != nil {
		return err
	}
	c, err := worktree.CheckoutOf(ctx, ".", r.run)
	if err != nil {
		return infra("look at the files", err)
	}
	from := worktree.Begun{Checkout: c, Origin: cmp.Or(origin, c.Tree), First: first, Mine: c.Own && c.Apart, Home: h}
	if h != nil { // whatever became of the mark
		from.Mine = c.Apart && h.Path == c.Top
	}
	if !from.Mine {
		if err := r.lookFor(ctx, "list", r.list(name), r.state); err != nil {
			return invalid("look at the files", err, "")
		}
		if err := r.listIgnored(ctx, name); err != nil {
			return infra("look at the files", err)
		}
		if err := r.keepPlan(name, c.Top == ""); err != nil {
			return infra("look at the files", err)
		}
		if err := r.lookBefore(ctx, name == "round-1", kind); err != nil {
			return infra("look at the files", err)
		}
		if name != "round-1" && kind == development {
			if err := keepListed(ctx, r.list(name)); err != nil {
				return err
			}
		}
	}
	if from.First == "" {
		kept := ""
		if b, err := r.readBefore(); err == nil {
			kept = b.Ref
		}
		if from.First, err = worktree.FirstOf(ctx, ".", r.run, c, kept); err != nil {
			return infra("look at the files", err)
		}
	}
	r.object(from)
	return nil
}

// keepPlan writes down how tests are run in a directory without a repository: nobody can look
// later how it was.
func (r runPlace) keepPlan(name string, needed bool) error {
	if !needed {
		return nil
	}
	cfg, err := config.Load(r.environ)
	if err != nil {
		return err
	}
	b, err := json.Marshal(check.Plan(here(), cfg.Tests.Value, r.env("PATH")))
	if err == nil {
		err = os.WriteFile(r.list(name)+testsPlan, b, 0o600)
	}
	return err
}

// begun reads where a round began.
func begun(text string) (from worktree.Begun, err error) {
	if err = json.Unmarshal([]byte(text), &from); err != nil {
		return from, invalid("read where the round began", err, "")
	}
	return from, nil
}

// there looks whether the repository of a round is still the one that it began with.
func (r runPlace) there(ctx context.Context, text, home string) error {
	from, err := begun(text)
	if err != nil || from.Top == "" {
		return err
	}
	if worktree.Has(ctx, ".", from.Top, from.Commit) {
		return nil
	}
	if from.Mine {
		line, err := mended(ctx, from.Top, home)
		if err == nil {
			r.out.line("%s", line)
			return nil
		}
	}
	return exit.New(exit.Failed, "", fmt.Errorf("%sthe repository of %s is not the one that this round began with: what was done there cannot be judged", r.goneFrom(ctx, from.Top), from.Top), "")
}

// goneFrom names the files that were in a directory of the user when the first round began,
// and are not now: without the repository there is nothing to bring them back from.
func (r runPlace) goneFrom(ctx context.Context, top string) string {
	was, ok := r.firstLook()
	if !ok {
		return ""
	}
	now, err := worktree.ListFiles(ctx, top, r.state)
	if gone := now.Gone(was); err == nil && len(gone) > 0 {
		return "files are gone: " + named(gone) + "; "
	}
	return ""
}

// mended puts the .git of a worktree back that somebody replaced, and says so.
func mended(ctx context.Context, top, home string) (string, error) {
	aside, err := worktree.Relink(ctx, home, top)
	if aside != "" {
		aside = "; what was there is in " + aside
	}
	return "warning: an agent took away the .git of the worktree: it was put back, and the work is judged by its files" + aside, err
}

// maxMessage is how much of the message of a commit is read.
const maxMessage = 1 << 20

// givenMessage reads all of stdin, and gives the message that is there: who writes it
// must not find that nobody reads.
func givenMessage() (string, error) {
	b, err := io.ReadAll(io.LimitReader(os.Stdin, maxMessage))
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return strings.ToValidUTF8(string(b), ""), infra("read the message", err)
}

// commit commits the work of a step, with the first line of the message as its title.
func (r runPlace) commit(ctx context.Context, base string) error {
	message, err := givenMessage()
	if err != nil {
		return err
	}
	if _, ok := worktree.HomeOf(ctx, ".", r.run); !ok {
		r.out.line("nothing is committed: no branch was made for this run")
		return nil
	}
	const most = 70
	title := []rune(strings.Join(strings.Fields(message), " "))
	subject := string(title[:min(len(title), most)])
	c, err := worktree.CommitAll(ctx, ".", r.run, subject, base)
	if err != nil {
		return infra("commit", err)
	}
	if c.New {
		r.out.line("%.10s %s", c.Commit, subject)
	} else {
		r.out.line("nothing to commit")
	}
	for _, name := range c.Pushed { // when it is merged it has other commits
		r.out.line("pushed: %s", name)
	}
	return nil
}

// looked is what a round is judged by, for the steps that judge it.
type looked struct {
	Commit  string `json:"commit"` // "" = there is no repository
	Notes   string `json:"notes"`
	Changed string `json:"changed"`
	Old     string `json:"changed_before"`
	Named   string `json:"own_path"`
	Against string `json:"committed,omitempty"` // what was committed where nothing was to be
	Altered string `json:"altered,omitempty"`   // files that are not as they were before the first round, where none was to change

	Lost []string `json:"lost,omitempty"` // files of which uncommitted work is gone
	Gone []string `json:"gone,omitempty"` // in no repository: files that are not there any more
}

// judge makes the commit that a round is judged by, and tells what it has.
func (r runPlace) judge(ctx context.Context, name, text, kind, home string) error {
	from, err := begun(text)
	if err != nil {
		return err
	}
	message, err := givenMessage()
	if err != nil {
		return err
	}
	var l looked
	if from.Mine {
		l, err = r.judgeOwn(ctx, from, home, message)
	} else {
		l, err = r.judgeHere(ctx, from, name, kind)
	}
	if err != nil {
		return err
	}
	r.object(l)
	return nil
}

func (r runPlace) judgeOwn(ctx context.Context, from worktree.Begun, home, message string) (looked, error) {
	var notes []string
	if !worktree.Has(ctx, ".", from.Top, from.Commit) {
		line, err := mended(ctx, from.Top, home)
		if err != nil {
			return looked{}, infra("mend the worktree", err)
		}
		notes = append(notes, line)
	}
	j, err := worktree.Judge(ctx, ".", r.run, from, message)
	if err != nil {
		return looked{}, infra("judge the work", err)
	}
	asides, err := worktree.Asides(ctx, ".")
	if err != nil {
		return looked{}, infra("judge the work", err)
	}
	notes = append(notes, judgedNotes(j, from.Top)...)
	for _, w := range asides {
		notes = append(notes, asideWords(w)) // it may be a trial: it is named, not taken
	}
	if j.IgnoreRules {
		notes = append(notes, "a .gitignore was changed: files that only it hides are not part of the work")
	}
	return looked{Commit: j.Commit, Notes: strings.Join(notes, "\n"), Changed: strings.Join(j.Changed, "\n"), Old: strings.Join(j.Old, "\n"), Named: strings.Join(j.Named, "\n")}, nil
}

// judgedNotes are what is to be said about the commit of a round.
func judgedNotes(j worktree.Judged, top string) []string {
	var list []string
	for _, path := range j.Bare {
		list = append(list, fmt.Sprintf("warning: %s is a git repository of its own, without a commit: no file in it is part of the work; make them part of it: rm -r %s", story.Quote(path), story.Quote(filepath.Join(path, ".git"))))
	}
	if j.Dropped != "" {
		list = append(list, fmt.Sprintf("warning: an agent left the work on commits that do not come after the one it began with: its files were committed after that one; look at what it left: git log %.12s", j.Dropped))
	}
	if j.Left != "" {
		list = append(list, fmt.Sprintf("the work was left on %s and was put on %s", j.Left, j.Home.Branch))
	}
	for _, path := range j.Inside {
		list = append(list, fmt.Sprintf("warning: %s is a git repository of its own: no file in it is part of the work; it is only in %s", story.Quote(path), story.Quote(filepath.Join(top, path))))
	}
	for _, name := range j.Pushed {
		list = append(list, "pushed: "+name)
	}
	return list
}

// asideWords name work that was committed on another branch than the one that counts,
// and how to look at it.
func asideWords(w worktree.Aside) string {
	where, tip := "on branch "+w.Branch, w.Branch
	if w.Branch == "" {
		where, tip = "on no branch", w.Commit[:12]
	}
	is := "is"
	if w.Commits != 1 {
		is = "are"
	}
	return fmt.Sprintf("%s %s (%.12s) %s left out: the agent went back from it; look: git log -p %s",
		readable.Many(w.Commits, "commit"), where, w.Commit, is, story.Quote(w.Base[:12]+".."+tip))
}

// judgeHere looks at a directory that is somebody else's: nothing in it is committed.
func (r runPlace) judgeHere(ctx context.Context, from worktree.Begun, name, kind string) (looked, error) {
	now, err := worktree.ListFiles(ctx, ".", r.state)
	if err != nil {
		return looked{}, infra("look at the files", err)
	}
	b, err := os.ReadFile(r.list(name))
	if err == nil {
		err = os.WriteFile(r.list("judged-"+strings.TrimPrefix(name, "round-")), now.Bytes(), 0o600)
	}
	if err != nil {
		return looked{}, invalid("look at the files", err, "")
	}
	was := worktree.ReadListing(b)
	var l looked
	var notes []string
	l.Changed = strings.Join(seenHere(ctx, now.Since(was)), "\n")
	if from.Top == "" {
		list, _ := os.ReadFile(r.list("round-1")) // without one nothing is known to be gone
		first := worktree.ReadListing(list)
		l.Gone = now.Gone(was)
		old := slices.DeleteFunc(now.Since(was), func(path string) bool { _, there := first[path]; return !there })
		l.Old = strings.Join(seenHere(ctx, old), "\n")
		if gone := now.Gone(first); len(gone) > 0 && kind == development {
			notes = append(notes, fmt.Sprintf("warning: deleted in %s, which is in no git repository, so that Belay has no copy to bring back: %s", here(), named(gone)))
		}
	} else {
		j, err := worktree.JudgedHere(ctx, ".", r.run, from)
		if err != nil {
			return looked{}, infra("judge the work", err)
		}
		l.Commit, l.Old, l.Named = j.Commit, strings.Join(j.Old, "\n"), strings.Join(j.Named, "\n")
		if head := worktree.HeadOf(ctx, "."); head != from.Commit && head != "" && (kind == string(task.QandA) || kind == string(task.Investigation)) {
			l.Against = fmt.Sprintf("something was committed or checked out in %s, where nothing was to be changed; look: git -C %s log -p %.12s..%.12s", here(), story.Quote(here()), from.Commit, head)
		}
	}
	if first, ok := r.firstLook(); ok && (kind == string(task.QandA) || kind == string(task.Investigation)) {
		l.Altered = strings.Join(now.Since(first), "\n")
	}
	more, err := r.sinceBefore(ctx, &l, kind)
	if err != nil {
		return looked{}, infra("look at the files", err)
	}
	notes = append(notes, more...)
	gone, err := r.goneIgnored(name)
	if err != nil {
		return looked{}, infra("look at the files", err)
	}
	if len(gone) > 0 {
		notes = append(notes, fmt.Sprintf("warning: files that git ignores are gone from %s since the round began, and Belay has no copy of them: %s", here(), named(gone)))
	}
	l.Notes = strings.Join(notes, "\n")
	return l, nil
}

// listIgnored writes down which ignored files there are.
func (r runPlace) listIgnored(ctx context.Context, name string) error {
	list, err := worktree.IgnoredPaths(ctx, ".")
	if err != nil {
		return err
	}
	return os.WriteFile(r.list(name)+".ignored", []byte(strings.Join(list, "\x00")), 0o600)
}

// goneIgnored are the ignored files that were there when a round began, and are not now.
func (r runPlace) goneIgnored(name string) ([]string, error) {
	b, err := os.ReadFile(r.list(name) + ".ignored")
	if errors.Is(err, os.ErrNotExist) || len(b) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	top := worktree.Whole(".")
	return slices.DeleteFunc(strings.Split(string(b), "\x00"), func(path string) bool {
		_, err := os.Lstat(filepath.Join(top, path))
		return !errors.Is(err, os.ErrNotExist)
	}), nil
}

// seenHere are paths from the top, and as who works in a folder says them.
func seenHere(ctx context.Context, list []string) []string {
	below, _ := worktree.Prefix(ctx, ".") // "" where there is no repository
	var seen []string
	for _, path := range list {
		seen = append(seen, path)
		if rest, ok := strings.CutPrefix(path, below+"/"); ok && below != "" {
			seen = append(seen, rest)
		}
	}
	return seen
}

// fewest is how many characters a quote must have that are not blank: a letter is on every
// page.
const fewest = 4

// cited looks a citation up. A file that is not as it was when the run first looked at the
// directory proves nothing: agents were to change none, and may have written it themselves.
func (r runPlace) cited(ctx context.Context, args []string) error {
	id, short := args[4], len([]rune(strings.Join(strings.Fields(args[3]), ""))) < fewest
	q := worktree.Quoted{Path: worktree.Inside(".", args[1]), Words: args[3]}
	q.Line, _ = strconv.Atoi(args[2]) // no number: there is no such line
	q.End, _ = strconv.Atoi(args[5])
	at, wrong, err := worktree.Cited(ctx, ".", args[0], q)
	if err != nil {
		return infra("look a citation up", err)
	}
	var got struct {
		Criterion string `json:"criterion,omitempty"`
		Holds     bool   `json:"holds"`
		Changed   bool   `json:"changed,omitempty"`
		Wrong     string `json:"wrong,omitempty"`
		Path      string `json:"path,omitempty"` // where it is another than was said
		Line      int    `json:"line,omitempty"` // of several, the one that has the words
	}
	got.Holds = at > 0 && !short // it may be wrong, and proves nothing
	if first, ok := r.firstLook(); ok && got.Holds {
		if got.Holds, err = first.HasSame(ctx, ".", q.Path); err != nil {
			return infra("look a citation up", err)
		}
		got.Changed = !got.Holds
	}
	if plainID().MatchString(id) {
		got.Criterion = id
	}
	if wrong != "" {
		place := args[1]
		if place == "" {
			place = "a claim" // of a recipe that does not read claims first
		} else if args[2] != "" {
			place += ":" + args[2]
		}
		if q.End > q.Line {
			place += "-" + args[5]
		}
		got.Wrong = place + ": " + wrong
	}
	if got.Holds && q.Path != args[1] {
		got.Path = q.Path
	}
	if got.Holds && at != q.Line {
		got.Line = at
	}
	r.object(got)
	return nil
}

// firstLook is how the files were when the first round began, or the recipe that is run by
// itself. In a worktree of the run nobody looks.
func (r runPlace) firstLook() (worktree.Listing, bool) {
	for _, name := range []string{"round-1", lookList} {
		if b, err := os.ReadFile(r.list(name)); err == nil {
			return worktree.ReadListing(b), true
		}
	}
	return nil, false
}

// lookList is the list that the recipes for answers make before the work.
const lookList = "look"

// plainID is the form that the id of a criterion has.
var plainID = pattern.Lazy(`^[A-Za-z0-9_.-]+$`)
