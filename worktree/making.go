package worktree

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// making is a commit that an agent made by a command of its own: where the
// command stood, and the first line of its message.
type making struct {
	at      string
	subject string // "" = nobody knows
}

// reverted stands for the subject of a commit that takes another one back.
const reverted = "Revert \""

// saidBy matches a message that a shell reads from a heredoc, as some agents
// always write it.
var saidBy = regexp.MustCompile(`^\$\(cat <<-?\s*(['"\\]?)(\w+)['"]?\n((?s:.*))$`)

// subjectOf is the subject that a command of git gives its commit.
func subjectOf(verb string, rest []string) string {
	switch verb {
	case "revert":
		return reverted
	case "commit":
	default:
		return ""
	}
	elsewhere := []string{"-F", "--file", "-C", "-c", "-t", "--template", "--fixup", "--squash", "--reuse-message", "--reedit-message", "-e", "--edit"}
	for i, w := range rest {
		switch text, long := strings.CutPrefix(w, "--message="); {
		case flagged(w, elsewhere):
			return ""
		case long:
			return subject(text)
		case w == "--message" && i+1 < len(rest):
			return subject(rest[i+1])
		case flags(w) && strings.Contains(w, "m"):
			_, text, _ = strings.Cut(w, "m")
			if text == "" && i+1 < len(rest) {
				text = rest[i+1]
			}
			return subject(text)
		}
	}
	return ""
}

// subject is the first paragraph of a message in one line, as git tells it.
func subject(message string) string {
	literal := false
	if m := saidBy.FindStringSubmatch(message); m != nil {
		message, _, _ = strings.Cut(m[3], "\n"+m[2]+"\n")
		literal = m[1] != ""
	}
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(message)) {
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		lines = append(lines, line)
	}
	said := strings.Join(lines, " ")
	if len(said) > maxPath || !literal && strings.ContainsAny(said, "$`") { // only the shell knows
		return ""
	}
	return strings.Clone(said) // not a part of a long command
}

// calls tells whether a commit with this subject can be the one that was made.
// A hook may have put something around it.
func (m making) calls(subject string) bool {
	const telling = 10 // letters of one that another one holds by more than chance
	switch {
	case m.subject == "" || m.subject == subject:
		return true
	case m.subject == reverted:
		return strings.HasPrefix(subject, reverted) || strings.HasPrefix(subject, "Reapply \"")
	}
	return len(m.subject) >= telling && strings.Contains(subject, m.subject)
}

// stands tells whether one of the new commits is one that the agent made: by
// what it is called, and, where it is on the way to HEAD, by a file of it that is
// another one than before. What was taken back, in whatever way, is neither.
func stands(ctx context.Context, at place, commits, gained []string, list []change, own []making) bool {
	if len(commits) == 0 || len(own) == 0 {
		return false
	}
	paths := map[string]bool{}
	for _, c := range list {
		paths[c.Path], paths[c.old] = true, true
	}
	out, err := at.run(ctx, append([]string{"log", "--no-walk=unsorted", "--no-renames", "-m", "--root", "--format=%x00%H%x00%s%x00", "--name-only", "-z"}, commits...)...)
	if err != nil {
		return false
	}
	for _, c := range parseCommits(out) {
		touches := !slices.Contains(gained, c.id) || slices.ContainsFunc(c.paths, func(p string) bool { return paths[p] })
		if touches && slices.ContainsFunc(own, func(m making) bool { return m.calls(c.subject) }) {
			return true
		}
	}
	return false
}

// entitled is a commit with its subject and the files that it changed.
type entitled struct {
	id, subject string
	paths       []string
}

// parseCommits reads the output of log in the format of stands: every commit
// begins with an empty field.
func parseCommits(out string) []entitled {
	var list []entitled
	f := strings.Split(out, "\x00")
	for i := 0; i < len(f); i++ {
		if f[i] == "" && i+2 < len(f) && isID(f[i+1]) {
			list = append(list, entitled{id: f[i+1], subject: f[i+2]})
			i += 2
			continue
		}
		if p := strings.TrimPrefix(f[i], "\n"); p != "" && len(list) > 0 {
			list[len(list)-1].paths = append(list[len(list)-1].paths, p)
		}
	}
	return list
}
