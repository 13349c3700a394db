package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

// ending is the last line of a driver: the end of a run, or an error.
type ending struct {
	Kind  string      `json:"kind"`
	Run   belay.RunID `json:"run"`
	Error string      `json:"error,omitempty"`
	Hint  string      `json:"hint,omitempty"`
	belay.RunResult
}

// failed is the kind of the line with an error.
const failed = "client.failed"

// drive starts a driver and waits for its end. The driver stops in order when its
// standard input is closed, which is also what happens when this process dies.
func (c *Client) drive(ctx context.Context, o *order, last ...string) (Result, error) {
	state, err := c.stateDir()
	if err != nil {
		return Result{}, err
	}
	program, err := helper(state)
	if err != nil {
		return Result{}, err
	}
	o.Args = append(append([]string{"--state", state}, o.Args...), last...)
	cmd := exec.CommandContext(ctx, program, driveWord)
	talk := &tail{most: maxTalk}
	cmd.Stderr = io.MultiWriter(talk, o.log)
	in, err := cmd.StdinPipe()
	if err != nil {
		return Result{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Result{}, err
	}
	cmd.Cancel = in.Close
	if err := cmd.Start(); err != nil {
		return Result{}, exit.New(exit.Infra, "start driver", err, "")
	}
	_ = json.NewEncoder(in).Encode(o) // a driver that is gone says so by its end
	end, err := listen(out, o.records)
	_ = cmd.Wait() // its last line tells how it ended
	if err != nil {
		return Result{}, exit.New(exit.Infra, "listen to the driver", err, "")
	}
	return end.result(ctx, state, fmt.Sprintf("%s\n%s", cmd.ProcessState, talk))
}

// listen reads the lines of a driver and gives the last one.
func listen(out io.Reader, see func(event.Record)) (ending, error) {
	var end ending
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			run := end.Run
			if end = (ending{}); json.Unmarshal(line, &end) != nil {
				end = ending{} // no line of ours
			}
			end.Run = cmp.Or(end.Run, run).Root()
			var r event.Record
			if json.Unmarshal(line, &r) == nil && r.Seq > 0 {
				see(r)
			}
		}
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, err
		}
	}
}

// result is what a driver's last line amounts to.
func (e ending) result(ctx context.Context, state, talk string) (Result, error) {
	r := Result{Run: e.Run, Status: e.Status, Code: e.Code, Reason: e.Reason}
	var err error
	switch e.Kind {
	case event.RunEnded{}.Kind():
		if err = r.fill(state); err == nil && e.Code != exit.OK {
			err = &belay.RunError{Run: e.Run, Result: e.RunResult}
		}
	case failed:
		what := e.Error
		if more := problems(talk); e.Code == exit.Invalid && more != "" {
			what += "\n" + more
		}
		err = exit.New(e.Code, "", errors.New(what), e.Hint)
	default:
		err = exit.New(exit.Infra, "start driver", fmt.Errorf("this program, started again, did not act as Belay: %s", strings.TrimSpace(talk)),
			"call client.Serve before anything else: var belay = client.Serve()")
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	return r, err
}

// problems is what a driver said beside its error: what is wrong with a recipe.
func problems(talk string) string {
	_, talk, _ = strings.Cut(talk, "\n") // the state of the process
	var keep []string
	for line := range strings.Lines(talk) {
		if !strings.HasPrefix(line, "belay: error: ") && !strings.HasPrefix(line, "belay: hint: ") {
			keep = append(keep, line)
		}
	}
	return strings.TrimSpace(strings.Join(keep, ""))
}

// maxTalk is how much of what a driver says is kept for an error.
const maxTalk = 8 << 10

// tail keeps the end of what is written to it.
type tail struct {
	most int
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - t.most; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }

// helper is the path by which this program is started as Belay: a link with a name of its
// own, in the state directory. A path and not a flag, because steps of recipes
// start it as well, by $BELAY_PROGRAM.
func helper(state string) (string, error) {
	st, err := journal.OpenState(state) // with its modes
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		return "", err
	}
	exe, err := os.Executable()
	if err != nil {
		return "", exit.New(exit.Infra, "find own program", err, "start it by its full path")
	}
	sum := sha256.Sum256([]byte(exe))
	all := filepath.Join(state, "helpers")
	path := filepath.Join(all, hex.EncodeToString(sum[:6]), helperName)
	if to, err := os.Readlink(path); err == nil && to == exe {
		return path, nil
	}
	sweep(all)
	if err := link(exe, path); err != nil {
		return "", exit.New(exit.Infra, "make a link to this program", err, "")
	}
	return path, nil
}

// link makes the link; another process that makes the same one does no harm.
func link(exe, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(path), "new")
	if err != nil {
		return err
	}
	made := filepath.Join(aside, helperName)
	err = os.Symlink(exe, made)
	if err == nil {
		err = os.Rename(made, path)
	}
	return errors.Join(err, os.RemoveAll(aside))
}

// sweep removes links to programs that are gone, such as those of go run.
func sweep(all string) {
	paths, _ := filepath.Glob(filepath.Join(all, "*", helperName)) // the pattern is good by its making
	for _, p := range paths {
		if _, err := os.Stat(p); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(p)               // the next one sweeps it
			_ = os.Remove(filepath.Dir(p)) // it is empty
		}
	}
}
