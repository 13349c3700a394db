package proc

import "strconv"

// Level says how well the descendants of an attempt are held.
type Level int

const (
	LevelGroup     Level = 0 // process group and marker: one that leaves both escapes
	LevelSubreaper Level = 1 // orphans come to the keeper
	LevelNamespace Level = 2 // a PID namespace: the kernel ends all when its first process ends
)

func (l Level) String() string {
	switch l {
	case LevelGroup:
		return "process group"
	case LevelSubreaper:
		return "subreaper"
	case LevelNamespace:
		return "namespace"
	}
	return "level " + strconv.Itoa(int(l))
}
