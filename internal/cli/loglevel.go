package cli

import "fmt"

// logLevel is how much of a run's talk is shown on stderr.
type logLevel string

const (
	logDebug   logLevel = "debug"
	logInfo    logLevel = "info"
	logWarning logLevel = "warning"
	logError   logLevel = "error"
)

const logLevelHelp = "how much to print on stderr about recoveries from failures: debug (includes the prompts for agents that choose one), info, warning or error"

// rank orders the levels: the higher, the more it matters.
func (l logLevel) rank() int {
	switch l {
	case logDebug:
		return 0
	case logInfo:
		return 1
	case logWarning:
		return 2
	case logError:
		return 3
	}
	return 1
}

func (l *logLevel) String() string { return string(*l) }

// Type is what the help calls the value.
func (l *logLevel) Type() string { return "level" }

// Set reads the flag.
func (l *logLevel) Set(text string) error {
	switch level := logLevel(text); level {
	case logDebug, logInfo, logWarning, logError:
		*l = level
		return nil
	}
	return fmt.Errorf("%q is none of debug, info, warning and error", text)
}
