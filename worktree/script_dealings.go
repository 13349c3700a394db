package worktree

import (
	"regexp"
	"slices"
	"strings"
)

// Names of functions, in many languages: those that write files, whatever they
// are given; those that only read or look; those that tell a person something;
// those that make a path of a name; those that run a command.
var (
	writingNames = regexp.MustCompile(`(?i)write|^(append_?file|output_?file|file_?put|put_?contents|spew|unlink|rename|rm|rmtree|remove|delete|move|mv|copy|cp|ln|link|symlink|touch|truncate|chmod|` +
		`save|dump$|sink$|put$|patch|edit|to_(csv|json|excel|parquet|html|pickle)|sub!|inplace$)`)
	noWriting    = []string{"writer", "writerow", "writerows", "writable", "written", "DictWriter", "writelines", "write", "createWriter", "writeheader"}
	readingNames = regexp.MustCompile(`(?i)^(read|load|exist|is_?file|is_?dir|l?stat|access|getsize|getmtime|require|import|import_module|createReadStream|file_get_contents|listdir|scandir|readdir|` +
		`len|length|slurp|parse|size|startswith|endswith|includes|indexOf)`)
	sayingNames  = []string{"print", "println", "printf", "puts", "p", "pp", "echo", "warn", "die", "exit", "say", "pprint"}
	loggers      = []string{"console", "logging", "logger", "log"}
	pathMakers   = []string{"Path", "PurePath", "PosixPath", "Pathname", "join", "resolve", "abspath", "expanduser", "fspath", "normpath", "realpath", "absolute", "str", "String", "expand_path", "strip", "glob", "iglob", "basename", "dirname", "splitext"}
	runningNames = []string{"system", "popen", "Popen", "run", "call", "check_call", "check_output", "getoutput", "exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "shell_exec", "passthru"}
	modes        = regexp.MustCompile(`^["'](r?[bts]*\+[bts]*|[wax][btxs+]*|\s*\+?[>|].*)["']$`)
	homesOf      = []string{"io", "codecs", "os", "gzip", "bz2", "lzma", "tarfile", "zipfile", "File", "IO", "fs", "builtins", "promises", "Deno", "Bun"} // of functions that open files
)

func opens(name string) bool {
	return oneOf(name, []string{"open", "openSync", "fopen", "sysopen", "fdopen", "ZipFile", "GzipFile", "TarFile"})
}

// dealing is what a call does with what it is given.
func (s *source) dealing(i int) dealing {
	is, ok := s.verdicts[i]
	if !ok {
		is = s.look(i)
		s.verdicts[i] = is
	}
	return is
}

func (s *source) look(i int) dealing {
	c := s.calls[i]
	name, on := s.text(c.name), ""
	if c.head != c.name {
		on = s.text(c.name - 1 - s.joint(c.name-1, -1))
	}
	switch {
	case opens(name), name == "new" && on == "File":
		return s.opening(c, on)
	case oneOf(name, []string{"write", "writelines"}):
		return s.writing(c, on)
	case oneOf(name, sayingNames), oneOf(on, loggers), outlets.MatchString(on):
		return harmless
	case oneOf(name, []string{"input", "FileInput"}):
		if slices.ContainsFunc(c.tokens, func(t int) bool { return s.text(t) == "inplace" }) {
			return writesOut
		}
		return harmless
	case oneOf(name, pathMakers):
		return passes
	case oneOf(name, runningNames):
		return s.running(c)
	case name == "replace":
		if on == "os" || len(c.tokens) > 0 && !slices.ContainsFunc(c.tokens, func(t int) bool { return s.tokens[t].arg > 0 }) {
			return writesOut
		}
		return unclear
	case writingNames.MatchString(name) && !oneOf(name, noWriting) && len(c.tokens) > 0 || oneOf(name, []string{"unlink", "touch", "truncate", "rmtree", "rmdir", "delete"}):
		return writesOut
	case readingNames.MatchString(name):
		return harmless
	}
	return unclear
}

// opening is what a call does that opens a file: by its mode.
func (s *source) opening(c call, on string) dealing {
	named := "" // the name of the argument at hand, as in mode='w'
	for _, t := range c.tokens {
		tok := s.tokens[t]
		switch {
		case s.is(t, wordToken) && s.mark(t+1, "=") && !s.mark(t+2, "="):
			named = s.text(t)
			continue
		case s.mark(t, ","):
			named = ""
			continue
		}
		byMethod := tok.arg == 0 && named == "" && (c.on >= 0 || on != "" && !oneOf(on, homesOf))
		switch {
		case named != "" && named != "mode" && named != "flags", tok.arg == 0 && named == "" && !byMethod:
		case s.is(t, textToken) && modes.MatchString(s.text(t)):
			return writesOut
		case s.is(t, textToken) && strings.HasPrefix(strings.Trim(s.text(t), `"'`), "<"):
			return harmless
		case s.is(t, wordToken) && !byMethod && !strings.Contains(s.text(t), "RDONLY") && !s.mark(t+1, ".:") && tok.arg == 1 && !(s.perl && !s.aims):
			return writesOut // nobody knows how it is opened
		}
	}
	return harmless
}

// writing is what a call of write does: what it is given is the text, and where
// it goes was opened before, unless it is a function that is given a name.
func (s *source) writing(c call, on string) dealing {
	switch {
	case oneOf(on, homesOf):
		return writesOut
	case c.on >= 0 && s.openers[c.on], s.says && (c.on >= 0 || on != ""), s.opened[on], outlets.MatchString(on):
		return harmless
	}
	return writesOut
}

// running is what a call does that runs a command, where it can be read.
func (s *source) running(c call) dealing {
	var words []string
	for _, t := range c.tokens {
		switch tok := s.tokens[t]; {
		case s.is(t, textToken) && tok.arg < 2:
			words = append(words, s.plain(t))
		case s.is(t, wordToken) && tok.arg == 0:
			texts := s.assigned[s.text(t)]
			if len(texts) == 0 {
				return writesOut
			}
			for _, text := range texts {
				words = append(words, s.plain(text))
			}
		}
	}
	if len(words) == 0 {
		return unclear
	}
	return s.shell(words)
}

// plain is a text without its quotes.
func (s *source) plain(i int) string { return strings.Trim(s.text(i), "\"'`") }

func (s *source) shell(words []string) dealing {
	if len(words) > 1 {
		for i, w := range words {
			words[i] = "'" + w + "'"
		}
	}
	if !strings.Contains(strings.Join(words, ""), `\`) && s.looks(strings.Join(words, " ")) {
		return harmless
	}
	return writesOut
}

// writes tells whether anything in a program writes a file.
func (s *source) writes() bool {
	for i := range s.calls {
		if s.dealing(i) == writesOut {
			return true
		}
	}
	for i, t := range s.tokens {
		switch {
		case s.backquoted(i):
			if s.shell([]string{s.plain(i)}) == writesOut {
				return true
			}
		case t.kind == wordToken && writingNames.MatchString(s.text(i)) && !oneOf(s.text(i), noWriting) && s.called(i) < 0 && s.mark(i-1, ".:"): // a function that is called by another name
			return true
		}
	}
	return strings.Contains(s.src, "$^I")
}
