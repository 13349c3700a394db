package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/worktree"
)

// Carry is how the files of a run get from one machine to another: by a repository of
// git that all of them reach. A run without one stays where its directory is.
type Carry struct {
	Remote string `json:"remote"`
	Dir    string `json:"dir"`    // of the run, as its records have it
	Top    string `json:"top"`    // the checkout that it is in
	Below  string `json:"below"`  // and where in that
	Folder string `json:"folder"` // of the run, as its records have it
	Snap   Snap   `json:"snap"`   // the last that is on the remote
	Behind string `json:"behind,omitempty"`

	Clone  Cloned `json:"clone,omitempty"`
	Branch string `json:"branch,omitempty"` // of a clone: what is checked out at the commit; "" = none
}

// Snap names one snapshot of the files of a run.
type Snap struct {
	Ref    string `json:"ref"`
	Commit string `json:"commit"`
	Epoch  int64  `json:"epoch,omitempty"` // of the driver under which it was made
	N      int    `json:"n,omitempty"`
}

// before tells whether another one was made later.
func (s Snap) before(o Snap) bool {
	return s.Epoch < o.Epoch || s.Epoch == o.Epoch && s.N < o.N
}

// Done is what came of an attempt. Where the files are carried, they were pushed before
// it is told: who goes on elsewhere has all that is on record.
type Done struct {
	Facts  Facts  `json:"facts,omitempty"`
	Snap   *Snap  `json:"snap,omitempty"`   // nil = nothing changed since the last one
	Behind string `json:"behind,omitempty"` // why what changed is not on the remote
}

// UnmarshalJSON reads older histories, too: they have the facts alone.
func (d *Done) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		*d = Done{}
		return json.Unmarshal(b, &d.Facts)
	}
	type plain Done
	return json.Unmarshal(b, (*plain)(d))
}

const (
	carryWithin = 5 * time.Minute // for a snapshot to be made and pushed, or fetched
	treesName   = "trees"         // of the folder of worktrees, in that of the run
	placeName   = "place"         // of the checkout, beside them
	asideName   = "kept"          // of the folder of what is set aside
	blobsName   = "blobs"         // of that of big values
	movedName   = "moved"         // of the file that says for which driver the files were taken in
)

// checkout is where the files of the run are on this host.
func (p *place) checkout() string { return filepath.Join(p.folder, treesName, placeName) }

// housed finds out whether the run has its files on this host by themselves, and where.
func (p *place) housed(ctx context.Context) error {
	var c *Carry
	if err := p.query(ctx, &c, queryCarry); err != nil || c == nil {
		return err
	}
	state := p.host.Engine.State
	root, err := filepath.EvalSymlinks(state.Dir())
	if err != nil {
		return err
	}
	below, err := filepath.Rel(state.Dir(), string(state.Folder(p.root)))
	if err != nil {
		return err
	}
	p.folder = filepath.Join(root, below)
	if c.Clone == CloneAway && !(worktree.Fetched{Dir: p.checkout()}).Made() && p.host.has(ctx, c.Dir, c) == nil {
		p.here = true
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.homes = homes{{c.Folder, p.folder}, {c.Top, p.checkout()}}
	if filepath.Join(c.Top, c.Below) != c.Dir { // a link led there
		p.homes = append(p.homes, rehome{c.Dir, filepath.Join(p.checkout(), c.Below)})
	}
	return nil
}

// where says what paths of the records are here.
func (p *place) where() homes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.homes
}

// settle makes the files of the run be there. After the loss of another host, what is here
// from an earlier time is set aside, and the last snapshot counts.
func (p *place) settle(ctx context.Context, in AttachIn) error {
	if in.Carry == nil || p.here {
		return nil
	}
	u := worktree.Unpack{
		Remote: in.Carry.Remote, Ref: in.Carry.Snap.Ref, Commit: in.Carry.Snap.Commit,
		Dir: p.checkout(), Trees: filepath.Join(p.folder, treesName), Files: filepath.Join(p.folder, blobsName),
	}
	mark := filepath.Join(p.folder, movedName)
	if in.Lost != "" {
		b, err := os.ReadFile(mark)
		if was := strconv.FormatInt(in.Epoch, 10); err != nil || string(b) != was {
			if err := errors.Join(p.aside(was), os.WriteFile(mark, []byte(was), 0o600)); err != nil {
				return fmt.Errorf("set aside the files of an earlier time: %w", err)
			}
		}
	}
	if in.Carry.Clone != "" {
		return p.clone(ctx, in.Carry)
	}
	ctx, cancel := context.WithTimeout(ctx, carryWithin)
	defer cancel()
	return u.Run(ctx)
}

// aside puts the files of the run where they are in nobody's way: there may be work in them
// that is nowhere else.
func (p *place) aside(name string) error {
	to := filepath.Join(p.folder, asideName)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(p.folder, treesName), filepath.Join(to, treesName+"-"+name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// snapshot pushes the files of the run, if they changed since that was done last.
func (p *place) snapshot(ctx context.Context, to *Carry, epoch int64) (*Snap, string) {
	p.packing.Lock()
	defer p.packing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, carryWithin)
	defer cancel()
	c := p.carry()
	s := Snap{Ref: worktree.CarryRef(p.root, fmt.Sprintf("%d.%d", epoch, p.pushed+1)), Epoch: epoch, N: p.pushed + 1}
	c.Ref = s.Ref
	id, err := c.Pack(ctx)
	if err == nil && id == p.last {
		return nil, ""
	}
	if err == nil {
		err = c.Push(ctx, to.Remote, id)
	}
	if err != nil {
		return nil, worktree.Bare(err.Error())
	}
	s.Commit, p.last, p.pushed = id, id, p.pushed+1
	return &s, ""
}

// carry is what of this host gets to another one.
func (p *place) carry() worktree.Carry {
	p.hands.Lock()
	defer p.hands.Unlock()
	c := p.run.Carry(p.checkout())
	c.Trees, c.Files, c.All = filepath.Join(p.folder, treesName), filepath.Join(p.folder, blobsName), true
	return c
}

// changed tells whether facts are such that files may have changed, and are not to be
// lost with this host.
func changed(facts []flow.Fact) bool {
	for _, f := range facts {
		e, ended := f.Event.(event.AttemptEnded)
		if ended && e.Observation.Began && e.Observation.KilledBy != fault.KilledLease {
			return true
		}
	}
	return false
}

// deliver pushes what an ended run made, for people.
func (p *place) deliver(ctx context.Context, to *Carry) error {
	ctx, cancel := context.WithTimeout(ctx, carryWithin)
	defer cancel()
	c := p.carry()
	c.Ref = to.Snap.Ref
	if _, err := c.Pack(ctx); err != nil { // so that its files are as they are now
		return err
	}
	return c.Deliver(ctx, to.Remote, to.Snap.Commit)
}

// recount gives this host what the run has used of its budget, by the records: it was
// counted where the run was before.
func (p *place) recount() error {
	recs, err := p.run.Records()
	if err != nil {
		return err
	}
	for _, r := range recs {
		e, ended := r.Event.(event.AttemptEnded)
		if !ended || e.Observation.Agent == nil {
			continue
		}
		a := e.Observation.Agent
		if err := p.run.Site().Ledger.Spend(e.Key, a.Starts(), a.Result.Usage); err != nil {
			return err
		}
	}
	return nil
}

// carried says how the directory of a new run gets to its host, and pushes it where that
// is wanted. Without a way it says why.
func (e *Engine) carried(ctx context.Context, c engine.Copy, dir string) (got *Carry, stays string, err error) {
	if e.Snapshots == "" {
		return e.cloned(ctx, c, dir)
	}
	below, err := worktree.Prefix(ctx, dir)
	if err != nil {
		return nil, "", nil //nolint:nilerr // it is in no repository: the run stays where the directory is
	}
	got = &Carry{
		Remote: worktree.RemoteURL(ctx, dir, e.Snapshots), Dir: dir, Top: worktree.Whole(dir), Below: below, Folder: string(c.Folder()),
		Snap: Snap{Ref: worktree.CarryRef(c.ID(), "start")},
	}
	to := got.Remote
	if strings.Contains(to, "://") { // here the access that is in a URL may be used
		to = e.Snapshots
	}
	w := c.Carry(dir)
	w.Ref = got.Snap.Ref
	if got.Snap.Commit, err = w.Pack(ctx); err == nil {
		err = errors.Join(w.Push(ctx, to, got.Snap.Commit), w.Forget(ctx))
	}
	if err != nil {
		err = exit.New(exit.Infra, "push the directory of the run", err, "check --snapshots-to: it has to be a remote of git that this machine and all workers can write to")
	}
	return got, "", err
}
