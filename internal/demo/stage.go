package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

//go:embed files
var files embed.FS

// markVar marks every process of a showing, and tells its agents where the
// folder is.
const markVar = "BELAY_DEMO"

// stage is the folder of a showing and what runs in it.
type stage struct {
	self   string
	folder string
	env    []string
	color  string
	keep   bool
	part   time.Duration // between the polite signal and the last one; 0 = partFor
}

// newStage makes the folder: a repository, the recipes and the script of the
// agents, and settings and state of its own.
func newStage(ctx context.Context, d Demo) (*stage, error) {
	for _, tool := range []string{"git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, exit.New(exit.Infra, "look for "+tool, err, "install "+tool)
		}
	}
	folder, err := os.MkdirTemp("", "belay-demo-")
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return nil, exit.New(exit.Infra, "make a folder", err, "check the TMPDIR")
	}
	s := &stage{self: d.Self, folder: folder, env: environ(d.Env, folder), color: "never", keep: d.Keep}
	if d.Colour {
		s.color = "always"
	}
	if err := s.furnish(ctx); err != nil {
		err = exit.New(exit.Infra, "prepare", because(ctx, err), "")
		return nil, errors.Join(err, journal.RemoveAll(folder))
	}
	return s, nil
}

// environ is what the processes of a showing get: of their user only where
// programs are, and how text is written.
func environ(user []string, folder string) []string {
	var env []string
	for _, kv := range user {
		switch name, _, _ := strings.Cut(kv, "="); {
		case name == "PATH", name == "LANG", strings.HasPrefix(name, "LC_"), name == "TERM", name == "NO_COLOR", name == "TZ":
			env = append(env, kv)
		}
	}
	return append(env,
		markVar+"="+folder, "HOME="+filepath.Join(folder, "home"), "TMPDIR="+filepath.Join(folder, "tmp"),
		"BELAY_STATE="+filepath.Join(folder, "state"), "BELAY_CONFIG="+filepath.Join(folder, "config.yaml"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+folder,
		"GIT_AUTHOR_NAME=Belay Demo", "GIT_AUTHOR_EMAIL=demo@example.org",
		"GIT_COMMITTER_NAME=Belay Demo", "GIT_COMMITTER_EMAIL=demo@example.org",
	)
}

func (s *stage) furnish(ctx context.Context) error {
	for _, dir := range []string{"repo", "home", "tmp", "state"} {
		if err := os.Mkdir(s.path(dir), 0o700); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{
		"ship.yaml": "", "version.yaml": "", "archive.yaml": "", "flat.yaml": "", "route.yaml": "", "notes.yaml": "", "agents.yaml": "", "total.sh": "repo", "test.sh": "repo",
	} {
		text, err := files.ReadFile("files/" + name)
		if err == nil {
			err = os.WriteFile(s.path(to, name), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	settings := fmt.Sprintf("agent: alba\nagents:\n  alba: {kind: scripted, script: %[1]q}\n  bruno: {kind: scripted, script: %[1]q}\nrecovery: {staff: [bruno]}\n", s.path("agents.yaml"))
	if err := os.WriteFile(s.path("config.yaml"), []byte(settings), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "total: a first version"}} {
		if r := s.ask(ctx, "git", args...); r.err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], r.err, r.text)
		}
	}
	return nil
}

// reply is what a program answered.
type reply struct {
	text string
	err  error
}

// ask calls a program in the repository.
func (s *stage) ask(ctx context.Context, name string, args ...string) reply {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.path("repo"), s.env
	out, err := cmd.CombinedOutput()
	return reply{strings.TrimSpace(string(out)), err}
}
