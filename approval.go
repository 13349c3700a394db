package belay

// The choices of an approval that mean the same in every recipe, and the word for
// a timeout that decides nothing. All other choices are the recipe's own.
const (
	ChoiceApprove = "approve" // the step is done; no timeout ever means it
	ChoiceReject  = "reject"  // the step has failed
	TimeoutHold   = "hold"    // it stays open, and the run is held
)
