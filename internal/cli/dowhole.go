package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

// wholeFile is the file in the folder of a run that has all of a task which is too long
// for prompts and lies in no file of the user.
const wholeFile = "task-long.txt"

// wholeTask is the file that has all of a long task: that of the user, or one that is to
// lie in the folder of the run, whose id is chosen for that.
func (a *app) wholeTask(text string, o *doOptions) (string, error) {
	state, err := a.stateDir()
	if err != nil {
		return "", err
	}
	if o.file != "" && o.file != "-" {
		path, err := filepath.Abs(o.file)
		if err != nil {
			return "", exit.New(exit.Invalid, "read the task", err, "")
		}
		if !strings.HasPrefix(path, filepath.Join(state, "runs")+string(filepath.Separator)) { // else it goes with another run
			return path, nil
		}
	}
	if o.id == "" {
		o.id = string(journal.Draw())
	}
	o.text = text
	return wholeIn(state, belay.RunID(o.id)), nil
}

func wholeIn(state string, run belay.RunID) string {
	return filepath.Join(state, "runs", string(run), wholeFile)
}

// withWhole is what is done once the run has its folder, and before its first record: the
// file is there that its task names.
func (o doOptions) withWhole() func() error {
	made := o.made
	if o.text == "" {
		return made
	}
	return func() error {
		if err := putFile(o.whole, []byte(o.text)); err != nil {
			return exit.New(exit.Infra, "keep the task", err, "")
		}
		if made == nil {
			return nil
		}
		return made()
	}
}

// takeWhole gives the run that carries out a plan all of the task, where that lies in the
// folder of the run that made the plan: either can be removed without the other.
func (a *app) takeWhole(o *doOptions, plan, work belay.RunID) error {
	state, err := a.stateDir()
	if err != nil {
		return err
	}
	old, now := wholeIn(state, plan), wholeIn(state, work)
	if o.whole != old {
		return nil
	}
	text, err := os.ReadFile(old)
	if err != nil {
		return exit.New(exit.Infra, "read the task", err, "")
	}
	o.text, o.whole = string(text), now
	o.decided.task = strings.ReplaceAll(o.decided.task, old, now)
	in := func(path string) []byte {
		b, _ := json.Marshal(path) // a text always can be
		return bytes.Trim(b, `"`)
	}
	o.decided.plan = bytes.ReplaceAll(o.decided.plan, in(old), in(now))
	return nil
}
