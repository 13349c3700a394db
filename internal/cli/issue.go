package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/tracker"
)

// maxBody is how much of a body or a task is read; of more, the beginning.
const maxBody = 1 << 20

func (a *app) issueCommand() *cobra.Command {
	cmd := command("issue COMMAND", "file and find issues, one for each fingerprint", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			return usage(cmd, fmt.Errorf("issue has no command %q: file, find, list or sync", args[0]))
		})
	cmd.Long = `Issues are filed with gh in the repository of --repo or issues.repo. Each has a
fingerprint, and each fingerprint one issue: what is there already is not filed
again. While gh is away an issue is kept on this machine, and issue sync files it.`
	cmd.AddCommand(a.issueFileCommand(), a.issueFindCommand(), a.issueListCommand(), a.issueSyncCommand())
	cmd.ValidArgs = []string{"file", "find", "list", "sync"}
	return cmd
}

// issueOptions are the flags of all commands about issues.
type issueOptions struct {
	mark, kind, title, where string
	repo                     string
	body, bodyFile, taskFile string
	labels                   []string
	keep, json               bool
}

// named are the flags that say which issue is meant, and where.
func (o *issueOptions) named(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.mark, "fingerprint", "", "what makes it the same issue (default: made of kind, title and place)")
	f.StringVar(&o.kind, "kind", "", "kind of issue, as a part of its fingerprint")
	f.StringVar(&o.title, "title", "", "its title")
	f.StringVar(&o.where, "where", "", "the place that it is about, as a part of its fingerprint")
	f.BoolVar(&o.keep, "or-keep", false, "an issue that is kept on this machine, because the tracker is away, will do")
	o.placed(cmd)
}

func (o *issueOptions) placed(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "repository of the issues: [HOST/]OWNER/NAME (issues.repo)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	_ = cmd.RegisterFlagCompletionFunc("repo", cobra.NoFileCompletions) // the flag is there
}

func (a *app) issueFileCommand() *cobra.Command {
	var o issueOptions
	cmd := command("file", "file an issue, or find the one that is there", 0, 0,
		func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.issueFile(ctx, cmd, o) })
	cmd.Long = `Files an issue, unless there is one with its fingerprint: an open one gets a
comment, at most one in a day; one that was closed within the last day is opened
again; an older one is linked from the new one. Secrets are hidden.

With --task-file, a task that names an issue itself (#12) has that one, and none
is filed.

Where the tracker cannot be asked the issue is kept in a file on this machine
(exit 8, or 0 with --or-keep), and belay issue sync files it later.`
	o.named(cmd)
	f := cmd.Flags()
	f.StringVar(&o.body, "body", "", "its text")
	f.StringVar(&o.bodyFile, "body-file", "", "file with its text; - is stdin")
	f.StringVar(&o.taskFile, "task-file", "", "file with a task that may name its issue; - is stdin")
	f.StringArrayVar(&o.labels, "label", nil, "a label; one that the repository lacks is left out")
	return cmd
}

func (a *app) issueFindCommand() *cobra.Command {
	var o issueOptions
	cmd := command("find", "look whether the tracker has an issue: 0 it has, 1 it has not, 8 nobody can tell", 0, 0,
		func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.issueFind(ctx, cmd, o) })
	cmd.Long = `Looks for the issue with a fingerprint: one that is open, or was closed within the
last day, so that issue file would make no new one. It ends with 0 when there is
one, with 1 when there is none, and with 8 when the tracker could not be asked.`
	o.named(cmd)
	return cmd
}

func (a *app) issueListCommand() *cobra.Command {
	var asJSON bool
	cmd := command("list", "list the issues that this machine knows of", 0, 0,
		func(context.Context, *cobra.Command, []string) error { return a.issueList(asJSON) })
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each issue")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (a *app) issueSyncCommand() *cobra.Command {
	var o issueOptions
	cmd := command("sync", "file the issues that were kept while the tracker was away", 0, 0,
		func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.issueSync(ctx, cmd, o) })
	cmd.Long = `Files what was kept on this machine, and finds out about issues whose answer was
lost, each in the repository that was named for it. What has none yet goes to that
of --repo or issues.repo. It ends with 0 when nothing is left, else with 8.`
	o.placed(cmd)
	return cmd
}

// mark is the fingerprint that is meant.
func (a *app) mark(cmd *cobra.Command, o issueOptions) (string, error) {
	if o.mark != "" {
		p, err := tracker.CheckFingerprint(o.mark)
		if err != nil {
			return "", usage(cmd, err)
		}
		return p, nil
	}
	if strings.TrimSpace(o.title) == "" {
		return "", usage(cmd, errors.New("give --fingerprint, or --title, from which a fingerprint is made"))
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // then no path is inside of a repository
	}
	return tracker.Fingerprint(o.kind, o.title, o.where, check.Top(dir, dir)), nil
}

// desk is what files issues, on a state directory that can be trusted.
func (a *app) desk(cmd *cobra.Command, o issueOptions) (*tracker.Desk, error) {
	cfg, err := config.Load(a.environ)
	if err != nil {
		return nil, err
	}
	repo := cmp.Or(o.repo, cfg.Issues.Repo.Value)
	if err := tracker.CheckRepo(repo); repo != "" && err != nil {
		return nil, usage(cmd, fmt.Errorf("--repo %w", err))
	}
	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	st, err := journal.OpenState(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = st.Close() }() // only looked at: nothing to lose
	policy := tracker.DefaultPolicy()
	policy.Within, policy.Settle = cfg.Issues.Timeout.Value, cfg.Issues.Settle.Value
	return &tracker.Desk{
		State: st.Dir(), Repo: repo, Policy: policy, Hide: a.secretless(), Tell: a.say,
		Open: func(repo string, hold *os.File) tracker.Forge {
			return tracker.GitHub{Environ: a.environ, Repo: repo, Hold: hold, Policy: policy}
		},
		Filing: func(repo, _ string) string { return a.name() + " issue sync --repo " + cmp.Or(repo, "OWNER/NAME") },
	}, nil
}

// issueLine is an issue as a program reads it.
type issueLine struct {
	Filing tracker.Filing `json:"done,omitempty"` // what was done now
	tracker.Record
	Trouble tracker.TroubleKind `json:"trouble,omitempty"`
}

func (a *app) issueFile(ctx context.Context, cmd *cobra.Command, o issueOptions) error {
	mark, err := a.mark(cmd, o)
	if err != nil {
		return err
	}
	if strings.TrimSpace(o.title) == "" {
		return usage(cmd, errors.New("file needs a --title"))
	}
	if o.body != "" && o.bodyFile != "" || o.bodyFile == "-" && o.taskFile == "-" {
		return usage(cmd, errors.New("--body, --body-file and --task-file: one text at one place"))
	}
	rep := tracker.Report{Fingerprint: mark, Title: o.title, Body: o.body, Labels: o.labels}
	if o.bodyFile != "" {
		if rep.Body, err = textOf(o.bodyFile); err != nil {
			return err
		}
	}
	task := ""
	if o.taskFile != "" {
		if task, err = textOf(o.taskFile); err != nil {
			return err
		}
	}
	d, err := a.desk(cmd, o)
	if err != nil {
		return err
	}
	if n, ok := tracker.Named(task); ok {
		a.issueNamed(o, d.Repo, n)
		return nil
	}
	ctx, at := attend(ctx, nil)
	out, err := d.File(ctx, rep)
	if s := at.stop(); s != nil {
		return exit.New(s.ExitCode(), "file issue", s, "it is kept: "+a.name()+" issue sync files it")
	}
	if err != nil {
		return err
	}
	a.issueOut(out, o.json)
	if out.Trouble == nil || o.keep {
		return nil
	}
	return exit.New(exit.Infra, "", out.Trouble, cmp.Or(out.Trouble.Hint, "file it later with "+a.name()+" issue sync"))
}

// issueNamed answers for a task that has an issue of its own.
func (a *app) issueNamed(o issueOptions, repo string, n int) {
	if o.json {
		a.object(map[string]any{"done": "named", "repo": repo, "number": n})
		return
	}
	a.out.line("named      #%d", n)
}

// issueOut tells what came of an issue.
func (a *app) issueOut(out tracker.Outcome, asJSON bool) {
	l := issueLine{Filing: out.Filing, Record: out.Record}
	if out.Trouble != nil {
		l.Trouble = out.Trouble.Kind
	}
	switch {
	case asJSON:
		a.object(l)
	case out.Trouble != nil:
		a.out.line("%-9s  %s", out.Filing, out.Record.File)
		a.say("%s: %s", out.Record.Fingerprint, readable.Clean(out.Trouble.Error()))
	default:
		a.out.line("%-9s  %s", out.Filing, readable.Clean(cmp.Or(out.Record.URL, fmt.Sprintf("#%d", out.Record.Number))))
	}
}

// issueAnswer is what find tells a program.
type issueAnswer struct {
	Fingerprint string         `json:"fingerprint"`
	Repo        string         `json:"repo,omitempty"`
	Found       string         `json:"found"` // yes, no, kept or unknown
	Issue       *tracker.Issue `json:"issue,omitempty"`
	Why         string         `json:"why,omitempty"`
}

// words say where an issue is that was not found in its repository.
func (l issueAnswer) words() string {
	repo := cmp.Or(l.Repo, "a repository: none is set for issues")
	switch l.Found {
	case "no":
		return "no issue in " + repo
	case "kept":
		return "kept on this machine, not filed in " + repo
	}
	return "nobody could look for it in " + repo
}

func (a *app) issueFind(ctx context.Context, cmd *cobra.Command, o issueOptions) error {
	mark, err := a.mark(cmd, o)
	if err != nil {
		return err
	}
	d, err := a.desk(cmd, o)
	if err != nil {
		return err
	}
	ctx, at := attend(ctx, nil)
	is, found, err := d.Find(ctx, mark)
	if s := at.stop(); s != nil {
		return exit.New(s.ExitCode(), "find issue", s, "")
	}
	l := issueAnswer{Fingerprint: mark, Repo: d.Repo}
	var trouble *tracker.Trouble
	switch {
	case errors.As(err, &trouble):
		l.Found, l.Why = "unknown", trouble.Error()
		if o.keep && d.Keeps(mark) {
			l.Found, err = "kept", nil
		} else {
			err = exit.New(exit.Infra, "", trouble, trouble.Hint)
		}
	case err != nil:
		return err
	case found:
		l.Found, l.Issue = "yes", &is
	default:
		l.Found, err = "no", quietly(exit.Failed)
	}
	switch {
	case o.json:
		a.object(l)
	case found:
		a.out.line("%s", readable.Clean(is.URL))
	default:
		a.say("%s: %s", mark, l.words())
	}
	return err
}

func (a *app) issueList(asJSON bool) error {
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	list, bad, err := tracker.Records(dir)
	if err != nil {
		return err
	}
	for _, r := range list {
		if asJSON {
			a.object(issueLine{Record: r})
			continue
		}
		at := cmp.Or(r.URL, r.File)
		if r.Status != tracker.Filed {
			at = cmp.Or(r.File, r.URL)
		}
		a.out.line("%-6s  %s  %s  %s", r.Status, r.Fingerprint, readable.Clean(at), readable.Clean(r.Title))
	}
	if len(list) == 0 && len(bad) == 0 && !asJSON {
		a.say("this machine knows of no issues")
	}
	return errors.Join(bad...)
}

func (a *app) issueSync(ctx context.Context, cmd *cobra.Command, o issueOptions) error {
	d, err := a.desk(cmd, o)
	if err != nil {
		return err
	}
	ctx, at := attend(ctx, nil)
	left, err := d.Sync(ctx, func(out tracker.Outcome) { a.issueOut(out, o.json) })
	if s := at.stop(); s != nil {
		return exit.New(s.ExitCode(), "sync issues", s, "call it again")
	}
	if err != nil {
		return err
	}
	if left > 0 {
		return exit.New(exit.Infra, "sync issues", fmt.Errorf("%d of them are still on this machine only", left), "see "+a.name()+" issue list")
	}
	return nil
}

// textOf reads the beginning of a file; - is standard input.
func textOf(path string) (string, error) {
	in := io.Reader(os.Stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", exit.New(exit.Invalid, "read text", err, "")
		}
		defer func() { _ = f.Close() }() // read only: nothing to lose
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxBody))
	if err != nil {
		return "", exit.New(exit.Invalid, "read text", err, "")
	}
	return string(b), nil
}
