package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/readable"
)

type doctorOptions struct {
	probe bool
	json  bool
}

func (a *app) doctorCommand() *cobra.Command {
	var o doctorOptions
	cmd := command("doctor", "check whether this machine is ready for runs, and say what to fix", 0, 0,
		func(ctx context.Context, _ *cobra.Command, _ []string) error { return a.doctor(ctx, o) })
	f := cmd.Flags()
	f.BoolVar(&o.probe, "probe", false, "ask each installed agent for one word; this spends tokens")
	f.BoolVar(&o.json, "json", false, "print one JSON object per finding")
	return cmd
}

func (a *app) doctor(ctx context.Context, o doctorOptions) error {
	p, list, err := a.patient(o)
	if err != nil {
		return err
	}
	if names := p.Probed(); len(names) > 0 {
		a.say("asking %s for one word each: this spends tokens", strings.Join(names, ", "))
	}
	ctx, at := attend(ctx, nil)
	list = append(list, doctor.Examine(ctx, p)...)
	if s := at.stop(); s != nil {
		return exit.New(s.ExitCode(), "doctor", s, "")
	}
	for _, f := range list {
		if o.json {
			a.object(f)
			continue
		}
		a.finding(f)
	}
	if !o.json {
		a.out.line("ok: %d, notes: %d, warnings: %d, errors: %d", doctor.Count(list, doctor.LevelOK), doctor.Count(list, doctor.LevelNote),
			doctor.Count(list, doctor.LevelWarn), doctor.Count(list, doctor.LevelBlock))
	}
	if n := doctor.Count(list, doctor.LevelBlock); n > 0 {
		return exit.New(exit.Infra, "doctor", fmt.Errorf("findings that block runs: %d", n), "do what each of them says, then call "+a.name()+" doctor again")
	}
	return nil
}

// patient is this machine as its user has it. What would stop another command
// before it began is a finding here.
func (a *app) patient(o doctorOptions) (doctor.Patient, []doctor.Finding, error) {
	exe, err := a.self()
	if err != nil {
		return doctor.Patient{}, nil, err
	}
	var list []doctor.Finding
	blocks := func(check string, err error) {
		list = append(list, doctor.Finding{Check: check, Level: doctor.LevelBlock, What: err.Error(), Cure: hint(err)})
	}
	p := doctor.Patient{Self: []string{exe}, Environ: a.environ, Probe: o.probe, Settings: config.File(a.environ)}
	if p.Dir, err = workDir(""); err != nil {
		blocks("directory", err)
	}
	if p.State, err = a.stateDir(); err != nil {
		blocks("state", err)
	}
	cfg, err := config.Load(a.environ)
	if err != nil {
		blocks("settings", err)
		cfg = config.Defaults()
	}
	p.Default, p.Contain = cfg.Agents.Default.Value, cfg.Agents.Containment.Value
	p.Within = containment(p.Contain)
	if p.Roster, err = a.rosterOf(cfg, exe); err != nil {
		blocks("settings", err)
		p.Roster, err = a.rosterOf(config.Defaults(), exe)
	}
	return p, list, err
}

// finding prints one finding as a line, and its cure below it.
func (a *app) finding(f doctor.Finding) {
	if a.quiet && (f.Level == doctor.LevelOK || f.Level == doctor.LevelNote) {
		return
	}
	word := fmt.Sprintf("%-5s", f.Level)
	if a.colours(a.std.Out) {
		word = "\x1b[" + colourOf(f.Level) + "m" + word + "\x1b[0m"
	}
	a.out.line("%s  %-20s %s", word, readable.Clean(f.Check), readable.Clean(f.What))
	if f.Cure != "" {
		a.out.line("       fix: %s", readable.Clean(f.Cure))
	}
}

func colourOf(l doctor.Level) string {
	switch l {
	case doctor.LevelOK:
		return "32"
	case doctor.LevelNote:
		return "36"
	case doctor.LevelWarn:
		return "33"
	case doctor.LevelBlock:
		return "31"
	}
	return "0"
}
