//go:build linux && race

package supervise

// memoryTimes is how much more memory the race detector makes a process need.
const memoryTimes = 4
