package belay

// Class is the closed list of finer kinds of failure, for choosing a recovery.
// All that is known of one is its row in classes; which recoveries it has is its
// row in the room recovery.
type Class string

const (
	ClassNone           Class = ""
	ClassCancelled      Class = "cancelled"      // we ended it, or a person did
	ClassTimeout        Class = "timeout"        // our clock, or a network's
	ClassTransient      Class = "transient"      // overload, a cut stream, a refused connection
	ClassRateLimit      Class = "rate_limit"     // too many calls; goes away by waiting
	ClassQuota          Class = "quota"          // the account is used up
	ClassAuth           Class = "auth"           // no login, or a bad one
	ClassPermission     Class = "permission"     // a tool, a file or a sandbox said no
	ClassTokenLimit     Class = "token_limit"    // the prompt or the answer is too long
	ClassTurnLimit      Class = "turn_limit"     // the agent used up its turns
	ClassComplexity     Class = "complexity"     // the task is too big for one agent
	ClassBudget         Class = "budget"         // a spending limit was reached
	ClassRefusal        Class = "refusal"        // the model will not do it
	ClassWorkFailure    Class = "work_failure"   // a check, a test or a compiler says that the work is wrong
	ClassConflict       Class = "conflict"       // a lock, a merge
	ClassInfrastructure Class = "infrastructure" // disk, memory, network, a missing tool
	ClassInvalidInput   Class = "invalid_input"  // a bad flag, file, model or value
	ClassHollow         Class = "hollow"         // an end without work
	ClassIncomplete     Class = "incomplete"     // the agent says itself that something is missing
	ClassTampered       Class = "tampered"       // a guarded file was changed
	ClassMergeConflict  Class = "merge_conflict" // isolated work does not fit what changed meanwhile
	ClassBenign         Class = "benign"         // noise
	ClassUnknown        Class = "unknown"
)

// RuleSetup marks a failure that Belay met when it looked at the work itself: a
// program, a remote or a login is missing, or the tree cannot be looked at.
// Neither waiting nor the agent cures that.
const RuleSetup = "evidence.setup"

// RuleNoAnswer marks an end without work of an agent that only had to answer: it claimed
// nothing.
const RuleNoAnswer = "evidence.answer"

// RuleDeclared marks a failure whose kind its recipe names: nobody looked for it.
const RuleDeclared = "declared"

// RulePerson marks a failure that a person declared, or that stands for what nobody
// answered: its cause says all, and no agent is asked to undo it.
const RulePerson = "person"

// ClassRow is what is known of one class of failures.
type ClassRow struct {
	Class  Class
	Words  string      // what happened, as a part of a sentence
	Named  bool        // the name says more than the kind of the failure does
	Kind   FailureKind // that an agent's error of this class is; empty = BashFailure
	Hint   string      // what a person can do about such an error
	Cure   string      // what a person does before the run goes on; empty = fix the cause
	NewRun bool        // no resume cures it: the recipe or a value of the run is wrong

	First  Act // what it asks for when nothing more is known
	Second Act // and of an agent, when that failed in the same way; empty = a person is asked

	Returns bool // of an agent: the service comes back by itself
	Service bool // of an agent: the service that it calls failed, not the agent
	Idle    bool // of an agent that did nothing: the service was never reached
	Costs   bool // it uses up the retries of the service
	Breaks  bool // it counts for the breaker of the service
	Outside bool // the same again fails again until somebody else acts
	Persons bool // the cure is a person's
	Passes  bool // it goes away by itself
}

// classes has a row for each class; the one without a name comes first.
var classes = []ClassRow{
	{Class: ClassNone, Words: "the cause is unknown", First: ActNone},
	{
		Class: ClassCancelled, Words: "a person said no, or it was ended from outside",
		First: ActStop, Outside: true,
	},
	{
		Class: ClassTimeout, Words: "it took too long", Kind: AgentTimeout, Cure: cureWait,
		First: ActRetry, Second: ActFailover, Returns: true, Idle: true, Costs: true, Passes: true,
	},
	{
		Class: ClassTransient, Words: "the service or the network failed", Named: true,
		Kind: Infrastructure, Hint: hintService, Cure: cureWait,
		First: ActRetry, Second: ActFailover, Returns: true, Service: true, Idle: true, Costs: true, Breaks: true, Passes: true,
	},
	{
		Class: ClassRateLimit, Words: "too many calls", Named: true,
		Kind: Infrastructure, Hint: "wait a little, then resume the run", Cure: cureAccount,
		First: ActRetryAfter, Returns: true, Service: true, Idle: true, Costs: true, Breaks: true,
	},
	{
		Class: ClassQuota, Words: "the account is used up", Named: true,
		Kind: Infrastructure, Hint: "the account is used up: wait, pay, or use another agent", Cure: cureAccount,
		First: ActFailover, Service: true, Costs: true, Outside: true, Persons: true,
	},
	{
		Class: ClassAuth, Words: "not logged in, or wrong credentials", Named: true,
		Kind: Infrastructure, Hint: "log in with the agent's own command, or set its API key; belay doctor says how",
		Cure:  "log in, or set the key that is missing",
		First: ActEscalate, Service: true, Costs: true, Breaks: true, Outside: true, Persons: true,
	},
	{
		Class: ClassPermission, Words: "a permission is missing", Named: true,
		Hint: "allow the tool to the agent, or take it out of the task", Cure: "grant what was denied, or let somebody do it who may",
		First: ActReassign, Outside: true, Persons: true,
	},
	{
		Class: ClassTokenLimit, Words: "the prompt or the answer is too long", Named: true,
		Hint: "give it less to read, or split the task", First: ActDecompose,
	},
	{
		Class: ClassTurnLimit, Words: "the agent used up its turns", Named: true,
		Hint: hintSplit, First: ActResume,
	},
	{
		Class: ClassComplexity, Words: "the task is too big for one agent", Named: true,
		Hint: hintSplit, First: ActDecompose,
	},
	{
		Class: ClassBudget, Words: "the budget is used up", Named: true,
		Hint: "raise the agent's own spending limit", Cure: "raise the budget, if it is worth it",
		First: ActEscalate, Outside: true, Persons: true,
	},
	{Class: ClassRefusal, Words: "the model will not do it", Named: true, First: ActFailover},
	{Class: ClassWorkFailure, Words: "a check or test failed", First: ActRepair},
	{
		Class: ClassConflict, Words: "somebody else holds or changed it", Named: true,
		Kind: Infrastructure, Hint: hintService, First: ActRetry, Passes: true,
		Cure: cureWait + "; if it names a lock file that no program uses any more, remove that file",
	},
	{
		Class: ClassInfrastructure, Words: "the machine lacks something",
		Kind: Infrastructure, Hint: hintService, Cure: "give the machine what it lacks",
		First: ActEscalate, Returns: true, Service: true,
	},
	{
		Class: ClassInvalidInput, Words: "a flag, a file or a value is wrong",
		Hint: "check the model and the arguments of the agent; belay doctor helps", NewRun: true,
		First: ActRepair, Second: ActRepair,
	},
	{Class: ClassHollow, Words: "no work was done", Kind: HollowSuccess, First: ActVerify},
	{Class: ClassIncomplete, Words: "the agent says that something is missing", Named: true, First: ActResume},
	{Class: ClassTampered, Words: "a guarded file was changed", Named: true, First: ActResume},
	{Class: ClassMergeConflict, Words: "the isolated work conflicts with other changes", Named: true, First: ActRepair},
	{Class: ClassBenign, Words: "the cause is unknown", First: ActNone},
	{Class: ClassUnknown, Words: "the cause is unknown", First: ActRetry, Second: ActRepair},
}

// What several classes have in common.
const (
	hintService = "resume the run when the service is back"
	hintSplit   = "split the task, or allow more turns"
	cureWait    = "it may go away by itself"
	cureAccount = "wait until the account may go on, or give another one"
)

// Classes lists all classes but the empty one.
func Classes() []Class {
	var list []Class
	for i := range classes[1:] {
		list = append(list, classes[i+1].Class)
	}
	return list
}

// Row is what is known of the class; of one that is not ours, as of an unknown one.
func (c Class) Row() ClassRow {
	for i := range classes {
		if classes[i].Class == c {
			return classes[i]
		}
	}
	return ClassUnknown.Row()
}
