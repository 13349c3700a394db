package verdict

import "github.com/belay-run/belay"

// exitRow is what one exit code of one tool means.
type exitRow struct {
	tool  string // "" = of any tool
	code  int
	class belay.Class
	move  belay.Act // "" = the first move of the class
}

// surely is the exit codes that say enough by themselves. The same number
// means different things in different tools, so a row has its tool; only what
// the shell and the system hand out holds for all.
func surely() []exitRow {
	return []exitRow{
		{"", 124, belay.ClassTimeout, ""}, // of timeout(1)
		{"", 130, belay.ClassCancelled, ""},
		{"", 137, belay.ClassInfrastructure, belay.ActRetry}, // killed, and not by us: memory
		{"", 152, belay.ClassInfrastructure, ""},             // processor time
		{"", 153, belay.ClassInfrastructure, ""},             // file size
		{"curl", 5, belay.ClassInfrastructure, belay.ActRetry},
		{"curl", 6, belay.ClassInfrastructure, belay.ActRetry},
		{"curl", 7, belay.ClassTransient, ""},
		{"curl", 28, belay.ClassTimeout, ""},
		{"curl", 52, belay.ClassTransient, ""},
		{"curl", 55, belay.ClassTransient, ""},
		{"curl", 56, belay.ClassTransient, ""},
		{"curl", 92, belay.ClassTransient, ""},
		{"curl", 3, belay.ClassInvalidInput, ""},
		{"curl", 60, belay.ClassInfrastructure, ""}, // certificate
		{"curl", 67, belay.ClassAuth, ""},
		{"gh", 2, belay.ClassCancelled, ""},
		{"gh", 4, belay.ClassAuth, ""},
		{"gh", 8, belay.ClassTransient, ""}, // checks are pending
		{"bash", 126, belay.ClassInvalidInput, ""},
		{"pytest", 1, belay.ClassWorkFailure, ""},
		{"pytest", 4, belay.ClassInvalidInput, ""},
		{"pytest", 5, belay.ClassHollow, ""}, // no test ran
		{"gemini", 41, belay.ClassAuth, ""},
		{"gemini", 42, belay.ClassInvalidInput, belay.ActAbort},
		{"gemini", 44, belay.ClassInfrastructure, ""}, // sandbox
		{"gemini", 52, belay.ClassInvalidInput, belay.ActAbort},
		{"gemini", 53, belay.ClassTurnLimit, ""},
		{"gemini", 54, belay.ClassInfrastructure, ""},
		{"gemini", 55, belay.ClassPermission, belay.ActEscalate},
		{"gemini", 145, belay.ClassAuth, ""},
		{"gemini", 147, belay.ClassAuth, ""},
		{"gemini", 148, belay.ClassInvalidInput, belay.ActFailover},
		{"gemini", 244, belay.ClassTransient, ""},
		{"gemini", 247, belay.ClassTransient, ""},
		{"rsync", 30, belay.ClassTimeout, ""},
		{"rsync", 35, belay.ClassTimeout, ""},
		{"wget", 5, belay.ClassInfrastructure, ""},
		{"wget", 6, belay.ClassAuth, ""},
	}
}

// otherwise is what an exit code suggests when no text rule had a word.
func otherwise() []exitRow {
	return []exitRow{
		{"curl", 35, belay.ClassTransient, ""},
		{"curl", 22, belay.ClassInvalidInput, ""},
		{"curl", 2, belay.ClassInvalidInput, ""},
		{"wget", 4, belay.ClassTransient, ""},
		{"rsync", 12, belay.ClassTransient, ""},
		{"ssh", 255, belay.ClassTransient, ""},
		{"git", 129, belay.ClassInvalidInput, ""}, // usage
		{"cargo", 101, belay.ClassWorkFailure, ""},
		{"go", 1, belay.ClassWorkFailure, ""},
		{"go", 2, belay.ClassWorkFailure, ""},
		{"pytest", 2, belay.ClassWorkFailure, ""}, // errors while it collected
		{"make", 2, belay.ClassWorkFailure, ""},
		{"node", 1, belay.ClassWorkFailure, ""},
		{"node", 9, belay.ClassInvalidInput, ""},
		{"python", 1, belay.ClassWorkFailure, ""},
		{"python", 2, belay.ClassInvalidInput, ""},
		{"npm", 1, belay.ClassWorkFailure, ""}, // a script of the package
		{"docker", 125, belay.ClassInfrastructure, belay.ActRepair},
		{"maven", 1, belay.ClassWorkFailure, ""},
		{"gradle", 1, belay.ClassWorkFailure, ""},
		{"apt", 100, belay.ClassInfrastructure, ""},
		{"gemini", 144, belay.ClassInvalidInput, belay.ActAbort},
		{"gemini", 173, belay.ClassRateLimit, ""},
		{"", 64, belay.ClassInvalidInput, ""},
		{"", 65, belay.ClassInvalidInput, ""},
		{"", 66, belay.ClassInvalidInput, ""},
		{"", 69, belay.ClassTransient, ""},
		{"", 74, belay.ClassInfrastructure, ""},
		{"", 75, belay.ClassTransient, ""},
		{"", 77, belay.ClassPermission, ""},
		{"", 78, belay.ClassInvalidInput, belay.ActAbort},
		{"", 126, belay.ClassInvalidInput, ""},
		{"", 127, belay.ClassInfrastructure, belay.ActRepair}, // no such command
		{"", 129, belay.ClassCancelled, ""},                   // hang-up
		{"", 132, belay.ClassWorkFailure, ""},
		{"", 134, belay.ClassWorkFailure, ""},
		{"", 135, belay.ClassWorkFailure, ""},
		{"", 136, belay.ClassWorkFailure, ""},
		{"", 139, belay.ClassWorkFailure, ""}, // a bad address: a bug
		{"", 141, belay.ClassBenign, ""},      // a reader that wanted no more
		{"", 143, belay.ClassCancelled, ""},   // asked to end, and not by us
	}
}

// byExit looks into a table: the rows of the tool first, then those of all.
// A signal counts as the shell would write it.
func byExit(f Facts, table []exitRow) (Finding, bool) {
	code, rule := f.Exit, "exit."
	if f.Signal > 0 {
		code, rule = 128+f.Signal, "signal."
	}
	for _, tool := range []string{f.Tool, ""} {
		for _, r := range table {
			if r.code == code && r.tool == tool {
				return Finding{Class: r.class, Move: r.move, Level: belay.LevelProcess, Rule: rule + named(tool, code)}, true
			}
		}
	}
	return Finding{}, false
}
