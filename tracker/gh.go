package tracker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/proc"
)

const (
	maxAnswer = 64 << 20 // of one page of issues
	maxTalk   = 16 << 10
	noLogin   = 4                      // the exit of gh when nobody is logged in
	pipeDelay = 500 * time.Millisecond // for a child that went its own way with the pipe
)

// run calls gh once. It has no terminal, dies with all its group when its time is
// over, and with us where the system can do that.
func (g GitHub) run(ctx context.Context, args []string, in []byte) reply {
	path := onPath(g.Environ, "gh")
	if path == "" {
		return reply{trouble: &Trouble{Kind: TroubleAbsent, Op: "gh api", Detail: "gh is not on the PATH", Hint: "install gh and log in with gh auth login"}}
	}
	ctx, cancel := context.WithTimeout(ctx, g.Policy.Within)
	defer cancel()
	out, talk := head{most: maxAnswer}, head{most: maxTalk}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(slices.Clone(g.Environ), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "CLICOLOR_FORCE=0", "GH_FORCE_TTY=")
	cmd.Stdin = bytes.NewReader(in)
	if g.Hold != nil {
		cmd.ExtraFiles = []*os.File{g.Hold}
	}
	cmd.SysProcAttr = withUs()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	runtime.LockOSThread() // the thread that starts it is the one whose death it would hear of
	err := proc.Capture(cmd, pipeDelay, &out, &talk)
	runtime.UnlockOSThread()
	var exit *exec.ExitError
	r, answered := readReply(out.b)
	switch {
	case out.over:
		r.trouble = lostAnswer("gh api", "the answer has more than %d bytes", maxAnswer)
	case answered && (err == nil || r.status >= 300):
		r.trouble = r.judge()
	case errors.As(err, &exit) && exit.ExitCode() == noLogin:
		r.trouble = &Trouble{Kind: TroubleLogin, Op: "gh api", Detail: "gh is not logged in", Hint: "run gh auth login"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.trouble = lostAnswer("gh api", "no answer within %s", g.Policy.Within)
	default:
		line, _, _ := strings.Cut(strings.TrimSpace(string(talk.b)), "\n")
		r.trouble = lostAnswer("gh api", "%s", strings.TrimSuffix(fmt.Sprintf("%v: %s", err, cut(line, maxTitle)), ": "))
	}
	return r
}

// kindOf is what stood in the way; "" for anything else.
func kindOf(err error) TroubleKind {
	var t *Trouble
	if errors.As(err, &t) {
		return t.Kind
	}
	return ""
}

// head keeps the beginning of what is written to it.
type head struct {
	b    []byte
	most int
	over bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.most - len(h.b)
	h.over = h.over || len(p) > room
	h.b = append(h.b, p[:min(len(p), room)]...)
	return len(p), nil
}

// onPath is the path of a program, "" when it is not there.
func onPath(environ []string, name string) string {
	list := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = v
		}
	}
	for _, dir := range filepath.SplitList(list) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
