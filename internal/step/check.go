package step

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/proc"
)

// checkDir is the folder of a check that Belay itself makes.
func checkDir(files interface{ LogPath(belay.Key) string }, k belay.Key) string {
	return strings.TrimSuffix(files.LogPath(k), ".log") + ".check"
}

func checkReport(files interface{ LogPath(belay.Key) string }, k belay.Key) string {
	return filepath.Join(checkDir(files, k), "report.json")
}

// PrepareCheck makes the process of a check that Belay itself makes: this
// program, with an order. run is the directory of the run.
func PrepareCheck(j effect.Job, files Files, lim Limits, mask, self []string, run string) (proc.Spawn, error) {
	report := checkReport(files, j.Key)
	// An attempt that was never born may have left one.
	if err := os.Remove(report); err != nil && !errors.Is(err, os.ErrNotExist) {
		return proc.Spawn{}, &Fault{fault.Disk, err}
	}
	path := filepath.Join(checkDir(files, j.Key), "order.json")
	order := check.Order{Dir: j.Dir, Run: run, Tests: j.Check.Tests, PR: j.Check.PR, Report: report}
	if err := order.Write(path); err != nil {
		return proc.Spawn{}, &Fault{fault.Disk, err}
	}
	env, _, err := environment(j, files)
	if err != nil {
		return proc.Spawn{}, err
	}
	return proc.Spawn{
		Key: j.Key, Argv: slices.Concat(self, []string{"check", path}), Env: env, Dir: j.Dir, Log: files.LogPath(j.Key),
		Deadline: j.Timeout, Grace: lim.Grace, Mask: mask, MaxLog: lim.MaxLog, MaxOut: lim.MaxOut,
	}, nil
}
