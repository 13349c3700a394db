package task

import (
	"encoding/json"
	"slices"
	"strings"
)

func callBlockingFindings() Function {
	return Function{
		Name: "blocking-findings",
		Does: "What of a review is blocking.",
		Inputs: []Field{
			{"review", TypeAny, true, "What the reviewer answered: an object with `findings`, or a list of them. What stands beside the findings under other keys counts as for triage."},
		},
		Outputs: []Field{
			{"count", TypeNumber, true, "How many findings are blocking. A severity that nobody knows is blocking, too."},
			{"findings", TypeList, true, "Those findings: objects with `id`, `severity`, `title`, `where` and `why`."},
			{"text", TypeText, true, "Them on one line; empty where there is none."},
			{"unread", TypeFlag, true, "Nobody can read the review: that is the one finding."},
		},
		Example: Example{
			With:  json.RawMessage(`{"review": {"findings": [{"id": "f1", "severity": "blocking", "title": "deletes user data", "where": "greet.sh:1"}, {"severity": "minor", "title": "a typo"}]}}`),
			Gives: json.RawMessage(`{"count": 1, "findings": [{"id": "f1", "severity": "blocking", "title": "deletes user data", "where": "greet.sh:1"}], "text": "deletes user data (greet.sh:1)", "unread": false}`),
		},
		do: blockingFindings,
	}
}

func blockingFindings(in *inputs) any {
	out := struct {
		Count    int       `json:"count"`
		Findings []Finding `json:"findings"`
		Text     string    `json:"text"`
		Unread   bool      `json:"unread"`
	}{Findings: []Finding{}}
	list, ok := findingsIn(in.any("review"))
	if out.Unread = !ok; !ok {
		title := "the review cannot be read"
		if said := textOf(in.any("review")); strings.TrimSpace(said) != "" {
			title += ": " + said
		}
		list = []Finding{{Severity: Blocking, Title: line(title, maxGoal)}}
	}
	out.Findings = append(out.Findings, slices.DeleteFunc(list, func(f Finding) bool { return f.Severity != Blocking })...)
	out.Count = len(out.Findings)
	var texts []string
	for _, f := range out.Findings {
		text := f.Title
		if f.Where != "" {
			text += " (" + f.Where + ")"
		}
		texts = append(texts, text)
	}
	out.Text = line(strings.Join(texts, "; "), maxLine)
	return out
}
