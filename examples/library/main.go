// Command library runs a recipe from a Go program, with a Go function as its
// agent: go run . "the sea"
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/belay-run/belay/client"
)

var belay = client.Serve(client.Agent{Name: "poet", Do: poet})

func main() {
	res, err := belay.Run(context.Background(), "recipe.yaml",
		client.Var("about", strings.Join(os.Args[1:], " ")), client.Limit(client.Limits{Agents: 3}))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s: %s\n", res.Status, res.Text("poem"))
}

// poet is an agent. It runs in a process of its own, in the directory of the step.
func poet(_ context.Context, t client.Task) (string, error) {
	_, about, _ := strings.Cut(t.Prompt, "Write one line about ")
	about, _, _ = strings.Cut(about, " to poem.txt")
	return "It is in poem.txt.", os.WriteFile("poem.txt", []byte("I must go down to "+about+" again"), 0o600)
}
