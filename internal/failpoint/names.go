// Package failpoint names the places in the program at which a test may kill,
// stop, delay or crash it. It does nothing at all unless the binary is built
// with -tags failpoints, on Linux; it never returns an error, changes a value or decides
// anything, so a build with it takes the same ways as one without.
//
// In a build with the tag three environment variables are read at the first Hit:
//
//	BELAY_FP="name=N:action[,name=N:action...]"
//	BELAY_FP_TRACE=file
//	BELAY_FP_ONCE=file
//
// At the N-th Hit of a name in this process (1-based; * for every one) the
// action is done: kill (SIGKILL to itself), stop (SIGSTOP to itself), panic,
// exit(code) or sleep(duration). The trace file gets one line "pid name count"
// per hit. With the other file only the first action is done, of all processes that
// share it, and the file gets its line: where this run was ended or held is then
// known from this run, however often it came to a place.
package failpoint

// Names is every failpoint of the program, sorted. A test compares it with the
// source, so "every failpoint was covered" can be checked; after adding a Hit,
// go test ./internal/failpoint -update rewrites the list.
func Names() []string {
	return []string{
		// list
		"attach.greeted",
		"attend.after_base",
		"attend.after_report",
		"attend.before_base",
		"attend.before_report",
		"create.begun",
		"create.durable",
		"create.folder",
		"create.frozen",
		"create.greeted",
		"create.journal",
		"create.lock",
		"create.noted",
		"create.rooms",
		"drive.rested",
		"engine.after_spawn",
		"engine.before_spawn",
		"engine.tree_taken",
		"journal.after_append",
		"journal.before_append",
		"keeper.after_birth",
		"keeper.after_exit_line",
		"keeper.before_birth",
		"keeper.before_exit_line",
		"mergeback.before_report",
		"mergeback.begun",
		"remove.after_move",
		"remove.before_move",
		"remove.half",
		"retire.archived",
		"retire.removed",
		"retire.written",
		"worktree.before_include",
		"worktree.before_ready",
		"worktree.conflict_after_files",
		"worktree.conflict_after_plan",
		"worktree.conflict_before_done",
		"worktree.merge_after_files",
		"worktree.merge_after_head",
		"worktree.merge_after_index",
		"worktree.merge_after_plan",
		"worktree.merge_after_undo",
		"worktree.merge_before_done",
		"worktree.merge_before_file",
		"worktree.merge_before_plan",
		"worktree.merge_before_replan",
		// end
	}
}
