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

// AgentJob is what an attempt of an agent step is made of.
type AgentJob struct {
	Name    string  // the agent's name: claude, codex, one of the configuration's own
	Model   string  // "" = the agent's own choice
	Persona string  // "namespace:name" of a Markdown file that is put before the prompt
	Prompt  []Value // the parts of the prompt, joined at the door
	Expect  Expect
	Unsaid  bool      // the recipe does not say what it expects: an agent that may only read owes an answer
	Session string    // the id that the session shall have, where the agent takes one
	Resume  string    // the session to go on with; "" = a new one
	Cut     string    // with or without Resume: how an earlier attempt was cut off, in words
	Base    *Print    // what the work is measured against, when it began in an earlier attempt
	Access  string    // read, edit or full; "" = the agent's own
	Brief   string    // what happened before, for the prompt
	Tools   []string  // single tools that its role may use, over its access
	Closes  bool      // its answer ends with a closing line
	Guard   *Guarding // files that it may not change; nil = none
}

// Guarding names files that an agent may not change.
type Guarding struct {
	Globs []string `json:"globs,omitempty"` // patterns; one with a slash is from the directory of the step
	Tests bool     `json:"tests,omitempty"` // test files, and settings of tests, that were committed
	Files []string `json:"files,omitempty"` // paths from the directory of the step, of files that were committed
	Since string   `json:"since,omitempty"` // the commit in which Tests and Files are looked for; "" = HEAD at the beginning
}

// Excerpt is the beginning and the end of a text, for records.
func Excerpt(text string) string {
	const head, tail = 3 << 10, 1 << 10
	if len(text) <= head+tail {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:head], "") + "\n…\n" + strings.ToValidUTF8(text[len(text)-tail:], "")
}

// Print is the state of a working tree: two are equal when nothing changed.
type Print struct {
	Repo   bool   `json:"repo,omitempty"`   // it is a git repository; else Tree is a digest of names and contents
	Head   string `json:"head,omitempty"`   // the commit
	Branch string `json:"branch,omitempty"` // "" = detached
	Tree   string `json:"tree,omitempty"`   // of all files: tracked, staged and untracked, less the ignored
	Dirty  bool   `json:"dirty,omitempty"`  // there is uncommitted work
	Index  string `json:"index,omitempty"`  // the tree of what is staged, where that is neither HEAD nor the files
	Log    int64  `json:"log,omitempty"`    // how long the log of HEAD is: what comes after it is new
	Error  string `json:"error,omitempty"`  // why there is no print

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
	MicroUSD   int64 `json:"micro_usd,omitempty"` // millionths of a dollar; 0 = not told
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

// Evidence is what Belay saw for itself before and after an agent.
type Evidence struct {
	Before    Print        `json:"before,omitzero"`
	After     Print        `json:"after,omitzero"`
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

// Worktree is a place of its own for a run or a step.
type Worktree struct {
	Text string `json:"text"` // what its branch is named after
	Step Path   `json:"step,omitempty"`
	Dir  string `json:"-"` // the directory that it stands for

	Merge bool `json:"merge,omitempty"` // what is done in it comes back: it begins at the files as they are
	Wish  bool `json:"wish,omitempty"`  // where there can be none, the step works without
}

// AgentReport is everything that is known of one attempt of an agent step.
type AgentReport struct {
	Name     string      `json:"name"`
	Program  string      `json:"program,omitempty"`
	Version  string      `json:"version,omitempty"`
	Access   string      `json:"access,omitempty"` // what it was allowed: read, edit or full; "" = its own
	Result   AgentResult `json:"result"`
	Evidence Evidence    `json:"evidence"`
	Ended    EndedBy     `json:"ended,omitempty"`
	Resumes  int         `json:"resumes,omitempty"` // how often it was interrupted and gone on with
	Reasked  int         `json:"reasked,omitempty"` // how often it was asked again for JSON
	Fresh    bool        `json:"fresh,omitempty"`   // its session was not known any more: a new one took over
	Notes    []AgentNote `json:"notes,omitempty"`
	Lost     string      `json:"lost,omitempty"` // why notes could not be written while it ran
	Level    int         `json:"containment"`
	Strays   int         `json:"strays,omitempty"` // processes that it left behind and that were ended
}

// Starts is how often a CLI was started in the attempt: once, and once more for
// each time that it was gone on with, begun anew or asked again.
func (r AgentReport) Starts() int {
	if r.Unreached() {
		return 0
	}
	n := 1 + r.Resumes + r.Reasked
	if r.Fresh {
		n++
	}
	return n
}

// Unreached tells that the attempt failed at the service before it came to any
// work: nothing was used, and it counts as no start.
func (r AgentReport) Unreached() bool {
	a := r.Result
	if a.Usage.Tokens() > 0 || a.Usage.MicroUSD > 0 || a.ToolCount > 0 || a.Final && !a.Error {
		return false
	}
	if a.Class == ClassNone { // ended while it only called again
		return r.Ended == EndedRetries
	}
	return a.Class.Row().Idle
}

// EndedBy says which of our own acts ended an agent, recorded by whoever did
// it and never inferred.
type EndedBy string

const (
	EndedItself   EndedBy = ""            // nobody of ours
	EndedFirst    EndedBy = "first_event" // it never said anything
	EndedSilence  EndedBy = "silence"     // it said nothing for too long
	EndedTool     EndedBy = "tool"        // one tool took too long
	EndedBabble   EndedBy = "babble"      // it went on and on without an end or a tool
	EndedDeadline EndedBy = "deadline"    // its timeout passed
	EndedSignal   EndedBy = "signal"      // we were told to end: a stop or a cancel
	EndedRetries  EndedBy = "retries"     // it only retried
	EndedOutput   EndedBy = "output"      // its answer is over the limit
)

// AgentNote is something that happened while an agent ran.
type AgentNote struct {
	At   time.Time `json:"at"`
	What NoteKind  `json:"what"`
	Text string    `json:"text,omitempty"`
}

// NoteKind is the closed list of things that are noted about a running agent.
type NoteKind string

const (
	NoteSession   NoteKind = "session"   // its session is known
	NoteQuiet     NoteKind = "quiet"     // half of a window has passed
	NoteInterrupt NoteKind = "interrupt" // it was interrupted, to be gone on with
	NoteResume    NoteKind = "resume"    // its session goes on
	NoteKill      NoteKind = "kill"      // it was ended
	NoteRetry     NoteKind = "retry"     // it retries by itself
	NoteBase      NoteKind = "base"      // what the work is measured against
)
