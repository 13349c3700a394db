package task

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-run/belay"
)

// judgement is what a round amounts to.
type judgement struct {
	Status   Status   `json:"status"`
	Line     string   `json:"line"`
	Met      int      `json:"met"`
	Total    int      `json:"total"`
	Criteria []judged `json:"criteria"`
	Missing  []string `json:"missing"`
	Said     Status   `json:"said"`
	Readable bool     `json:"readable"`
	Summary  string   `json:"summary"`
	Reasons  []string `json:"reasons"`
	Warnings []string `json:"warnings,omitempty"`
	Stuck    bool     `json:"stuck,omitempty"`
	Idle     bool     `json:"unchanged,omitempty"` // nothing was changed where it had to be
	Pushed   []string `json:"pushed,omitempty"`
	Began    []began  `json:"checks_before,omitempty"` // for the rounds that follow
	Limits   []string `json:"limits,omitempty"`        // why it is PARTIAL at best, whatever the criteria say

	Written   []string `json:"written,omitempty"`    // test files that were changed after they were written, and with which as they were it does not pass
	WrittenIn string   `json:"written_in,omitempty"` // the folder where these are as they were

	beyond int  // criteria that no further work can prove
	stays  bool // one of the limits is that files are not as they were before the first round
}

// judged is what became of one criterion.
type judged struct {
	ID      string     `json:"id"`
	Text    string     `json:"text"`
	Verdict metVerdict `json:"verdict"`
	Why     string     `json:"why"`
	Note    string     `json:"note,omitempty"`    // it is met, and its check names files of the work
	Trusted bool       `json:"trusted,omitempty"` // it is met because the reflecting agent says so

	Rewritten []string `json:"rewritten,omitempty"` // its check passes only since the work changed these, which it names
}

// metVerdict is the closed list of what becomes of a criterion.
type metVerdict string

const (
	isMet      metVerdict = "met"      // Belay has evidence, and nobody denies it
	isUnmet    metVerdict = "unmet"    // the evidence is against it, or it is denied, or nothing speaks for it
	isUnproven metVerdict = "unproven" // only the reflecting agent says so
)

func callCriteriaStatus() Function {
	return Function{
		Name: "criteria-status",
		Does: "What a round amounts to: each criterion by Belay's own evidence; the reflecting agent can only lower it.",
		Inputs: []Field{
			{"criteria", TypeAny, true, "The criteria, as task-type gives them."},
			{"reflection", TypeAny, false, "What the reflecting agent answered: an object with `goal_status`, `summary`, `criteria` (a list of objects with `id` and `met`, or an object by id) and `missing` (or `unmet`, `not_met` and the like), or a text that ends in a status. A criterion that it denies in any of these is unmet; what it denies that is no criterion makes the round PARTIAL at best. Of `met`, `verdict`, `status`, `result`, `passed` and `ok` of a criterion all that are there must say yes. A criterion that is named by its id in a list or an object under a key that is not known is denied, but for keys that say that it is met, or why (`criteria_met`, `evidence`, `notes`, …). Other texts under such keys deny nothing. One that nobody can read, or that has several answers that differ or a key twice, counts as NOT_ACHIEVED."},
			{"checks", TypeAny, false, "Results of checks that Belay ran: a list of objects with `id` and `passed` (or `exit`; one with neither was not run), with `why` where it did not pass, and with `altered` for ignored files that it ran with and that were changed during the run, where no agent was to work: what rests on these is unproven; with `first` for one that failed before the work and passes now without it, too, which proves nothing; with `rewritten` for programs and build files that it names and that the work changed, where it does not pass with them as they were, or with `lost` where there is no copy of them: it is unproven then; with `names_changed` for such files that the work was to change, and `names_added` for those that came with it, which are noted; with `written` and `written_fails` as `old_tests` has them; or an object of such by id."},
			{"checks_before", TypeAny, false, "Results of the same checks before the work, as a list, with `always` for one that passes in an empty folder, too, and with `counted` for one whose output counted tests: where it counts none now, it proves nothing. One that passed already proves nothing by itself; one that always passes proves nothing at all, unless a person gave the criteria. Nothing: those of `before`."},
			{"changed", TypeAny, false, "The files that are changed, as Belay saw them: a list of paths, or one on each line."},
			{"changed_before", TypeAny, false, "Those of the changed files that were there before the work. Test files among them are named with what they prove."},
			{"tests", TypeAny, false, "Whether tests that Belay ran passed: true, passed, or an object with `passed`, `why` where they did not, `altered` as checks have it, `counted` where their output says how many tests ran, and `counted_before` where it does not, and did before the work. Where it does not, and it did or the work changed the test command, they prove no criterion, and a round is PARTIAL at best."},
			{"old_tests", TypeAny, false, "What the test files and the test command that the work changed come to as they were before it: an object with `files`, `passed` and `why`, with `defines` for the files that say what the command does, and with `lost` where there is no copy of them. Where one of those was changed, no file is named, or the tests count nothing, and it does not pass, a round is PARTIAL at best. `written` are test files that are not as the step left them that wrote them, `written_fails` is why the tests do not pass with them as they were (such a round is PARTIAL at best, too), and `written_in` the folder where they are."},
			{"given", TypeAny, false, "The criteria that a person gave. Where there are any, old tests lower nothing, and a check that always passes counts as one that passed before."},
			{"own_path", TypeAny, false, "Places in the changed files that name the worktree itself, and new links out of the repository (`file -> place`), one on each line: such a round is PARTIAL at best."},
			{"expect_tests", TypeFlag, false, "Where something had to be changed, tests had to pass: without it a round is PARTIAL at best."},
			{"failed", TypeAny, false, "Why the step that does the work failed: an object with `class`, `rule` and `text`; nothing where it did not. Such a round is PARTIAL at best."},
			{"work", TypeAny, false, "What the recipe gave that did the work; where its `work_ends` is no ACHIEVED, such a round is PARTIAL at best."},
			{"instead", TypeAny, false, "What the recipe gave that did the work instead of that step."},
			{"instead_failed", TypeAny, false, "Why that failed."},
			{"merged_failed", TypeAny, false, "Why the step failed that looks at merged workstreams."},
			{"streams", TypeAny, false, "What each workstream gave; null for one that was not done."},
			{"names", TypeAny, false, "The workstreams, as task-type gives them."},
			{"notes", TypeAny, false, "What else is to be said about the work, one on each line; one that begins with `warning: ` is a warning, and one with `pushed: ` names a branch at a remote that agents pushed the work to."},
			{"after", TypeAny, false, "`changed` where the files changed after they were judged: such a round is PARTIAL at best."},
			{"committed", TypeText, false, "What was committed, or changed in the repository, where nothing was to be changed, in words: such a round is PARTIAL at best, and the last one."},
			{"altered", TypeAny, false, "Files that are not as they were when the first round began, where none was to be changed: a list of paths, or one on each line. Such a round is PARTIAL at best, and the last one if nothing else is missing."},
			{"citations", TypeList, false, "Citations that Belay checked: objects with `holds`, with `commit` for one of a commit, with `criterion` for the one that it is for (of several criteria it proves no other), and with `wrong`, in words, where it says what is not there: such a criterion is unproven at best."},
			{"unread", TypeAny, false, "What is cited and cannot be looked up, as citations and claims give it: objects with `wrong`, in words, and `criterion`: such a criterion is unproven at best, too. So it is where a citation has no result."},
			{"type", TypeText, false, "The type of the task. Of Development a change is expected. A check says nothing of the answer to a question or of an investigation: it comes to what it came to before."},
			{"expect_change", TypeFlag, false, "Something had to be changed: a round that claims success, and in which nothing was, is HOLLOW."},
			{"trust_reflection", TypeFlag, false, "What only the reflecting agent says counts, too."},
			{"before", TypeObject, false, "What it gave for the round before; nothing in the first."},
			{"result", TypeAny, false, "What the round answered: one that says honestly that nothing was reached is NOT_ACHIEVED, not HOLLOW."},
		},
		Outputs: []Field{
			{"status", TypeText, true, "ACHIEVED, PARTIAL, NOT_ACHIEVED or HOLLOW."},
			{"line", TypeText, true, "The status with what is missing, on one line."},
			{"met", TypeNumber, true, "How many criteria are met."},
			{"total", TypeNumber, true, "How many there are."},
			{"criteria", TypeList, true, "Objects with `id`, `text`, `verdict` (met, unmet or unproven) and `why`; with `note` where it is met by a check that names files that the work added or changed, and with `trusted` where it is met because the reflecting agent says so, and with `rewritten` where its check passes only since the work changed these files, which it names: among the `files` of the criterion they would not count against it."},
			{"missing", TypeList, true, "The ids of those that are not met."},
			{"said", TypeText, true, "The status of the reflecting agent; empty where nobody can read it."},
			{"readable", TypeFlag, true, "The reflection can be read; ask once more where it cannot."},
			{"summary", TypeText, true, "What the reflecting agent said."},
			{"reasons", TypeList, true, "Why it is this status, in words."},
			{"warnings", TypeList, false, "What is to be looked at before anybody relies on the proof, in words. It lowers nothing."},
			{"pushed", TypeList, false, "Branches at remotes that agents pushed the work to, in this round or before it."},
			{"checks_before", TypeList, false, "How the checks ended before the work, for the round that follows."},
			{"limits", TypeList, false, "Why it is PARTIAL at best, whatever the criteria say, in words."},
			{"written", TypeList, false, "Test files that were changed after they were written, and with which as they were the tests or a check do not pass."},
			{"written_in", TypeText, false, "The folder where they are as they were."},
			{"unchanged", TypeFlag, false, "Nothing was changed, where a change was expected."},
			{"stuck", TypeFlag, false, "Another round would be the same: nothing was changed, where a change was expected, and so it was in the one before; or all that is left are criteria that no work can prove; or somebody committed where nothing was to be changed, or all that is missing is that files are as they were."},
		},
		Example: Example{
			With: json.RawMessage(`{"criteria": [{"id": "c1", "text": "429 over the limit", "check": "go test ./limit"}, {"id": "c2", "text": "documented", "files": ["docs/**"]}],
				"checks": [{"id": "c1", "passed": true}], "changed": ["limit/limit.go"], "tests": "passed", "expect_change": true,
				"reflection": {"goal_status": "ACHIEVED", "summary": "all there", "criteria": [{"id": "c1", "met": true}, {"id": "c2", "met": true}]}}`),
			Gives: json.RawMessage(`{"status": "PARTIAL", "line": "PARTIAL -- c2 is unproven", "met": 1, "total": 2,
				"criteria": [{"id": "c1", "text": "429 over the limit", "verdict": "met", "why": "its check passed"},
					{"id": "c2", "text": "documented", "verdict": "unproven", "why": "no file that it names is changed; only the reflecting agent says that it is met"}],
				"missing": ["c2"], "said": "ACHIEVED", "readable": true, "summary": "all there",
				"reasons": ["1 of 2 criteria is met"]}`),
		},
		do: criteriaStatus,
	}
}

func criteriaStatus(in *inputs) any {
	list, _ := readCriteria(in.any("criteria"))
	if len(list) == 0 {
		in.fail("criteria", "there is none in it")
		return nil
	}
	r := readReflection(in.any("reflection"), list)
	seen := readEvidence(in, list)
	j := judgement{
		Total: len(list), Criteria: []judged{}, Missing: []string{}, Reasons: []string{},
		Said: r.status, Readable: r.status != "", Summary: cut(r.summary, maxLine), Began: seen.began,
	}
	seen.compare(list)
	unproven := 0
	for _, c := range list {
		v := seen.judge(c, r, in.flag("trust_reflection"))
		j.Criteria = append(j.Criteria, v)
		if v.Verdict == isUnproven && seen.beyond(c, in.flag("expect_tests")) {
			j.beyond++
		}
		switch v.Verdict {
		case isMet:
			j.Met++
			continue
		case isUnproven:
			unproven++
		case isUnmet:
		}
		j.Missing = append(j.Missing, c.ID)
	}
	j.settle(in, seen, r, unproven)
	j.Warnings = append(j.Warnings, warnings(in)...)
	if j.Pushed = pushed(in); len(j.Pushed) > 0 {
		j.Warnings = append(j.Warnings, "an agent pushed commits of the work, which nobody asked for: "+line(strings.Join(j.Pushed, ", "), maxGoal))
	}
	j.Stuck = j.Stuck || in.text("committed") != "" || j.vain(seen, r)
	j.Line = j.closing(r)
	return j
}

// vain tells whether all that is left is nothing that further work can prove. Nobody knows
// who changed files that were to stay as they were: no agent is sent to undo that.
func (j *judgement) vain(seen evidence, r reflection) bool {
	limits := len(j.Limits)
	if j.stays {
		limits--
	}
	if j.Status != Partial || limits > 0 && len(seen.altered) == 0 || r.status != Achieved {
		return false
	}
	return j.beyond == len(j.Missing) && (j.stays || j.beyond > 0)
}

// settle finds the status: first by the evidence, then lowered by the reflection.
func (j *judgement) settle(in *inputs, seen evidence, r reflection, unproven int) {
	switch {
	case j.Met == j.Total:
		j.Status = Achieved
	case j.Met > 0 || unproven > 0:
		j.Status = Partial
	default:
		j.Status = NotAchieved
	}
	are := "are"
	if j.Met == 1 {
		are = "is"
	}
	j.because("%d of %d criteria %s met", j.Met, j.Total, are)
	j.limit(in, seen)
	if wrong := seen.falsely(""); wrong != "" {
		j.limitTo("%s", wrong)
	}
	if len(r.stray) > 0 && r.status != "" {
		j.limitTo("the reflecting agent denies something that is no criterion by its id: %s", line(strings.Join(r.stray, "; "), maxGoal))
	}
	undone := expectsChange(in) && len(seen.changed) == 0
	if undone {
		if j.unchanged(in) {
			return
		}
	} else {
		for _, n := range notes(in) {
			j.because("%s", n)
		}
	}
	switch said := r.status; {
	case said == "":
		if strings.TrimSpace(textOf(in.any("reflection"))) == "" {
			r.why = "the reflecting agent gave no answer"
		}
		j.because("nobody can read the reflection: %s", r.why)
		if n := len(j.Reasons); undone { // why nothing was done says more, and the last one is told
			j.Reasons[n-2], j.Reasons[n-1] = j.Reasons[n-1], j.Reasons[n-2]
		}
		j.lower(NotAchieved)
	case said == Hollow && j.Met > 0:
		j.because("the reflecting agent says HOLLOW, and something is there")
		j.lower(Partial)
	case said == Hollow && len(seen.changed) > 0:
		j.because("the reflecting agent says HOLLOW, and files are changed")
		j.lower(NotAchieved)
	case said.rank() > j.Status.rank():
		j.because("the reflecting agent says %s", said)
		j.lower(said)
	}
}

// expectsChange tells whether something had to be changed.
func expectsChange(in *inputs) bool {
	kind, _ := exactKind(in.text("type"))
	return in.flag("expect_change") || kind == Development
}

// oldTests says what the tests that the work changed come to as they were before. That
// they fail may be what the task is about: it is for a person to look at. Where the work
// changed what the tests are, there is no other proof that they pass.
func (j *judgement) oldTests(in *inputs, seen evidence) {
	o, _ := unwrapped(in.any("old_tests")).(map[string]any)
	files, defines := pathsOf(o["files"]), pathsOf(o["defines"])
	tests, _ := unwrapped(in.any("tests")).(map[string]any)
	names := line(strings.Join(files, ", "), maxGoal)
	hollow := uncounted(in)
	switch {
	case hollow != "" && (!ran(o) || passed(o)):
		j.limitUnless(seen.given, hollow)
		return
	case !ran(o):
		return
	case passed(o) && len(files) > 0:
		j.because("the tests pass with these files as they were before the work, too: %s", names)
		return
	case passed(o):
		return
	}
	why := ""
	if is := line(first(o, "why"), maxLine); is != "" {
		why = " (" + is + ")"
	}
	text, lowers := "the tests do not pass as they were before"+why, true
	switch {
	case passed(o["lost"]):
		text = fmt.Sprintf("the work changed the test command (%s), and without a repository there is no copy of it as it was", line(strings.Join(defines, ", "), maxGoal))
	case len(defines) > 0:
		text = fmt.Sprintf("the work changed the test command (%s), and it does not pass as it was before%s", line(strings.Join(defines, ", "), maxGoal), why)
	case passed(tests["counted"]) && len(files) > 0:
		text, lowers = "test files that the work changed do not pass as they were before: "+names+why, false
	case len(files) > 0:
		text = fmt.Sprintf("the work changed the tests (%s): as they were before they do not pass%s, and as they are now their output does not say how many tests ran", names, why)
	}
	j.limitUnless(seen.given || !lowers, text)
}

// limitUnless makes a round PARTIAL at best, or only warns.
func (j *judgement) limitUnless(warn bool, text string) {
	if warn {
		j.Warnings = append(j.Warnings, text)
	} else {
		j.limitTo("%s", text)
	}
}

// unchanged settles a round that changed nothing where it had to. Without a claim it
// is a failure like others; with one it is hollow, and nothing else counts.
func (j *judgement) unchanged(in *inputs) (hollow bool) {
	noted := strings.Join(append([]string{""}, notes(in)...), "; ")
	f := workFailed(in)
	failed := f != nil && !f.claimed()
	warned := warnings(in)
	if !failed && len(warned) > 0 { // something was done, and cannot count
		j.because("nothing that counts was changed: %s", warned[0])
		j.lower(NotAchieved)
		return false
	}
	// What agents say, and why they fail, differs each time, so only this tells that the
	// rounds lead nowhere.
	j.Idle = len(warned) == 0
	last := in.object("before")
	before := ""
	if j.Stuck = j.Idle && (passed(last["unchanged"]) || first(last, "status") == string(Hollow)); j.Stuck {
		before = ", and nothing in the round before"
	}
	if failed {
		j.lower(NotAchieved)
		j.because("nothing was changed%s: %s%s", before, f.text, noted)
		return false
	}
	if word, honest := honestly(in.any("result")); honest {
		j.because("nothing was changed%s, and the round says so itself: %s%s", before, word, noted)
		j.lower(NotAchieved)
		return false
	}
	j.lower(Hollow)
	j.because("nothing was changed, where a change was expected%s%s", before, noted)
	return true
}

func (j *judgement) because(format string, args ...any) {
	j.Reasons = append(j.Reasons, fmt.Sprintf(format, args...))
}

// lower lowers the status; it never raises it.
func (j *judgement) lower(to Status) {
	if to.rank() > j.Status.rank() {
		j.Status = to
	}
}

// lacking says of all criteria that are missing whether they are not met or unproven.
func (j *judgement) lacking() []string {
	var list []string
	for _, kind := range []struct {
		verdict metVerdict
		word    string
	}{{isUnmet, "not met"}, {isUnproven, "unproven"}} {
		var ids []string
		for _, c := range j.Criteria {
			if c.Verdict == kind.verdict {
				ids = append(ids, c.ID)
			}
		}
		are := "are"
		if len(ids) == 1 {
			are = "is"
		}
		if len(ids) > 0 {
			list = append(list, fmt.Sprintf("%s %s %s", strings.Join(ids, ", "), are, kind.word))
		}
	}
	return list
}

// closing is the status as the last line of an answer has it.
func (j *judgement) closing(r reflection) string {
	switch {
	case j.Status == Achieved:
		return string(Achieved)
	case j.Status == Partial && len(j.Missing) > 0:
		text := string(j.Status) + " -- " + strings.Join(j.lacking(), ", ")
		if len(j.Limits) > 0 {
			text += "; " + line(j.Limits[0], maxGoal)
		}
		return text
	case j.Status == Partial && len(j.Limits) > 0:
		return fmt.Sprintf("%s -- %s", j.Status, line(strings.Join(j.Limits, "; "), maxGoal))
	case j.Status == Partial && len(r.missing) > 0:
		return fmt.Sprintf("%s -- %s", j.Status, line(strings.Join(r.missing, "; "), maxGoal))
	}
	return fmt.Sprintf("%s -- %s", j.Status, line(j.Reasons[len(j.Reasons)-1], maxGoal))
}

// honestly tells whether an answer ends in a line that says that not all, or
// nothing, was reached.
func honestly(result any) (belay.ClosingWord, bool) {
	text := strings.TrimRight(textOf(result), " \t\r\n")
	var c belay.Closing
	ok := c.Read(text[strings.LastIndexByte(text, '\n')+1:])
	return c.Word, ok && (c.Word == belay.ClosedPartial || c.Word == belay.ClosedNot)
}
