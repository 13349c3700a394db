package verdict

import (
	"testing"

	"github.com/belay-run/belay"
)

// honestFailures are answers of agents that could not do what they were asked.
var honestFailures = []string{
	"This cannot be recovered. I could not do anything.",
	"I could not finish the work.",
	"I was unable to complete the task because the network is down.",
	"Unfortunately, the sub-recipe can't be completed: the credentials are missing.",
	"I'm sorry, but I cannot fix this.",
	"The failure is not recoverable.",
	"Recovery failed: the disk is full.",
	"I tried three times to restart the service, but it could not be fixed.",
	"There is nothing I can do about it.",
	"I give up. The remote refuses every connection.",
	"I did not succeed.",
	"The work is not done; the test still fails.",
	"I fixed the first step, but I could not finish the rest.",
	"It is impossible to recover from this without the signing certificate.",
	"I failed to build the package: the compiler is not installed.",
	"We were not able to restore the database.",
	"Without access to the registry I can\u2019t continue.",
	"Sorry, I cannot run the migration here.",
	"No recovery was possible. The task remains unfinished.",
	"I looked at the logs and at the configuration.\n\nThe step cannot be repaired from here; somebody has to log in first.",
	"The problem could not be resolved, since the server was removed.",
	"I am unable to proceed.",
	"Nothing was done. I could not start the build.",
	"If the network comes back the work can be finished; now it cannot be completed.",
}

// honestSuccesses are answers of agents that did it, or that answer with a result.
var honestSuccesses = []string{
	"the work is finished",
	"42",
	"Done.",
	"I fixed the missing import and ran the tests: all pass.",
	"The build could not be completed with make, so I used ninja. The package is built.",
	"The sub-recipe failed because the file could not be read. I created it, and the step is done now.",
	"I could not reproduce the failure; I ran the step again and it passed.",
	"At first I was unable to connect, but then I restarted the service and everything works.",
	"Recovered: the index was rebuilt.",
	`{"status": "ok", "note": "two files cannot be recovered"}`,
	"I could not find any problem in the code. The review is clean.",
	"Release 1.2.3",
	"I wrote the report. It says \"the old data cannot be recovered\".",
	"The first attempt failed, the second succeeded.",
	"The configuration was wrong; it is fixed.",
	"I completed the work by hand. I could not run the linter, which is not installed here.",
	"I managed to finish the task although the cache is not available.",
	"Nothing to do: the output is already there.",
	"I could not install the package from the registry, so I built it from source and finished the step.",
	"```\nfatal: could not read from remote\n```\nThat was the cause. I replaced the address and pushed the branch.",
	"All steps of the sub-recipe are now complete.",
	"I have restored the database from the backup and checked it.",
	"The deployment was unable to start since a port was taken. I changed the port; it works now.",
	"Paris",
}

// promise: A6
func TestGaveUp(t *testing.T) {
	for _, text := range honestFailures {
		if !gaveUp(text) {
			t.Errorf("taken as a success: %q", text)
		}
	}
	for _, text := range honestSuccesses {
		if gaveUp(text) {
			t.Errorf("taken as a failure: %q", text)
		}
	}
}

// promise: A6
func TestAideReadsPlainWords(t *testing.T) {
	answer := func(text string) belay.Observation {
		return belay.Observation{Agent: &belay.AgentReport{Result: belay.AgentResult{Excerpt: text}}}
	}
	good := belay.Verdict{OK: true}
	for _, text := range honestFailures {
		v := Aide(good, answer(text), belay.RoleRecovery, false)
		if v.OK || v.Failure == nil || v.Failure.Class != belay.ClassWorkFailure || v.Failure.Level != belay.LevelText {
			t.Errorf("%q: %+v", text, v)
		}
		if v := Aide(good, answer(text), belay.RoleRecovery, true); !v.OK {
			t.Errorf("classic, %q: %+v", text, v)
		}
		if v := Aide(good, answer(text), belay.RoleRepair, false); !v.OK {
			t.Errorf("what mends is judged by the step itself, %q: %+v", text, v)
		}
	}
}
