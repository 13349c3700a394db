package task

import (
	"encoding/json"

	"github.com/belay-run/belay/internal/branchname"
)

func callBranchName() Function {
	return Function{
		Name: "branch-name",
		Does: "A name for a branch that git takes, made of any text.",
		Inputs: []Field{
			{"text", TypeText, true, "What is worked on; whatever is in it."},
			{"prefix", TypeText, false, "The first part of the name; feat where there is none."},
			{"issue", TypeNumber, false, "The number of its issue."},
			{"run", TypeText, false, "The id of the run, for a name where nothing is left of the text."},
		},
		Outputs: []Field{
			{"branch", TypeText, true, "`PREFIX/SLUG`, or `PREFIX/issue-N-SLUG`."},
			{"slug", TypeText, true, "What is left of the text: small letters, digits and `_ . -`, at most 60; it can be empty."},
		},
		Example: Example{
			With:  json.RawMessage(`{"text": "Add rate limiting (API)", "issue": 12}`),
			Gives: json.RawMessage(`{"branch": "feat/issue-12-add-rate-limiting-api", "slug": "add-rate-limiting-api"}`),
		},
		do: func(in *inputs) any {
			return struct {
				Branch string `json:"branch"`
				Slug   string `json:"slug"`
			}{
				branchname.Of(in.text("text"), in.text("prefix"), in.number("issue", 0), in.text("run")),
				branchname.Slug(in.text("text")),
			}
		},
	}
}

func callIssueFingerprint() Function {
	return Function{
		Name: "issue-fingerprint",
		Does: "What an issue is known by: the same in another run, at another time and on another machine.",
		Inputs: []Field{
			{"kind", TypeText, true, "What sort of thing it is, such as bug."},
			{"headline", TypeText, true, "What it is, in one line."},
			{"place", TypeText, false, "Where it is: a file, a step."},
			{"repo", TypeText, false, "The root of the repository: paths below it count, others do not."},
		},
		Outputs: []Field{{"fingerprint", TypeText, true, "16 hexadecimal digits."}},
		Example: Example{
			With:  json.RawMessage(`{"kind": "bug", "headline": "build fails after 12 tries", "place": "step build"}`),
			Gives: json.RawMessage(`{"fingerprint": "40d51cf0992fb2c9"}`),
		},
		do: func(in *inputs) any {
			return struct {
				Fingerprint string `json:"fingerprint"`
			}{Fingerprint(in.text("kind"), in.text("headline"), in.text("place"), in.text("repo"))}
		},
	}
}

func callValue() Function {
	return Function{
		Name:   "value",
		Does:   "A value as it is: a name of its own for a part of another one, without a process.",
		Inputs: []Field{{"value", TypeAny, true, "The value."}},
		Outputs: []Field{
			{"", TypeAny, true, "The value itself. The result is no object, unless the value is one."},
		},
		Example: Example{
			With:  json.RawMessage(`{"value": "3f47e2c"}`),
			Gives: json.RawMessage(`"3f47e2c"`),
		},
		do: func(in *inputs) any { return in.any("value") },
	}
}
