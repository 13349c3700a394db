package rehearse

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/supervise"
)

const (
	// minShell and minAgent are the shortest deadlines: a process must be able to start.
	minShell = 2 * time.Second
	minAgent = 15 * time.Second

	slowFor   = "1" // seconds
	floodSize = 16 << 20

	// folderVar tells a step that has a fault where the rehearsal keeps its files.
	folderVar = "BELAY_REHEARSAL"
	// scriptMark stands between the name of an agent and the script of a fault.
	scriptMark = "|"
)

// Stage changes jobs on their way to their processes.
type Stage struct {
	Folder  string // of the rehearsal
	Speed   int
	Faults  []Injection
	Targets []Target
}

// Set is the job as it is to be started.
func (s Stage) Set(j effect.Job) effect.Job {
	if j.Agent != nil && j.Timeout > 0 {
		j.Timeout = s.shorter(j.Timeout, minAgent)
	}
	if j.Check != nil { // there is no real work to be tested, and no forge to be asked
		j.Check, j.Script = nil, s.played(j)
	}
	for _, in := range s.Faults {
		t, err := Find(s.Targets, in)
		if err != nil || !in.hits(t, placeOf(j)) {
			continue // what cannot happen was refused before the run began
		}
		return s.spoil(j, in)
	}
	return j
}

// played is what a check of Belay's own is replaced with. It passes where the work
// was done: nobody can prove with tests that nobody ran what an agent only claims.
func (s Stage) played(j effect.Job) string {
	for _, in := range s.Faults {
		if t, err := Find(s.Targets, in); err == nil && in.unproven(t, placeOf(j)) {
			return failingTest
		}
	}
	return "echo 'rehearsal: what the step expects is taken for granted'"
}

// failingTest is there to be repaired.
const failingTest = `printf '%s\n' '--- FAIL: TestRehearsal (0.00s)' '    rehearsal_test.go:7: wrong' FAIL 'FAIL	example.org/rehearsal	0.001s' >&2; exit 1; `

// shorter is a time limit on the rehearsal's clock.
func (s Stage) shorter(d, least time.Duration) time.Duration {
	return min(d, max(least, d/time.Duration(max(1, s.Speed))))
}

// spoil gives a job its fault.
func (s Stage) spoil(j effect.Job, in Injection) effect.Job {
	j.Env = maps.Clone(j.Env)
	if j.Env == nil {
		j.Env = map[string]string{}
	}
	j.Env[folderVar] = s.Folder
	if j.Agent != nil {
		a := *j.Agent
		a.Name += scriptMark + s.script(in, j.Role)
		j.Agent = &a
		return j
	}
	j.Script = shellFault(in.Fault) + j.Script // on its first line: bash counts as the recipe does
	if in.Fault == Hang && j.Timeout > 0 {
		j.Timeout = s.shorter(j.Timeout, minShell)
	}
	return j
}

// awaitKill says that the driver may be killed now, and waits until that was
// done and the run is driven again.
const awaitKill = `( f="$BELAY_REHEARSAL/kills/$BASHPID"; : >"$f"; for ((i = 0; i < 3000; i++)); do [ -e "$f" ] || break; sleep 0.02; done; )`

// shellFault is what comes before a script.
func shellFault(f Fault) string {
	switch f {
	case Hang:
		return "exec sleep 1000000; "
	case Crash:
		return "echo 'rehearsal: this step ends with an error' >&2; exit 3; "
	case LyingRecovery:
		return failingTest
	case DiskFull:
		return "echo 'bash: write error: No space left on device' >&2; exit 1; "
	case Kill9:
		return awaitKill + "; "
	case Slow:
		return "sleep " + slowFor + "; "
	case Flood:
		return fmt.Sprintf("{ yes 'a rehearsal prints and prints and prints and prints and prints' | head -c %d >&2; } || :; ", floodSize)
	case HollowClaim, Denied, Unauthorised, RateLimited, ServerError, TokenLimit, Refusal, Truncated:
	}
	return ""
}

// script is the script of a fault.
func (s Stage) script(in Injection, role belay.Role) string {
	name := string(in.Fault)
	switch {
	case in.Fault == LyingRecovery && !mends(role):
		name = string(Crash)
	case in.Fault == RateLimited:
		name = fmt.Sprintf("%s-%d", in.Fault, int(in.Reset/time.Second))
	}
	return filepath.Join(s.Folder, "faults", name+".yaml")
}

// agentFault is what an agent does that has the fault.
func agentFault(in Injection, rest string) string {
	goOn := "- play: " + quote(rest) + "\n"
	switch in.Fault {
	case Hang:
		return "- say: Let me think.\n- hang\n"
	case HollowClaim:
		return "- say: Looking at it.\n- hollow: I have done all of it, and everything works.\n"
	case Denied:
		return "- deny: Write\n- answer: I could not write the file, permission was denied.\n"
	case Unauthorised:
		return "- error: {class: auth, status: 401, text: invalid API key}\n"
	case RateLimited:
		return fmt.Sprintf("- error: {class: rate_limit, status: 429, retry_after: %ds, text: too many requests}\n", int(in.Reset/time.Second))
	case ServerError:
		return "- error: {class: transient, status: 500, text: internal server error}\n"
	case TokenLimit:
		return "- error: {class: token_limit, status: 400, text: prompt is too long}\n"
	case Refusal:
		return "- refuse: I cannot help with that.\n"
	case Truncated:
		return "- say: The first half of it is\n- truncate\n"
	case Crash:
		return "- say: I begin.\n- exit: 3\n"
	case Kill9:
		return "- run: " + quote(awaitKill) + "\n" + goOn
	case DiskFull:
		return "- error: {class: infrastructure, text: 'ENOSPC: no space left on device, write'}\n"
	case Slow:
		return "- sleep: " + slowFor + "\n" + goOn
	case Flood:
		return fmt.Sprintf("- flood: %d\n", floodSize) + goOn
	case LyingRecovery:
		return "- say: I see what is wrong.\n- hollow: It is mended. Everything works now.\n"
	}
	return ""
}

// quote makes a text one word of YAML.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Write puts the scripts of all faults into the rehearsal's folder; rest is
// the script of a good day.
func (s Stage) Write(rest string) error {
	for _, dir := range []string{"faults", "kills"} {
		if err := os.MkdirAll(filepath.Join(s.Folder, dir), 0o700); err != nil {
			return fmt.Errorf("write the rehearsal: %w", err)
		}
	}
	for _, in := range s.Faults {
		files := map[string]Injection{s.script(in, belay.RoleMain): in}
		if in.Fault == LyingRecovery {
			files = map[string]Injection{
				s.script(in, belay.RoleMain):   {Fault: Crash},
				s.script(in, belay.RoleRepair): in,
			}
		}
		for path, in := range files {
			if err := os.WriteFile(path, []byte(agentFault(in, rest)), 0o600); err != nil {
				return fmt.Errorf("write the rehearsal: %w", err)
			}
		}
	}
	return nil
}

// Agent is who plays an agent of the given name: the scripted one, with the
// script of a fault or of a good day.
func Agent(name string, self []string, rest string) agent.Agent {
	who, script, spoiled := strings.Cut(name, scriptMark)
	if !spoiled {
		script = rest
	}
	who, _, _ = strings.Cut(who, ":")
	return agent.Agent{
		Name: who, Kind: agent.Scripted, Program: append(append([]string{}, self...), string(agent.Scripted)),
		Access: agent.AccessEdit, Script: script,
	}
}

// Windows are the limits of patience with an agent on a clock that runs so
// many times as fast, as far as a process can keep them.
func Windows(speed int, w supervise.Windows) supervise.Windows {
	d := supervise.DefaultWindows()
	by := time.Duration(max(1, speed))
	for _, f := range []struct {
		have         *time.Duration
		usual, least time.Duration
	}{
		{&w.First, d.First, 10 * time.Second}, {&w.Silence, d.Silence, 2 * time.Second}, {&w.Tool, d.Tool, minAgent},
		{&w.Babble, d.Babble, minAgent}, {&w.Retries, d.Retries, 2 * time.Second}, {&w.Linger, d.Linger, 5 * time.Second},
		{&w.Timeout, d.Timeout, minAgent}, {&w.Gentle, d.Gentle, 2 * time.Second},
	} {
		if *f.have <= 0 {
			*f.have = f.usual
		}
		*f.have = min(*f.have, max(f.least, *f.have/by))
	}
	return w
}
