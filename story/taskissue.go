package story

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// TaskIssue is an issue that a run filed, or that was there already.
type TaskIssue struct {
	Done   string `json:"done"` // created, commented, reopened, known, kept or unsure
	Repo   string `json:"repo,omitempty"`
	Number int    `json:"number,omitempty"`
	Title  string `json:"title"`
	URL    string `json:"url,omitempty"`
	File   string `json:"file,omitempty"` // that has it while it is not in the tracker
}

// Words are the issue, and what became of it.
func (i *TaskIssue) Words() string { return i.Title + ": " + i.Became() }

// Became says what became of the issue.
func (i *TaskIssue) Became() string {
	if i.File != "" { // the tracker could not be asked
		return "kept on this machine in " + Quote(i.File)
	}
	done := map[string]string{"created": "filed", "commented": "there already, with a comment more", "reopened": "opened again"}[i.Done]
	return fmt.Sprintf("%s, %s", cmp.Or(done, "there already"), cmp.Or(i.URL, i.Repo+"#"+strconv.Itoa(i.Number)))
}

// issues are those of all parts of a run, each once. A part has the variables of what it is
// a part of, too; one that was made and met again was made.
func (r taskReader) issues() []TaskIssue {
	var list []TaskIssue
	for _, id := range r.tree.Runs() {
		for _, name := range []string{"tracked", "infra_error_details", "hollow_issue"} {
			var is TaskIssue
			if r.get(r.tree.Run(id), name, &is); is.Title == "" || is.Number == 0 && is.File == "" {
				continue
			}
			at := slices.IndexFunc(list, func(i TaskIssue) bool { return i.Repo == is.Repo && i.Number == is.Number && i.File == is.File })
			switch {
			case at < 0:
				list = append(list, is)
			case is.Done == "created" || is.Done == "reopened":
				list[at] = is
			}
		}
	}
	return list
}
