package belay

import (
	"strings"
	"time"
)

// Expect is what an agent must leave behind for its step to be done.
type Expect string

const (
	ExpectNone   Expect = "none"   // nothing: an honest "nothing to do" is fine
	ExpectAnswer Expect = "answer" // a final text
	ExpectChange Expect = "change" // a change of the working tree, or a commit
	ExpectTests  Expect = "tests"  // tests that were seen to run and to pass
	ExpectPR     Expect = "pr"     // a pull request
)

// Guarding names files that an agent may not change.
type Guarding struct {
	Globs []string `json:"globs,omitempty"` // patterns; one with a slash is from the directory of the step
	Tests bool     `json:"tests,omitempty"` // test files, and settings of tests, that were committed
	Files []string `json:"files,omitempty"` // paths from the directory of the step, of files that were committed
	Since string   `json:"since,omitempty"` // the commit in which Tests and Files are looked for; "" = HEAD at the beginning
}

// TreeState is the state of a working tree: two are equal when nothing changed.
type TreeState struct {
	Repo   bool   `json:"repo,omitempty"`   // it is a git repository; else Tree is a digest of names and contents
	Head   string `json:"head,omitempty"`   // the commit
	Branch string `json:"branch,omitempty"` // "" = detached
	Tree   string `json:"tree,omitempty"`   // of all files: tracked, staged and untracked, less the ignored
	Dirty  bool   `json:"dirty,omitempty"`  // there is uncommitted work
	Index  string `json:"index,omitempty"`  // the tree of what is staged, where that is neither HEAD nor the files
	Log    int64  `json:"log,omitempty"`    // how long the log of HEAD is: what comes after it is new
	Error  string `json:"error,omitempty"`  // why there is no such state

	At int64 `json:"at,omitempty"` // when it was taken, by the clock of the files, in nanoseconds; 0 = not known
}

// FileChange is one changed file.
type FileChange struct {
	Path    string     `json:"path"`
	Change  ChangeKind `json:"change"`
	Added   int        `json:"added,omitempty"` // lines; 0 for binary files
	Deleted int        `json:"deleted,omitempty"`
	Sha     string     `json:"sha,omitempty"` // git's id of the new content; only of test and CI files
}

// ChangeKind is the closed list of ways in which a file changed.
type ChangeKind string

const (
	FileAdded    ChangeKind = "added"
	FileModified ChangeKind = "modified"
	FileDeleted  ChangeKind = "deleted"
	FileRenamed  ChangeKind = "renamed"
)

// ToolCall is one use of a tool by an agent, as its own records tell it.
type ToolCall struct {
	Name    string `json:"name"`
	Command string `json:"command,omitempty"` // of a shell tool, cut
	Path    string `json:"path,omitempty"`    // of a file tool
	Exit    *int   `json:"exit,omitempty"`    // of a shell tool, when it is told
	Failed  bool   `json:"failed,omitempty"`
	Denied  bool   `json:"denied,omitempty"`
	Masked  bool   `json:"masked,omitempty"` // its shell hides whether the command in it failed
	Open    bool   `json:"open,omitempty"`   // it had not ended when the agent did
	Tally   *Tally `json:"tally,omitempty"`  // of a shell tool, when its output tells of tests
}

// Tally is what the output of a command tells of tests. One without any number
// says that some ran, and none is told to have failed.
type Tally struct {
	Passed int  `json:"passed,omitempty"` // as far as they are counted
	Failed int  `json:"failed,omitempty"` // as far as they are counted
	Bad    bool `json:"bad,omitempty"`    // it tells of failures
	None   bool `json:"none,omitempty"`   // it tells that no test ran
}

// Usage is what an agent used.
type Usage struct {
	Input      int64 `json:"input,omitempty"` // tokens
	Output     int64 `json:"output,omitempty"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	MicroUSD   int64 `json:"micro_usd,omitempty"` // millionths of a dollar; 0 = unknown
}

// Tokens is all of them.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Add is the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.MicroUSD + v.MicroUSD}
}

// StopReason says why a model stopped.
type StopReason string

const (
	StopUnknown   StopReason = ""
	StopDone      StopReason = "done"
	StopTruncated StopReason = "truncated" // cut at the limit of its output
	StopRefused   StopReason = "refused"
	StopLimit     StopReason = "limit" // turns, money, tool calls
	StopError     StopReason = "error"
)

// AgentResult is what an agent's own records and its process say about one run
// of it: facts, no judgement.
type AgentResult struct {
	Session    string        `json:"session,omitempty"`
	Model      string        `json:"model,omitempty"`
	Final      bool          `json:"final,omitempty"` // the record that ends a run was there
	Error      bool          `json:"error,omitempty"` // its error flag
	Stop       StopReason    `json:"stop,omitempty"`
	Class      Class         `json:"class,omitempty"`  // of the error
	Status     int           `json:"status,omitempty"` // HTTP
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Reset      time.Time     `json:"reset,omitzero"`
	Cause      string        `json:"cause,omitempty"`   // the error in the agent's words, cut
	Text       string        `json:"-"`                 // the final text
	Excerpt    string        `json:"excerpt,omitempty"` // its beginning and its end
	TextSize   int64         `json:"text_size,omitempty"`
	Cut        string        `json:"cut,omitempty"` // why the text is not the whole answer: a limit of ours, in words; "" = it is
	Usage      Usage         `json:"usage,omitzero"`
	Tools      []ToolCall    `json:"tools,omitempty"` // the first and last of them
	ToolCount  int           `json:"tool_count,omitempty"`
	Denied     []string      `json:"denied,omitempty"`  // tools that were refused to it
	Retries    int           `json:"retries,omitempty"` // its own, inner ones
	Exit       int           `json:"exit"`
	Signal     int           `json:"signal,omitempty"`
	Bad        int           `json:"bad,omitempty"`     // lines that were no record
	GaveUp     bool          `json:"gave_up,omitempty"` // its final text has the word UNRECOVERABLE in it
	Closing    *Closing      `json:"closing,omitempty"` // the line that ended its answer, which is not in the text any more
}

// Closing is the line with which an agent ends its answer. It can only lower a
// verdict.
type Closing struct {
	Word ClosingWord `json:"word"`
	Text string      `json:"text,omitempty"` // what is missing, or why; cut
}

// ClosingWord is the closed list of words of a closing line.
type ClosingWord string

const (
	ClosedAchieved ClosingWord = "ACHIEVED"
	ClosedPartial  ClosingWord = "PARTIAL"
	ClosedNot      ClosingWord = "NOT_ACHIEVED"
	ClosedNothing  ClosingWord = "NOTHING_TO_DO"
	ClosedInput    ClosingWord = "NEEDS_INPUT" // counts as NOT_ACHIEVED
	ClosedHollow   ClosingWord = "HOLLOW"      // the same
	ClosedUnclear  ClosingWord = "UNCLEAR"     // lines of the answer contradict each other: as if there were none
)

// Read takes one line: ACHIEVED alone, or another word of the list with " -- " and a text
// after it. It is false for any other, and nothing is read of that.
func (c *Closing) Read(line string) bool {
	line = strings.TrimRight(line, " \t")
	if line == string(ClosedAchieved) {
		*c = Closing{Word: ClosedAchieved}
		return true
	}
	word, text, ok := strings.Cut(line, " -- ")
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return false
	}
	switch w := ClosingWord(word); w {
	case ClosedPartial, ClosedNot, ClosedNothing, ClosedInput, ClosedHollow:
		*c = Closing{Word: w, Text: text}
		return true
	case ClosedAchieved, ClosedUnclear:
	}
	return false
}

// Evidence is what Belay saw for itself before and after an agent.
type Evidence struct {
	Before    TreeState    `json:"before,omitzero"`
	After     TreeState    `json:"after,omitzero"`
	Files     int          `json:"files,omitempty"`
	Added     int          `json:"added,omitempty"` // lines
	Deleted   int          `json:"deleted,omitempty"`
	Changed   []FileChange `json:"changed,omitempty"`    // the first of them
	Commits   []string     `json:"commits,omitempty"`    // new ones, the first of them
	Guards    []FileChange `json:"guards,omitempty"`     // changed files that judge the work: tests, CI
	Tampered  []FileChange `json:"tampered,omitempty"`   // changed files that are guarded, the first of them
	Unseen    string       `json:"unseen,omitempty"`     // why nobody knows whether guarded files were changed
	Outside   []string     `json:"outside,omitempty"`    // files written outside the tree, as far as it is known
	PR        string       `json:"pr,omitempty"`         // address of a pull request seen to be made
	Snapshot  string       `json:"snapshot,omitempty"`   // the ref that keeps uncommitted work
	TakenBack bool         `json:"taken_back,omitempty"` // all that happened is that uncommitted work of before is gone
	Gone      []string     `json:"gone,omitempty"`       // files whose uncommitted work of before is gone, the first of them
	Earlier   string       `json:"earlier,omitempty"`    // and the ref that keeps that work
	Unkept    []string     `json:"unkept,omitempty"`     // changed files that are not in it, the first of them
	Error     string       `json:"error,omitempty"`      // why there is none, or not all
}
