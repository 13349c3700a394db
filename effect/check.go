package effect

import (
	"time"

	"github.com/belay-run/belay"
)

// TestPlan is how the tests of a directory are run, as Belay found it on disk:
// every command of the nearest level that has one.
type TestPlan struct {
	Dir      string        `json:"dir"` // looked for from here
	Top      string        `json:"top"` // up to here
	Commands []TestCommand `json:"commands,omitempty"`
}

// TestCommand is one command that runs tests, with the digests of what it is
// made of.
type TestCommand struct {
	Kind    string    `json:"kind"`             // the row of the table: go, cargo, npm
	Args    []string  `json:"args"`             // the program's name first
	Dir     string    `json:"dir,omitempty"`    // where it runs, below Top
	From    string    `json:"from"`             // the file that shows it
	Counts  bool      `json:"counts,omitempty"` // its runner always says how many tests ran
	Program Program   `json:"program"`          // what is run
	Needs   []Program `json:"needs,omitempty"`  // other programs that its definition names
	Files   []FileSum `json:"files,omitempty"`  // what defines it
}

// Program is a program as it was found on the PATH, or in the tree.
type Program struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"` // "" = there is none
	Sum  string `json:"sum,omitempty"`  // SHA-256 of its file
}

// FileSum is a file and the SHA-256 of what counts in it; "" = it is not there.
type FileSum struct {
	Path string `json:"path"`
	Sum  string `json:"sum,omitempty"`
}

// CheckJob is a check that Belay itself makes: exactly one of both is set.
type CheckJob struct {
	Tests *TestPlan
	PR    *PRQuestion
}

// PRQuestion is what the forge is asked about.
type PRQuestion struct {
	Forges  []Program // the programs that can ask it, as they were at the start of the run
	Base    string    // the commit that the work began at
	Since   time.Time // and when
	Commits []string  // that the attempt was seen to make
}

// CheckReport is what a check that Belay itself made has seen: facts only.
type CheckReport struct {
	Tests []TestRun `json:"tests,omitempty"`
	PR    *PRReport `json:"pr,omitempty"`
	Dir   string    `json:"dir,omitempty"` // where tests were looked for
}

// TestRun is one command that Belay ran to test the work.
type TestRun struct {
	Command string       `json:"command"`
	Dir     string       `json:"dir"`
	From    string       `json:"from"`
	Exit    int          `json:"exit"`
	Tally   *belay.Tally `json:"tally,omitempty"`
	Counts  bool         `json:"counts,omitempty"`  // its runner always says how many tests ran
	Late    bool         `json:"late,omitempty"`    // it was found only after the agent
	Changed []string     `json:"changed,omitempty"` // files that define it and are not what they were
	Swapped string       `json:"swapped,omitempty"` // a program of it that is not what it was: it was not run
	Idle    bool         `json:"idle,omitempty"`    // there was nothing to run: make takes its target for made
	Missing string       `json:"missing,omitempty"` // a program of it that is not there: it was not run
	Last    string       `json:"last,omitempty"`    // the last line that it printed
}

// PRReport is what the forge said.
type PRReport struct {
	Forge   string        `json:"forge,omitempty"` // the program that was asked
	Since   time.Time     `json:"since,omitzero"`
	Heads   []PRHead      `json:"heads,omitempty"` // commits of the attempt
	Found   []PullRequest `json:"found,omitempty"` // the first of them
	Trouble PRTrouble     `json:"trouble,omitempty"`
	Detail  string        `json:"detail,omitempty"`
}

// PRHead is a commit that a pull request may have as its head.
type PRHead struct {
	Commit string `json:"commit"`
	New    bool   `json:"new,omitempty"` // it was made since the base
}

// PullRequest is one as the forge knows it.
type PullRequest struct {
	Number  int       `json:"number"`
	URL     string    `json:"url"`
	Head    string    `json:"head"`
	State   PRState   `json:"state"`
	Created time.Time `json:"created,omitzero"`
	Merged  time.Time `json:"merged,omitzero"`
}

// PRState is the closed list of states of a pull request.
type PRState string

const (
	PROpen   PRState = "open"
	PRMerged PRState = "merged"
	PRClosed PRState = "closed"
)

// PRTrouble is the closed list of reasons why the forge gave no answer.
type PRTrouble string

const (
	PRNoTrouble  PRTrouble = ""
	PRNoCommit   PRTrouble = "no_commit"  // there is no repository, or no commit in it
	PRNoRemote   PRTrouble = "no_remote"  // the repository has no remote
	PRNoProgram  PRTrouble = "no_program" // neither gh nor glab was there at the start of the run
	PRSwapped    PRTrouble = "swapped"    // the program is not what it was then
	PRNoLogin    PRTrouble = "no_login"   // it is not logged in
	PRNoAnswer   PRTrouble = "no_answer"  // it failed, or did not answer in time
	PRUnreadable PRTrouble = "unreadable" // its answer could not be read
)
