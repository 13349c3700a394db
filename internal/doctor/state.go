package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

// state opens the state directory as every command does, which makes it when it
// is not there, and reads its index, which is a database with a log of its own.
func (p Patient) state(context.Context) []Finding {
	if p.State == "" {
		return nil
	}
	runs, err := runsIn(p.State)
	if err != nil {
		return []Finding{{Check: checkState, Level: LevelBlock, What: err.Error(), Cure: hint(err), Facts: map[string]string{"dir": p.State}}}
	}
	n := strconv.Itoa(len(runs))
	list := []Finding{{
		Check: checkState, Level: LevelOK, What: p.State + " is private, can be written and holds " + n + " runs",
		Facts: map[string]string{"dir": p.State, "runs": n},
	}}
	for _, r := range runs {
		if r.Status == journal.Unreadable && !r.Gone {
			list = append(list, Finding{
				Check: checkState, Level: LevelWarn, What: fmt.Sprintf("run %s cannot be read: %s", r.ID, r.Reason), Cure: r.Cure,
				Facts: map[string]string{"dir": p.State, "run": string(r.ID)},
			})
		}
	}
	return list
}

func runsIn(dir string) (runs []journal.Summary, err error) {
	st, err := journal.OpenState(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return st.Runs()
}

// hint is what an error says that a person can do.
func hint(err error) string {
	var coded *exit.Error
	if errors.As(err, &coded) && coded.Hint != "" {
		return coded.Hint
	}
	return "check the directory, or name another one (BELAY_STATE)"
}

// containment tells how well an agent and all that it starts can be held.
func (p Patient) containment(ctx context.Context) []Finding {
	level := proc.Containment()
	f := Finding{Check: checkContain, Level: LevelOK, Facts: map[string]string{}}
	if err := proc.ProbeNamespace(ctx, slices.Concat(p.Self, []string{"nsinit", "--"})); err == nil {
		if p.Contain >= int(proc.LevelNamespace) { // it is used only where it is asked for
			level = proc.LevelNamespace
		} else {
			f.Facts["namespace"] = "can be had: agents.containment: 2"
		}
	} else {
		f.Facts["no_namespace"] = err.Error()
	}
	f.Facts["level"] = strconv.Itoa(int(level))
	f.What = fmt.Sprintf("level %d of %d (%s): ", level, proc.LevelNamespace, level)
	switch level {
	case proc.LevelGroup:
		f.Level = LevelNote
		f.What += "a program that leaves its group and its environment can outlive its step"
		f.Cure = "run on Linux where that matters"
	case proc.LevelSubreaper:
		f.What += "processes that a step leaves behind are found and ended, which is enough for most runs"
		if f.Facts["namespace"] != "" {
			f.What += "; with agents.containment: 2 in the settings the kernel ends all that an agent leaves behind"
		}
	case proc.LevelNamespace:
		f.What += "the kernel ends what an agent leaves behind"
	}
	if p.Contain > int(level) {
		f.Level, f.Cure = LevelWarn, fmt.Sprintf("run as root, or set agents.containment to %d", level)
		f.What += fmt.Sprintf("; level %d is asked for and cannot be had", p.Contain)
	}
	return []Finding{f}
}

// logind looks whether a logout ends the runs that were left to go on.
func (p Patient) logind(context.Context) []Finding {
	etc := p.Etc
	if etc == "" {
		etc = "/etc"
	}
	files := []string{filepath.Join(etc, "systemd", "logind.conf")}
	more, err := filepath.Glob(filepath.Join(etc, "systemd", "logind.conf.d", "*.conf"))
	if err == nil { // else the path is no pattern: there are none
		files = append(files, more...)
	}
	kills, where := false, ""
	for _, file := range files { // a later one goes over an earlier one
		if value, ok := settingIn(file, "KillUserProcesses"); ok {
			kills, where = isYes(value), file
		}
	}
	if !kills {
		return nil
	}
	return []Finding{{
		Check: checkLogind, Level: LevelNote, What: where + " ends all processes of a user at logout: a run that goes on without you ends with your session, and its steps are lost",
		Cure:  "set KillUserProcesses=no there, or start belay with systemd-run --user --scope after loginctl enable-linger",
		Facts: map[string]string{"file": where},
	}}
}

// settingIn is the last value that a file of the form NAME=value gives a name.
func settingIn(file, name string) (value string, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return "", false // no file, no setting
	}
	defer f.Close()
	lines := bufio.NewScanner(f) // a line that is too long is none of ours, and ends the reading
	for lines.Scan() {
		if k, v, is := strings.Cut(lines.Text(), "="); is && strings.TrimSpace(k) == name {
			value, ok = strings.TrimSpace(v), true
		}
	}
	return value, ok
}

func isYes(v string) bool {
	return slices.Contains([]string{"yes", "true", "on", "1", "y", "t"}, strings.ToLower(v))
}
