package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/archive"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
)

func (a *app) exportCommand() *cobra.Command {
	var to string
	var asJSON bool
	cmd := command("export RUN", "write a run into one file, to be looked at elsewhere", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			if to == "-" && asJSON {
				return usage(cmd, errors.New("-o - writes the file itself to stdout: leave out --json"))
			}
			return a.export(args[0], to, asJSON)
		})
	cmd.Long = `export writes the journal, the receipt, the outputs and the logs of a run into one
compressed file that only you may read. belay import opens it on any machine, and any
tar unpacks it. Secrets that belay hid in the logs are hidden in it as well; what
else steps printed is in it. Worktrees and the homes of agents are not. The run stays
as it is; one that goes on is written as it is at this moment.`
	cmd.Flags().StringVarP(&to, "output", "o", "", "the file (RUN"+archive.Ext+" in this directory); - is stdout")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

// exported is an archive as --json prints it.
type exported struct {
	archive.Manifest
	File  string `json:"file"`
	Size  int64  `json:"size"`            // of the file
	From  string `json:"from,omitempty"`  // archive or import, in a list
	Known bool   `json:"known,omitempty"` // it was here already
}

func (a *app) export(arg, to string, asJSON bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	if to == "-" {
		if _, isTerm := terminal(a.std.Out); isTerm {
			return exit.New(exit.Usage, "export", errors.New("the file is no text, and stdout is a terminal"), "name a file with -o")
		}
		_, err := a.pack(st, arg, a.out)
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(to), ".belay-export-*") // mode 0600
	if err != nil {
		return exit.New(exit.Infra, "export", err, "check the directory of the file, or name another with -o")
	}
	defer func() { _ = os.Remove(part.Name()) }() // it has its own name by then, or is not wanted
	m, err := a.pack(st, arg, part)
	if err == nil {
		err = part.Sync()
	}
	if e := part.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if to == "" {
		to = string(m.Run) + archive.Ext
	}
	err = os.Link(part.Name(), to) // a file that is there is never written over
	if err != nil && !there(to) {
		err = os.Rename(part.Name(), to) // a disk without links
	}
	switch {
	case errors.Is(err, os.ErrExist):
		return exit.New(exit.Invalid, "export", fmt.Errorf("%s is there already", to), "name another file with -o, or remove it")
	case err != nil:
		return exit.New(exit.Infra, "export", err, "name a file on another disk with -o")
	}
	info, err := os.Stat(to)
	if err != nil {
		return exit.New(exit.Infra, "export", err, "check the disk")
	}
	if asJSON {
		a.object(exported{Manifest: m, File: to, Size: info.Size()})
		return nil
	}
	a.out.line("%s: run %s, %s, %d records, %s", to, m.Run, m.Status, m.Records, readable.Size(info.Size()))
	return nil
}

// pack writes the archive of a run; one that lies in an archive is copied.
func (a *app) pack(st *journal.State, arg string, w io.Writer) (m archive.Manifest, err error) {
	id, err := runID(st, arg)
	var lies *journal.ReadOnly
	if errors.As(err, &lies) {
		return a.copyArchive(st, arg, w)
	}
	if err == nil {
		err = a.wholeRun(st, "export", id)
	}
	if err != nil {
		return m, err
	}
	v, err := st.View(id)
	if err != nil {
		return m, st.Unread(id, err)
	}
	defer closing(&err, "close journal", v.Close)
	if m, _, err = a.describe(v, id); err != nil {
		return m, st.Unread(id, err)
	}
	return st.Export(w, v, m)
}

func (a *app) copyArchive(st *journal.State, arg string, w io.Writer) (m archive.Manifest, err error) {
	lies, err := st.FindArchived(arg)
	if err != nil {
		return m, err
	}
	if strings.Contains(arg, "/") {
		s, err := tellArchived(st, arg, false)
		if err != nil {
			return m, err
		}
		return m, errors.Join(a.onlyWhole("export", s.id), s.close())
	}
	f, err := os.Open(lies.Path)
	if err != nil {
		return m, exit.New(exit.Infra, "export", err, "check its permissions")
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	if _, err = io.Copy(w, f); err != nil {
		return m, exit.New(exit.Infra, "export", err, "check the disk")
	}
	return lies.Manifest, nil
}

// describe is what the archive of a run says of it, and the run itself.
func (a *app) describe(v *journal.View, id belay.RunID) (m archive.Manifest, tree *flow.Tree, err error) {
	recs, err := v.Load()
	if err != nil {
		return m, nil, err
	}
	if tree, err = engine.Fold(id, recs, v); err != nil {
		return m, nil, err
	}
	e, begun := tree.Run(id).Started()
	res := engine.ResultOf(tree)
	title, _ := titleOf(v.Folder, e.Name)
	return archive.Manifest{
		Run: id, Recipe: e.Name, Task: title, Dir: e.Dir,
		Status: res.Status, Code: res.Code, Reason: res.Reason,
		Started: begun.UTC(), Last: recs[len(recs)-1].At.UTC(), Records: len(recs), Made: time.Now().UTC(), Belay: a.program.Version,
	}, tree, nil
}

func (a *app) importCommand() *cobra.Command {
	var most string
	var asJSON bool
	cmd := command("import FILE", "take a run from a file that export wrote, to look at it", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			n, err := parseSize(most)
			if err != nil {
				return usage(cmd, fmt.Errorf("--max-size: %w", err))
			}
			return a.takeIn(args[0], archive.Limits{Files: archive.MaxFiles, Bytes: n}, asJSON)
		})
	cmd.Long = `import takes a file that belay export wrote, proves that it is whole and that its
journal is sound, and keeps it in the state directory. why, show, logs, history,
receipt, graph and audit then work on the run. It can only be looked at: it is
never resumed, answered or changed, nothing that it names is run, and belay runs
does not list it (belay runs --archived does).

A file that is cut off, too big, of another format, with paths that lead elsewhere
or with links in it is refused, and nothing is kept of it. - is stdin.`
	cmd.Flags().StringVar(&most, "max-size", "1GiB", "take no more than this, unpacked (a number with KiB, MiB or GiB)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) takeIn(file string, most archive.Limits, asJSON bool) (err error) {
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	st, err := journal.OpenState(dir)
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	src := os.Stdin
	if file != "-" {
		if src, err = os.Open(file); err != nil {
			return exit.New(exit.Invalid, "import run", err, "name a file that belay export wrote")
		}
		defer func() { _ = src.Close() }() // read only: nothing to lose
	}
	lies, known, err := st.Import(src, most, func(v *journal.View) error { return a.folds(v) })
	if err != nil {
		return err
	}
	if asJSON {
		a.object(exported{Manifest: lies.Manifest, File: lies.Path, Size: lies.Size, Known: known})
		return nil
	}
	how := "was imported"
	if known {
		how = "was imported before"
	}
	a.out.line("run %s (%s) %s: %s, %d records", lies.Run, readable.Clean(lies.Recipe), how, readable.Clean(string(lies.Status)), lies.Records)
	a.say("it can only be looked at: %s why %s", a.name(), lies.Run)
	return nil
}

// folds proves that the records of a run from elsewhere are those of a run.
func (a *app) folds(v *journal.View) error {
	recs, err := v.Load()
	if err != nil || len(recs) == 0 {
		return err
	}
	_, _, err = a.describe(v, recs[0].Run)
	return err
}

// parseSize reads a number of bytes as people write it.
func parseSize(text string) (int64, error) {
	unit := int64(1)
	for _, u := range []struct {
		name string
		size int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}} {
		if n, ok := cutUnit(text, u.name); ok {
			text, unit = n, u.size
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n <= 0 {
		return 0, errors.New("must be a number above 0, with KiB, MiB or GiB behind it")
	}
	return n * unit, nil
}

func cutUnit(text, unit string) (string, bool) {
	if len(text) > len(unit) && text[len(text)-len(unit):] == unit {
		return text[:len(text)-len(unit)], true
	}
	return text, false
}

// archived lists the runs that lie in archives.
func (a *app) archived(asJSON bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	list, bad, err := st.Archived()
	if err != nil {
		return err
	}
	rows := [][]string{{"RUN", "STATUS", "RECIPE", "STARTED", "TOOK", "SIZE", "FROM", "TASK"}}
	for _, l := range list {
		from := "archive"
		if l.Imported {
			from = "import"
		}
		if asJSON {
			a.object(exported{Manifest: l.Manifest, File: l.Path, Size: l.Size, From: from})
			continue
		}
		rows = append(rows, []string{
			string(l.Run), readable.Clean(string(l.Status)), readable.Clean(l.Recipe), l.Started.Local().Format(time.DateTime),
			readable.Took(l.Last.Sub(l.Started)), readable.Size(l.Size), from, tui.Title(l.Task),
		})
	}
	for _, e := range bad {
		a.complain(e)
	}
	switch {
	case !asJSON && len(rows) > 1:
		a.table(rows, len(rows[0])-1)
	case !asJSON && len(bad) == 0:
		a.say("no archived runs in %s", st.Dir())
	}
	if len(bad) > 0 {
		return exit.New(exit.Damaged, "list archives", fmt.Errorf("%s cannot be read", readable.Many(len(bad), "archive")), "each is named above")
	}
	return nil
}
