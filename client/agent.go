package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/pattern"
)

// Agent is an agent that is a Go function. Recipes name it (agent: shout), and so
// does [By].
//
// Do gets what any agent would be told, and returns its answer. It works in the
// directory of the step; what it changes there is seen by Belay, which believes
// the files and not the answer.
//
// Do runs in a process of its own, started by [Serve], like every other agent. So
// an attempt survives the death of the driver and of your program, and a resume
// takes over its end. It also means that Do sees nothing of what main has done: it
// must make its connections itself. Files and variables of the environment are
// shared, memory is not.
//
// An error fails the attempt; what the error says is judged as the words of any agent
// are: "429 too many requests" is waited out, for example. ctx is cancelled when
// the attempt is to end; five seconds later the process is killed.
type Agent struct {
	Name string
	Do   func(ctx context.Context, t Task) (answer string, err error)
}

// Task is what an agent is asked for.
type Task struct {
	Prompt  string // all that the agent is told: the rules, the task, what is expected
	Dir     string // where it works; also the working directory of the process
	Run     belay.RunID
	Step    string
	Attempt int // from 1
}

var agentForm = pattern.Lazy(`^[a-z][a-z0-9_-]*$`)

// checkAgents refuses agents that no recipe could name.
func checkAgents(agents []Agent) error {
	seen := map[string]bool{}
	for _, a := range agents {
		switch {
		case !agentForm().MatchString(a.Name):
			return fmt.Errorf("%q cannot name an agent: it is a letter a-z, then a-z, 0-9, - and _", a.Name)
		case slices.Contains(agent.Kinds(), agent.Kind(a.Name)):
			return fmt.Errorf("%q is an agent that Belay knows: choose another name", a.Name)
		case seen[a.Name]:
			return fmt.Errorf("two agents are named %q", a.Name)
		case a.Do == nil:
			return fmt.Errorf("agent %q has no function", a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

// readTask is the task of this process.
func readTask() (Task, error) {
	prompt, err := io.ReadAll(os.Stdin)
	dir, e := os.Getwd()
	n, _ := strconv.Atoi(os.Getenv("BELAY_ATTEMPT")) // 0 = somebody typed this
	return Task{
		Prompt: string(prompt), Dir: dir, Attempt: n,
		Run: belay.RunID(os.Getenv("BELAY_RUN_ID")), Step: os.Getenv("BELAY_STEP"),
	}, errors.Join(err, e)
}
