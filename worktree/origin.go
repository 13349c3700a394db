package worktree

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
)

// Origin is what a checkout stands at, and the remote where another machine finds it.
type Origin struct {
	Remote string // a URL without a password, or a path
	Commit string
	Branch string // that is checked out; "" = none
	Top    string // of the checkout
	Below  string // where the directory is in it
	Loose  int    // files that are not committed
}

// OriginOf looks at the checkout that a directory is in, and says why no other machine
// can have its commit from a remote, in a plain sentence; "" = it can. The remote is one
// of the repository, by its name, or a URL. With ask it is asked where what is known
// here does not tell.
func OriginOf(ctx context.Context, dir, remote string, ask bool) (o Origin, why string, err error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return o, "it is in no git repository", nil //nolint:nilerr // that is what the error says
	}
	if o.Below, err = Prefix(ctx, dir); err != nil {
		return o, "", err
	}
	o.Top, o.Remote = p.top, RemoteURL(ctx, dir, remote)
	if o.Remote == remote && !strings.ContainsAny(remote, "/:") {
		return o, "there is no remote " + remote, nil
	}
	if why, err = p.noCommit(ctx); why != "" || err != nil {
		return o, why, err
	}
	if o.Commit, err = p.line(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return o, "", err
	}
	o.Branch, _ = p.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD") // none: it is detached
	if why, err = p.unlikeClone(ctx, o); why != "" || err != nil {
		return o, why, err
	}
	out, err := p.run(ctx, "status", "--porcelain", "-z", "--no-renames")
	if err != nil {
		return o, "", err
	}
	o.Loose = len(records(out))
	there, err := p.isOn(ctx, remote, o, ask)
	if err == nil && !there {
		why = "its commit is not pushed to " + remote
	}
	return o, why, err
}

// unlikeClone looks for what a clone would lack of what is committed.
func (p place) unlikeClone(ctx context.Context, o Origin) (string, error) {
	modules, err := p.fromIndex(ctx, func(r rawEntry) bool { return r.mode == 0o160000 })
	if err != nil {
		return "", err
	}
	if len(modules) > 0 {
		return "the repository has submodules (" + shown(modules[0].path) + "), which are not cloned", nil
	}
	if _, err := p.run(ctx, "cat-file", "-e", o.Commit+":"+o.Below); err != nil {
		return "its directory " + shown(o.Below) + " is in no commit", ctx.Err()
	}
	return "", nil
}

// isOn tells whether a commit is on a remote: by what was last seen of it, or by what it
// has now.
func (p place) isOn(ctx context.Context, remote string, o Origin, ask bool) (bool, error) {
	if !strings.ContainsAny(remote, "/:*?[") {
		out, err := p.run(ctx, "for-each-ref", "--count=1", "--contains", o.Commit, "refs/remotes/"+remote+"/")
		if err != nil || out != "" {
			return out != "", err
		}
	}
	if !ask {
		return false, nil
	}
	out, err := p.run(ctx, "ls-remote", "--heads", "--tags", "--quiet", "--end-of-options", remote)
	if err != nil {
		return false, err
	}
	var tips strings.Builder
	for line := range strings.Lines(out) {
		id, _, _ := strings.Cut(line, "\t")
		tips.WriteString(id + "\n")
	}
	if out, err = p.feed(ctx, []byte(tips.String()), "cat-file", "--batch-check=%(objectname) %(objecttype)"); err != nil {
		return false, err
	}
	revs := o.Commit + "\n"
	for line := range strings.Lines(out) {
		if id, what, _ := strings.Cut(strings.TrimSpace(line), " "); what == "commit" || what == "tag" {
			revs += "^" + id + "\n"
		}
	}
	out, err = p.feed(ctx, []byte(revs), "rev-list", "--max-count=1", "--stdin")
	return err == nil && out == "", err
}

// RemoteURL is where a remote of a repository lies; a URL, or a path, is itself. What
// gives access is left out: who uses it has that, or has none.
func RemoteURL(ctx context.Context, dir, remote string) string {
	g := git{dir: dir}
	url, err := g.line(ctx, "config", "--get", "remote."+remote+".url")
	if err != nil || url == "" {
		url = remote
	}
	if strings.HasPrefix(url, "./") || strings.HasPrefix(url, "../") { // a path is seen from the top
		if p, err := find(ctx, "", dir); err == nil {
			return filepath.Join(p.top, url)
		}
	}
	return Bare(url)
}

var access = regexp.MustCompile(`\b(https?|ftps?)://[^/@\s]*@|\b(ssh|git)://([^/:@\s]*):[^/@\s]*@`)

// Bare is a text without what gives access in the URLs of it: the user and password of
// the web, and the password of ssh.
func Bare(text string) string {
	return access.ReplaceAllStringFunc(text, func(found string) string {
		scheme, rest, _ := strings.Cut(found, "://")
		if user, _, ssh := strings.Cut(rest, ":"); ssh && !strings.HasPrefix(scheme, "http") && !strings.HasPrefix(scheme, "ftp") {
			return scheme + "://" + user + "@"
		}
		return scheme + "://"
	})
}
