package tracker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Desk files issues for one machine.
type Desk struct {
	State  string                                   // the state directory
	Repo   string                                   // where issues go; "" = they stay here
	Open   func(repo string, hold *os.File) Forge   // its calls keep hold open while they run
	Hide   func(string) string                      // the door for secrets
	Tell   func(format string, args ...any)         // talk about what takes its time
	Filing func(repo, mark string) (command string) // what files a kept issue later
	Policy Policy
}

// Report is one sighting of something that is to have an issue.
type Report struct {
	Fingerprint string
	Title       string
	Body        string
	Labels      []string

	first time.Time // of a record that moves to its repository
	times int
}

// Filing is the closed list of what came of filing.
type Filing string

const (
	Created   Filing = "created"
	Commented Filing = "commented"
	Reopened  Filing = "reopened"
	Known     Filing = "known" // it was there, and says all
	Stayed    Filing = "kept"  // in a file on this machine
	Doubtful  Filing = "unsure"
)

// Outcome is what came of one issue.
type Outcome struct {
	Filing  Filing
	Record  Record
	Trouble *Trouble // why it is not in the tracker
}

// File writes a report down, then sees to it that the tracker has one issue for
// it. An error is about this machine; that the tracker is away is an outcome.
func (d *Desk) File(ctx context.Context, rep Report) (Outcome, error) {
	c, err := stake(ctx, d.State, d.Repo, rep.Fingerprint, d.Policy.Wait)
	if err != nil {
		return Outcome{}, err
	}
	defer c.release()
	r, err := load(recordPath(d.State, d.Repo, rep.Fingerprint))
	if err != nil {
		return Outcome{}, err
	}
	r = d.noted(r, rep, time.Now())
	if err := r.save(d.State); err != nil {
		return Outcome{}, err
	}
	return d.deliver(ctx, r, c.file)
}

// noted adds a report to what is known. Its words are those of the next issue.
func (d *Desk) noted(r Record, rep Report, now time.Time) Record {
	if r.Fingerprint == "" {
		r = Record{Fingerprint: rep.Fingerprint, Repo: d.Repo, Status: Kept, Filing: drawFiling(), First: now}
	}
	if !rep.first.IsZero() && rep.first.Before(r.First) {
		r.First = rep.first
	}
	r.Title, r.Body, r.Labels = headline(d.Hide(rep.Title)), harmless(d.Hide(rep.Body)), nil
	for _, l := range rep.Labels {
		r.Labels = append(r.Labels, headline(d.Hide(l)))
	}
	r.Seen, r.Times = now, r.Times+max(rep.times, 1)
	return r
}

// deliver brings a record to the tracker: look, decide, write down, act, and
// look again, until there is nothing left to do or the tracker is away.
func (d *Desk) deliver(ctx context.Context, r Record, hold *os.File) (Outcome, error) {
	if r.Repo == "" {
		return d.keep(r, noRepo("file issue"))
	}
	e := &errand{desk: d, forge: d.Open(r.Repo, hold), rec: r, filing: Known}
	for range 4 * d.Policy.Tries {
		m, trouble := e.look(ctx)
		switch {
		case trouble != nil && e.made.Number > 0:
			return d.filed(e.rec, e.made, e.filing) // only whether it has a twin is not known
		case trouble != nil:
			return d.keep(e.rec, trouble)
		}
		if m.kind == moveDone {
			return d.filed(e.rec, m.issue, e.filing)
		}
		trouble, err := e.take(ctx, m)
		if err != nil {
			return Outcome{}, err
		}
		if trouble != nil && (trouble.Kind != TroubleLost || e.acts >= d.Policy.Tries) {
			return d.keep(e.rec, trouble)
		}
	}
	return d.keep(e.rec, &Trouble{Kind: TroubleLost, Op: "file issue", Detail: "it did not come to rest"})
}

// keep leaves an issue on this machine, with a file that a person can read.
func (d *Desk) keep(r Record, why *Trouble) (Outcome, error) {
	r.Status, r.Why = Kept, why.Error()
	filing := Stayed
	if r.Intent != nil && r.Intent.Act == ActCreate {
		r.Status, filing = Unsure, Doubtful
	}
	file, err := r.leaflet(d.State, d.Filing(r.Repo, r.Fingerprint))
	if err != nil {
		return Outcome{}, err
	}
	r.File = file
	return Outcome{Filing: filing, Record: r, Trouble: why}, r.save(d.State)
}

// filed writes down where the issue is.
func (d *Desk) filed(r Record, is Issue, filing Filing) (Outcome, error) {
	leaflet := r.File
	r.Status, r.Number, r.URL, r.Intent, r.Why, r.File = Filed, is.Number, is.URL, nil, "", ""
	if err := r.save(d.State); err != nil {
		return Outcome{}, err
	}
	if leaflet != "" {
		if err := os.Remove(leaflet); err != nil && !errors.Is(err, os.ErrNotExist) {
			return Outcome{}, unwritten(leaflet, err)
		}
	}
	return Outcome{Filing: filing, Record: r}, nil
}

// Find is the issue that a fingerprint means in the tracker: one that is open, or
// one that filing would reopen. That it is not there is no error; that nobody
// could be asked is a *Trouble.
func (d *Desk) Find(ctx context.Context, mark string) (Issue, bool, error) {
	r, err := load(recordPath(d.State, d.Repo, mark))
	if err != nil {
		return Issue{}, false, err
	}
	if d.Repo == "" {
		return Issue{}, false, noRepo("find issue")
	}
	r.Fingerprint = mark
	e := &errand{desk: d, forge: d.Open(d.Repo, nil), rec: r}
	found, trouble := e.find(ctx)
	if trouble != nil {
		return Issue{}, false, trouble
	}
	is, ok := stands(found, time.Now())
	return is, ok, nil
}

// Keeps tells whether an issue is written down on this machine.
func (d *Desk) Keeps(mark string) bool {
	r, err := load(recordPath(d.State, d.Repo, mark))
	return err == nil && r.Fingerprint != ""
}

// tooMany is how many issues in a row may stay here before a sync gives up.
const tooMany = 3

// Sync files what was kept, and finds out about what is unsure: each in the
// repository that was named for it, and what has none in that of the desk. Each
// outcome is seen as it comes.
func (d *Desk) Sync(ctx context.Context, see func(Outcome)) (left int, err error) {
	list, bad, err := Records(d.State)
	if err != nil {
		return 0, err
	}
	row := 0
	for _, r := range list {
		if r.Status == Filed {
			continue
		}
		if row >= tooMany {
			left++
			continue
		}
		out, err := d.again(ctx, r)
		if err != nil {
			return left, err
		}
		if out.Record.Fingerprint == "" {
			continue // another process has seen to it
		}
		see(out)
		row++
		if out.Trouble == nil {
			row = 0
			continue
		}
		left++
		if out.Trouble.Kind == TroubleNoRepo || out.Trouble.Kind == TroubleRefused {
			row = 0 // that says nothing of the others
		}
	}
	if row >= tooMany {
		d.Tell("gave up: the tracker is away")
	}
	return left, errors.Join(bad...)
}

// again delivers a record that was left here.
func (d *Desk) again(ctx context.Context, r Record) (Outcome, error) {
	c, err := stake(ctx, d.State, r.Repo, r.Fingerprint, d.Policy.Wait)
	if err != nil {
		return Outcome{}, err
	}
	defer c.release()
	path := recordPath(d.State, r.Repo, r.Fingerprint)
	if r, err = load(path); err != nil || r.Fingerprint == "" || r.Status == Filed {
		return Outcome{}, err
	}
	if r.Repo != "" || d.Repo == "" {
		return d.deliver(ctx, r, c.file)
	}
	out, err := d.File(ctx, Report{Fingerprint: r.Fingerprint, Title: r.Title, Body: r.Body, Labels: r.Labels, first: r.First, times: r.Times})
	if err != nil {
		return out, err
	}
	for _, old := range []string{r.File, path} { // it has its place now
		if err := os.Remove(old); old != "" && err != nil && !errors.Is(err, os.ErrNotExist) {
			return out, unwritten(old, err)
		}
	}
	return out, nil
}

func noRepo(op string) *Trouble {
	return &Trouble{Kind: TroubleNoRepo, Op: op, Detail: "no repository is set for issues", Hint: "set issues.repo, or name one with --repo"}
}

func lostAnswer(op, format string, args ...any) *Trouble {
	return &Trouble{Kind: TroubleLost, Op: op, Detail: fmt.Sprintf(format, args...)}
}
