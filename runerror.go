package belay

import "fmt"

// RunError is how a run stands that has not reached its goal: it ended otherwise, or it
// was stopped, is paused or waits for a person. The commands print that before they
// return one; a Go program that gets one from package client has to say it itself.
type RunError struct {
	Run    RunID
	Result RunResult
}

func (e *RunError) Error() string {
	return fmt.Sprintf("run %s: %s: %s", e.Run, e.Result.Status, e.Result.Reason)
}

// RunExitCode is the code that the run ended with.
func (e *RunError) RunExitCode() int { return e.Result.Code }
