package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
)

// The words for how a command stands that has no status of a run to tell.
const (
	statusUsage   belay.Status = "USAGE"          // the command line is wrong
	statusInvalid belay.Status = "INVALID"        // what was given cannot be run
	statusBusy    belay.Status = "BUSY"           // another process drives the run
	statusDamaged belay.Status = "DAMAGED"        // the journal is not what was written
	statusInfra   belay.Status = "INFRASTRUCTURE" // disk, tool, keeper, state directory
)

// lastLine keeps the promise of --json: whoever waits for a run is told how the
// process ends, also when it ends before there is a run, or otherwise than the
// line said that was printed last.
func (a *app) lastLine(err error) {
	code := exit.Code(err)
	if err == nil || a.told != nil && *a.told == code {
		return
	}
	a.ended(a.subject, belay.RunResult{Status: statusFor(code), Code: code, Reason: err.Error()})
}

func statusFor(code int) belay.Status {
	switch code {
	case exit.Usage:
		return statusUsage
	case exit.Invalid:
		return statusInvalid
	case exit.Hollow:
		return belay.Hollow
	case exit.Busy:
		return statusBusy
	case exit.Damaged:
		return statusDamaged
	case exit.Infra:
		return statusInfra
	}
	return belay.Failed
}

// waits tells whether a command waits for a run.
func waits(cmd *cobra.Command) bool {
	return slices.Contains([]string{"do", "run", "resume", "rerun"}, cmd.Name())
}

// wantsJSON tells whether lines of JSON were asked for. After a flag that is not
// known the rest of the line is not parsed, so its words are looked at too.
func wantsJSON(cmd *cobra.Command, args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	parsed, err := cmd.Flags().GetBool("json")
	return err == nil && parsed || slices.Contains(args, "--json")
}
