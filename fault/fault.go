// Package fault holds the closed lists of what befalls an attempt from outside:
// what a hand could not do, which of our own acts ended it, and what was found of
// it after a crash. It judges nothing.
package fault

// KilledBy says which of our own acts ended a process; it is recorded by
// whoever sent the signal and never inferred.
type KilledBy string

const (
	KilledNot      KilledBy = ""         // nobody of ours
	KilledDeadline KilledBy = "deadline" // its timeout passed
	KilledStop     KilledBy = "stop"     // the run was stopped; the attempt is given back
	KilledCancel   KilledBy = "cancel"   // the run was cancelled
	KilledGrace    KilledBy = "grace"    // no driver came back in time
	KilledLease    KilledBy = "lease"    // its host could not prove in time that it is not lost
)

// Fault says, as a kind, why a hand could not do or finish what was asked; the
// exit of a program is not a fault.
type Fault string

const (
	None    Fault = ""
	Dir     Fault = "dir"     // the working directory is not there
	Program Fault = "program" // the shell could not be found or executed
	TooBig  Fault = "too_big" // arguments and environment over the kernel's limit
	Output  Fault = "output"  // the wanted output is over its limit
	Disk    Fault = "disk"    // the log or the output could not be written
	Spawn   Fault = "spawn"   // the process could not be started (limits, memory)
	Input   Fault = "input"   // a value cannot be handed over (a NUL byte, a missing blob, no whole number)
	Hidden  Fault = "hidden"  // a value in which a secret was hidden
	JSON    Fault = "json"    // the output had to be JSON and is not
	Result  Fault = "result"  // a declared output is not there
	Agent   Fault = "agent"   // the agent is not known, or not there
)

// The rules by which a disk takes no more: a log or a result could not be written, or a look
// at the machine found it full, or found that the working tree cannot be written.
const (
	RuleDisk     = "fault." + string(Disk)
	RuleDiskFull = "probe.disk_full"
	RuleReadOnly = "probe.read_only"
)

// Found says what became of an attempt that was open when a driver attached:
// exactly one of four.
type Found string

const (
	Adopted   Found = "adopted"   // still running; its keeper holds it
	Harvested Found = "harvested" // ended meanwhile; its keeper has the exit
	Unborn    Found = "unborn"    // it never began: same attempt again, nothing used up
	Lost      Found = "lost"      // outcome unknown: its keeper is dead and left no exit, or ended it as its host could be taken for lost
)
