// Package worktree looks at working trees with git: it takes fingerprints of
// them, tells what changed between two, keeps uncommitted work under refs of
// its own, names branches, and makes and removes worktrees.
//
// It starts git as a program and never touches the real index, the files or a
// branch that it did not make. It removes only what carries its own mark and
// what is proven to hold no work. It judges nothing: what a change is worth is
// for others to say.
package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxOutput = 64 << 20 // of one call of git, in bytes
	maxTalk   = 4 << 10  // of its stderr that is kept
	waitDelay = 2 * time.Second
)

// errOutput is given when git prints more than anyone here can use.
var errOutput = errors.New("git printed too much")

// git is one way to call git: the program, where, and with what.
type git struct {
	program string
	dir     string
	env     []string // over the cleaned environment
}

// GitError is a call of git that did not end well.
type GitError struct {
	Args []string
	Code int // -1: it did not run, or was ended
	Talk string
	err  error
}

func (e *GitError) Error() string {
	talk := complaint(e.Talk)
	if talk == "" {
		talk = e.err.Error()
	}
	return "git " + e.Args[0] + ": " + talk
}

// complaint is what git complains about, for people: its first line, and when
// that only tells what it does, the lines that say what is wrong.
func complaint(talk string) string {
	lines := strings.Split(strings.TrimSpace(talk), "\n")
	wrong := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
		return !strings.HasPrefix(l, "error: ") && !strings.HasPrefix(l, "fatal: ")
	})
	if len(wrong) == 0 || wrong[0] == lines[0] {
		return lines[0]
	}
	if len(wrong) > 2 {
		wrong = []string{wrong[0], wrong[len(wrong)-1]}
	}
	return strings.Join(wrong, "; ")
}

func (e *GitError) Unwrap() error { return e.err }

// with is the same git with more in its environment.
func (g git) with(env ...string) git {
	g.env = append(append([]string(nil), g.env...), env...)
	return g
}

// in is the same git in another folder.
func (g git) in(dir string) git {
	g.dir = dir
	return g
}

// set is the same git with settings of its own: keys and values in turn.
func (g git) set(pairs ...string) git {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(pairs)/2)}
	for i := 0; i+1 < len(pairs); i += 2 {
		n := strconv.Itoa(i / 2)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+pairs[i], "GIT_CONFIG_VALUE_"+n+"="+pairs[i+1])
	}
	return g.with(env...)
}

// run calls git and gives what it printed.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	return g.feed(ctx, nil, args...)
}

// line calls git for an answer of one line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// feed calls git with something on its stdin.
func (g git) feed(ctx context.Context, stdin []byte, args ...string) (string, error) {
	program := g.program
	if program == "" {
		program = "git"
	}
	cmd := exec.CommandContext(ctx, program, append(settings(), args...)...)
	cmd.Dir = g.dir
	cmd.Env = asSet(ctx, append(cleaned(os.Environ()), g.env...))
	if len(stdin) > 0 {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its filters too
	cmd.WaitDelay = waitDelay                                                            // a filter's child may hold the pipes
	out := &capped{max: maxOutput, strict: true}
	talk := &capped{max: maxTalk}
	cmd.Stdout, cmd.Stderr = out, talk
	err := cmd.Run()
	if err == nil {
		return out.buf.String(), nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if out.over {
		err = errOutput
	}
	code := -1
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	} else if _, gone := os.Stat(cmp.Or(g.dir, ".")); errors.Is(gone, fs.ErrNotExist) {
		return "", fmt.Errorf("the directory is gone: %w", gone) // the system speaks of git instead
	}
	return out.buf.String(), &GitError{Args: args, Code: code, Talk: talk.buf.String(), err: err}
}

// settings keep our calls from running hooks, waking daemons, collecting
// garbage, and refusing a file for the look of its line ends.
func settings() []string {
	return []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
		"-c", "maintenance.auto=false", "-c", "core.safecrlf=false", "-c", "core.splitIndex=false",
		"-c", "advice.detachedHead=false", "-c", "core.quotePath=false",
	}
}

// kept are the variables of git that say how it works on this machine, not
// which repository it looks at.
var kept = []string{"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_CAINFO"}

// cleaned is the environment of our calls: without anything that would lead
// git to another repository, index or author, and without questions.
func cleaned(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") && !oneOf(name, kept) || name == "LC_ALL" || name == "LANGUAGE" {
			continue
		}
		out = append(out, kv)
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GIT_PAGER=cat", "GIT_EDITOR=true")
}

func oneOf(s string, list []string) bool {
	for _, x := range list {
		if s == x {
			return true
		}
	}
	return false
}

// capped keeps the first bytes of what is written to it. A strict one refuses
// the rest, which ends the writer; another one swallows it.
type capped struct {
	buf    bytes.Buffer
	max    int
	strict bool
	over   bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.max - c.buf.Len()
	if len(p) <= room {
		return c.buf.Write(p)
	}
	c.over = true
	c.buf.Write(p[:max(room, 0)])
	if c.strict {
		return 0, errOutput
	}
	return len(p), nil
}

// place is a working tree as git sees it.
type place struct {
	git         // in its top folder
	top  string // the top folder of the work tree, without symbolic links
	own  string // the git folder of this work tree
	all  string // the git folder that all work trees of the repository share
	zero string // the id of nothing

	index string // a copy of the index that git is given instead; "" = the real one
}

// errNoTree is given for a folder that belongs to no work tree.
var errNoTree = errors.New("no work tree of git")

// find is the work tree that a folder belongs to.
func find(ctx context.Context, program, dir string) (place, error) {
	real, err := realPath(dir)
	if err != nil {
		return place{}, err
	}
	if p, ok := recalled(program, real); ok {
		return p, nil
	}
	p, sure, err := readPlace(program, real)
	if !sure {
		p, err = ask(ctx, program, real)
	}
	if err == nil {
		remember(program, real, p)
	}
	return p, err
}

// ask lets git say which work tree a folder belongs to.
func ask(ctx context.Context, program, real string) (place, error) {
	g := git{program: program, dir: real}
	out, err := g.run(ctx, "rev-parse", "--is-inside-work-tree", "--show-object-format", "--show-cdup", "--absolute-git-dir")
	if err != nil {
		return place{}, err
	}
	f := strings.SplitN(out, "\n", 4) // the path is the last, because it may hold a newline
	if len(f) != 4 || f[0] != "true" {
		return place{}, errNoTree
	}
	zero := strings.Repeat("0", 40)
	if f[1] == "sha256" {
		zero = strings.Repeat("0", 64)
	}
	top := joined(real, f[2])
	p := place{git: g.in(top), top: top, own: strings.TrimSuffix(f[3], "\n"), zero: zero}
	p.all, err = sharedBy(p.own)
	return p, err
}

// sharedBy is the git folder that a work tree's own one belongs to, as git notes it
// there; one without such a note is shared itself.
func sharedBy(own string) (string, error) {
	b, err := os.ReadFile(filepath.Join(own, "commondir"))
	if errors.Is(err, os.ErrNotExist) {
		return realPath(own)
	}
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	return realPath(joined(own, strings.TrimSuffix(string(b), "\n")))
}

// common is the git folder that all worktrees of the repository share.
func (g git) common(ctx context.Context) (string, error) {
	if p, err := find(ctx, g.program, g.dir); err == nil {
		return p.all, nil
	}
	out, err := g.line(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	return realPath(joined(g.dir, out))
}
