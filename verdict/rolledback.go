package verdict

import "github.com/belay-run/belay"

// BackWords are the evidence that a fallback put back what the failed attempts changed.
const BackWords = "rolled back: the files are as they were before the step"

// SameTree tells whether two looks saw the same files on the same commit.
func SameTree(a, b belay.TreeState) bool {
	return a.Tree == b.Tree && a.Head == b.Head && a.Branch == b.Branch
}

// RolledBack tells whether a fallback left the files as they were before a step whose
// failed attempts had changed them.
func RolledBack(before, failed, after belay.TreeState) bool {
	return !SameTree(before, failed) && SameTree(before, after)
}
