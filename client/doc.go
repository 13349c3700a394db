// Package client runs recipes from a Go program.
//
// A recipe is a YAML file with steps: shell commands, agents and other recipes.
// Belay writes down every fact before it acts on it, so a run goes on after a
// crash: of a step, of the driver, of your program, of the machine.
//
//	var belay = client.Serve()
//
//	func main() {
//		res, err := belay.Run(context.Background(), "greet.yaml", client.Var("who", "world"))
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(res.Status, res.Text("greeting"))
//	}
//
// # One line before main
//
// The processes of a run outlive the one that drives it; that is why a crash
// loses no work. With the command line they are the belay binary, started again
// as driver, keeper and attendant. With this package they are your program,
// started again under the name belay-helper. [Serve] recognises such a start, does
// what is asked, and exits. So it must come before anything else: best in a package variable, as above,
// which Go sets before main, before flags are read and before tests begin. There
// is no way to forget it: [Client.Run] is a method of what Serve returns.
//
// # What a run needs
//
// The state directory is that of the command line ($BELAY_STATE, else
// ~/.local/state/belay), unless [Client.In] names another. Settings are read as the command line
// reads them. So belay runs, belay why and belay show know the runs of your
// program. Linux and macOS are supported.
//
// # Results and errors
//
// Run and Resume return a nil error only when the run ended ACHIEVED: every
// required step is done, and its checks passed. A run that stands otherwise
// gives a [*belay.RunError]; what kept it from starting gives an [*exit.Error]
// with the code that the command line would have ended with.
//
// # Agents
//
// Every agent that Belay knows can be used by its name, with [By] or in a recipe.
// A Go function is an agent too: give it to Serve as an [Agent].
package client
