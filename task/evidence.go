package task

import (
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// evidence is what Belay saw of a round.
type evidence struct {
	checks  map[string]bool       // by the id of the criterion
	whys    map[string]string     // why a check did not pass
	without map[string]bool       // it passes now on what the work began with, too
	names   map[string]namedFiles // files of the work that it names
	written map[string]tests      // as they were written, test files are others now, and it does not pass with them
	began   []began               // how they ended before the work
	given   bool                  // a person gave the criteria
	changed []string
	there   map[string]bool // those of the changed files that were there before the work
	old     []string        // of these, test files that were there before the work
	added   []string        // and those that came with it
	tests   bool
	hollow  string              // why tests that passed show nothing
	counts  map[string]bool     // checks whose output counts tests
	cited   map[string]bool     // by the id of the criterion; "" = of none
	commits map[string][]string // those of the citations that hold
	touched map[string]bool     // a citation does not hold because its file was changed during the run
	wrong   map[string][]string // citations of what is not there
	unread  map[string][]string // claims that nobody can look up
	proven  bool                // some criterion is met by the work, and not only as it was before
	altered []string            // ignored files that checks and tests ran with, and that somebody changed during the run
}

// began is how the check of a criterion ended before the work.
type began struct {
	ID     string `json:"id"`
	Passed bool   `json:"passed"`
	Always bool   `json:"always,omitempty"`  // it passes in an empty folder, too
	Counts bool   `json:"counted,omitempty"` // its output counted tests
}

// readBegan reads how checks ended before the work; in later rounds the round before
// has it. Who answers a question changes nothing: what a check of the files comes to was
// so before.
func readBegan(in *inputs, checks map[string]bool) []began {
	if kind, _ := exactKind(in.text("type")); kind == QandA || kind == Investigation {
		var list []began
		for _, id := range slices.Sorted(maps.Keys(checks)) {
			list = append(list, began{ID: id, Passed: checks[id]})
		}
		return list
	}
	v := unwrapped(in.any("checks_before"))
	if nothing(v) {
		v = in.object("before")["checks_before"]
	}
	items, _ := v.([]any)
	var list []began
	for _, x := range items {
		o, _ := x.(map[string]any)
		if id := first(o, "id"); id != "" && ran(o) {
			list = append(list, began{ID: id, Passed: passed(o), Always: passed(o) && passed(o["always"]), Counts: passed(o["counted"])})
		}
	}
	return list
}

// before tells how the check of a criterion ended before the work.
func (e *evidence) before(id string) (b began) {
	if at := slices.IndexFunc(e.began, func(b began) bool { return b.ID == id }); at >= 0 {
		b = e.began[at]
	}
	return b
}

func readEvidence(in *inputs, criteria []Criterion) evidence {
	e := evidence{cited: map[string]bool{}, commits: map[string][]string{}, touched: map[string]bool{}, wrong: map[string][]string{}, unread: map[string][]string{}, whys: map[string]string{}, tests: passed(unwrapped(in.any("tests")))}
	if e.hollow = uncounted(in); e.hollow != "" {
		e.tests = false
	}
	e.checks, e.counts = checksOf(in.any("checks"), e.whys), counting(in.any("checks"))
	e.without, e.names = withoutWork(in.any("checks")), naming(in.any("checks"))
	e.written = writtenTests(in.any("checks"))
	e.began = readBegan(in, e.checks)
	given, _ := unwrapped(in.any("given")).([]any)
	e.given = len(given) > 0
	e.changed = pathsOf(in.any("changed"))
	e.there = map[string]bool{}
	for _, file := range pathsOf(in.any("changed_before")) {
		if e.there[file] = true; testFile().MatchString(file) {
			e.old = append(e.old, file)
		}
	}
	for _, file := range e.changed {
		if !e.there[file] && testFile().MatchString(file) {
			e.added = append(e.added, file)
		}
	}
	e.readAltered(in)
	for _, x := range in.list("citations") {
		o, _ := x.(map[string]any)
		name := first(o, "criterion", "id")
		id := criterionOf(criteria, name)
		if name == "" && len(criteria) == 1 { // of several it proves none
			id = criteria[0].ID
		}
		e.cited[id] = e.cited[id] || passed(o)
		if commit := line(first(o, "commit"), maxGoal); commit != "" && passed(o) {
			e.commits[id] = append(e.commits[id], commit[:min(len(commit), 12)])
		}
		e.touched[id] = e.touched[id] || passed(o["changed"])
		if wrong := line(first(o, "wrong"), maxGoal); wrong != "" {
			e.wrong[id] = append(e.wrong[id], wrong)
		}
	}
	e.readUnread(in, criteria)
	return e
}

// withoutWork are the checks that pass where the work is not, though they failed there
// before.
func withoutWork(v any) map[string]bool {
	list := map[string]bool{}
	results, _ := unwrapped(v).([]any)
	for _, x := range results {
		o, _ := x.(map[string]any)
		if passed(o["first"]) {
			list[first(o, "id", "criterion")] = true
		}
	}
	return list
}

// counting are the checks whose output counts tests.
func counting(v any) map[string]bool {
	list := map[string]bool{}
	results, _ := unwrapped(v).([]any)
	for _, x := range results {
		o, _ := x.(map[string]any)
		list[first(o, "id", "criterion")] = passed(o["counted"])
	}
	return list
}

// namedFiles are files of the work that a check names for more than a look.
type namedFiles struct {
	changed, added []string // which it was to change, and which came with it
	against        []string // as they were before the work it does not pass
	lost           bool     // there is no copy of these as they were
}

// naming are those of checks, by the id of their criterion.
func naming(v any) map[string]namedFiles {
	list := map[string]namedFiles{}
	results, _ := unwrapped(v).([]any)
	for _, x := range results {
		o, _ := x.(map[string]any)
		list[first(o, "id", "criterion")] = namedFiles{pathsOf(o["names_changed"]), pathsOf(o["names_added"]), pathsOf(o["rewritten"]), passed(o["lost"])}
	}
	return list
}

// note says which files of the work a check names that passed: what it comes to may be up to
// them.
func (n namedFiles) note() string {
	var list []string
	for _, file := range n.changed {
		list = append(list, file+", which the work changed")
	}
	for _, file := range n.added {
		list = append(list, file+", which the work added")
	}
	if len(list) == 0 {
		return ""
	}
	return "its check names " + line(strings.Join(list, "; "), maxGoal)
}

// why says why some of them prove nothing.
func (n namedFiles) why(against []string) string {
	files := line(strings.Join(against, ", "), maxGoal)
	if n.lost {
		return "its check names what the work changed, and without a repository there is no copy of it as it was: " + files
	}
	return "its check passes only since the work changed what it names: " + files
}

// readAltered reads which files the checks and the tests ran with that are in no commit,
// and that were changed where no agent was to work.
func (e *evidence) readAltered(in *inputs) {
	results, _ := unwrapped(in.any("checks")).([]any)
	for _, x := range append(slices.Clone(results), unwrapped(in.any("tests"))) {
		o, _ := x.(map[string]any)
		for _, file := range pathsOf(o["altered"]) {
			if !slices.Contains(e.altered, file) {
				e.altered = append(e.altered, file)
			}
		}
	}
	slices.Sort(e.altered)
}

// testFile is a file that tests are in, by its name.
var testFile = pattern.Lazy(`(?i)(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|[/._-])(?:test|spec)s?\.|(?:^|/)test_`)

// checksOf reads the results of checks by the id of their criterion. One that is
// there twice passed when both did.
func checksOf(v any, whys map[string]string) map[string]bool {
	checks := map[string]bool{}
	switch v := unwrapped(v).(type) {
	case map[string]any:
		for id, x := range v {
			checks[id] = passed(x)
		}
	case []any:
		for _, x := range v {
			o, _ := x.(map[string]any)
			id := first(o, "id", "criterion")
			if id == "" || !ran(o) {
				continue
			}
			before, again := checks[id]
			checks[id] = passed(o) && (!again || before)
			if !passed(o) {
				whys[id] = line(first(o, "why"), maxLine)
			}
		}
	}
	return checks
}

// pathsOf are paths: a list of them or of objects, or one on each line.
func pathsOf(v any) []string {
	var paths []string
	if list, ok := unwrapped(v).([]any); ok {
		for _, x := range list {
			if o, isObject := x.(map[string]any); isObject {
				x = first(o, "path")
			}
			paths = append(paths, texts(x)...)
		}
		return paths
	}
	for l := range strings.SplitSeq(strings.ReplaceAll(textOf(v), "\x00", "\n"), "\n") {
		paths = append(paths, texts(l)...)
	}
	return paths
}

// compare finds out whether some criterion shows that the work did something.
func (e *evidence) compare(list []Criterion) {
	e.proven = slices.ContainsFunc(list, func(c Criterion) bool {
		proof, _ := e.look(c)
		return proof != ""
	})
}

// ran tells whether an object has the result of a check: one without was not run.
func ran(o map[string]any) bool {
	return slices.ContainsFunc([]string{"passed", "holds", "ok", "exit"}, func(key string) bool { return o[key] != nil })
}

// passed reads the result of something that Belay ran or looked at. Only a plain
// yes is one.
func passed(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		word := strings.ToLower(strings.TrimSpace(v))
		return word == "passed" || word == "pass" || word == "true"
	case map[string]any:
		for _, key := range []string{"passed", "holds", "ok"} {
			if x, ok := v[key]; ok {
				return passed(x)
			}
		}
		if x, ok := v["exit"]; ok {
			return textOf(x) == "0"
		}
	}
	return false
}

// quiet tells whether the output of a check counted tests before the work and counts none now.
func (e *evidence) quiet(id string) bool { return e.before(id).Counts && !e.counts[id] }

// judge says what becomes of one criterion.
func (e *evidence) judge(c Criterion, r reflection, trust bool) judged {
	v := judged{ID: c.ID, Text: c.Text, Verdict: isUnmet}
	proof, against := e.look(c)
	said, spoke := r.met[c.ID]
	vouched := said || !spoke && r.status == Achieved
	switch {
	case proof != "" && spoke && !said:
		v.Why = proof + ", but the reflecting agent denies it"
		if r.note[c.ID] != "" {
			v.Why += ": " + r.note[c.ID]
		}
	case proof != "":
		v.Verdict, v.Why = isMet, proof
		if len(e.old) > 0 {
			v.Why += "; tests that were there before the work were changed: " + line(strings.Join(e.old, ", "), maxGoal)
		}
		v.Note = e.note(c)
	case e.ran(c.ID) && !e.checks[c.ID]:
		v.Why = against
	case e.checks[c.ID] && !vouched && !spoke:
		v.Verdict, v.Why = isUnproven, against
	case vouched && r.status != "" && trust && e.falsely(c.ID) == "":
		v.Verdict, v.Trusted, v.Why = isMet, true, against+"; the reflecting agent says that it is met, and is trusted"
	case vouched && r.status != "":
		v.Verdict, v.Why = isUnproven, against+"; only the reflecting agent says that it is met"
	case spoke && r.note[c.ID] != "":
		v.Why = against + "; the reflecting agent denies it: " + r.note[c.ID]
	case spoke:
		v.Why = against + "; the reflecting agent denies it"
	default:
		v.Why = against
	}
	if v.Verdict == isUnproven && e.checks[c.ID] {
		v.Rewritten = e.against(c)
	}
	return v
}

// note is what a reader has to know of a criterion that is met.
func (e *evidence) note(c Criterion) string {
	if !e.checks[c.ID] {
		return ""
	}
	return e.names[c.ID].note()
}

// ran tells whether the check of a criterion was run.
func (e *evidence) ran(id string) bool {
	_, ok := e.checks[id]
	return ok
}

// look says what proves a criterion, or why nothing does.
func (e *evidence) look(c Criterion) (proof, against string) {
	if passed, ran := e.checks[c.ID]; ran {
		if proof, against = e.byCheck(c, passed); proof != "" && e.falsely(c.ID) == "" || !passed || !e.cited[c.ID] && e.falsely(c.ID) == "" {
			return proof, against
		}
	}
	switch _, ok := e.cited[c.ID]; {
	case e.falsely(c.ID) != "":
		return "", e.falsely(c.ID)
	case e.cited[c.ID] && len(e.commits[c.ID]) > 0:
		return "a citation for it holds: commit " + line(strings.Join(e.commits[c.ID], ", "), maxGoal), ""
	case e.cited[c.ID]:
		return "a citation for it holds", ""
	case ok:
		against = "no citation for it holds"
		if e.touched[c.ID] {
			against += ": a cited file was changed during the run"
		}
	case e.cited[""]:
		against = "no citation is for it by its id"
	}
	if len(c.Files) > 0 {
		at := slices.IndexFunc(e.changed, func(file string) bool { return matches(c.Files, file) })
		switch {
		case at >= 0 && e.tests && len(e.altered) > 0:
			return "", "a file that it names is changed, and the tests passed, with ignored files that changed during the run"
		case at >= 0 && e.tests:
			return line(e.changed[at], maxGoal) + " is changed, and the tests passed", ""
		case at >= 0 && e.hollow != "":
			return "", "a file that it names is changed, but the tests show nothing: " + e.hollow
		case at >= 0:
			return "", "a file that it names is changed, but no tests passed"
		}
		return "", "no file that it names is changed"
	}
	switch {
	case against != "":
	case c.Check != "":
		against = "its check was not run"
	default:
		against = "it names no check and no files"
	}
	return "", against
}

// byCheck says what the check of a criterion proves. Only one that was seen to fail
// proves anything: before the work, or in an empty folder. One that passed before the
// work proves that something was kept, beside another criterion that the work met, or
// with tests that came with the work, where the tests were run and passed.
func (e *evidence) byCheck(c Criterion, passed bool) (proof, against string) {
	before := e.before(c.ID)
	switch {
	case !passed && e.whys[c.ID] != "":
		return "", "its check failed: " + e.whys[c.ID]
	case !passed:
		return "", "its check failed"
	case len(e.altered) > 0:
		return "", "its check passed, with ignored files that changed during the run"
	case e.written[c.ID].fails != "":
		return "", "its check does not pass with the test files as they were written: " + e.written[c.ID].String()
	case len(e.against(c)) > 0:
		return "", e.names[c.ID].why(e.against(c))
	case e.quiet(c.ID):
		return "", "its check passed, but its output counts no test now, and before the work it counted some"
	case !before.Passed && e.without[c.ID]:
		return "", "its check passes without the work, too: what made it pass is not in the repository"
	case !before.Passed:
		return "its check passed", ""
	case before.Always && !e.given:
		return "", "its check passes in an empty folder, too: nobody saw it fail"
	case len(e.added) > 0 && e.tests:
		return "its check passed, as it did before the work; tests came with it: " + line(strings.Join(e.added, ", "), maxGoal), ""
	case e.proven:
		return "its check passed, as it did before the work", ""
	}
	return "", "its check passed before the work, too"
}

// against are files that the check of a criterion names, which passes only since the work changed
// them; but for those that the criterion is about, each by its path.
func (e *evidence) against(c Criterion) []string {
	return slices.DeleteFunc(slices.Clone(e.names[c.ID].against), func(file string) bool { return slices.Contains(c.Files, file) })
}

// beyond tells whether no further work could prove a criterion that is unproven.
func (e *evidence) beyond(c Criterion, tests bool) bool {
	if c.Check != "" {
		return !e.quiet(c.ID) // it passed, and still proves nothing
	}
	if len(c.Files) > 0 { // changed, and there are no tests that could pass
		return (!tests && !e.tests || len(e.altered) > 0) && slices.ContainsFunc(e.changed, func(file string) bool { return matches(c.Files, file) })
	}
	return len(e.cited) == 0
}
