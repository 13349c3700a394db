package task

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxTried is how much of what was tried is told again.
const maxTried = 4000

func callNextTask() Function {
	return Function{
		Name: "next-task",
		Does: "What the next round is told: the goal, what is not met yet and why, what was tried.",
		Inputs: []Field{
			{"task", TypeText, true, "The task as the user wrote it."},
			{"goal", TypeText, false, "Its goal."},
			{"round", TypeNumber, true, "Which round it is for, from 1."},
			{"criteria", TypeAny, false, "Its criteria, as task-type gives them: who does the work is told what it is judged by."},
			{"parts", TypeAny, false, "What the plan divides the work into, as task-type gives it: one session does all of it."},
			{"status", TypeObject, false, "What criteria-status gave for the round before; nothing in the first."},
			{"checks", TypeAny, false, "Results of the checks of the round before: objects with `id`, `exit` and, where there is some, `said`, the end of what was printed."},
			{"tried", TypeAny, false, "What was tried in it, in words."},
		},
		Outputs: []Field{
			{"task", TypeText, true, "The text; in the first round the task as it is, with the parts and `judging`."},
			{"judging", TypeText, true, "The goal and the criteria with their checks; empty where they say no more than the task."},
			{"missing", TypeList, true, "The ids of the criteria that are not met."},
		},
		Example: Example{
			With: json.RawMessage(`{"task": "add rate limiting", "goal": "requests are limited", "round": 2, "tried": "a limiter in limit/",
				"criteria": [{"id": "c1", "text": "429 over the limit", "check": "go test ./limit"}, {"id": "c2", "text": "documented", "check": "grep -q limit README.md"}],
				"checks": [{"id": "c1", "exit": 0}, {"id": "c2", "exit": 2, "said": "grep: README.md: No such file or directory"}],
				"status": {"status": "PARTIAL", "criteria": [{"id": "c1", "text": "429 over the limit", "verdict": "met", "why": "its check passed"}, {"id": "c2", "text": "documented", "verdict": "unmet", "why": "its check failed"}]}}`),
			Gives: json.RawMessage(`{"missing": ["c2"], "judging": "The goal: requests are limited\n\nThe result is judged by these criteria, and Belay runs their checks:\n- c1: 429 over the limit\n  check: go test ./limit\n- c2: documented\n  check: grep -q limit README.md",
				"task": "requests are limited\n\nThis is round 2. The files are as the last round left them: go on from there.\n\nNot met yet:\n- c2: documented (its check failed)\n  check: grep -q limit README.md\n  exit code 2; the end of what it printed:\n  > grep: README.md: No such file or directory\n\nMet, and to be kept:\n- c1: 429 over the limit\n  check: go test ./limit\n\nWhat was tried in the last round:\n> a limiter in limit/\n\nThe task as it was given:\n> add rate limiting"}`),
		},
		do: nextTask,
	}
}

func nextTask(in *inputs) any {
	var out struct {
		Task    string   `json:"task"`
		Judging string   `json:"judging"`
		Missing []string `json:"missing"`
	}
	task, goal := in.text("task"), line(in.text("goal"), maxGoal)
	criteria, _ := readCriteria(in.any("criteria"))
	out.Task, out.Judging, out.Missing = task, judging(task, goal, criteria), []string{}
	round, o := in.number("round", 1), in.object("status")
	divided := divided(texts(in.any("parts")))
	if round <= 1 || o == nil {
		for _, more := range []string{divided, out.Judging} {
			if more != "" {
				out.Task = strings.TrimRight(out.Task, "\n") + "\n\n" + more
			}
		}
		return out
	}
	if goal == "" {
		goal = line(task, maxGoal)
	}
	parts := []string{goal, fmt.Sprintf("This is round %d. The files are as the last round left them: go on from there.", round)}
	if first(o, "status") == string(Hollow) {
		parts = append(parts, "Nothing was changed in the last round, although it had to be. Words do not count: change the files. "+
			"If something keeps you from it, say what, and end with NOT_ACHIEVED -- and why.")
	}
	var open, kept []string
	list, _ := o["criteria"].([]any)
	for _, x := range list {
		c, _ := x.(map[string]any)
		id, row := first(c, "id"), ""
		row = fmt.Sprintf("- %s: %s", line(id, 60), line(first(c, "text"), maxLine))
		if first(c, "verdict") == string(isMet) {
			kept = append(kept, row+checkOf(criteria, id))
			continue
		}
		out.Missing = append(out.Missing, line(id, 60))
		if why := line(first(c, "why"), maxLine); why != "" {
			row += " (" + why + ")"
		}
		open = append(open, row+checkOf(criteria, id)+outcome(in.any("checks"), id))
	}
	for _, part := range [][2]string{
		{"Not met yet:\n", strings.Join(open, "\n")},
		{"What else keeps it from being done:\n", listed(o["limits"])},
		{"Met, and to be kept:\n", strings.Join(kept, "\n")},
		{"What the agent said that judged the last round:\n", quoted(plain(first(o, "summary")))},
		{"What was tried in the last round:\n", quoted(cut(plain(textOf(in.any("tried"))), maxTried))},
	} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	for _, more := range []string{writtenAgain(o), divided} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	parts = append(parts, "The task as it was given:\n"+quoted(plain(task)))
	out.Task = strings.Join(parts, "\n\n")
	return out
}

// listed is a list of texts, one on each line.
func listed(v any) string {
	rows := ""
	list, _ := v.([]any)
	for _, x := range list {
		rows += "- " + line(textOf(x), maxLine) + "\n"
	}
	return strings.TrimSpace(rows)
}

// divided says what a session does that stands for several workstreams.
func divided(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	text := "The plan divides the work into these parts. Do all of them, in this order:"
	for _, p := range parts {
		text += "\n- " + strings.ReplaceAll(p, "\n", "\n  ")
	}
	return text
}

// judging says what the work is judged by; nothing where that says no more than the
// task itself.
func judging(task, goal string, criteria []Criterion) string {
	var rows []string
	for _, c := range criteria {
		if c.Check != "" || len(c.Files) > 0 || c.Text != goal || len(criteria) > 1 {
			rows = append(rows, fmt.Sprintf("- %s: %s", c.ID, line(c.Text, maxLine))+checkOf(criteria, c.ID))
		}
	}
	var parts []string
	if goal != "" && goal != line(task, maxGoal) {
		parts = append(parts, "The goal: "+goal)
	}
	if len(rows) > 0 {
		parts = append(parts, "The result is judged by these criteria, and Belay runs their checks:\n"+strings.Join(rows, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

// checkOf is a line with the check of a criterion, or with the files that must change.
func checkOf(criteria []Criterion, id string) string {
	for _, c := range criteria {
		switch {
		case c.ID != id:
		case c.Check != "":
			return "\n  check: " + line(c.Check, maxTried)
		case len(c.Files) > 0:
			return "\n  files that must change: " + line(strings.Join(c.Files, " "), maxLine)
		}
	}
	return ""
}

// outcome says how the check of a criterion ended.
func outcome(checks any, id string) string {
	list, _ := unwrapped(checks).([]any)
	for _, x := range list {
		o, _ := x.(map[string]any)
		if first(o, "id") != id || o["exit"] == nil {
			continue
		}
		text := "\n  exit code " + line(textOf(o["exit"]), 60)
		if said := plain(first(o, "said")); said != "" {
			text += "; the end of what it printed:\n  " + strings.ReplaceAll(quoted(cut(said, maxTried)), "\n", "\n  ")
		}
		return text
	}
	return ""
}

// quoted marks the lines of a text as somebody's words: what is in them ends
// nothing and begins nothing.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}
