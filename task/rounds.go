package task

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

func callBestRound() Function {
	return Function{
		Name: "best-round",
		Does: "Which round was the best, for what it is.",
		Inputs: []Field{
			{"rounds", TypeList, true, "What criteria-status gave, round by round, itself or under `judged`; null for a round that came to nothing."},
			{"standing", TypeFlag, false, "The files of a better round are not there: the last one counts."},
			{"why", TypeText, false, "Why they are not."},
		},
		Outputs: []Field{
			{"round", TypeNumber, true, "Its number, from 1."},
			{"status", TypeText, true, "Its status."},
			{"line", TypeText, true, "Its status with what is missing."},
			{"met", TypeNumber, true, "How many criteria it met."},
			{"total", TypeNumber, true, "How many there are."},
			{"commit", TypeText, true, "The commit that it left, where it says so; else empty."},
			{"last", TypeFlag, true, "It is the last one: the tree is as it left it."},
			{"left", TypeText, false, "The commit that the last one left."},
			{"rounds", TypeNumber, true, "How many there were."},
			{"criteria", TypeList, false, "Its criteria, each with what became of it."},
			{"warnings", TypeList, false, "That another round was better, in words."},
			{"results", TypeObject, true, "All rounds, each as above: `round_1_result`, `round_2_result` and so on; null for one of the first three that there was not."},
		},
		Example: Example{
			With: json.RawMessage(`{"rounds": [{"status": "PARTIAL", "line": "PARTIAL -- c3 is missing", "met": 2, "total": 3}, {"status": "NOT_ACHIEVED", "met": 0, "total": 3}, {"status": "PARTIAL", "met": 1, "total": 3}]}`),
			Gives: json.RawMessage(`{"round": 1, "status": "PARTIAL", "line": "PARTIAL -- c3 is missing", "met": 2, "total": 3, "commit": "", "last": false, "rounds": 3, "results": {
				"round_1_result": {"round": 1, "status": "PARTIAL", "line": "PARTIAL -- c3 is missing", "met": 2, "total": 3, "commit": "", "last": false, "rounds": 3},
				"round_2_result": {"round": 2, "status": "NOT_ACHIEVED", "line": "NOT_ACHIEVED", "met": 0, "total": 3, "commit": "", "last": false, "rounds": 3},
				"round_3_result": {"round": 3, "status": "PARTIAL", "line": "PARTIAL", "met": 1, "total": 3, "commit": "", "last": true, "rounds": 3}}}`),
		},
		do: bestRound,
	}
}

// ended is how a round ended.
type ended struct {
	Round  int    `json:"round"`
	Status Status `json:"status"`
	Line   string `json:"line"`
	Met    int    `json:"met"`
	Total  int    `json:"total"`
	Commit string `json:"commit"`
	Last   bool   `json:"last"`
	Left   string `json:"left,omitempty"`
	Rounds int    `json:"rounds"`

	Criteria []any    `json:"criteria,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	Results map[string]*ended `json:"results,omitempty"`
}

func bestRound(in *inputs) any {
	list := in.list("rounds")
	if len(list) == 0 {
		in.fail("rounds", "there is none in it")
		return nil
	}
	all := map[string]*ended{}
	for n := 1; n <= fewRounds; n++ {
		all[resultName(n)] = nil // a recipe can ask for one that there was not
	}
	var best, last ended
	for i := range list {
		r := readRound(list[i], i+1)
		r.Last, r.Rounds = i+1 == len(list), len(list)
		if i == 0 || !best.beats(r) {
			best = r
		}
		all[resultName(i+1)] = &r
		last = r
	}
	if in.flag("standing") && best.Round != last.Round {
		last.Warnings = []string{better(best, line(in.text("why"), maxLine))}
		best = last
	}
	best.Results, best.Left = all, last.Commit
	return best
}

// better says that a round was better whose files are not there.
func better(r ended, why string) string {
	text := fmt.Sprintf("round %d was better (%s), but what is there is the work of the last round", r.Round, r.Line)
	if why != "" {
		text += ": " + why
	}
	return text
}

// fewRounds is how many rounds a task has where nobody says it.
const fewRounds = 3

func resultName(round int) string { return fmt.Sprintf("round_%d_result", round) }

// readRound reads how a round ended. One that nobody can read came to nothing, and
// one that says ACHIEVED has met all that there is.
func readRound(v any, n int) ended {
	o, _ := unwrapped(v).(map[string]any)
	commit := line(first(o, "commit"), maxLine)
	if j, ok := unwrapped(o["judged"]).(map[string]any); ok { // all that a round gave
		o = j
	}
	r := ended{Round: n, Met: size(o["met"]), Total: size(o["total"]), Commit: commit, Line: line(first(o, "line"), maxLine)}
	r.Criteria, _ = o["criteria"].([]any)
	status, ok := typedStatus(first(o, "status"))
	if !ok {
		status, r.Line = NotAchieved, "NOT_ACHIEVED -- the round came to nothing"
	}
	if status == Achieved && (r.Total == 0 || r.Met < r.Total) {
		status, r.Line = NotAchieved, "NOT_ACHIEVED -- the round says ACHIEVED, and not all of its criteria are met"
		if r.Met > 0 {
			status, r.Line = Partial, "PARTIAL -- the round says ACHIEVED, and not all of its criteria are met"
		}
	}
	if r.Status = status; r.Line != string(status) && !strings.HasPrefix(r.Line, string(status)+" -- ") {
		r.Line = string(status)
	}
	return r
}

// beats tells whether a round is better than a later one: ACHIEVED, then more
// criteria met, then NOT_ACHIEVED, then HOLLOW. A tie goes to the later.
func (r ended) beats(later ended) bool {
	if done := r.Status == Achieved; done != (later.Status == Achieved) {
		return done
	}
	if r.Met != later.Met && r.Status != Hollow && later.Status != Hollow {
		return r.Met > later.Met
	}
	return r.Status.rank() < later.Status.rank()
}

func callExecutionGap() Function {
	return Function{
		Name: "execution-gap",
		Does: "Whether a task was routed past every step that could do it, and which recipe does it then.",
		Inputs: []Field{
			{"type", TypeText, true, "The type of the task."},
			{"result", TypeAny, false, "What the round gave; nothing, or a list of nothings, is a gap."},
			{"failed", TypeAny, false, "Why the step failed that was to do it: true, or an object as `failed:` of a step gives it (`class`, `rule`, `text`, `agent`). Only a failure of the machine or of the recipe is a gap; that of what an agent had begun is a result, and so is that of a disk."},
			{"streams", TypeNumber, false, "How many workstreams there are, for the banner."},
			{"parts", TypeAny, false, "What each workstream gave; null for one that was not done."},
			{"guard", TypeText, false, "What the recursion guard said, for the banner."},
			{"why", TypeText, false, "What is known of the failure, for the banner."},
		},
		Outputs: []Field{
			{"gap", TypeFlag, true, "There is one."},
			{"adaptive_recipe", TypeText, true, "The recipe that does the task directly; empty without a gap."},
			{"banner", TypeText, true, "What is told, on several lines; empty without a gap."},
			{"headline", TypeText, true, "The same in one line, the same for every gap of this sort. It begins with `routing gap` where nothing ran, and with `execution failed` where a step ran and could not."},
			{"why", TypeText, true, "What is known of it, in one line; empty where nothing is."},
			{"undone", TypeList, false, "The numbers of the workstreams that were not done, from 1."},
		},
		Example: Example{
			With: json.RawMessage(`{"type": "Investigation", "result": "", "streams": 2, "guard": "ALLOWED"}`),
			Gives: json.RawMessage(`{"gap": true, "adaptive_recipe": "investigation-workflow", "headline": "routing gap: no step did a task of type Investigation", "why": "",
				"banner": "==== execution gap ====\nrouting gap: no step did a task of type Investigation\nworkstreams: 2\nrecursion guard: ALLOWED\nnow: the recipe investigation-workflow does it directly\n======================="}`),
		},
		do: executionGap,
	}
}

// ruleNothingRan is the rule of verdict for a recipe in which every condition came out false.
const ruleNothingRan = "refused." + string(belay.RoutingGap)

func executionGap(in *inputs) any {
	kind, ok := exactKind(in.text("type"))
	if !ok {
		in.fail("type", "%q is none: Q&A, Operations, Investigation or Development", cut(in.text("type"), 60))
		return nil
	}
	var out struct {
		Gap      bool   `json:"gap"`
		Recipe   string `json:"adaptive_recipe"`
		Banner   string `json:"banner"`
		Headline string `json:"headline"`
		Why      string `json:"why"`
		Undone   []int  `json:"undone,omitempty"`
	}
	parts, _ := unwrapped(in.any("parts")).([]any)
	for i, x := range parts {
		if x == nil {
			out.Undone = append(out.Undone, i+1)
		}
	}
	failed := readFailure(in.any("failed"))
	switch {
	case kind != Development && kind != Investigation:
		return out
	case failed != nil && !failed.ofMachine():
		return out
	case failed == nil && !nothing(in.any("result")):
		return out
	}
	out.Gap, out.Recipe = true, kind.Recipe()
	out.Headline = fmt.Sprintf("routing gap: no step did a task of type %s", kind)
	why := in.text("why")
	if failed != nil {
		why = strings.TrimSpace(why + " " + failed.text)
		if failed.rule != ruleNothingRan { // else its conditions left everything out
			out.Headline = fmt.Sprintf("execution failed: the step for a task of type %s could not do it", kind)
		}
	}
	out.Why = line(why, maxLine)
	rows := []string{"==== execution gap ====", out.Headline}
	if n := in.number("streams", 0); n > 0 {
		rows = append(rows, fmt.Sprintf("workstreams: %d", n))
	}
	for _, row := range [][2]string{{"recursion guard", in.text("guard")}, {"what is known", out.Why}} {
		if text := line(row[1], maxLine); text != "" {
			rows = append(rows, row[0]+": "+text)
		}
	}
	rows = append(rows, "now: the recipe "+out.Recipe+" does it directly", "=======================")
	out.Banner = strings.Join(rows, "\n")
	return out
}

// gaps are the classes of failures of the machine or of the recipe that another way to the
// same work may get around, each with the rules by which it is none: a disk that takes no
// more takes no more there either.
func gaps() map[belay.Class][]string {
	return map[belay.Class][]string{
		belay.ClassInfrastructure: {fault.RuleDisk, fault.RuleDiskFull, fault.RuleReadOnly, belay.RuleSetup},
		belay.ClassInvalidInput:   {},
	}
}

// ofMachine tells whether a failure is that of the machine or of the recipe. What an agent
// began and did not do, it does not do by another way either.
func (f *failure) ofMachine() bool {
	if f.agent {
		return false
	}
	not, known := gaps()[f.class]
	return f.text == "true" || known && !slices.Contains(not, f.rule)
}

// nothing tells a result that is none: null, blank, or made of such. An object without
// anything in it is what a recipe gives that was done and has no outputs.
func nothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		in := strings.TrimSpace(v)
		return in == "" || in == "null" || in == "[]"
	case []any:
		for _, x := range v {
			if !nothing(x) {
				return false
			}
		}
		return true
	case map[string]any:
		for _, x := range v {
			if !nothing(x) {
				return false
			}
		}
		return len(v) > 0
	}
	return false
}
