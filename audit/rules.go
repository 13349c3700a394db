package audit

// The rules that every journal keeps.
const (
	RuleSeq       = "seq"       // records are numbered from 1 without a gap
	RuleTime      = "time"      // time never falls
	RuleAttach    = "attach"    // each driver raises the epoch, to the number in its record
	RuleEpoch     = "epoch"     // a record is written in the epoch of the driver that is attached
	RuleFirst     = "first"     // a stream begins with run.started, of a known schema, and has only one
	RuleRoot      = "root"      // the root comes first, and only it is attached, held, stopped and parked
	RuleChild     = "child"     // a child run exists because an open attempt names it
	RuleChildEnd  = "child_end" // an attempt that is a child run ends when that run has ended, as it ended
	RuleKey       = "key"       // a key is made of run, step, role and number
	RuleOpen      = "open"      // a step has one open attempt at most; only an open one is noted, stopped, found or ended
	RuleNumber    = "number"    // attempts of a step and role count up from 1; an unborn one comes again
	RuleFound     = "found"     // each process open at an attach is found once, before anything else of it
	RuleHarvested = "harvested" // a harvested attempt ends next
	RuleJudged    = "judged"    // a main attempt is judged once, after it ended; a lost one is done only by its check; a check is judged only if it passed after a person's word
	RuleFinal     = "final"     // what is done or not taken starts again only after a reset; what failed or was left out, not before a reopening
	RuleReset     = "reset"     // a step is run again only when it has come to an end, nothing of it is open, and a person asked for it
	RuleTerminal  = "terminal"  // an ended run stays ended until it is reopened
	RuleReopen    = "reopen"    // only an ended run is reopened; a child only by an open attempt that names it
	RuleOnce      = "once"      // a once step of unknown outcome starts again only on a check's or a person's word
	RuleEnd       = "end"       // a run ends with nothing open and nobody asked; only ACHIEVED is 0
	RuleAchieved  = "achieved"  // an achieved run has settled every step that it started
	RuleParked    = "parked"    // a run is parked with no process open
	RuleLost      = "lost"      // a step is lost at most as often as the limits allow
	RuleItem      = "item"      // an item is opened once and answered once
	RuleRequest   = "request"   // a request is received once and refused at most once
	RuleRecovery  = "recovery"  // a recovery is chosen after a failure or a loss, once
	RuleDue       = "due"       // a retry does not start before its time
	RuleTaken     = "taken"     // what has begun is not called not taken afterwards
	RuleHook      = "hook"      // a hook runs beside its step, never with it
	RuleMerge     = "merge"     // the work of an isolated step is merged once it is there, and before anything else of the step starts
)

// Rules is all of them, in the order of the reference.
func Rules() []string {
	return []string{
		RuleSeq, RuleTime, RuleAttach, RuleEpoch, RuleFirst, RuleRoot, RuleChild, RuleChildEnd, RuleKey, RuleOpen,
		RuleNumber, RuleFound, RuleHarvested, RuleJudged, RuleFinal, RuleReset, RuleTerminal, RuleReopen, RuleOnce, RuleEnd,
		RuleAchieved, RuleParked, RuleLost, RuleItem, RuleRequest, RuleRecovery, RuleDue, RuleTaken, RuleHook, RuleMerge,
	}
}
