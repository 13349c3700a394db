package belay

import "fmt"

// RunError is how a run ended when it did not end well; it has been shown to
// the user already when it reaches main.
type RunError struct {
	Run    RunID
	Result RunResult
}

func (e *RunError) Error() string {
	return fmt.Sprintf("run %s: %s: %s", e.Run, e.Result.Status, e.Result.Reason)
}

// RunExitCode is the code that the run ended with.
func (e *RunError) RunExitCode() int { return e.Result.Code }
