package agent

import (
	"path"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// Copilot is its kind.
const Copilot Kind = "copilot"

// copilot is GitHub's Copilot CLI.
type copilot struct{}

// copilotCLI is what is known of it.
func copilotCLI() CLI {
	return CLI{
		Kind: Copilot, Adapter: copilot{}, Programs: []string{"copilot"}, Install: "npm install -g @github/copilot",
		Login: LoginSign{
			Env:   []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BASE_URL"},
			Files: []string{".copilot/config.json", ".config/gh/hosts.yml"},
			Dir:   ".copilot", Moved: "COPILOT_HOME",
			Cure: "run `copilot` and type /login, or set COPILOT_GITHUB_TOKEN",
		},
		Quirks: []Quirk{
			{"1.0", "the npm program is a shim: killing it leaves the native process and its tools running", ""},
			{"1.0", "a refused or cut answer ends with exit 0", "check its work with verify"},
			{"1.0", "unpacks 235 MB into the cache folder at the first start", "start it once by hand where that takes long"},
			{"1.0", "retries five times by itself, within a minute; no switch turns that down", ""},
		},
	}
}

func (copilot) Traits() Traits {
	return Traits{Presets: true, Resumes: true, Streams: true, Pieces: true, ToolTalk: true, Final: true, Tools: true, Interrupt: StopTerm}
}

const copilotUsage = "copilot-usage.json"

// Launch hands the prompt over as an argument, the only way that Copilot has;
// one that is too long for that is put into a file that the argument names.
func (copilot) Launch(t Task) (Launch, error) {
	if err := ready(Copilot, t); err != nil {
		return Launch{}, err
	}
	usage := path.Join(t.Home, copilotUsage)
	args := []string{
		"--output-format", "json", "--no-auto-update", "--disable-client-telemetry", "--no-remote",
		"--no-color", "--log-level", "error", "--usage-output-file", usage,
	}
	files := map[string]string{}
	prompt := strings.ReplaceAll(t.Prompt, "\x00", "\uFFFD") // no argument holds it
	if len(prompt) > maxArgument {
		file := path.Join(t.Home, "prompt.md")
		files[file] = prompt
		prompt = "Your task is in the file " + file + ". Read all of it first, then do what it says."
		args = append(args, "--add-dir", t.Home)
	}
	switch t.Access {
	case AccessRead: // what would change something needs a permission that only single tools get
		args = append(args, eachOf("--allow-tool", copilotTools(t.Tools))...)
	case AccessEdit:
		args = append(args, "--allow-all-tools")
	case AccessFull:
		args = append(args, "--allow-all-tools", "--allow-all-paths")
	}
	if t.Model != "" {
		args = append(args, "--model", t.Model)
	}
	switch {
	case t.Resume != "":
		args = append(args, "--resume="+t.Resume)
	case t.Session != "":
		args = append(args, "--session-id="+t.Session)
	}
	return Launch{
		Argv: append(argv(t, args...), "-p", prompt),
		Env:  append(plainEnv(), "COPILOT_AUTO_UPDATE=false"), Unset: nesting(),
		Files: files, Results: []string{usage},
	}, nil
}

// copilotTools are tools as Copilot's permissions name them: its records tell
// of bash and create, and what is allowed is shell and write.
func copilotTools(tools []string) []string {
	var list []string
	for _, tool := range tools {
		switch {
		case shells(tool):
			tool = "shell"
		case writes(tool):
			tool = "write"
		}
		list = more(list, []string{tool})
	}
	return list
}

func (copilot) Reader() Reader { return &copilotReader{} }

type copilotReader struct {
	book
	call fault // the last call of the model that failed
}

func (r *copilotReader) Line(line []byte) []Sign { return r.each(line, r.one) }

func (r *copilotReader) one(rec record) []Sign {
	data := rec.at("data")
	switch rec.str("type") {
	case "session.tools_updated":
		r.res.Model = data.str("model")
		return r.start("")
	case "assistant.message_delta":
		return []Sign{{Kind: SignText, Text: data.str("deltaContent")}}
	case "assistant.reasoning", "assistant.reasoning_delta":
		return r.thinks()
	case "assistant.message":
		if data.str("parentToolCallId") == "" { // else a helper of it speaks
			r.answer.set("")
			r.say(data.str("content"))
		}
	case "tool.execution_start":
		return r.begin(data.str("toolCallId"), claudeCall(data.str("toolName"), data.at("arguments")))
	case "tool.execution_complete":
		return r.result(data)
	case "model.call_failure":
		r.call = copilotCall(data)
	case "assistant.turn_retry":
		f := r.call
		if f.text == "" {
			f.text = data.str("reason")
		}
		return r.retry(f.judged(f.text, nil))
	case "session.error":
		r.fail(r.trouble(data))
	case "abort", "agent.interrupted":
		r.fail(fault{class: belay.ClassCancelled, text: "interrupted"})
	case "result":
		return r.over(rec)
	}
	return life()
}

// over reads the last record.
func (r *copilotReader) over(rec record) []Sign {
	r.knows(rec.str("sessionId"))
	if rec.num("exitCode") != 0 {
		r.res.Error = true
	}
	return r.final()
}

func (r *copilotReader) result(data record) []Sign {
	id := data.str("toolCallId")
	end := belay.ToolCall{Failed: !data.yes("success"), Exit: data.at("shellExecution").exit("exitCode")}
	end.Denied = end.Failed && data.at("error").str("code") == "denied"
	edits := data.list("fileEdits")
	if len(edits) > 0 {
		end.Path = edits[0].str("path")
	}
	if c := r.open[id]; c != nil {
		if end.Denied {
			r.deny(c.Name)
		}
		if shells(c.Name) {
			end.Tally = TallyOf(data.at("result").str("content"))
		}
	}
	signs := r.done(id, end)
	for _, e := range edits[min(1, len(edits)):] { // one call for each file
		call := *signs[0].Tool
		call.Path = e.str("path")
		shown := *r.keep(call)
		signs = append(signs, Sign{Kind: SignDone, ID: id, Tool: &shown})
	}
	return signs
}

// copilotCall reads a failed call of the model: the provider's own names are
// there, and whether it was the network.
func copilotCall(data record) fault {
	f := fault{status: data.status("statusCode"), text: data.str("errorMessage")}
	if body := inner(f.text); body != nil {
		p := providerFault(body)
		f.code, f.text = p.code, p.text
	}
	if f.code == "" && f.status == 0 {
		f.code = data.str("failureKind")
	}
	return f
}

var copilotPeel = pattern.Lazy(`^Failed to get response from the AI model; retried \d+ times \(total retry wait time: [\d.]+ seconds\) Last error: `)

// trouble joins the error of the session with what the last call told.
func (r *copilotReader) trouble(data record) fault {
	msg := data.str("message")
	f := fault{code: r.call.code, status: data.status("statusCode"), text: msg}
	if f.code == "" {
		f.code = data.str("errorType")
	}
	_, peeled := leadingStatus(copilotPeel().ReplaceAllString(msg, ""))
	return f.judged(peeled, []rule{
		{"No response was returned", belay.ClassTransient},
		{"Could not connect to ", belay.ClassTransient},
		{"Failed to get response from the AI model", belay.ClassTransient},
		{"Authentication failed", belay.ClassAuth},
	})
}

func (r *copilotReader) Stderr(line []byte) []Sign { return r.mutter(line) }

func (r *copilotReader) End(e Exit) belay.AgentResult {
	for name, b := range e.Files {
		if path.Base(name) == copilotUsage {
			r.res.Usage = copilotTotal(inner(string(b)))
		}
	}
	return r.end(e, copilotEnd)
}

// copilotTotal sums over models.
func copilotTotal(rec record) belay.Usage {
	var u belay.Usage
	for _, v := range rec.at("modelMetrics") {
		m, _ := v.(map[string]any) // nil: counts nothing
		one := record(m).at("usage")
		u = u.Add(belay.Usage{
			Input:      max(0, one.num("inputTokens")-one.num("cacheReadTokens")-one.num("cacheWriteTokens")),
			Output:     one.num("outputTokens"),
			CacheRead:  one.num("cacheReadTokens"),
			CacheWrite: one.num("cacheWriteTokens"),
		})
	}
	return u
}

func copilotEnd(code int, stderr []string) fault {
	for _, s := range stderr {
		if c := match(s, copilotStarts()); c != belay.ClassNone {
			return fault{class: c, text: s}
		}
	}
	f := fault{text: reason(stderr)}
	if code == 143 || code == 130 {
		f.class = belay.ClassCancelled
	}
	return f
}

func copilotStarts() []rule {
	return []rule{
		{"Error: No authentication information found", belay.ClassAuth},
		{"error: unknown option", belay.ClassInvalidInput},
		{"error: option ", belay.ClassInvalidInput},
		{"Error: No session", belay.ClassInvalidInput},
	}
}
