package agent

import (
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// OpenCode is its kind.
const OpenCode Kind = "opencode"

// opencode is OpenCode: opencode run with JSON records.
type opencode struct{}

// opencodeCLI is what is known of it.
func opencodeCLI() CLI {
	return CLI{
		Kind: OpenCode, Adapter: opencode{}, Programs: []string{"opencode"}, Install: "npm install -g opencode-ai",
		Login: LoginSign{
			Env:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "OPENCODE_CONFIG_CONTENT"},
			Files: []string{".local/share/opencode/auth.json", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"},
			Cure:  "run `opencode auth login`",
		},
		Quirks: []Quirk{
			{"1.18", "loops without end when the service answers with broken JSON", "set a timeout on the step"},
			{"1.18", "retries five times by itself, within 75 s, but waits for up to 24 days when the service asks for it", ""},
			{"1.18", "ignores SIGINT", ""},
			{"1.18", "has no record that ends a run", ""},
		},
	}
}

func (opencode) Traits() Traits {
	return Traits{Resumes: true, Final: true, Interrupt: StopTerm}
}

// Launch gives a title, which saves the model call that would make one up. The
// inner retries have no switch; errors of its log on stderr are the only place
// where OpenCode tells of them.
func (opencode) Launch(t Task) (Launch, error) {
	if err := ready(OpenCode, t); err != nil {
		return Launch{}, err
	}
	args := []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR"}
	env := append(plainEnv(), "OPENCODE_DISABLE_AUTOUPDATE=1")
	switch t.Access {
	case AccessRead:
		env = append(env, `OPENCODE_PERMISSION={"edit":"deny","bash":"deny"}`)
	case AccessEdit, AccessFull:
		args = append(args, "--auto")
	}
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	if t.Resume != "" {
		args = append(args, "--session", t.Resume)
	} else {
		args = append(args, "--title", "belay")
	}
	return Launch{Argv: argv(t, args...), Env: env, Unset: nesting(), Stdin: true}, nil
}

func (opencode) Reader() Reader { return &opencodeReader{} }

// opencodeReader reads the records of opencode run. There is none that ends a
// run: the last step that did not stop for a tool is taken for it.
type opencodeReader struct {
	book
	message string   // of the step that began last
	fell    bool     // the log told that the last call of the model failed
	log     string   // its last line
	asked   []string // permissions that were refused, as stderr tells them
}

func (r *opencodeReader) Line(line []byte) []Sign { return r.each(line, r.one) }

func (r *opencodeReader) one(rec record) []Sign {
	first := r.res.Session == ""
	r.knows(rec.str("sessionID"))
	part := rec.at("part")
	switch rec.str("type") {
	case "step_start":
		r.res.Final = false
		again := part.str("messageID") != "" && part.str("messageID") == r.message
		if again && r.fell { // that was told already
			r.fell = false
			return life()
		}
		r.fell = false
		if again {
			return r.retry(fault{class: belay.ClassTransient, text: "began the step again"})
		}
		r.message = part.str("messageID")
		r.answer.set("")
	case "reasoning":
		return r.thinks()
	case "text":
		return r.say(part.str("text"))
	case "tool_use":
		return r.tool(part)
	case "step_finish":
		return r.step(part)
	case "error":
		if r.fell { // it was not called again
			r.fell = false
			r.res.Retries--
		}
		r.fault(rec.at("error"))
		return r.final()
	}
	if first {
		return r.start(r.res.Session)
	}
	return life()
}

// tool reads a call; OpenCode prints it only when it is over.
func (r *opencodeReader) tool(part record) []Sign {
	state := part.at("state")
	call := claudeCall(part.str("tool"), state.at("input"))
	call.Exit = state.at("metadata").exit("exit")
	call.Failed = state.str("status") == "error"
	if call.Command != "" {
		call.Tally = TallyOf(state.str("output"))
	}
	call.Denied = call.Failed && strings.HasPrefix(state.str("error"), "The user rejected permission")
	if call.Denied {
		r.deny(call.Name)
	}
	id, files := part.str("callID"), patchedFiles(call.Name, state)
	if len(files) > 0 {
		call.Path = files[0]
	}
	signs := r.done(id, call)
	for _, file := range files[min(1, len(files)):] { // one call for each file
		call.Path = file
		shown := *r.keep(call)
		signs = append(signs, Sign{Kind: SignDone, ID: id, Tool: &shown})
	}
	return signs
}

var patchFile = pattern.Lazy(`(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$`)

// patchedFiles are the files of a patch: as its end tells them, else as its text
// does.
func patchedFiles(tool string, state record) []string {
	if tool != "apply_patch" {
		return nil
	}
	var files []string
	for _, f := range state.at("metadata").list("files") {
		for _, key := range []string{"filePath", "movePath"} {
			if p := f.str(key); p != "" && len(files) < maxHead {
				files = append(files, p)
			}
		}
	}
	if len(files) > 0 {
		return files
	}
	for _, m := range patchFile().FindAllStringSubmatch(state.at("input").str("patchText"), maxHead) {
		files = append(files, m[1])
	}
	return files
}

func (r *opencodeReader) step(part record) []Sign {
	t := part.at("tokens")
	r.res.Usage = r.res.Usage.Add(belay.Usage{
		Input: t.num("input"), Output: t.num("output") + t.num("reasoning"),
		CacheRead: t.at("cache").num("read"), CacheWrite: t.at("cache").num("write"),
		MicroUSD: part.micro("cost"),
	})
	r.res.Stop = belay.StopUnknown
	switch part.str("reason") {
	case "tool-calls":
		return life()
	case "stop":
		r.res.Stop = belay.StopDone
	case "length":
		r.res.Stop = belay.StopTruncated
	case "content-filter":
		r.res.Stop = belay.StopRefused
	}
	return r.final()
}

func (r *opencodeReader) fault(e record) {
	data := e.at("data")
	f := fault{code: e.str("name"), status: data.status("statusCode"), text: data.str("message")}
	if codeClass(f.code) == belay.ClassNone {
		f.code = providerFault(inner(data.str("responseBody"))).code
	}
	if s, err := strconv.ParseFloat(data.at("responseHeaders").str("retry-after"), 64); err == nil && s > 0 && s < longest.Seconds() {
		f.after = time.Duration(s * float64(time.Second))
	}
	f = f.judged(f.text, opencodeRules())
	if f.class == belay.ClassUnknown && data.yes("isRetryable") {
		f.class = belay.ClassTransient
	}
	r.fail(f)
}

var (
	opencodeLog   = pattern.Lazy(`^timestamp=\S+ level=[A-Z]+ `)
	opencodeError = pattern.Lazy(` error\.error=("(?:[^"\\]|\\.)*"|\S+)`)
	opencodeID    = pattern.Lazy(` session\.id=(\S+)`)
)

// logged reads a line of the log. A call of the model that failed is made again
// in a while, without another word, or the record of the error follows at once.
func (r *opencodeReader) logged(line string) []Sign {
	r.log = line
	if r.res.Final || !strings.Contains(line, ` message="stream error" `) || strings.Contains(line, " small=true ") {
		return nil
	}
	told := group(opencodeError(), line)
	if text, err := strconv.Unquote(told); err == nil {
		told = text
	}
	if name, text, ok := strings.Cut(told, ": "); ok && strings.HasPrefix(name, "AI_") {
		told = text
	}
	r.fell = true
	f := fault{text: told}.judged(told, opencodeRules())
	if f.class == belay.ClassUnknown {
		f.class = belay.ClassTransient // nothing else is called again
	}
	signs := r.retry(f)
	if id := group(opencodeID(), line); r.res.Session == "" && strings.Contains(line, " mode=primary ") {
		r.knows(id)
		signs[0].Session = r.res.Session
	}
	return signs
}

func opencodeRules() []rule {
	return []rule{
		{"JSON parsing failed", belay.ClassTransient},
		{"Cannot connect to API", belay.ClassTransient},
		{"Rate limit reached", belay.ClassRateLimit},
	}
}

var opencodeReject = pattern.Lazy(`permission requested: (\S+) .*auto-rejecting$`)

func (r *opencodeReader) Stderr(line []byte) []Sign {
	s := words(line)
	if opencodeLog().MatchString(s) {
		return r.logged(s)
	}
	if p := group(opencodeReject(), s); p != "" && len(r.asked) < maxDenied {
		r.asked = append(r.asked, p)
	}
	return r.mutter(line)
}

// End takes the refusals of stderr when no record told one: they name the
// permission and not the tool.
func (r *opencodeReader) End(e Exit) belay.AgentResult {
	if len(r.res.Denied) == 0 {
		for _, p := range r.asked {
			r.deny(p)
		}
	}
	if len(r.stderr) == 0 && r.log != "" { // better than nothing
		r.mutter([]byte(r.log))
	}
	return r.end(e, opencodeEnd)
}

func opencodeEnd(code int, stderr []string) fault {
	f := fault{text: last(stderr)}
	switch {
	case code == 143 || code == 130:
		f.class = belay.ClassCancelled
	case strings.HasPrefix(f.text, "Error: You must provide a message"), strings.HasPrefix(f.text, "Error: Session not found"):
		f.class = belay.ClassInvalidInput
	}
	return f
}
