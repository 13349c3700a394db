// Package supervise looks after one agent for one attempt of a step. That is done
// by a process of its own, the attendant (belay attend), so that the agent goes on
// when its driver dies: it takes the evidence before, starts the CLI, reads what
// it prints, watches the clock, interrupts and goes on with a session that hangs,
// ends the whole process tree, takes the evidence after and writes a report. There
// is always a report.
//
// It refuses to judge: whether the work was done is for others to say, from the
// report. It never lets a descendant outlive it as far as its containment level
// reaches, never waits for a pipe that somebody else holds, never keeps more of
// an output than its bounds, and never writes the value of a secret to a file.
//
// As a child subreaper (level 1) it ends whatever was started below it, however
// it left its group, session, parent, name or environment. What it cannot
// promise there: processes that somebody else starts at the agent's request
// (a service manager, a container daemon), and its own death by KILL, after
// which the keeper above it has to sweep. In a PID namespace (level 2) the
// kernel ends everything, also then; what others start for it stays outside.
package supervise
