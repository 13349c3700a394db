// Package scripted is the built-in agent: it plays a script instead of asking a
// model, so that a recipe can be rehearsed and tested with no key and no
// network. What it does is real (files, commands, commits, children left
// behind), and so are its bad manners: it can hang, flood, lie, refuse and die.
//
// It refuses a script with a mistake before it does anything, and it never
// reads the prompt as anything but text to look for a word in.
package scripted

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
)

const (
	exitBadScript = 65
	maxScript     = 16 << 20
	maxPrompt     = 64 << 20
	maxPlays      = 8 // scripts that go on with another one

	// StateVar names the folder that counts the starts; without it the folder
	// above the agent's home does.
	StateVar = "BELAY_SCRIPTED_STATE"
)

// Scene is what a script is played with.
type Scene struct {
	Script []byte
	Name   string // of the script, to count its starts by
	Prompt io.Reader
	Out    io.Writer // the records
	Dir    string    // where it works
	Getenv func(string) string
}

// Main is the program: its only argument is the script.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "scripted: one argument is wanted: the path of a script")
		return exitBadScript
	}
	script, err := read(args[0])
	var dir string
	if err == nil {
		dir, err = os.Getwd()
	}
	if err != nil {
		fmt.Fprintln(stderr, "scripted:", err)
		return exitBadScript
	}
	code, err := Play(context.Background(), Scene{
		Script: script, Name: args[0], Prompt: stdin, Out: stdout, Dir: dir, Getenv: os.Getenv,
	})
	if err != nil {
		fmt.Fprintf(stderr, "scripted: %s: %v\n", args[0], err)
	}
	return code
}

func read(path string) ([]byte, error) {
	script, err := os.ReadFile(path)
	if err == nil && len(script) > maxScript {
		err = fmt.Errorf("%s has more than %d bytes", path, maxScript)
	}
	return script, err
}

// Play plays a script and tells the code to exit with.
func Play(ctx context.Context, s Scene) (int, error) {
	prompt, err := io.ReadAll(io.LimitReader(s.Prompt, maxPrompt))
	if err != nil {
		return 1, fmt.Errorf("read prompt: %w", err)
	}
	start, err := count(s)
	if err != nil {
		return 1, err
	}
	p := &player{scene: s, out: s.Out, cue: cue{
		step: s.Getenv("BELAY_STEP"), item: s.Getenv("BELAY_ITEM"), role: s.Getenv("BELAY_ROLE"), agent: s.Getenv("BELAY_AGENT_NAME"),
		start: start, prompt: string(prompt),
	}}
	list, err := choose(s.Script, p.cue)
	if err != nil {
		return exitBadScript, err
	}
	p.print(agent.ScriptedRecord{Type: agent.ScriptedStart, Session: session(s), Model: "script"})
	if err := p.all(ctx, list); err != nil {
		var left *leave
		if errors.As(err, &left) {
			return left.code, nil
		}
		return 1, err
	}
	if !p.final && !p.silent {
		p.end(agent.ScriptedRecord{Text: p.said, Stop: belay.StopDone})
	}
	return p.code, nil
}

func session(s Scene) string {
	for _, name := range []string{agent.ScriptedResume, agent.ScriptedSession} {
		if id := s.Getenv(name); id != "" {
			return id
		}
	}
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return "scripted-" + hex.EncodeToString(b)
}

// count tells how often this step was started before, and counts this start.
// The number of the attempt, where it is told, is the least that it can be.
func count(s Scene) (int, error) {
	least := 0
	if n, err := strconv.Atoi(s.Getenv("BELAY_ATTEMPT")); err == nil {
		least = max(0, n-1)
	}
	dir := s.Getenv(StateVar)
	if home := s.Getenv(agent.ScriptedHome); dir == "" && home != "" {
		dir = filepath.Dir(home)
	}
	if dir == "" {
		return least, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("count starts: %w", err)
	}
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.Getenv("BELAY_STEP") + "\x00" + s.Getenv("BELAY_ITEM")))
	path := filepath.Join(dir, "scripted-"+hex.EncodeToString(sum[:8])+".starts")
	n := 0
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return 0, fmt.Errorf("count starts: %w", err)
	default:
		if n, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
			return 0, fmt.Errorf("count starts in %s: %w", path, err)
		}
	}
	n = max(n, least)
	if err := os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
		return 0, fmt.Errorf("count starts: %w", err)
	}
	return n, nil
}

// leave ends the play with a code.
type leave struct{ code int }

func (l *leave) Error() string { return "exit " + strconv.Itoa(l.code) }

// player is a play that goes on.
type player struct {
	scene  Scene
	cue    cue
	plays  int // scripts that were gone on with
	out    io.Writer
	said   string // the last thing
	final  bool   // the final record was printed
	silent bool   // there shall be none
	code   int
	calls  int
}

// all does one act after the other.
func (p *player) all(ctx context.Context, list []act) error {
	for _, a := range list {
		if err := p.do(ctx, a); err != nil {
			var left *leave
			if errors.As(err, &left) {
				return err
			}
			return fmt.Errorf("script line %d: %w", a.line, err)
		}
	}
	return nil
}

// play goes on with what another script says for this start. Its path is meant
// as it stands, or from where the agent works.
func (p *player) play(ctx context.Context, path string) error {
	if p.plays++; p.plays > maxPlays {
		return fmt.Errorf("more than %d scripts go on with another one", maxPlays)
	}
	script, err := read(p.path(path))
	if err != nil {
		return err
	}
	list, err := choose(script, p.cue)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return p.all(ctx, list)
}

// print prints one record. One that nobody reads is no reason to stop.
func (p *player) print(r agent.ScriptedRecord) {
	b, err := json.Marshal(r)
	if err == nil {
		_, _ = p.out.Write(append(b, '\n')) // as above
	}
}

// end prints the final record, unless there shall be none.
func (p *player) end(r agent.ScriptedRecord) {
	p.final = true
	if p.silent {
		return
	}
	r.Type = agent.ScriptedFinal
	p.print(r)
}
