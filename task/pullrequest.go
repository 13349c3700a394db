package task

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// maxTitle is how many characters a title has at most.
const maxTitle = 120

func callPullRequest() Function {
	return Function{
		Name: "pull-request",
		Does: "The title and the text of a pull request: the goal, and what became of each criterion.",
		Inputs: []Field{
			{"goal", TypeText, true, "The goal of the task."},
			{"criteria", TypeAny, false, "The criteria with their verdicts, as best-round gives them."},
		},
		Outputs: []Field{
			{"title", TypeText, true, "One line."},
			{"body", TypeText, true, "Markdown. Names and numbers in it notify nobody and close nothing."},
		},
		Example: Example{
			With:  json.RawMessage(`{"goal": "requests are limited", "criteria": [{"id": "c1", "text": "429 over the limit", "verdict": "met", "why": "its check passed"}]}`),
			Gives: json.RawMessage(`{"title": "requests are limited", "body": "requests are limited\n\n| criterion | verdict | evidence |\n|---|---|---|\n| c1: 429 over the limit | met | its check passed |"}`),
		},
		do: pullRequest,
	}
}

func pullRequest(in *inputs) any {
	goal := line(in.text("goal"), maxGoal)
	if goal == "" {
		goal = "work of belay do"
	}
	body := []string{quiet(goal)}
	list, _ := unwrapped(in.any("criteria")).([]any)
	for i, x := range list {
		c, _ := x.(map[string]any)
		if i == 0 {
			body = append(body, "", "| criterion | verdict | evidence |", "|---|---|---|")
		}
		name := line(first(c, "id"), 60)
		if text := line(first(c, "text"), maxLine); text != "" {
			name = strings.TrimPrefix(name+": "+text, ": ")
		}
		body = append(body, fmt.Sprintf("| %s | %s | %s |", quiet(name), quiet(line(first(c, "verdict"), 60)), quiet(line(first(c, "evidence", "why"), maxLine))))
	}
	return struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	}{cut(goal, maxTitle), strings.Join(body, "\n")}
}

// loud is what a forge acts on: somebody is told, an issue is named or closed.
var loud = pattern.Lazy(`[@#]\b|://|(?i:\bgh-)`)

// quiet is a text in Markdown that is only text: no mention, no link, no cell of its own.
func quiet(text string) string {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "'", "[", `\[`, "!", `\!`).Replace(text)
	return loud().ReplaceAllStringFunc(text, func(s string) string { return s[:1] + "<!-- -->" + s[1:] })
}
