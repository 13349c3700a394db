package effect

// Merged is what became of a merge.
type Merged struct {
	Outcome   MergeOutcome `json:"outcome"`
	Files     int          `json:"files,omitempty"`     // that were changed in the run's tree
	Commits   []string     `json:"commits,omitempty"`   // on its branch, oldest first; none: the work arrived as changes
	Conflicts []Conflict   `json:"conflicts,omitempty"` // the first ones
	More      int          `json:"more,omitempty"`      // conflicts beside those
	Left      []string     `json:"left,omitempty"`      // the first files of uncommitted work that the step took back, and that stay as they are
	Replaced  []string     `json:"replaced,omitempty"`  // the first files in which the resolution of a conflict has less than the run's tree had
	Before    string       `json:"before,omitempty"`    // the ref under which the run's tree is kept as it was before that
}

// MergeOutcome is the closed list of ends of a merge.
type MergeOutcome string

const (
	MergeDone     MergeOutcome = "merged"
	MergeNothing  MergeOutcome = "nothing"  // there was nothing to be brought back
	MergeConflict MergeOutcome = "conflict" // the run's tree is as it was
)

// Conflict is one file of isolated work that does not fit the run's tree.
type Conflict struct {
	Path   string `json:"path"`
	Why    string `json:"why"`
	Unkept bool   `json:"unkept,omitempty"` // what is in the way in the run's tree is in no commit: git merge would write over it
}
