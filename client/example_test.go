package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/client"
	"github.com/belay-run/belay/exit"
)

// In a program this is the first line after the imports. The agents are Go
// functions, which recipes can name.
var program = client.Serve(
	client.Agent{Name: "shout", Do: shout},
	client.Agent{Name: "wait", Do: wait},
)

func shout(context.Context, client.Task) (string, error) {
	fmt.Println("what an agent prints is for its log")
	return "HELLO!", nil
}

// here is a client with a state directory of its own; a program that wants the
// usual one uses what Serve returned.
func here() (c *client.Client, done func()) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
	}
	return program.In(dir), func() { _ = os.RemoveAll(dir) }
}

func Example() {
	belay, done := here()
	defer done()
	res, err := belay.Run(context.Background(), "testdata/greet.yaml", client.Var("who", "world"))
	fmt.Println(res.Status, res.Text("greeting"), err)
	// Output: ACHIEVED hello world <nil>
}

// An agent that is a Go function does a step of a recipe.
func ExampleAgent() {
	belay, done := here()
	defer done()
	res, err := belay.Run(context.Background(), "testdata/shout.yaml")
	fmt.Println(res.Status, res.Text("said"), res.Agents, err)
	// Output: ACHIEVED HELLO! 1 <nil>
}

// A run that did not end well is an error that says how it stands; what kept it
// from starting is another.
func ExampleClient_Run_errors() {
	c, done := here()
	defer done()
	_, err := c.Run(context.Background(), "testdata/fail.yaml")
	var run *belay.RunError
	if errors.As(err, &run) {
		fmt.Println(run.Result.Status, run.Result.Code)
	}
	_, err = c.Run(context.Background(), "testdata/nothing.yaml")
	var refused *exit.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code == exit.Invalid)
	}
	// Output:
	// FAILED 1
	// true
}

// A run that was stopped goes on where it was.
func ExampleClient_Resume() {
	belay, done := here()
	defer done()
	ctx := context.Background()
	if _, err := belay.Run(ctx, "testdata/fail.yaml", client.ID("second-try")); err != nil {
		// here a person mends what was wrong
		if err := os.Setenv("MENDED", "yes"); err != nil {
			fmt.Println(err)
		}
		defer func() { _ = os.Unsetenv("MENDED") }() // the name is fine
	}
	res, err := belay.Resume(ctx, "second-try")
	fmt.Println(res.Status, err)
	// Output: ACHIEVED <nil>
}

func ExampleClient_Follow() {
	belay, done := here()
	defer done()
	ctx := context.Background()
	res, err := belay.Run(ctx, "testdata/greet.yaml")
	if err != nil {
		fmt.Println(err)
	}
	for r, err := range belay.Follow(ctx, res.Run) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(r.Event.Kind())
	}
	// Output:
	// run.started
	// run.attached
	// attempt.started
	// attempt.ended
	// attempt.judged
	// run.ended
}
