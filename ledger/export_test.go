package ledger

// What the tests of the breaker count with.
const (
	BreakAfter  = breakAfter
	FirstPause  = firstPause
	LongPause   = longPause
	TrialLease  = trialLease
	LookAgain   = lookAgain
	CountedKeys = countedKeys
)
