package agent

import (
	"path"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// Gemini is its kind.
const Gemini Kind = "gemini"

// gemini is Google's Gemini CLI.
type gemini struct{}

// geminiCLI is what is known of it.
func geminiCLI() CLI {
	return CLI{
		Kind: Gemini, Adapter: gemini{}, Programs: []string{"gemini"}, Install: "npm install -g @google/gemini-cli",
		Login: LoginSign{
			Env:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"},
			Files: []string{".gemini/oauth_creds.json", ".gemini/gemini-credentials.json"},
			Cure:  "run `gemini` and choose a login, or set GEMINI_API_KEY",
		},
		Quirks: []Quirk{
			{"0.61", "ignores SIGTERM behind a parent of its own unless GEMINI_CLI_NO_RELAUNCH is set", ""},
			{"0.61", "exits 0 on SIGTERM and SIGINT, with no final record", ""},
			{"0.61", "retries for up to four minutes by itself; Belay can turn that down only where root runs it", `else set "general": {"maxAttempts": 2, "retryFetchErrors": false} in ~/.gemini/settings.json`},
			{"0.61", "exits with the HTTP status modulo 256: 145 is 401, 173 is 429", ""},
			{"0.61", "tells a failed command as a success, without its exit code", "check its work with verify"},
			{"0.61", "an answer that was cut or refused ends as a success", "check its work with verify"},
		},
	}
}

func (gemini) Traits() Traits {
	return Traits{Presets: true, Resumes: true, Streams: true, Pieces: true, Final: true, Tools: true, Interrupt: StopTerm}
}

// geminiDefaults are one retry instead of nine, and none for a connection that
// could not be made: waiting is Belay's work.
const geminiDefaults = `{"general": {"maxAttempts": 2, "retryFetchErrors": false}}` + "\n"

// Launch turns the inner retries down in a file beneath the user's settings, the
// only switch that there is; Gemini takes one that is not the user's own from
// root alone. Without NO_RELAUNCH a parent process stands in front of the CLI
// and ignores signals. Files can be changed and commands run without a question
// only in the mode yolo.
func (gemini) Launch(t Task) (Launch, error) {
	if err := ready(Gemini, t); err != nil {
		return Launch{}, err
	}
	args := []string{"--output-format", "stream-json", "--skip-trust", "--approval-mode", approval(t.Access)}
	if t.Access == AccessRead { // else all are allowed
		args = append(args, eachOf("--allowed-tools", t.Tools)...)
	}
	args = append(args, which(t)...)
	return Launch{
		Argv:  argv(t, args...),
		Env:   append(plainEnv(), "GEMINI_CLI_NO_RELAUNCH=true"),
		Unset: nesting(),
		Stdin: true,
		Defaults: &Defaults{
			Env: "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", File: path.Join(t.Home, "gemini-defaults.json"), Text: geminiDefaults,
			Yields: []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH"}, System: "/etc/gemini-cli/system-defaults.json", Root: true,
		},
	}, nil
}

// approval is the mode of Gemini and of its relative Qwen.
func approval(a Access) string {
	switch a {
	case AccessRead:
		return "default" // tools that change something are not offered to the model
	case AccessEdit, AccessFull:
	}
	return "yolo"
}

func (gemini) Reader() Reader { return &geminiReader{} }

type geminiReader struct {
	book
	trouble string // the last error event
	name    string // of the error, from stderr
}

func (r *geminiReader) Line(line []byte) []Sign { return r.each(line, r.one) }

func (r *geminiReader) one(rec record) []Sign {
	switch rec.str("type") {
	case "init":
		r.res.Model = rec.str("model")
		return r.start(rec.str("session_id"))
	case "message":
		if rec.str("role") == "assistant" {
			if !rec.yes("delta") {
				r.answer.set("")
			}
			return r.say(rec.str("content"))
		}
	case "tool_use":
		return r.begin(rec.str("tool_id"), claudeCall(rec.str("tool_name"), rec.at("parameters")))
	case "tool_result":
		return r.result(rec)
	case "error":
		if rec.str("severity") == "error" {
			r.trouble = rec.str("message")
		}
	case "result":
		r.res.Usage = geminiUsage(rec.at("stats"))
		if rec.str("status") != "success" {
			msg := rec.at("error").str("message")
			if msg == "" {
				msg = r.trouble
			}
			r.fail(geminiFault(msg))
		}
		return r.final()
	}
	return life()
}

// result reads the end of a tool. A command that failed is told as a success,
// without its exit code.
func (r *geminiReader) result(rec record) []Sign {
	id := rec.str("tool_id")
	end := belay.ToolCall{Failed: rec.str("status") != "success"}
	end.Denied = rec.at("error").str("type") == "policy_violation"
	if c := r.open[id]; c != nil {
		if end.Denied {
			r.deny(c.Name)
		}
		if shells(c.Name) {
			end.Tally = TallyOf(rec.str("output"))
		}
	}
	return r.done(id, end)
}

func geminiUsage(s record) belay.Usage {
	u := openaiUsage(s, "cached", "")
	if rest := s.num("total_tokens") - s.num("input_tokens"); rest > u.Output {
		u.Output = rest // thoughts are paid for too
	}
	return u
}

// peelAPI takes the words of Gemini and Qwen from around an error.
func peelAPI(msg string) string {
	s, ok := strings.CutPrefix(msg, "[API Error: ")
	if !ok {
		return msg
	}
	if i := strings.LastIndexByte(s, ']'); i >= 0 {
		s = s[:i]
	}
	return s
}

func geminiFault(msg string) fault {
	f := fault{text: msg}
	peeled := peelAPI(msg)
	if body := inner(peeled); body != nil {
		p := providerFault(body)
		f.code, f.status, peeled = p.code, p.status, p.text
	}
	f.after = waitIn(msg)
	f = f.judged(peeled, geminiRules())
	if f.class == belay.ClassUnknown {
		f.class = belay.ClassNone // the exit code or stderr may know
	}
	return f
}

func geminiRules() []rule {
	return []rule{
		{"The model returned an empty response", belay.ClassTransient},
		{"Model stream ended", belay.ClassTransient},
		{"The model response was blocked", belay.ClassRefusal},
		{"The prompt was blocked", belay.ClassRefusal},
		{"Incomplete JSON segment", belay.ClassTransient},
		{"Expected property name", belay.ClassTransient},
		{"Unexpected token", belay.ClassTransient},
		{"terminated", belay.ClassTransient},
		{"exception TypeError: fetch failed", belay.ClassTransient},
		{"fetch failed", belay.ClassTransient},
		{"When using Gemini API, you must specify", belay.ClassAuth},
	}
}

var (
	geminiAttempt = pattern.Lazy(`^Attempt \d+ failed(?: with status (\d{3}))?(?:\. Retrying with backoff\.\.\.)?:? ?(.*)$`)
	geminiAgain   = pattern.Lazy(`Retrying after (\d{1,9})ms`)
	geminiReport  = pattern.Lazy(`^Error when talking to Gemini API Full report available at: \S+ (\w+): `)
	geminiName    = pattern.Lazy(`^_?\w*Error: (.*)$`)
)

// Stderr is the only place where Gemini tells that it tries again.
func (r *geminiReader) Stderr(line []byte) []Sign {
	s := words(line)
	r.mutter(line)
	if name := group(geminiReport(), s); name != "" {
		r.name = name
	}
	if m := geminiAttempt().FindStringSubmatch(s); m != nil {
		why := m[2]
		if in := group(geminiName(), why); in != "" {
			why = strings.TrimPrefix(in, "Error: ")
		}
		f := geminiFault(why)
		if f.status == 0 {
			f.status = number(m[1])
		}
		if f.class == belay.ClassNone && f.status == 0 {
			f.class = belay.ClassRateLimit // only a limit is told without its status
		}
		return r.retry(f.judged("", nil))
	}
	if n := number(group(geminiAgain(), s)); n > 0 && r.pending != nil {
		r.pending.after = time.Duration(n) * time.Millisecond
		return []Sign{{Kind: SignRetry, Text: cut(r.pending.text, maxCause), Wait: r.pending.after}}
	}
	return nil
}

func (r *geminiReader) End(e Exit) belay.AgentResult {
	status := geminiStatus(e.Code)
	if r.res.Error && r.res.Status == 0 {
		r.res.Status = status
	}
	if r.res.Error && r.res.Class == belay.ClassNone {
		r.res.Class = fault{code: geminiNamed(r.name), status: r.res.Status}.judged("", nil).class
	}
	return r.end(e, geminiEnd)
}

// geminiNamed maps the name of an error to the one that providers use.
func geminiNamed(name string) string {
	if name == "ModelNotFoundError" {
		return "model_not_found"
	}
	return ""
}

// geminiStatus undoes what an exit code does to an HTTP status: Gemini exits
// with the status, of which only the rest by 256 arrives. 404 is 148, 429 is
// 173; these look like signals and are none.
func geminiStatus(code int) int {
	for _, status := range []int{400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529} {
		if status%256 == code {
			return status
		}
	}
	return 0
}

// geminiEnd explains an end without a result by the exit code.
func geminiEnd(code int, stderr []string) fault {
	f := fault{text: last(stderr), status: geminiStatus(code)}
	for _, s := range stderr { // a report goes on for many lines
		if strings.HasPrefix(s, "Error when talking to Gemini API") {
			f.text = s
			break
		}
	}
	switch code {
	case 41:
		f.class = belay.ClassAuth
	case 42, 52, 55: // no input, a bad setting, a folder that is not trusted
		f.class = belay.ClassInvalidInput
	case 44: // the sandbox
		f.class = belay.ClassInfrastructure
	case 53:
		f.class = belay.ClassTurnLimit
	case 54: // a tool that could not go on: the disk is full
		f.class = belay.ClassInfrastructure
	case 130:
		f.class = belay.ClassCancelled
	}
	if f.status != 0 {
		f = f.judged("", nil)
	}
	return f
}
