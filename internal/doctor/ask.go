package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/proc"
)

const (
	maxReply  = 16 << 10
	maxWords  = 200
	pipeDelay = 500 * time.Millisecond
)

// reply is what a program answered.
type reply struct {
	out  string // stdout, cut
	talk string // stderr, cut
	hung bool   // it was ended because it took too long
	err  error  // it did not start, or did not end well
}

// ask runs a program that is expected to print a line and to end. It has no
// terminal and nothing to read, and dies with all its group when its time is over.
func (p Patient) ask(ctx context.Context, argv ...string) reply {
	ctx, cancel := context.WithTimeout(ctx, p.patience())
	defer cancel()
	var out, talk head
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = p.Environ, p.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := proc.Capture(cmd, pipeDelay, &out, &talk)
	return reply{out: out.String(), talk: talk.String(), hung: ctx.Err() != nil, err: err}
}

// trouble says what was wrong with a reply.
func (r reply) trouble() string {
	switch {
	case r.hung:
		return "it did not end in time and was killed"
	case r.err == nil:
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(r.talk), "\n")
	if line == "" {
		return r.err.Error()
	}
	return fmt.Sprintf("%v: %.*s", r.err, maxWords, line)
}

// head keeps the beginning of what is written.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), maxReply-len(h.b))]...)
	return len(p), nil
}

func (h *head) String() string { return strings.ToValidUTF8(string(h.b), "\uFFFD") }

// find is the path of a program, "" when it is not on the PATH.
func (p Patient) find(name string) string {
	for _, dir := range filepath.SplitList(p.env("PATH")) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// release is the first two numbers of a version.
type release struct{ major, minor int }

var releaseNumber = pattern.Lazy(`(\d{1,6})\.(\d{1,6})[\w.()-]*`)

// releaseIn finds the version that a program prints, and its text as printed.
func releaseIn(out string) (release, string) {
	m := releaseNumber().FindStringSubmatch(out)
	if m == nil {
		return release{}, ""
	}
	major, err := strconv.Atoi(m[1])
	minor, err2 := strconv.Atoi(m[2])
	if err != nil || err2 != nil {
		return release{}, ""
	}
	return release{major, minor}, m[0]
}

func (r release) before(o release) bool {
	return r.major < o.major || r.major == o.major && r.minor < o.minor
}

func (r release) String() string { return fmt.Sprintf("%d.%d", r.major, r.minor) }
