package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/proc"
)

// command runs a program of the user's. The facts are its environment and its
// input, and never a part of its words.
func (t Target) command(ctx context.Context, n Notice) *Trouble {
	if len(t.Argv) == 0 {
		return &Trouble{Text: "the command is empty", Final: true}
	}
	in, err := json.Marshal(n)
	if err != nil {
		return trouble("encode it: %v", err)
	}
	env := append(slices.Clone(t.Environ),
		"BELAY_NOTICE_ID="+n.ID, "BELAY_NOTICE_EVENT="+string(n.Occasion), "BELAY_NOTICE_RUN="+string(n.Run),
		"BELAY_NOTICE_RECIPE="+n.Recipe, "BELAY_NOTICE_TASK="+n.Task, "BELAY_NOTICE_DIR="+n.Dir,
		"BELAY_NOTICE_STATUS="+n.Status, "BELAY_NOTICE_EXIT_CODE="+strconv.Itoa(n.Code), "BELAY_NOTICE_REASON="+n.Reason,
		"BELAY_NOTICE_NEXT="+n.Next, "BELAY_NOTICE_REMINDER="+strconv.Itoa(n.Nudge),
		"BELAY_NOTICE_TITLE="+n.Title(), "BELAY_NOTICE_TEXT="+n.Text())
	return start(ctx, t.Argv, env, n.Dir, in)
}

// desktop shows a notice where there is a desktop.
func (t Target) desktop(ctx context.Context, n Notice) *Trouble {
	argv := DesktopCommand(t.Environ, n.Title(), n.Text())
	if argv == nil {
		return &Trouble{Text: "neither notify-send nor osascript is on the PATH", Final: true}
	}
	return start(ctx, argv, t.Environ, "", nil)
}

// DesktopCommand is the program that shows a notice, nil where there is none.
// The texts are arguments of their own, whatever is in them.
func DesktopCommand(environ []string, title, text string) []string {
	if p := onPath(environ, "notify-send"); p != "" {
		return []string{p, "--app-name=belay", "--", title, html.EscapeString(text)} // its body may be markup
	}
	if p := onPath(environ, "osascript"); p != "" {
		return []string{
			p, "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--", title, text,
		}
	}
	return nil
}

// start runs a program until it ends or the time is over; then its whole group ends.
func start(ctx context.Context, argv, env []string, dir string, in []byte) *Trouble {
	program := argv[0]
	if !strings.Contains(program, "/") {
		if program = onPath(env, argv[0]); program == "" {
			return trouble("%s is not on the PATH", argv[0])
		}
	}
	talk := tail{most: maxTalk}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env, cmd.Stdin = env, bytes.NewReader(in)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		cmd.Dir = dir
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := proc.Capture(cmd, pipeDelay, &talk, nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return trouble("%s did not end in time", path.Base(program))
	}
	return trouble("%s: %v%s", path.Base(program), err, talk.last())
}

// tail keeps the end of what is written to it.
type tail struct {
	b    []byte
	most int
}

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - t.most; over > 0 {
		t.b = t.b[over:]
	}
	return len(p), nil
}

// last is the last line, behind a colon.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	if s := readable.Clean(lines[len(lines)-1]); s != "" {
		return ": " + readable.Cut(s, maxTitle)
	}
	return ""
}

// onPath is the path of a program, "" when it is not there.
func onPath(environ []string, name string) string {
	list := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = v
		}
	}
	for dir := range strings.SplitSeq(list, ":") {
		file := path.Join(dir, name)
		info, err := os.Stat(file)
		if path.IsAbs(file) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}
