package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What the programs must be able to do.
var (
	gitLeast     = release{2, 30} // rev-parse --end-of-options: names of revisions are data
	gitWorktrees = release{2, 36} // worktree list -z: folders with any name
	bashLeast    = release{4, 4}  // an empty array is no unset variable
)

// bash runs the shell steps.
func (p Patient) bash(ctx context.Context) []Finding {
	f, v := p.tool(ctx, checkBash, "shell steps run in it", "install bash")
	if f.Level == LevelOK && v.before(bashLeast) {
		f.Level = LevelWarn
		f.What += fmt.Sprintf(": before %s an empty array is an unset variable, and a strict script ends at it", bashLeast)
		f.Cure = "install bash " + bashLeast.String() + " or newer and put it first on the PATH"
	}
	return []Finding{f}
}

// git is what evidence is taken with.
func (p Patient) git(ctx context.Context) []Finding {
	f, v := p.tool(ctx, checkGit, "evidence, snapshots and worktrees are made with it", "install git "+gitWorktrees.String()+" or newer")
	switch {
	case f.Level != LevelOK:
		return []Finding{f}
	case v.before(gitLeast):
		f.Level, f.Cure = LevelBlock, "install git "+gitWorktrees.String()+" or newer"
		f.What += fmt.Sprintf(": evidence of an agent's work needs %s", gitLeast)
	case v.before(gitWorktrees):
		f.Level, f.Cure = LevelWarn, "install git "+gitWorktrees.String()+" or newer"
		f.What += fmt.Sprintf(": isolate: worktree and belay gc need %s", gitWorktrees)
	}
	return append([]Finding{f}, p.author(ctx, f.Facts["path"])...)
}

// author is who commits. Without one every commit of an agent is refused.
func (p Patient) author(ctx context.Context, git string) []Finding {
	var missing []string
	for _, w := range []struct{ key, author, committer string }{
		{"user.name", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"},
		{"user.email", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"},
	} {
		if p.env(w.author) != "" && p.env(w.committer) != "" {
			continue
		}
		if r := p.ask(ctx, git, "config", "--get", w.key); r.err != nil || strings.TrimSpace(r.out) == "" {
			missing = append(missing, w.key)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []Finding{{
		Check: checkGit + ".author", Level: LevelNote, What: "git has no " + strings.Join(missing, " and no ") + ": commits are refused or made under a made-up name",
		Cure: "run git config --global user.name NAME and git config --global user.email ADDRESS",
	}}
}

// gh makes pull requests. Nothing but steps that want one needs it.
func (p Patient) gh(ctx context.Context) []Finding {
	f, _ := p.tool(ctx, checkGH, "pull requests are made with it", "install gh if a recipe is to make pull requests")
	if f.Level != LevelOK {
		f.Level = LevelNote
		return []Finding{f}
	}
	sign := p.ghLogin()
	if sign == "" {
		f.Level, f.Cure = LevelNote, "run gh auth login, or set GH_TOKEN"
		f.What += ": no sign of a login"
		return []Finding{f}
	}
	f.What += ", login: " + sign
	f.Facts["login"] = sign
	return []Finding{f}
}

// ghLogin is where a login of gh shows, without asking anybody.
func (p Patient) ghLogin() string {
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN"} {
		if p.env(name) != "" {
			return name
		}
	}
	dir := p.env("GH_CONFIG_DIR")
	if dir == "" && p.env("XDG_CONFIG_HOME") != "" {
		dir = filepath.Join(p.env("XDG_CONFIG_HOME"), "gh")
	}
	if dir == "" {
		dir = filepath.Join(p.env("HOME"), ".config", "gh")
	}
	file := filepath.Join(dir, "hosts.yml")
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return ""
	}
	return file
}

// tool looks for a program and asks for its version.
func (p Patient) tool(ctx context.Context, name, use, cure string) (Finding, release) {
	f := Finding{Check: name, Level: LevelOK, Facts: map[string]string{}}
	path := p.find(name)
	if path == "" {
		f.Level, f.What, f.Cure = LevelBlock, name+" is not on the PATH: "+use, cure
		return f, release{}
	}
	f.Facts["path"] = path
	r := p.ask(ctx, path, "--version")
	if t := r.trouble(); t != "" {
		f.Level, f.What, f.Cure = LevelBlock, path+" --version: "+t, "run it by hand; "+cure
		return f, release{}
	}
	v, text := releaseIn(r.out)
	if text == "" {
		f.Level, f.What, f.Cure = LevelWarn, path+" does not tell its version", "check that it is "+name+"; "+cure
		return f, release{}
	}
	f.Facts["version"] = text
	f.What = fmt.Sprintf("%s %s (%s)", name, text, path)
	return f, v
}
