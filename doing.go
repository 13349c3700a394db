package belay

// Doing is what the tools that an agent used could have done, read from its own
// records while it worked: all of its calls, with their whole commands.
type Doing struct {
	Told    bool     `json:"told,omitempty"`    // its CLI tells what tools it uses; else nothing here says anything
	Writes  bool     `json:"writes,omitempty"`  // something that it did may have changed files
	Afar    bool     `json:"afar,omitempty"`    // something that it did may have had an effect outside of the tree
	Named   []string `json:"named,omitempty"`   // changed files that it named as written, the first of them
	Commits bool     `json:"commits,omitempty"` // a command of it that makes commits ended well
}
