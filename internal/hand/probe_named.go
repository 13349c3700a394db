package hand

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/belay-run/belay/effect"
)

// askWithin is how long a name server or a tool may take to answer. Whoever
// does not answer has proven nothing.
const askWithin = 5 * time.Second

// lookNamed looks for what the words of a failure name: a program, a host, a
// login. Only a clear no is noted.
func lookNamed(ctx context.Context, q effect.AskProbe, p *effect.Probe) {
	say := func(text string) {
		p.Detail = strings.TrimPrefix(p.Detail+"; "+text, "; ")
	}
	if q.Program != "" && missing(q.Program) {
		p.NoProgram = q.Program
		say(q.Program + " is not on PATH")
	}
	if q.Host != "" && nameless(ctx, q.Host) {
		p.NoHost = q.Host
		say(q.Host + " has no address")
	}
	if q.Login != "" && loggedOut(ctx, q.Login) {
		p.NoLogin = q.Login
		say(q.Login + " says that nobody is logged in")
	}
}

func missing(program string) bool {
	_, err := exec.LookPath(program)
	return errors.Is(err, exec.ErrNotFound)
}

// nameless asks the name server. One that is not there gives no address either.
func nameless(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	_, err := net.DefaultResolver.LookupHost(ctx, host)
	var dns *net.DNSError
	return errors.As(err, &dns) && ctx.Err() == nil
}

// loggedOut asks a tool whether somebody is logged in. Only gh can be asked; its
// own exit is the answer.
func loggedOut(ctx context.Context, tool string) bool {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool, "auth", "status")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = io.Discard, io.Discard, time.Second
	var exit *exec.ExitError
	return errors.As(cmd.Run(), &exit) && exit.ExitCode() == 1 && ctx.Err() == nil
}
