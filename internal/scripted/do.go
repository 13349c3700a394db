package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
)

const (
	floodLine  = 32 << 10
	forkPause  = 2 * time.Millisecond
	forkWithin = 10 * time.Second
	childSays  = 1000 // seconds that a child which is left behind would wait
	outlives   = time.Second
)

// do does one act.
func (p *player) do(ctx context.Context, a act) error {
	switch a.kind {
	case Say:
		p.said = a.text
		p.print(agent.ScriptedRecord{Type: agent.ScriptedText, Text: a.text})
	case Write, Append:
		return p.write(a)
	case Run:
		p.shell(ctx, "bash", a.text, "bash", "-c", a.text)
	case Commit:
		p.commit(ctx, a.text)
	case Answer:
		return p.answer(a)
	case Sleep:
		return pause(ctx, a.wait)
	case Hang:
		return hang(ctx)
	case Flood:
		return p.flood(a.size)
	case Exit:
		return &leave{a.n}
	case Signal:
		return p.die(ctx, signals()[a.text])
	case Deny:
		p.tool(belay.ToolCall{Name: a.text}, func(c *belay.ToolCall) { c.Denied = !p.may(a.text); c.Failed = c.Denied })
	case Refuse:
		p.end(agent.ScriptedRecord{Text: a.text, Stop: belay.StopRefused})
	case Truncate:
		p.end(agent.ScriptedRecord{Text: p.said, Stop: belay.StopTruncated})
	case Hollow:
		p.print(agent.ScriptedRecord{Type: agent.ScriptedText, Text: a.text})
		p.end(agent.ScriptedRecord{Text: a.text, Stop: belay.StopDone})
	case IgnoreTerm:
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	case Fork:
		return p.fork(a.fork)
	case Tokens:
		p.print(agent.ScriptedRecord{Type: agent.ScriptedUsage, Usage: &belay.Usage{
			Input: a.usage.Input, Output: a.usage.Output, MicroUSD: int64(math.Round(a.usage.Cost * 1e6)),
		}})
	case Error:
		p.code = 1
		p.end(agent.ScriptedRecord{Text: p.said, Stop: belay.StopError, Error: fault(a.fault)})
	case Retry:
		for i := range a.n {
			p.print(agent.ScriptedRecord{Type: agent.ScriptedRetry, Text: fmt.Sprintf("retry %d of %d", i+1, a.n)})
		}
	case Garbage:
		return p.garbage(a.size)
	case NoFinal:
		p.silent = true
	case GoOn:
		return p.play(ctx, a.text)
	}
	return nil
}

// may tells whether a tool was allowed by name.
func (p *player) may(tool string) bool {
	return slices.Contains(strings.Split(p.scene.Getenv(agent.ScriptedTools), "\n"), tool)
}

func fault(f faultSpec) *agent.ScriptedFault {
	told := &agent.ScriptedFault{Class: belay.Class(f.Class), Status: f.Status, RetryAfterMS: f.after.Milliseconds(), Text: f.Text}
	if f.reset > 0 {
		told.Reset = time.Now().Add(f.reset)
	}
	return told
}

// tool tells of the use of a tool; do fills in how it ended.
func (p *player) tool(call belay.ToolCall, do func(*belay.ToolCall)) {
	p.printed(call, func(c *belay.ToolCall) string { do(c); return "" })
}

// printed is tool for one that prints.
func (p *player) printed(call belay.ToolCall, do func(*belay.ToolCall) string) {
	p.calls++
	id := "call-" + strconv.Itoa(p.calls)
	begun := call
	p.print(agent.ScriptedRecord{Type: agent.ScriptedTool, ID: id, Tool: &begun})
	out := do(&call)
	p.print(agent.ScriptedRecord{Type: agent.ScriptedDone, ID: id, Tool: &call, Output: out})
}

func (p *player) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.scene.Dir, name)
}

func (p *player) write(a act) error {
	path, flags := p.path(a.file.Path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC
	if a.kind == Append {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	var err error
	p.tool(belay.ToolCall{Name: "write", Path: path}, func(c *belay.ToolCall) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = put(path, a.file.Text, flags)
		}
		c.Failed = err != nil
	})
	return err
}

func put(path, text string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// shell runs a program as a tool. Its exit counts, and of its output the beginning
// and the end are told.
func (p *player) shell(ctx context.Context, name, command string, argv ...string) {
	p.printed(belay.ToolCall{Name: name, Command: command}, func(c *belay.ToolCall) string {
		var out twoEnds
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.WaitDelay = outlives // what it leaves behind may hold its output
		cmd.Dir = p.scene.Dir
		cmd.Env = append(os.Environ(), "PWD="+p.scene.Dir)
		code := 0
		if err := cmd.Run(); err != nil {
			code = 127
			if cmd.ProcessState != nil {
				code = cmd.ProcessState.ExitCode()
			}
		}
		c.Exit, c.Failed = &code, code != 0
		return out.String()
	})
}

func (p *player) commit(ctx context.Context, message string) {
	const script = `git add -A && git -c user.name="scripted agent" -c user.email=scripted@localhost commit -q -m "$1"`
	p.shell(ctx, "bash", "git commit -m "+strconv.Quote(message), "bash", "-c", script, "bash", message)
}

func (p *player) answer(a act) error {
	text := a.text
	if a.json != nil {
		b, err := json.Marshal(a.json)
		if err != nil {
			return err
		}
		text = string(b)
	}
	p.end(agent.ScriptedRecord{Text: text, Stop: belay.StopDone})
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func hang(ctx context.Context) error {
	for {
		if err := pause(ctx, time.Hour); err != nil {
			return err
		}
	}
}

// flood prints so many bytes as the output of a tool, in records that nobody knows.
func (p *player) flood(size int64) error {
	var err error
	p.tool(belay.ToolCall{Name: "flood"}, func(*belay.ToolCall) {
		line := []byte(`{"type":"output","text":"` + strings.Repeat("flood ", floodLine/6) + "\"}\n")
		for left := size; left > 0 && err == nil; left -= int64(len(line)) {
			_, err = p.out.Write(line)
		}
	})
	return err
}

// garbage prints bytes of all values, newlines among them.
func (p *player) garbage(size int64) error {
	block := make([]byte, 1<<10)
	for i := range block {
		block[i] = byte(i*167 + 13)
	}
	for left := size; left > 0; left -= int64(len(block)) {
		if _, err := p.out.Write(block[:min(left, int64(len(block)))]); err != nil {
			return err
		}
	}
	_, err := p.out.Write([]byte{'\n'})
	return err
}

// die ends this process by a signal.
func (p *player) die(ctx context.Context, sig syscall.Signal) error {
	signal.Reset(sig)
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		return err
	}
	return hang(ctx)
}

// fork leaves a child behind that waits, in one of the ways in which programs
// lose theirs, and returns when it is there.
func (p *player) fork(f forkSpec) error {
	pid := f.Pid
	if pid == "" {
		pid = filepath.Join(os.TempDir(), fmt.Sprintf("scripted-%d.pid", os.Getpid()))
	}
	pid = p.path(pid)
	stay := fmt.Sprintf(`echo $$ > "$1.new" && exec sleep %d`, childSays) // with mv there would be two of them for a moment
	var script string
	attr := &syscall.SysProcAttr{}
	switch f.How {
	case "setsid":
		script, attr.Setsid = stay, true
	case "nohup":
		script = "trap '' HUP; " + stay
	case "double":
		script = `bash -c '` + stay + `' bash "$1" & exit 0`
	case "daemon":
		script = `cd / && bash -c '` + stay + `' bash "$1" </dev/null >/dev/null 2>&1 & exit 0`
		attr.Setsid = true
	}
	cmd := exec.Command("bash", "-c", script, "bash", pid) //nolint:noctx // it is meant to outlive us
	cmd.Dir, cmd.SysProcAttr = p.scene.Dir, attr
	if out, ok := p.out.(*os.File); ok {
		cmd.Stdout, cmd.Stderr = out, out // so that it holds the pipe
	}
	_ = errors.Join(os.Remove(pid), os.Remove(pid+".new")) // of an earlier start
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("fork: %w", err)
	}
	for until := time.Now().Add(forkWithin); time.Now().Before(until); time.Sleep(forkPause) {
		if b, err := os.ReadFile(pid + ".new"); err == nil && bytes.HasSuffix(b, []byte("\n")) {
			return os.Rename(pid+".new", pid)
		}
	}
	return errors.New("fork: the child did not come up")
}
