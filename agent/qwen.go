package agent

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// Qwen is its kind.
const Qwen Kind = "qwen"

// qwen is Qwen Code, a relative of Gemini that speaks the records of Claude.
type qwen struct{}

// qwenCLI is what is known of it.
func qwenCLI() CLI {
	return CLI{
		Kind: Qwen, Adapter: qwen{}, Programs: []string{"qwen"}, Install: "npm install -g @qwen-code/qwen-code",
		Login: LoginSign{
			Env:   []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
			Files: []string{".qwen/oauth_creds.json"},
			Dir:   ".qwen", Moved: "QWEN_HOME",
			Cure: "run `qwen` and type /auth, or set OPENAI_API_KEY and OPENAI_BASE_URL",
		},
		Quirks: []Quirk{
			{"0.24", "needs Node 22 or newer", "install Node 22"},
			{"0.24", "retries for hours by itself when it meets a limit; Belay turns that down to six times within two minutes", ""},
			{"0.24", "waits as long as the service asks, without a word", "set a timeout on the step"},
			{"0.24", "refuses session ids of a version that it does not know", ""},
			{"0.24", "dies on SIGTERM and leaves two processes and its tools behind", ""},
			{"0.24", "a cut answer ends as a success", "check its work with verify"},
		},
	}
}

func (qwen) Traits() Traits {
	return Traits{Presets: true, Resumes: true, Streams: true, Pieces: true, Final: true, Tools: true, Interrupt: StopTerm}
}

// qwenDefaults take away one of two layers of retries, and the ten a minute and
// more apart with which Qwen meets a limit of calls. Six in the other layer have
// no switch: they end within two minutes.
const qwenDefaults = `{"model": {"generationConfig": {"maxRetries": 0}}}` + "\n"

// Launch turns the inner retries down in a file beneath the user's settings: no
// flag does it. The variable that is taken away makes Qwen retry without end.
func (qwen) Launch(t Task) (Launch, error) {
	if err := ready(Qwen, t); err != nil {
		return Launch{}, err
	}
	args := []string{"--output-format", "stream-json", "--include-partial-messages", "--approval-mode", approval(t.Access)}
	if t.Access == AccessRead { // else all are allowed
		args = append(args, eachOf("--allowed-tools", qwenTools(t.Tools))...)
	}
	t.Session, t.Resume = qwenID(t.Session), qwenID(t.Resume)
	args = append(args, which(t)...)
	return Launch{
		Argv:  argv(t, args...),
		Env:   plainEnv(),
		Unset: append(nesting(), "QWEN_CODE_UNATTENDED_RETRY"),
		Stdin: true,
		Defaults: &Defaults{
			Env: "QWEN_CODE_SYSTEM_DEFAULTS_PATH", File: path.Join(t.Home, "qwen-defaults.json"), Text: qwenDefaults,
			Yields: []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH"}, System: "/etc/qwen-code/system-defaults.json",
		},
	}, nil
}

// qwenTools are tools as Qwen heeds them: as long as edit is not allowed, it
// offers none that write files.
func qwenTools(tools []string) []string {
	var list []string
	for _, tool := range tools {
		list = more(list, []string{tool})
		if writes(tool) && !strings.EqualFold(tool, "edit") {
			list = more(list, []string{"edit"})
		}
	}
	return list
}

var eighth = pattern.Lazy(`^([0-9a-f]{8}-[0-9a-f]{4}-)8([0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})$`)

// qwenID is an id as Qwen takes it: it refuses UUIDs of a version that is newer
// than it knows, which ours are. The same id always becomes the same.
func qwenID(id string) string { return eighth().ReplaceAllString(id, "${1}5$2") }

func (qwen) Reader() Reader { return &qwenReader{} }

type qwenReader struct {
	book
	partial bool
}

func (r *qwenReader) Line(line []byte) []Sign { return r.each(line, r.one) }

func (r *qwenReader) one(rec record) []Sign {
	r.knows(rec.str("session_id"))
	switch rec.str("type") {
	case "system":
		switch rec.str("subtype") {
		case "init":
			r.res.Model = rec.str("model")
			return r.start(rec.str("session_id"))
		case "retry":
			wait := time.Duration(rec.at("data").num("delayMs")) * time.Millisecond
			return r.retry(fault{class: belay.ClassTransient, after: wait, text: "calls the model again"})
		}
	case "stream_event":
		if s := rec.at("event", "delta").str("text"); s != "" {
			r.partial, r.pending = true, nil
			return []Sign{{Kind: SignText, Text: s}}
		}
		return r.thinks()
	case "assistant":
		return r.assistant(rec.at("message"))
	case "user":
		return r.user(rec.at("message"))
	case "result":
		return r.result(rec)
	}
	return life()
}

func (r *qwenReader) assistant(msg record) []Sign {
	signs := life()
	for _, part := range msg.list("content") {
		switch part.str("type") {
		case "text":
			r.answer.set("") // a message repeats what a broken one had said
			said := r.say(part.str("text"))
			if !r.partial {
				signs = append(signs, said...)
			}
		case "tool_use":
			signs = append(signs, r.begin(part.str("id"), claudeCall(part.str("name"), part.at("input")))...)
		}
	}
	return signs
}

var qwenExitCode = pattern.Lazy(`(?m)^Exit Code: (\d{1,3})$`)

func (r *qwenReader) user(msg record) []Sign {
	signs := life()
	for _, part := range msg.list("content") {
		if part.str("type") != "tool_result" {
			continue
		}
		id := part.str("tool_use_id")
		end := belay.ToolCall{Failed: part.yes("is_error")}
		if c := r.open[id]; c != nil && shells(c.Name) {
			end.Exit = qwenExit(end.Failed, part.str("content"))
			end.Tally = TallyOf(claudeOutput(part, nil))
		}
		signs = append(signs, r.done(id, end)...)
	}
	return signs
}

// qwenExit finds an exit code: told in words when the command failed.
func qwenExit(failed bool, said string) *int {
	if !failed {
		zero := 0
		return &zero
	}
	if !strings.HasPrefix(said, "Command: ") {
		return nil
	}
	n, err := strconv.Atoi(group(qwenExitCode(), said))
	if err != nil {
		return nil
	}
	return &n
}

func (r *qwenReader) result(rec record) []Sign {
	signs := r.refused(rec.list("permission_denials"))
	r.res.Usage = openaiUsage(rec.at("usage"), "cache_read_input_tokens", "")
	if !rec.yes("is_error") {
		r.answer.set(rec.str("result"))
		return append(signs, r.final()...)
	}
	msg := rec.at("error").str("message")
	said := r.answer.b.String()
	r.answer.set(strings.TrimSuffix(said, msg)) // the error is put behind what the model said
	f := fault{text: msg}
	var peeled string
	f.status, peeled = leadingStatus(peelAPI(msg))
	r.fail(f.judged(peeled, qwenRules()))
	return append(signs, r.final()...)
}

func qwenRules() []rule {
	return append(geminiRules(),
		rule{"No auth type is selected", belay.ClassAuth},
		rule{"Connection error", belay.ClassTransient},
		rule{"Streaming request received a non-SSE response", belay.ClassTransient},
		rule{"No stream activity for ", belay.ClassTimeout},
		rule{"Request timed out", belay.ClassTimeout},
		rule{"Overloaded", belay.ClassTransient},
	)
}

func (r *qwenReader) Stderr(line []byte) []Sign { return r.mutter(line) }

func (r *qwenReader) End(e Exit) belay.AgentResult {
	res := r.end(e, qwenEnd)
	if !res.Final && (e.Code == 53 || e.Code == 55) {
		res.Stop = belay.StopLimit
	}
	return res
}

// qwenEnd explains an end without a result: limits have exit codes, and what
// was not right about the start is told on stderr.
func qwenEnd(code int, stderr []string) fault {
	f := fault{text: last(stderr)}
	switch code {
	case 53:
		f.class = belay.ClassTurnLimit
	case 55:
		f.class = belay.ClassTurnLimit
		if strings.HasPrefix(f.text, "Run aborted: wall-clock budget") {
			f.class = belay.ClassTimeout
		}
	case 41:
		f.class = belay.ClassAuth
	case 42:
		f.class = belay.ClassInvalidInput
	case 130:
		f.class = belay.ClassCancelled
	}
	if strings.HasPrefix(f.text, "No input provided via stdin") {
		f.class = belay.ClassInvalidInput
	}
	return f
}
