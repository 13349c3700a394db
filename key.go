package belay

import (
	"fmt"
	"strconv"
	"strings"
)

// RunID names a run. A root has a short one ("k3f9q"); a child's is derived
// from its parent's path and attempt ("k3f9q/build.2"), so making it twice
// makes the same one.
type RunID string

// Child is the id of the run that attempt n of the step at p starts.
func (r RunID) Child(p Path, n int) RunID {
	return RunID(fmt.Sprintf("%s/%s.%d", r, p, n))
}

// Of names something of the run, such as a step or an item, where more runs than
// one are spoken of ("k3f9q:build").
func (r RunID) Of(name string) string { return string(r) + ":" + name }

// CutRun takes such a name apart; false where no run is named.
func CutRun(text string) (RunID, string, bool) {
	run, name, ok := strings.Cut(text, ":")
	return RunID(run), name, ok
}

// Root is the id of the root run of r's tree.
func (r RunID) Root() RunID {
	if i := strings.IndexByte(string(r), '/'); i >= 0 {
		return r[:i]
	}
	return r
}

// Parent is the attempt that a child run is: the run it belongs to, the step and
// the number; false for a root.
func (r RunID) Parent() (KeyParts, bool) {
	i := strings.LastIndexByte(string(r), '/')
	if i < 0 {
		return KeyParts{}, false
	}
	path, n, ok := cutNumber(string(r[i+1:]))
	return KeyParts{Run: r[:i], Path: Path(path), Role: RoleMain, Attempt: n}, ok
}

// Under tells whether r is the run other, or one below it.
func (r RunID) Under(other RunID) bool {
	return r == other || strings.HasPrefix(string(r), string(other)+"/")
}

// Depth is how many recipes r is nested in: 0 for a root.
func (r RunID) Depth() int { return strings.Count(string(r), "/") }

// Path names a step inside its run: its id in the recipe. A hook has the path of
// its step and its own name ("build@pre_step").
type Path string

// Hook is the step and the name of a hook; the name is empty for a step.
func (p Path) Hook() (step Path, name string) {
	before, name, _ := strings.Cut(string(p), "@")
	return Path(before), name
}

// WithHook is the path of a hook of the step at p.
func (p Path) WithHook(name string) Path { return p + "@" + Path(name) }

// Key names one attempt in the whole world, or a question about one: run, path,
// role, number and topic. It is the idempotency key of every start, question and
// external effect.
type Key string

// KeyOf is the key of attempt n of the step at p in run r, in the given role.
func KeyOf(r RunID, p Path, role Role, n int) Key {
	return KeyParts{Run: r, Path: p, Role: role, Attempt: n}.Key()
}

// Topic says what a question is about; it ends the key of the question.
type Topic string

const (
	TopicStep     Topic = "step"     // whether one more nested step may start
	TopicCond     Topic = "cond"     // whether a condition over big values holds
	TopicText     Topic = "text"     // texts over big values
	TopicList     Topic = "list"     // the results of all items
	TopicAgent    Topic = "agent"    // whether one more agent may start
	TopicTests    Topic = "tests"    // how the tests of a directory are run
	TopicTree     Topic = "tree"     // a working tree, which one agent has at a time
	TopicWorktree Topic = "worktree" // a worktree of its own
	TopicProbe    Topic = "probe"    // a look at the machine
	TopicLook     Topic = "look"     // a look at the tree of a lost agent; of a run as a whole: at the user's checkout
)

// KeyParts is what a key names.
type KeyParts struct {
	Run     RunID
	Path    Path  // empty: the run as a whole
	Role    Role  // empty where there is no attempt
	Attempt int   // 0 where there is none
	Topic   Topic // empty for an attempt itself
}

// Key puts the parts together.
func (p KeyParts) Key() Key {
	text := p.Run.Of(string(p.Path))
	if p.Role != "" && p.Role != RoleMain {
		text += "@" + string(p.Role)
	}
	if p.Role != "" {
		text += "." + strconv.Itoa(p.Attempt)
	}
	if p.Topic != "" {
		text += "?" + string(p.Topic)
	}
	return Key(text)
}

// About is the key of a question about an attempt.
func (k Key) About(t Topic) Key { return k + "?" + Key(t) }

// Question takes the key of a question apart: the attempt that it is about, and
// its topic; false for any other key.
func (k Key) Question() (Key, Topic, bool) {
	i := strings.LastIndexByte(string(k), '?')
	if i < 0 {
		return k, "", false
	}
	return k[:i], Topic(k[i+1:]), true
}

// Is tells whether the key is that of a question about a topic, and gives the
// attempt that it is about.
func (k Key) Is(t Topic) (Key, bool) {
	of, topic, ok := k.Question()
	return of, ok && topic == t
}

// ParseKey takes a key apart; false for a text that no key looks like. Names of
// steps have dots, but none of the other signs that part a key.
func ParseKey(k Key) (KeyParts, bool) {
	of, topic, _ := k.Question()
	run, rest, ok := CutRun(string(of))
	p := KeyParts{Run: run, Topic: topic}
	if !ok || rest == "" && topic == TopicLook || topic == TopicWorktree || topic == TopicList { // of a step, or of a run: no attempt yet
		p.Path = Path(rest)
		return p, ok
	}
	path, n, ok := cutNumber(rest)
	p.Path, p.Role, p.Attempt = Path(path), RoleMain, n
	if i := strings.LastIndexByte(path, '@'); i >= 0 {
		p.Path, p.Role = Path(path[:i]), Role(path[i+1:])
	}
	return p, ok
}

// cutNumber takes the number off a name: build.2 is build and 2.
func cutNumber(text string) (string, int, bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	return text[:i], n, err == nil
}

// Step is the run and the path of the step that a key is about.
func (k Key) Step() (RunID, Path) {
	p, _ := ParseKey(k)
	return p.Run, p.Path
}
