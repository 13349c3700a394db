package worktree

import (
	"regexp"
	"slices"
	"strings"
)

// sedWrites are scripts of sed that write a file or run a program: the commands
// w, W and e, and the flags w and e of a substitution between common marks.
var sedWrites = regexp.MustCompile(`(^|[=;{}/\d$!\n])\s*([wW]\s+\S|e(\s+\S|\s*$))` + substitutions("/|#,@:!~%"))

// substitutions are patterns of s with such a flag, for each mark.
func substitutions(marks string) string {
	all := ""
	for _, m := range marks {
		q := regexp.QuoteMeta(string(m))
		part := `(?:[^` + q + `\\\n]|\\.)*` + q
		all += `|s` + q + part + part + `[gpiImM0-9]*(e|w\s+\S)`
	}
	return all
}

// sed takes in a sed: it only looks, unless it is told to write.
func (s *shellReader) sed(rest []string) bool {
	place, script, unread := false, false, false
	var files []string
	for i := 0; i < len(rest); i++ {
		switch w := rest[i]; {
		case oneOf(w, []string{"-e", "-f", "--expression", "--file"}):
			script = true
			unread = unread || w == "-f" || w == "--file"
			i++
		case strings.HasPrefix(w, "--expression=") || strings.HasPrefix(w, "--file="):
			script = true
			unread = unread || strings.HasPrefix(w, "--file=")
		case strings.HasPrefix(w, "--in-place"), flags(w) && strings.Contains(w, "i"):
			place = true
			script = script || strings.HasSuffix(w, "e") && !strings.HasPrefix(w, "--")
			if strings.HasSuffix(w, "e") && !strings.HasPrefix(w, "--") {
				i++
			}
		case flags(w) && strings.HasSuffix(w, "e"):
			script = true
			i++
		case strings.HasPrefix(w, "-") && w != "-":
		default:
			files = append(files, w)
		}
	}
	if !place {
		s.writes = s.writes || unread || slices.ContainsFunc(rest, sedWrites.MatchString)
		return true
	}
	s.writes = true
	if !script {
		files = files[min(1, len(files)):]
	}
	s.all(files, written)
	return true
}
