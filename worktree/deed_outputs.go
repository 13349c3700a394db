package worktree

import (
	"path"
	"strings"
)

// outputs names what stands behind the flags by which most programs are told
// where to write.
func (s *shellReader) outputs(words []string) {
	for i, w := range words {
		switch flag, value, joined := strings.Cut(w, "="); {
		case joined && oneOf(flag, []string{"--output", "--out", "--outfile", "-o", "of", "--output-file", "-out", "--output-document"}):
			s.name(value, written)
		case oneOf(w, []string{"-o", "--output", "--out", "--outfile", "--output-file", "-O", "-out", "--output-document"}) && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			s.name(words[i+1], written)
		}
	}
}

// curlValues are the short flags of curl that take a value; curlFiles are those
// of them, and of the long ones, whose value is a file that it writes.
const curlValues = "AbcCdDeEFHKmoPQrtTuUwxXyYz"

var curlFiles = []string{"-o", "-c", "-D", "--output", "--cookie-jar", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc"}

// curl takes in a curl: it talks to somebody, and writes where it is told to.
func (s *shellReader) curl(words []string) {
	s.afar = true
	remote := false
	var plain []string
	for i := 0; i < len(words); i++ {
		flag, value, joined := curlFlag(words[i])
		switch {
		case flag == "":
			plain = append(plain, words[i])
			continue
		case oneOf(flag, []string{"-O", "-J", "--remote-name", "--remote-name-all", "--remote-header-name"}):
			remote = true
		case flag == "-K" || flag == "--config": // it says what else to do
			s.writes = true
		}
		takes := len(flag) == 2 && strings.Contains(curlValues, flag[1:]) || oneOf(flag, curlFiles)
		if takes && !joined && i+1 < len(words) {
			i++
			value = words[i]
		}
		if oneOf(flag, curlFiles) {
			s.name(value, written)
		}
	}
	if remote {
		s.writes = true
		for _, url := range plain {
			s.name(path.Base(url), written)
		}
	}
}

// curlFlag is the flag of a word that counts: of short ones that stand together
// the one that takes a value, or that saves under the name of the address.
func curlFlag(w string) (flag, value string, joined bool) {
	if !flags(w) {
		if !strings.HasPrefix(w, "--") {
			return "", "", false
		}
		flag, value, joined = strings.Cut(w, "=")
		return flag, value, joined
	}
	flag = w
	for i := 1; i < len(w); i++ {
		switch {
		case strings.IndexByte(curlValues, w[i]) >= 0:
			if flag == "-O" { // -Lo after -O: what it is told counts for both
				return "-O", "", true
			}
			return "-" + w[i:i+1], w[i+1:], i+1 < len(w)
		case w[i] == 'O' || w[i] == 'J':
			flag = "-O"
		}
	}
	return flag, "", false
}

// sort takes in a sort, which writes where it is told to.
func (s *shellReader) sort(words []string) {
	s.outputs(words)
	for _, w := range words {
		if to, ok := strings.CutPrefix(w, "-o"); ok {
			s.name(strings.TrimPrefix(to, "="), written)
		}
	}
}

// uniq takes in a uniq, which writes its second file.
func (s *shellReader) uniq(words []string) {
	var plain []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case oneOf(w, []string{"-f", "-s", "-w"}):
			i++
		case !strings.HasPrefix(w, "-") || w == "-":
			plain = append(plain, w)
		}
	}
	s.all(plain[min(1, len(plain)):], written)
}
