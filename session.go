package belay

// Session is a root run's place in the tree of Belay processes that start each other.
type Session struct {
	Tree        string `json:"tree"`
	Parent      RunID  `json:"parent,omitempty"`
	Depth       int    `json:"depth"`
	MaxDepth    int    `json:"max_depth"`
	MaxSessions int    `json:"max_sessions"`
	Starter     Key    `json:"starter,omitempty"` // the attempt of a step that started it
	Home        string `json:"home,omitempty"`    // the state directory in which the tree is counted, where it is another
	Name        RunID  `json:"name,omitempty"`    // of the run there
}
