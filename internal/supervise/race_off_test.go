//go:build linux && !race

package supervise

// memoryTimes is how much more memory this build makes a process need.
const memoryTimes = 1
