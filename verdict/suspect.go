package verdict

import (
	"regexp"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/pattern"
)

// notFound is the exit of a shell that found no such program.
const notFound = 127

// lastWords is how many lines of a text name what is missing: the shell's own
// word stands at the end, with those of make or npm behind it.
const lastWords = 6

var (
	noProgram = pattern.Lazy(`(?i)(?:sh|: (?:line )?\d+): ['"‘]?([\w.+-]+)['"’]?: (?:command )?not found$|command not found: ([\w.+-]+)$|^(?:/\S*/)?env: ['"‘]?([\w.+-]+)['"’]?: No such file|exec: "([\w.+-]+)": executable file not found|spawn ([\w.+-]+) ENOENT|\[Errno 2\] No such file or directory: '([\w.+-]+)'`)
	noHost    = pattern.Lazy(`(?i)resolve host(?:name)?(?: address)?:? ['"‘]?([\w.-]+)|lookup ([\w.-]+)(?: on \S+)?: (?:no such host|server misbehaving|i/o timeout)|(?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)|(?:resolve|resolving) ['"‘]([\w.-]+)['"’]|UnknownHostException: ([\w.-]+)|translate host name "([\w.-]+)"`)
)

// Suspect is what a look at the machine should look for, where it could say
// more: something killed the process, or its words speak of the machine. Words
// prove nothing; what they name can be looked for.
func (c Case) Suspect(f belay.Failure) (effect.AskProbe, bool) {
	o, words := c.speaker()
	q := effect.AskProbe{}
	text := f.Level == belay.LevelText
	switch {
	case text && f.Class == belay.ClassConflict:
		return q, true
	case o.Exit == notFound && words != "", text && f.Class == belay.ClassInfrastructure:
		q.Program, q.Host = lastNamed(noProgram(), words), lastNamed(noHost(), words)
		return q, text || q.Program != ""
	case text && f.Class == belay.ClassAuth && strings.Contains(words, "gh auth"):
		q.Login = "gh" // it can be asked whether somebody is logged in
		return q, true
	case c.Main.KilledBy != fault.KilledNot:
		return q, false
	}
	const killed = 9
	m := c.Main
	return q, m.Signal == killed || m.Exit == 128+killed || m.Fault == fault.Disk || m.Fault == fault.Spawn
}

// speaker is the process whose end is the failure, and what it said. What an
// agent says is read by its adapter.
func (c Case) speaker() (effect.Observation, string) {
	switch {
	case Spoke(c.Check):
		return *c.Check, tail(c.Check.Tail)
	case c.Main.Agent != nil || c.Main.Child != nil:
		return c.Main, ""
	}
	return c.Main, tail(c.Main.Tail)
}

// lastNamed is the name in the last of the lines that has one.
func lastNamed(re *regexp.Regexp, text string) string {
	lines := strings.Split(text, "\n")
	for n := len(lines) - 1; n >= max(0, len(lines)-lastWords); n-- {
		m := re.FindStringSubmatch(strings.TrimSpace(lines[n]))
		for _, name := range m[min(1, len(m)):] {
			if name != "" {
				return strings.TrimRight(name, ".")
			}
		}
	}
	return ""
}

// lacking makes a failure of a script one of the machine, where more than words
// shows that: the kind says whom to blame.
func (c Case) lacking(f *belay.Failure, p *effect.Probe) {
	_, words := c.speaker()
	if f.Kind != belay.BashFailure || c.Declared != "" || words == "" && c.Main.Fault == fault.None && f.Level != belay.LevelProbe {
		return
	}
	if f.Class != belay.ClassInfrastructure && f.Class != belay.ClassAuth || f.Level != belay.LevelProcess && f.Level != belay.LevelProbe {
		return
	}
	f.Kind = belay.Infrastructure
	if f.Hint == "" {
		f.Hint = lackHint(f, p)
	}
}

// lackHint says what a person can do about what the machine lacks.
func lackHint(f *belay.Failure, p *effect.Probe) string {
	switch {
	case f.Class == belay.ClassAuth:
		return "log in again, then resume the run"
	case p == nil:
	case p.DiskFull:
		return "free some disk space, then resume the run"
	case p.OOMKill:
		return "give the run more memory, or let fewer steps run at the same time"
	case p.NoProgram != "":
		return "install " + p.NoProgram + ", or put it on PATH, then resume the run"
	case p.NoHost != "":
		return "check the network and the name " + p.NoHost + ", then resume the run"
	}
	return ""
}
