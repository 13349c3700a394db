package proc

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrGone says that the process that was meant is not there any more; another
// one may have its pid.
var ErrGone = errors.New("process is gone")

// maxAncestors bounds the walk to the root of the process tree.
const maxAncestors = 1024

// Identity names one process for ever: a pid alone is used again by strangers.
type Identity struct {
	Pid   int    `json:"pid"`
	Start uint64 `json:"start"` // in the kernel's unit, since boot on Linux
	Boot  string `json:"boot,omitempty"`
}

// process is what the kernel says of one process.
type process struct {
	pid, ppid, pgid, sid int
	start                uint64
	zombie               bool
	frozen               bool // stopped by a signal, or traced
}

// Self is the identity of the calling process.
func Self() (Identity, error) { return Identify(ownPID()) }

// Identify is the identity of the process that has the pid now.
func Identify(pid int) (Identity, error) {
	boot, err := bootID()
	if err != nil {
		return Identity{}, fmt.Errorf("read boot id: %w", err)
	}
	p, err := look(pid)
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return Identity{Pid: pid, Start: p.start, Boot: boot}, nil
}

// Alive tells whether exactly this process is there and is not a zombie.
func (id Identity) Alive() bool {
	if !id.thisBoot() {
		return false
	}
	p, err := look(id.Pid)
	return err == nil && p.start == id.Start && !p.zombie
}

// Frozen tells whether exactly this process is there and is stopped by a signal.
func (id Identity) Frozen() bool {
	if !id.thisBoot() {
		return false
	}
	p, err := look(id.Pid)
	return err == nil && p.start == id.Start && p.frozen
}

// BootID names the time since this machine was booted.
func BootID() (string, error) { return bootID() }

// Signal sends sig to exactly this process, or gives ErrGone.
func (id Identity) Signal(sig syscall.Signal) error {
	if id.Pid <= 0 || !id.thisBoot() { // 0 and below would mean groups
		return ErrGone
	}
	return signalExact(id.Pid, id.Start, sig)
}

func (id Identity) thisBoot() bool {
	boot, err := bootID()
	return err == nil && boot == id.Boot
}

// Ancestors is the chain of parents of the process, nearest first, up to the
// first process of the system.
func Ancestors(pid int) ([]Identity, error) {
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("read boot id: %w", err)
	}
	p, err := look(pid)
	if err != nil {
		return nil, fmt.Errorf("identify process %d: %w", pid, err)
	}
	var chain []Identity
	for range maxAncestors {
		if p.ppid <= 0 {
			return chain, nil
		}
		if p, err = look(p.ppid); err != nil {
			return chain, fmt.Errorf("walk ancestors of %d: %w", pid, err)
		}
		chain = append(chain, Identity{Pid: p.pid, Start: p.start, Boot: boot})
	}
	return chain, fmt.Errorf("walk ancestors of %d: more than %d", pid, maxAncestors)
}
