package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/branchname"
)

// DefaultStreams is how many workstreams a task has at most.
const DefaultStreams = 5

// Stream is a part of a task that can be worked on by itself.
type Stream struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Needs       []string `json:"needs"`    // ids of streams that come first
	Criteria    []string `json:"criteria"` // ids of criteria that it is for
}

// decomposition is what a task was made of.
type decomposition struct {
	Type     Kind        `json:"type"`
	Goal     string      `json:"goal"`
	Criteria []Criterion `json:"criteria"`
	Streams  []Stream    `json:"streams"`
	Parts    []string    `json:"parts"`
	Count    int         `json:"count"`
	Agents   int         `json:"max_agents"`
	Said     string      `json:"said"`
	Fallback bool        `json:"fallback"`
	AskAgain bool        `json:"ask_again"`
	Warnings []string    `json:"warnings"`
}

func callTaskType() Function {
	return Function{
		Name: "task-type",
		Does: "What a task is: its type, goal, criteria and workstreams, from an agent's JSON and with a safety net under it.",
		Inputs: []Field{
			{"task", TypeText, true, "The task as the user wrote it."},
			{"decomposition", TypeAny, false, "What the classifying agent answered: an object, or a text with JSON in it. Without any that can be used the task is Development, with one workstream and itself as the goal."},
			{"decided", TypeAny, false, "A plan that was made before, where no agent was asked."},
			{"type", TypeText, false, "The type, whatever anybody says: Q&A, Operations, Investigation or Development."},
			{"single", TypeFlag, false, "One workstream, whatever the agent says."},
			{"max_streams", TypeNumber, false, "How many workstreams there are at most: 1 to 5, 5 where it is left out. What is beyond joins the last one."},
			{"criteria", TypeAny, false, "Criteria of the user, instead of the agent's: a list, or one on each line."},
			{"whole", TypeFlag, false, "Only an answer with a goal, criteria and workstreams can be used."},
		},
		Outputs: []Field{
			{"type", TypeText, true, "Q&A, Operations, Investigation or Development. A task that asks for changes of code, for tests or for a pull request is Development, whatever the agent said."},
			{"goal", TypeText, true, "One line."},
			{"criteria", TypeList, true, "Objects with `id` and `text`, and `check` and `files` where they were named; at least one."},
			{"streams", TypeList, true, "Objects with `id`, `name`, `description`, `needs` and `criteria`; at least one. Only Development has several."},
			{"parts", TypeList, true, "The workstreams that the agent named, each as a text, where one session does all of them; with `whole` also how the only one is described, where that is not the task; else empty."},
			{"count", TypeNumber, true, "How many workstreams there are."},
			{"max_agents", TypeNumber, true, "How many agents may start for it: 40 for each workstream, 200 at most."},
			{"said", TypeText, true, "The type as the agent said it."},
			{"fallback", TypeFlag, true, "The agent's answer could not be used."},
			{"ask_again", TypeFlag, true, "The answer is JSON, and it could not be used."},
			{"warnings", TypeList, true, "What was left out or changed, in words."},
		},
		Example: Example{
			With: json.RawMessage(`{"task": "add rate limiting to the API, with tests", "decomposition": {"task_type": "Q&A", "goal": "requests are limited",
				"success_criteria": ["over the limit: 429", {"id": "conf", "text": "configurable", "files": ["config/**"]}],
				"workstreams": [{"name": "limiter", "description": "count and refuse"}, {"name": "docs", "description": "say so", "needs": ["limiter"]}]}}`),
			Gives: json.RawMessage(`{"type": "Development", "goal": "requests are limited",
				"criteria": [{"id": "c1", "text": "over the limit: 429"}, {"id": "conf", "text": "configurable", "files": ["config/**"]}],
				"streams": [{"id": "limiter", "name": "limiter", "description": "count and refuse", "needs": [], "criteria": []},
					{"id": "docs", "name": "docs", "description": "say so", "needs": ["limiter"], "criteria": []}],
				"parts": [], "count": 2, "max_agents": 80, "said": "Q&A", "fallback": false, "ask_again": false,
				"warnings": ["the agent said Q&A, but the task asks for tests: it is Development"]}`),
		},
		do: taskType,
	}
}

func taskType(in *inputs) any {
	text := plain(in.text("task"))
	if text == "" {
		in.fail("task", "it is empty")
		return nil
	}
	d := decomposition{Warnings: []string{}, Parts: []string{}}
	said := in.any("decomposition")
	_, words := said.(string) // one that was to be JSON, and that its agent was asked for twice
	structured := !nothing(said) && !words
	if nothing(said) {
		said = in.any("decided")
	}
	o, ok := objectIn(said, "task_type", "goal", "workstreams", "success_criteria")
	o = renamed(o)
	if !ok || in.flag("whole") && !isWhole(o) {
		d.Fallback, d.AskAgain = true, structured
		d.Warnings = append(d.Warnings, "the answer of the classifying agent could not be used: the task is taken as it is")
		o = map[string]any{}
	}
	d.kind(in, text, o)
	if d.Goal = line(first(o, "goal"), maxGoal); d.Goal == "" {
		d.Goal = line(text, maxGoal)
	}
	d.criteria(in, o)
	d.streams(in, text, o)
	d.Count = len(d.Streams)
	d.Agents = min(d.Count*belay.Budget{}.Starts(), belay.MostAgents)
	return d
}

// renamed lets the names that a plan has here stand for those of an agent's answer:
// a plan that was read once can be read again.
func renamed(o map[string]any) map[string]any {
	c := maps.Clone(o)
	for own, said := range map[string]string{"type": "task_type", "criteria": "success_criteria", "streams": "workstreams"} {
		if _, there := c[said]; !there && c[own] != nil {
			c[said] = c[own]
		}
	}
	return c
}

// isWhole tells whether nothing of a plan would have to be made up.
func isWhole(o map[string]any) bool {
	criteria, _ := readCriteria(o["success_criteria"])
	streams, _ := unwrapped(o["workstreams"]).([]any)
	return line(first(o, "goal"), maxGoal) != "" && len(criteria) > 0 && len(streams) > 0
}

func (d *decomposition) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// kind settles the type: the user's word, then the net, then the agent's.
func (d *decomposition) kind(in *inputs, text string, o map[string]any) {
	d.Said = line(first(o, "task_type"), 60)
	if forced := strings.TrimSpace(in.text("type")); forced != "" {
		k, ok := exactKind(forced)
		if !ok {
			in.fail("type", "%q is none: Q&A, Operations, Investigation or Development", cut(forced, 60))
		}
		d.Type = k
		return
	}
	if d.Fallback {
		d.Type = Development
		return
	}
	k, known := exactKind(d.Said)
	if !known {
		k = nearKind(d.Said)
		d.warn("the agent gave the type %q, which is taken as %s", d.Said, k)
	}
	if why := demandsWork(text, k, o); why != "" && k != Development {
		d.warn("the agent said %s, but the task asks for %s: it is Development", k, why)
		k = Development
	}
	d.Type = k
}

func (d *decomposition) criteria(in *inputs, o map[string]any) {
	var warnings []string
	d.Criteria, warnings = readCriteria(in.any("criteria"))
	if len(d.Criteria) == 0 {
		d.Criteria, warnings = readCriteria(o["success_criteria"])
	}
	d.Warnings = append(d.Warnings, warnings...)
	if len(d.Criteria) == 0 {
		d.Criteria = []Criterion{{ID: "c1", Text: d.Goal}}
	}
}

// streams settles the workstreams. What is too much joins the last one: nothing
// that was planned is dropped.
func (d *decomposition) streams(in *inputs, text string, o map[string]any) {
	most := min(max(in.number("max_streams", DefaultStreams), 1), DefaultStreams)
	if in.flag("single") || d.Type != Development { // nothing else has trees of its own that are merged
		most = 1
	}
	list, _ := unwrapped(o["workstreams"]).([]any)
	if most == 1 || len(list) <= 1 {
		d.Streams = []Stream{d.whole(text)}
		d.oneFor(list, o)
		if in.flag("whole") && len(list) == 1 {
			d.described(list[0], text)
		}
		return
	}
	known := ids{}
	byName := streamNames{}
	var wished [][]string
	for _, item := range list {
		w, _ := item.(map[string]any)
		name, about := line(first(w, "name", "title", "id"), 80), plain(first(w, "description", "task", "goal"))
		if s, isText := item.(string); isText {
			name, about = line(s, 80), plain(s)
		}
		if name == "" && about == "" {
			d.warn("a workstream without name and description is left out")
			continue
		}
		if about == "" {
			about = name
		}
		if name == "" {
			name = line(about, 80)
		}
		if len(d.Streams) == most {
			d.warn("workstream %q is more than %d: it is done in the last one", cut(name, 60), most)
			last := &d.Streams[most-1]
			last.Description += "\n\n" + name + ": " + about
			last.Criteria = append(last.Criteria, d.known(w["criteria"])...)
			byName.put(name, last.ID)
			continue
		}
		slug := strings.Trim(branchname.Slug(name), "-._")
		s := Stream{
			Name: name, Description: about, Needs: []string{}, Criteria: d.known(w["criteria"]),
			ID: known.take(first(w, "id"), slug[:min(len(slug), 40)], func(n int) string { return "s" + strconv.Itoa(n) }),
		}
		byName.put(name, s.ID)
		byName.put(s.ID, s.ID)
		wished = append(wished, texts(w["needs"]))
		d.Streams = append(d.Streams, s)
	}
	if len(d.Streams) == 0 {
		d.Streams = []Stream{d.whole(text)}
		return
	}
	d.needs(wished, byName)
}

// oneFor has one session do what several workstreams were planned for: who does the
// work is told what each of them is about.
func (d *decomposition) oneFor(list []any, o map[string]any) {
	if len(list) <= 1 {
		d.Parts = append(d.Parts, texts(o["parts"])...) // of a plan that was read before
		return
	}
	for _, item := range list {
		name, about := aboutStream(item)
		if name != "" && about != "" && name != about {
			about = name + ": " + about
		}
		if about = cmp.Or(about, name); about != "" {
			d.Parts = append(d.Parts, about)
		}
	}
	d.warn("one session instead of %d workstreams", len(list))
}

// described takes over how a plan describes its only workstream, where that is not the
// task itself: who reviews the plan and who does the work are told.
func (d *decomposition) described(item any, text string) {
	if _, about := aboutStream(item); about != "" && about != text && !slices.Contains(d.Parts, about) {
		d.Parts = append(d.Parts, about)
	}
}

// aboutStream is the name of a workstream, and what it is about.
func aboutStream(item any) (name, about string) {
	if s, isText := item.(string); isText {
		return "", plain(s)
	}
	w, _ := item.(map[string]any)
	return line(first(w, "name", "title", "id"), 80), plain(first(w, "description", "task", "goal"))
}

// whole is the one workstream of a task that is not split.
func (d *decomposition) whole(text string) Stream {
	all := []string{}
	for _, c := range d.Criteria {
		all = append(all, c.ID)
	}
	id := strings.Trim(branchname.Slug(d.Goal), "-._")
	id = strings.Trim(strings.ReplaceAll(id[:min(len(id), 40)], ".", "-"), "-_")
	if !idForm().MatchString(id) {
		id = "task"
	}
	return Stream{ID: id, Name: cut(d.Goal, 80), Description: text, Needs: []string{}, Criteria: all}
}

// known are the criteria that are named by their ids.
func (d *decomposition) known(v any) []string {
	list := []string{}
	for _, id := range texts(v) {
		if slices.ContainsFunc(d.Criteria, func(c Criterion) bool { return c.ID == id }) {
			list = append(list, id)
		} else {
			d.warn("a workstream names the criterion %q, which is none", line(id, 60))
		}
	}
	return list
}

// streamNames are the ids of streams by what they may be called; of two that share
// a name the first has it.
type streamNames map[string]string

func (n streamNames) put(name, id string) {
	if name = strings.ToLower(name); n[name] == "" {
		n[name] = id
	}
}

// needs puts in who waits for whom. Where they would wait for each other in a
// circle, only those listed before are waited for.
func (d *decomposition) needs(wished [][]string, byName streamNames) {
	at := map[string]int{}
	for i := range d.Streams {
		at[d.Streams[i].ID] = i
	}
	for i, names := range wished {
		s := &d.Streams[i]
		for _, name := range names {
			id, ok := byName[strings.ToLower(line(name, 80))]
			switch {
			case !ok:
				d.warn("workstream %s needs %q, which is none", s.ID, line(name, 60))
			case id != s.ID && !slices.Contains(s.Needs, id):
				s.Needs = append(s.Needs, id)
			}
		}
	}
	if !circular(d.Streams, at) {
		return
	}
	d.warn("workstreams wait for each other in a circle: each waits only for those before it")
	for i := range d.Streams {
		s := &d.Streams[i]
		s.Needs = slices.DeleteFunc(s.Needs, func(id string) bool { return at[id] > i })
	}
}

// circular tells whether no order of the streams respects all needs.
func circular(list []Stream, at map[string]int) bool {
	done := make([]bool, len(list))
	for range list {
		for i := range list {
			if !done[i] && !slices.ContainsFunc(list[i].Needs, func(id string) bool { return !done[at[id]] }) {
				done[i] = true
			}
		}
	}
	return slices.Contains(done, false)
}
