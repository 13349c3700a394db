package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
)

// typed gives an error its exit code where the room it comes from did not know
// it: a run or recipe that is not there is bad input.
func typed(err error) error {
	var unknown *journal.Unknown
	var ambiguous *journal.Ambiguous
	var notFound *library.NotFound
	switch {
	case errors.As(err, &unknown), errors.As(err, &ambiguous), errors.Is(err, journal.ErrExists):
		return exit.New(exit.Invalid, "", err, hint(err))
	case errors.As(err, &notFound):
		return exit.New(exit.Invalid, "", err, whichInstead(notFound))
	}
	return err
}

// invalid marks an error of what was given, unless it has a code of its own.
func invalid(op string, err error, hint string) error {
	var coded *exit.Error
	if errors.As(err, &coded) {
		return err
	}
	return exit.New(exit.Invalid, op, err, hint)
}

// hint is what the error says a person can do.
func hint(err error) string {
	var coded *exit.Error
	if errors.As(err, &coded) && coded.Hint != "" {
		return coded.Hint
	}
	var failure *belay.Failure
	if errors.As(err, &failure) {
		return failure.Hint
	}
	return ""
}

// report prints an error and its hint; the bad end of a run was shown already.
func (a *app) report(err error) {
	var run *belay.RunError
	var said status
	if err == nil || errors.As(err, &run) || errors.As(err, &said) || a.out.hungUp(err) {
		return
	}
	a.complain(err)
}

func (a *app) complain(err error) {
	a.talkLine("belay: error: ", err.Error())
	if h := hint(err); h != "" {
		a.talkLine("belay: hint: ", h)
	}
}

// talkLine writes a line to standard error; a terminal breaks it in no word.
func (a *app) talkLine(head, text string) {
	for _, l := range readable.Hang(head+a.ours(readable.Clean(text)), a.errWidth(), len("belay: ")) {
		fmt.Fprintln(a.std.Err, l)
	}
}

// say is talk: a line on stderr, unless the user wants quiet. What a terminal would obey is
// left out wherever it goes: somebody may look at the file later.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		for _, l := range readable.Hang("belay: "+a.ours(readable.Harmless(fmt.Sprintf(format, args...))), a.errWidth(), len("belay: ")) {
			fmt.Fprintln(a.std.Err, l)
		}
	}
}

// warn says what a person must know, whether or not they asked for quiet.
func (a *app) warn(text string) {
	for _, l := range readable.Hang("belay: warning: "+a.ours(readable.Clean(text)), a.errWidth(), len("belay: ")) {
		fmt.Fprintln(a.std.Err, l)
	}
}

// talkLines writes lines to standard error, too, without the name of the program.
func (a *app) talkLines(text string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(readable.Harmless(text), "\n"), "\n") {
		for _, part := range readable.Fold(l, a.errWidth()) {
			fmt.Fprintln(a.std.Err, part)
		}
	}
}

// errWidth is how wide the terminal is that standard error is; 0 for any other.
func (a *app) errWidth() int { return widthOf(a.std.Err) }

// outWidth is how wide the terminal is that standard output is; 0 for any other.
func (a *app) outWidth() int { return widthOf(a.std.Out) }

func widthOf(w io.Writer) int {
	if fd, isTerm := terminal(w); isTerm {
		if wide, _, err := term.GetSize(fd); err == nil {
			return wide
		}
	}
	return 0
}

// answer is standard output. It remembers that it could not be written, so that
// a command whose answer nobody got does not end in 0.
type answer struct {
	w      io.Writer
	err    error
	closed bool // nobody reads: it was closed before this process began, or the reader of an act hung up
	acts   bool // what the command did is its answer: nobody has to read a word of it
	tells  bool // it tells a story, and ends when its reader hangs up
}

func (a *answer) Write(p []byte) (int, error) {
	switch {
	case a.err != nil:
		return 0, a.err
	case a.closed && a.acts:
		return len(p), nil
	case a.closed:
		a.err = errShut
		return 0, a.err
	}
	n, err := a.w.Write(p)
	switch {
	case a.acts && !a.tells && errors.Is(err, syscall.EPIPE): // the reader wants no more, and the code tells what was done
		a.closed = true
		return len(p), nil
	case err != nil:
		a.err = err
	}
	return n, err
}

var errShut = errors.New("standard output is closed")

// closedBefore tells whether a stream was closed before this process began. The
// runtime of Go then opens /dev/null in its place, for reading and for writing. Some
// programs hand over just that on purpose, and nobody can tell the two apart: that is
// why only a command that has nothing but its answer to give takes it for closed.
func closedBefore(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	var is, null unix.Stat_t
	if unix.Fstat(int(f.Fd()), &is) != nil || unix.Stat(os.DevNull, &null) != nil {
		return false
	}
	how, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && is.Mode&unix.S_IFMT == unix.S_IFCHR && is.Rdev == null.Rdev && how&unix.O_ACCMODE == unix.O_RDWR
}

// acts tells the commands that do something: their exit code says that it is done,
// whoever reads what they print. All others only answer a question, and so do those
// that are asked for lines of JSON, for an output, or for the id of a run that nobody knows yet.
func acts(cmd *cobra.Command) bool {
	changed := func(flag string) bool { f := cmd.Flags().Lookup(flag); return f != nil && f.Changed }
	if asked, err := cmd.Flags().GetBool("json"); err == nil && asked {
		return false
	}
	if cmd.Name() == "export" {
		to, err := cmd.Flags().GetString("output")
		return err == nil && to != "-"
	}
	if changed("output") || changed("detach") && !changed("id") {
		return false
	}
	return cmd.Hidden || slices.Contains([]string{
		"do", "run", "resume", "rerun", "watch", "rehearse", "demo", "at", "stop", "cancel", "pause", "answer", "approve", "reject",
		"clear", "prune", "rm", "attach", "import", "new", "test", "send", "file", "find", "sync",
	}, cmd.Name())
}

// line writes one line of the answer for people: a terminal breaks it in no word.
func (a *answer) line(format string, args ...any) {
	width := widthOf(a.w)
	for l := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		fold := readable.Fold
		if slices.ContainsFunc(typedLabels[:], func(label string) bool { return strings.HasPrefix(l, label) }) {
			fold = readable.FoldTyped
		}
		for _, part := range fold(l, width) {
			a.raw(part)
		}
	}
}

// typedLabels stand before a command that is to be typed.
var typedLabels = [...]string{mergeLabel, "next: ", "why: ", "receipt: "}

const mergeLabel = "to merge the work: "

// raw writes one line of the answer as it is: for programs, and what stands under it.
func (a *answer) raw(line string) { fmt.Fprintln(a, line) }

func (a *answer) lines(lines []string) {
	for _, l := range lines {
		a.line("%s", l)
	}
}

// markdown writes lines of Markdown: on a terminal a command can be copied that is broken.
func (a *answer) markdown(lines []string) {
	width, code := widthOf(a.w), false
	for _, l := range lines {
		fold := readable.Fold
		switch {
		case strings.HasPrefix(l, "```"):
			code = !code
		case code:
			fold = readable.Continued
		case !strings.HasPrefix(l, " ") && !strings.HasPrefix(l, "- ") && !strings.HasPrefix(l, "| "): // prose
			fold = func(l string, width int) []string { return readable.Hang(l, width, 0) }
		}
		for _, part := range fold(l, width) {
			a.raw(part)
		}
	}
}

// hungUp tells whether an error is that the reader wants no more, as head does:
// that needs no words.
func (a *answer) hungUp(err error) bool {
	return a.err != nil && errors.Is(err, a.err) && errors.Is(a.err, syscall.EPIPE)
}

// settle gives the error of the command, or that its answer was not written.
func (a *answer) settle(err error) error {
	if a.err != nil && (err == nil || errors.Is(err, a.err)) {
		return exit.New(exit.Infra, "write answer", a.err, "check what standard output is connected to (what nobody shall read goes to >/dev/null)")
	}
	return err
}

// closing closes what a command opened. After a success it must succeed too;
// after a failure the failure is what matters.
func closing(err *error, op string, shut func() error) {
	if e := shut(); e != nil && *err == nil {
		*err = exit.New(exit.Infra, op, e, hint(e))
	}
}
