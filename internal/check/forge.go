package check

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/effect"
)

const (
	askWithin   = 30 * time.Second // one question to the forge
	gitWithin   = 20 * time.Second // one question to git
	maxBranches = 5                // that the forge is asked about
	maxPulls    = 20               // that are kept
	maxAnswer   = 1 << 20          // of what a forge says
	noLogin     = 4                // the exit of gh when nobody is logged in
)

// Forges are the programs that can ask about pull requests.
var Forges = []string{"gh", "glab"}

// askForge asks which pull requests have a commit of the attempt as their head.
func askForge(ctx context.Context, o Order, env []string) effect.PRReport {
	q := o.PR
	r := effect.PRReport{Since: q.Since}
	g := repo{dir: o.Dir, env: env}
	head := g.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if head == "" {
		return trouble(r, effect.PRNoCommit, "there is no commit in "+o.Dir)
	}
	for _, c := range append([]string{head}, q.Commits...) {
		if len(r.Heads) < maxPulls && !slices.ContainsFunc(r.Heads, func(h effect.PRHead) bool { return h.Commit == c }) {
			r.Heads = append(r.Heads, effect.PRHead{Commit: c, New: c != head || slices.Contains(q.Commits, c) || g.fresh(ctx, c, q)})
		}
	}
	remote := g.remote(ctx)
	if remote == "" {
		return trouble(r, effect.PRNoRemote, "the repository has no remote")
	}
	forge, ok := choose(q.Forges, remote)
	if !ok {
		return trouble(r, effect.PRNoProgram, "neither gh nor glab was there at the start of the run")
	}
	r.Forge = forge.Name
	if now := program(forge.Name, "", variable(env, "PATH")); now.Path != forge.Path || now.Sum != forge.Sum {
		return trouble(r, effect.PRSwapped, forge.Path+" is not the program that it was at the start of the run")
	}
	for _, branch := range g.branches(ctx, r.Heads) {
		list, what, why := pulls(ctx, forge, branch, o, env)
		if what != effect.PRNoTrouble {
			return trouble(r, what, why)
		}
		for _, p := range list {
			if len(r.Found) < maxPulls && !slices.Contains(r.Found, p) {
				r.Found = append(r.Found, p)
			}
		}
	}
	return r
}

func trouble(r effect.PRReport, what effect.PRTrouble, why string) effect.PRReport {
	r.Trouble, r.Detail = what, why
	return r
}

// choose takes the program that fits the remote, else the first that is there.
func choose(list []effect.Program, remote string) (effect.Program, bool) {
	there := slices.DeleteFunc(slices.Clone(list), func(p effect.Program) bool { return p.Path == "" })
	for _, fit := range [][2]string{{"github", "gh"}, {"gitlab", "glab"}} {
		if !strings.Contains(remote, fit[0]) {
			continue
		}
		i := slices.IndexFunc(there, func(p effect.Program) bool { return p.Name == fit[1] })
		if i < 0 {
			return effect.Program{}, false
		}
		return there[i], true
	}
	if len(there) == 0 {
		return effect.Program{}, false
	}
	return there[0], true
}

// repo asks git about a repository.
type repo struct {
	dir string
	env []string
}

func (g repo) line(ctx context.Context, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, gitWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, append(slices.Clone(g.env), "GIT_OPTIONAL_LOCKS=0"), time.Second
	out, err := cmd.Output()
	if err != nil {
		return "" // what git cannot tell is not there
	}
	return strings.TrimSpace(string(out))
}

// remote is the address of the remote that work is pushed to.
func (g repo) remote(ctx context.Context) string {
	if url := g.line(ctx, "remote", "get-url", "origin"); url != "" {
		return url
	}
	first, _, _ := strings.Cut(g.line(ctx, "remote"), "\n")
	if first == "" {
		return ""
	}
	return g.line(ctx, "remote", "get-url", first)
}

// fresh tells whether a commit was made since the base: it is not in the history
// of the base, and its date is not before it.
func (g repo) fresh(ctx context.Context, commit string, q *effect.PRQuestion) bool {
	if commit == q.Base {
		return false
	}
	if q.Base != "" && g.line(ctx, "merge-base", commit, q.Base) == commit {
		return false
	}
	at, err := strconv.ParseInt(g.line(ctx, "show", "-s", "--format=%ct", commit), 10, 64)
	return err == nil && !time.Unix(at, 0).Before(q.Since.Truncate(time.Second))
}

// branches are the names under which commits may have been pushed.
func (g repo) branches(ctx context.Context, heads []effect.PRHead) []string {
	var list []string
	add := func(name string) {
		if name != "" && name != "HEAD" && len(list) < maxBranches && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	add(g.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"))
	for _, h := range heads {
		for _, ref := range strings.Fields(g.line(ctx, "for-each-ref", "--points-at="+h.Commit, "--format=%(refname:lstrip=2)", "refs/heads")) {
			add(ref)
		}
		for _, ref := range strings.Fields(g.line(ctx, "for-each-ref", "--points-at="+h.Commit, "--format=%(refname:lstrip=3)", "refs/remotes")) {
			add(ref)
		}
	}
	return list
}

// pulls asks the forge about one branch.
func pulls(ctx context.Context, forge effect.Program, branch string, o Order, env []string) ([]effect.PullRequest, effect.PRTrouble, string) {
	args := []string{"pr", "list", "--head", branch, "--state", "all", "--limit", "30", "--json", "number,url,headRefOid,state,createdAt,mergedAt"}
	if forge.Name == "glab" {
		args = []string{"mr", "list", "--source-branch", branch, "--all", "--output", "json"}
	}
	within := cmp.Or(o.Within, askWithin)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, forge.Path, args...)
	cmd.Dir, cmd.WaitDelay = o.Dir, time.Second
	cmd.Env = append(slices.Clone(env), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "NO_PROMPT=1")
	var out, said limited
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, effect.PRNoAnswer, fmt.Sprintf("%s did not answer within %s", forge.Name, within)
	case errors.As(err, &exit) && exit.ExitCode() == noLogin && forge.Name == "gh":
		return nil, effect.PRNoLogin, "gh is not logged in"
	case err != nil:
		return nil, effect.PRNoAnswer, strings.TrimSpace(fmt.Sprintf("%s: %v: %s", forge.Name, err, lastLine(said.String())))
	}
	list, err := readPulls(out.Bytes())
	if err != nil {
		return nil, effect.PRUnreadable, fmt.Sprintf("the answer of %s could not be read: %v", forge.Name, err)
	}
	return list, effect.PRNoTrouble, ""
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if room := maxAnswer - l.Len(); room > 0 {
		l.Buffer.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// pull is a pull request in the words of gh, and a merge request in those of glab.
type pull struct {
	Number   int       `json:"number"`
	IID      int       `json:"iid"`
	URL      string    `json:"url"`
	WebURL   string    `json:"web_url"`
	Head     string    `json:"headRefOid"` //nolint:tagliatelle // as gh writes it
	Sha      string    `json:"sha"`
	State    string    `json:"state"`
	Created  time.Time `json:"createdAt"` //nolint:tagliatelle // as gh writes it
	Made     time.Time `json:"created_at"`
	Merged   time.Time `json:"mergedAt"` //nolint:tagliatelle // as gh writes it
	MergedAt time.Time `json:"merged_at"`
}

func readPulls(text []byte) ([]effect.PullRequest, error) {
	var raw []pull
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	var list []effect.PullRequest
	for _, p := range raw {
		r := effect.PullRequest{Number: p.Number, URL: p.URL, Head: p.Head, State: effect.PRClosed, Created: p.Created, Merged: p.Merged}
		if p.IID > 0 {
			r.Number, r.URL, r.Head, r.Created, r.Merged = p.IID, p.WebURL, p.Sha, p.Made, p.MergedAt
		}
		switch strings.ToLower(p.State) {
		case "open", "opened":
			r.State = effect.PROpen
		case "merged":
			r.State = effect.PRMerged
		}
		list = append(list, r)
	}
	return list, nil
}
