package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/service"
)

// installLine is what --install or --uninstall did, as --json prints it.
type installLine struct {
	File    string   `json:"file"`
	Done    string   `json:"done"`           // written, there, removed or absent; of a dry run what it would be
	Text    string   `json:"text,omitempty"` // of a dry run: what would be written
	Next    []string `json:"next,omitempty"`
	Undo    []string `json:"undo,omitempty"`
	EnvFile string   `json:"environment_file,omitempty"`
}

// watchService is the service that looks after the state directory.
func (a *app) watchService() (service.Service, error) {
	dir, err := a.stateDir()
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return service.Service{}, err
	}
	exe, err := a.self()
	if err != nil {
		return service.Service{}, err
	}
	s := service.Service{
		Kind: service.Of(runtime.GOOS), Home: a.env("HOME"), Config: a.env("XDG_CONFIG_HOME"), Exe: exe, State: dir, Path: a.env("PATH"),
		Usual: a.state == "" && a.env("BELAY_STATE") == "" && a.env("XDG_STATE_HOME") == "",
	}
	switch {
	case s.Kind == "":
		return s, exit.New(exit.Invalid, "install watch", fmt.Errorf("no way is known to start services on %s", runtime.GOOS),
			"have your system start "+a.name()+" watch --window 0")
	case s.Home == "":
		return s, exit.New(exit.Invalid, "install watch", errors.New("there is no home directory"), "set HOME")
	}
	return s, nil
}

// watchAsService installs or uninstalls it.
func (a *app) watchAsService(cmd *cobra.Command, args []string, o watchOptions) error {
	switch {
	case o.install && o.uninstall || o.dry && o.uninstall || len(args) > 0:
		return usage(cmd, errors.New("--install and --uninstall stand alone; only --install takes --dry-run"))
	case o.install && o.dry:
		return a.showWatchService(o.json)
	case o.install:
		return a.installWatch(o.json)
	}
	return a.uninstallWatch(o.json)
}

// installWatch writes the file by which the system starts the watch, and says what
// to type.
func (a *app) installWatch(asJSON bool) error {
	s, err := a.watchService()
	if err != nil {
		return err
	}
	there, err := s.Install()
	if err != nil {
		return a.serviceFailed("install watch", s, err)
	}
	l := installLine{File: s.File(), Done: "written", Next: s.Start(), Undo: append(s.Stop(), a.name()+" watch --uninstall"), EnvFile: s.Variables()}
	if there {
		l.Done = "there"
	}
	if asJSON {
		a.object(l)
		return nil
	}
	a.out.line("%s", s.Said(there))
	a.out.line("start it, now and at each login:\n  %s", strings.Join(l.Next, "\n  "))
	if l.EnvFile != "" {
		a.out.line("variables that runs need (API keys, secrets), one NAME=VALUE on a line, go into %s (mode 600)", l.EnvFile)
	}
	a.out.line("undo it:\n  %s", strings.Join(l.Undo, "\n  "))
	return nil
}

// showWatchService prints the file that would be written, and where, and writes nothing.
func (a *app) showWatchService(asJSON bool) error {
	s, err := a.watchService()
	if err != nil {
		return err
	}
	there, err := s.There()
	if err != nil {
		return a.serviceFailed("install watch", s, err)
	}
	l := installLine{File: s.File(), Done: "written", Text: s.Text(), Next: s.Start(), EnvFile: s.Variables()}
	if there {
		l.Done = "there"
	}
	if asJSON {
		a.object(l)
		return nil
	}
	switch {
	case there:
		a.say("%s is there already; this is what it has, and nothing was written", l.File)
	default:
		a.say("%s would be written, with this text; nothing was written", l.File)
	}
	a.out.raw(strings.TrimSuffix(l.Text, "\n"))
	return nil
}

// uninstallWatch removes that file.
func (a *app) uninstallWatch(asJSON bool) error {
	s, err := a.watchService()
	if err != nil {
		return err
	}
	was, err := s.Uninstall()
	if err != nil {
		return a.serviceFailed("uninstall watch", s, err)
	}
	l := installLine{File: s.File(), Done: "absent"}
	text := s.File() + " is not there"
	if was {
		l.Done, text = "removed", "removed "+s.File()
		if s.Kind == service.Launchd {
			l.Next = s.Stop()
			text += "\nif it still runs:\n  " + strings.Join(l.Next, "\n  ")
		}
	}
	if asJSON {
		a.object(l)
		return nil
	}
	a.out.line("%s", text)
	return nil
}

func (a *app) serviceFailed(op string, s service.Service, err error) error {
	var foreign *service.Foreign
	var on *service.IsEnabled
	switch {
	case errors.As(err, &foreign):
		return exit.New(exit.Invalid, op, err, "move it away, then type the same again")
	case errors.As(err, &on):
		return exit.New(exit.Invalid, op, err, strings.Join(s.Stop(), "; ")+", then type the same again")
	}
	return exit.New(exit.Infra, op, err, "check the permissions of "+filepath.Dir(s.File()))
}
