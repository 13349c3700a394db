// Package proc holds the child processes of a run. A keeper, a small process
// of the same binary in a session of its own, is the only door for births: it
// starts each attempt in a process group, streams its output to files, enforces
// its deadline, ends its whole tree and writes every birth and exit to a log
// before anyone acts on it. It outlives the driver, which finds it again and is
// told of each open attempt whether it runs, has ended or never began.
//
// It never decides whether an exit was good, never reads what a program
// printed, never runs a key twice and never signals a process whose pid, start
// time and boot are not those it knows.
//
// What it cannot promise at level 1 (child subreaper): a process that left its
// session, cleared its environment and was orphaned is told from those of other
// attempts only when no other attempt is in flight; and when the keeper is dead
// such a process is found only by the driver that started the keeper, as a
// subreaper, and that asks for its orphans. At level 0 (no subreaper on the
// platform) it is not found at all.
package proc
