package ledger

import "fmt"

// LimitKind says which limit of the session tree was reached.
type LimitKind string

const (
	LimitDepth    LimitKind = "depth"    // sessions that start sessions
	LimitSessions LimitKind = "sessions" // sessions alive at the same time in one tree
)

// Limit says that a session tree may not grow.
type Limit struct {
	Kind      LimitKind
	Have, Max int
	Malformed string // the variable that could not be read and so counts as at the limit
}

func (e *Limit) Error() string {
	switch {
	case e.Malformed != "":
		return fmt.Sprintf("%s is malformed and counts as at the limit of %s", e.Malformed, e.Kind)
	case e.Kind == LimitDepth:
		return fmt.Sprintf("a session at depth %d is over the limit of %d", e.Have, e.Max)
	}
	return fmt.Sprintf("%d sessions are alive in this tree, the limit is %d", e.Have, e.Max)
}
