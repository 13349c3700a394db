package belay

// Act is the closed list of what can be done about a failure. A failure names the
// one that it asks for first; a plan names the one that is chosen. All that is
// known of one is its row in acts.
type Act string

const (
	ActRetry     Act = "retry"     // the same step again, when Due has come
	ActResume    Act = "resume"    // the same agent goes on with its session
	ActFresh     Act = "fresh"     // the same agent in a new session, told what was done
	ActFailover  Act = "failover"  // another agent or model takes over
	ActReassign  Act = "reassign"  // another role takes over, which may do what was denied
	ActRepair    Act = "repair"    // an agent fixes it, with the evidence at hand
	ActDecompose Act = "decompose" // smaller parts instead
	ActRecover   Act = "recover"   // an agent finishes what a sub-recipe left
	ActFallback  Act = "fallback"  // what the recipe names is done instead
	ActSkip      Act = "skip"      // it is left out
	ActGiveUp    Act = "give_up"   // no recovery is left: the step stays failed
	ActAbort     Act = "abort"     // nothing can help: the run ends
	ActHold      Act = "hold"      // a person is asked

	// What a failure can ask for, and a plan does not choose as such.
	ActNone       Act = "none"        // nothing is wrong
	ActVerify     Act = "verify"      // look whether the work is there
	ActRetryAfter Act = "retry_after" // the same again, when the other side allows it
	ActEscalate   Act = "escalate"    // a person is asked
	ActStop       Act = "stop"        // it was ended on purpose
)

// ActRow is what is known of one act.
type ActRow struct {
	Act     Act
	Words   string // as people are told of it
	Asked   bool   // a failure can ask for it
	Planned bool   // a plan can choose it: exactly one of Again, Helper and Ends follows
	Classic Act    // its name among the six classic strategies; empty = it is none of them
	Again   bool   // the step is started again
	Same    bool   // and the same agent is asked once more
	Fresh   bool   // in a session of its own
	Over    bool   // and somebody else is asked, who takes over
	Helper  Role   // of the agent that is called for it
	Ends    bool   // nothing more is tried
}

// acts has a row for each act, in the order of the list.
var acts = []ActRow{
	{Act: ActRetry, Words: "retry", Asked: true, Planned: true, Classic: ActRetry, Again: true, Same: true},
	{Act: ActResume, Words: "continue the session", Asked: true, Planned: true, Again: true, Same: true},
	{Act: ActFresh, Words: "new session", Planned: true, Again: true, Same: true, Fresh: true},
	{Act: ActFailover, Words: "failover", Asked: true, Planned: true, Again: true, Fresh: true, Over: true},
	{Act: ActReassign, Words: "reassign", Asked: true, Planned: true, Classic: ActReassign, Again: true, Fresh: true, Over: true},
	{Act: ActRepair, Words: "repair", Asked: true, Planned: true, Helper: RoleRepair},
	{Act: ActDecompose, Words: "split into parts", Asked: true, Planned: true, Classic: ActDecompose, Helper: RolePlan},
	{Act: ActRecover, Words: "recovery agent", Planned: true, Helper: RoleRecovery},
	{Act: ActFallback, Words: "fallback", Planned: true, Again: true},
	{Act: ActSkip, Words: "skip", Planned: true, Classic: ActSkip, Ends: true},
	{Act: ActGiveUp, Words: "gave up", Planned: true, Ends: true},
	{Act: ActAbort, Words: "abort", Asked: true, Planned: true, Classic: ActAbort, Ends: true},
	{Act: ActHold, Words: "ask a person", Planned: true, Classic: ActEscalate, Ends: true},
	{Act: ActNone, Words: "nothing", Asked: true},
	{Act: ActVerify, Words: "look whether the work is there", Asked: true},
	{Act: ActRetryAfter, Words: "retry when the other side allows it", Asked: true},
	{Act: ActEscalate, Words: "ask a person", Asked: true, Classic: ActEscalate},
	{Act: ActStop, Words: "stop", Asked: true},
}

// Acts lists all acts.
func Acts() []Act {
	list := make([]Act, len(acts))
	for i := range acts {
		list[i] = acts[i].Act
	}
	return list
}

// Row is what is known of the act; of one that is not ours only its name.
func (a Act) Row() ActRow {
	for i := range acts {
		if acts[i].Act == a {
			return acts[i]
		}
	}
	return ActRow{Act: a, Words: string(a)}
}
