package agent

import (
	"path"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// Codex is its kind.
const Codex Kind = "codex"

// codex is OpenAI's Codex: codex exec with JSON records.
type codex struct{}

// codexCLI is what is known of it.
func codexCLI() CLI {
	return CLI{
		Kind: Codex, Adapter: codex{}, Programs: []string{"codex"}, Install: "npm install -g @openai/codex",
		Login: LoginSign{
			Env:   []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
			Files: []string{".codex/auth.json"},
			Dir:   ".codex", Moved: "CODEX_HOME",
			Else: []string{".codex/config.toml"}, // a provider of one's own, with a key of its own
			Cure: "run `codex login`, or set CODEX_API_KEY",
		},
		AskLogin: []string{"login", "status"}, LoggedOut: codexLoggedOut,
		Quirks: []Quirk{
			{"0.166", "a command that its sandbox refuses leaves no record", "let the step expect a change, or check its work with verify"},
			{"0.166", "its sandbox keeps .git read-only, so that with access edit it cannot commit", "commit in a step of the recipe, or give it access full"},
			{"0.166", "waits as long as the service asks, without a limit and without a word", "set a timeout on the step"},
			{"0.166", "prints nothing while the model speaks or a command runs", ""},
			{"0.166", "the npm program is a shim: killing it leaves the real one running", "Belay ends the whole tree; the native program has one process less"},
		},
	}
}

func codexLoggedOut(out, talk string) bool {
	lines := strings.Split(strings.ReplaceAll(out+"\n"+talk, "\r", ""), "\n")
	return slices.Contains(lines, "Not logged in")
}

func (codex) Traits() Traits {
	return Traits{Resumes: true, Final: true, Interrupt: StopInt}
}

const codexLast = "codex-last-message.txt"

// Launch turns off the one retry loop that has no end. The other two are
// settings of a provider: setting them by flag for a built-in provider makes
// Codex refuse to start, and the name of a user's own is not known here; they
// end by themselves within half a minute. A feature that a version does not
// know is ignored in this form; with --disable it would be an error.
func (codex) Launch(t Task) (Launch, error) {
	if err := ready(Codex, t); err != nil {
		return Launch{}, err
	}
	out := path.Join(t.Home, codexLast)
	args := []string{"exec"}
	if t.Resume != "" {
		args = append(args, "resume", t.Resume)
	}
	args = append(args, "--json", "--skip-git-repo-check", "-o", out,
		"-c", "features.unbounded_connection_retries=false",
		"-c", "check_for_update_on_startup=false")
	if t.Access == AccessFull {
		args = append(args, "--dangerously-bypass-approvals-and-sandbox")
	} else {
		// not -s: resume does not know it, and would go on without the sandbox
		args = append(args, "-c", `approval_policy="never"`, "-c", `sandbox_mode="`+codexSandbox(t.Access)+`"`)
	}
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	return Launch{
		Argv: append(argv(t, args...), "-"), Env: plainEnv(), Unset: nesting(), Stdin: true,
		Results: []string{out},
	}, nil
}

func codexSandbox(a Access) string {
	switch a {
	case AccessRead:
		return "read-only"
	case AccessEdit:
		return "workspace-write"
	case AccessFull:
	}
	return "danger-full-access"
}

func (codex) Reader() Reader { return &codexReader{} }

// codexReader reads the records of codex exec. A command that the sandbox
// refused leaves no record at all: that can only be seen by what is not there.
type codexReader struct{ book }

func (r *codexReader) Line(line []byte) []Sign { return r.each(line, r.one) }

func (r *codexReader) one(rec record) []Sign {
	switch rec.str("type") {
	case "thread.started":
		return r.start(rec.str("thread_id"))
	case "item.started":
		return r.item(rec.at("item"), false)
	case "item.completed":
		return r.item(rec.at("item"), true)
	case "error":
		return r.trouble(rec.str("message"))
	case "turn.completed":
		r.res.Usage = r.res.Usage.Add(openaiUsage(rec.at("usage"), "cached_input_tokens", "cache_write_input_tokens"))
		return r.final()
	case "turn.failed":
		f := codexFault(rec.at("error").str("message"))
		if f.code == "max_output_tokens" {
			r.res.Stop = belay.StopTruncated
		}
		if f.class == belay.ClassRefusal {
			r.res.Stop = belay.StopRefused
		}
		r.fail(f)
		return r.final()
	}
	return life()
}

// openaiUsage reads token counts where the input holds what came from a cache.
func openaiUsage(u record, read, write string) belay.Usage {
	out := belay.Usage{Input: u.num("input_tokens"), Output: u.num("output_tokens"), CacheRead: u.num(read)}
	if write != "" {
		out.CacheWrite = u.num(write)
	}
	out.Input = max(0, out.Input-out.CacheRead-out.CacheWrite)
	return out
}

// item reads one thing that Codex did. An item of type error is a remark, not
// a failed turn.
func (r *codexReader) item(it record, over bool) []Sign {
	id, status := it.str("id"), it.str("status")
	call := belay.ToolCall{
		Failed: status == "failed" || status == "declined",
		Denied: status == "declined",
	}
	switch it.str("type") {
	case "agent_message":
		if !over {
			return life()
		}
		r.answer.set("")
		return r.say(it.str("text"))
	case "command_execution":
		call.Name, call.Command, call.Exit = "shell", unwrapped(it.str("command")), it.exit("exit_code")
		if over {
			call.Tally = TallyOf(it.str("aggregated_output"))
		}
	case "file_change":
		return r.files(id, it.list("changes"), call, over)
	case "mcp_tool_call":
		call.Name = it.str("server") + "." + it.str("tool")
		call.Failed = call.Failed || it.has("error")
		if changes("__" + it.str("tool")) {
			call.Path = pathIn(it.at("arguments"))
		}
	case "reasoning":
		return r.thinks()
	case "web_search", "collab_tool_call":
		call.Name = it.str("type")
	default: // a plan, a thought, a remark
		return life()
	}
	if !over {
		return r.begin(id, call)
	}
	if call.Denied {
		r.deny(call.Name)
	}
	return r.done(id, call)
}

// files notes a patch as one call for each file that it touches.
func (r *codexReader) files(id string, changes []record, call belay.ToolCall, over bool) []Sign {
	call.Name = "file_change"
	if !over {
		return r.begin(id, call)
	}
	if call.Denied {
		r.deny(call.Name)
	}
	if len(changes) > 0 {
		call.Path = changes[0].str("path")
	}
	signs := r.done(id, call)
	for _, ch := range changes[min(1, len(changes)):] {
		call.Path = ch.str("path")
		shown := *r.keep(call)
		signs = append(signs, Sign{Kind: SignDone, ID: id, Tool: &shown})
	}
	return signs
}

// unwrapped takes the command out of the shell call that Codex shows: the words
// of the call, quoted where they need it and joined. What is no such call, or
// gives the shell more than its command, is left as it is.
func unwrapped(s string) string {
	words, ok := parted(s)
	if !ok {
		return s
	}
	if command, ok := shellCall(words); ok {
		return command
	}
	return s
}

var codexRetry = pattern.Lazy(`(?s)^Reconnecting\.\.\. (?:\d+/\d+|waiting for network) \((.*)\)$`)

// trouble reads an error event: a retry, or the words of the failure to come.
func (r *codexReader) trouble(msg string) []Sign {
	if why := group(codexRetry(), msg); why != "" {
		return r.retry(codexFault(why))
	}
	return life()
}

var (
	codexUnexpected = pattern.Lazy(`(?s)^unexpected status (\d{3})[^:]*: (.*?)(?:, url: \S+.*)?$`)
	codexExceeded   = pattern.Lazy(`^exceeded retry limit, last status: (\d{3})\b`)
	codexIncomplete = pattern.Lazy(`^Incomplete response returned, reason: (\w+)`)
)

// codexFault reads the text of a failure, the only form in which Codex tells
// it: the status and the provider's names are inside.
func codexFault(msg string) fault {
	f := fault{text: msg}
	peeled := msg
	if body := inner(msg); body != nil {
		p := providerFault(body)
		f.code, f.status, peeled = p.code, p.status, p.text
	} else if m := codexUnexpected().FindStringSubmatch(msg); m != nil {
		f.status, peeled = number(m[1]), m[2]
		if body := inner(m[2]); body != nil {
			p := providerFault(body)
			f.code, peeled = p.code, p.text
		}
	} else if s := group(codexExceeded(), msg); s != "" {
		f.status = number(s)
	} else if s := group(codexIncomplete(), msg); s != "" {
		f.code = s
	}
	return f.judged(peeled, codexRules())
}

func codexRules() []rule {
	return []rule{
		{"Quota exceeded", belay.ClassQuota},
		{"You've hit your usage limit", belay.ClassQuota},
		{"You hit your usage limit", belay.ClassQuota},
		{"Your workspace is out of credits", belay.ClassQuota},
		{"Missing environment variable", belay.ClassAuth},
		{"The model `", belay.ClassInvalidInput}, // … does not exist or you do not have access to it
		{"Your access token could not be refreshed", belay.ClassAuth},
		{"Codex ran out of room in the model's context window", belay.ClassTokenLimit},
		{"We're currently experiencing high demand", belay.ClassTransient},
		{"Selected model is at capacity", belay.ClassTransient},
		{"stream disconnected before completion: idle timeout", belay.ClassTimeout},
		{"stream disconnected before completion", belay.ClassTransient},
		{"Connection failed", belay.ClassTransient},
		{"request timed out", belay.ClassTimeout},
		{"timeout waiting for child process", belay.ClassTimeout},
		{"turn aborted", belay.ClassCancelled},
		{"sandbox denied exec error", belay.ClassPermission},
	}
}

func (r *codexReader) Stderr(line []byte) []Sign { return r.mutter(line) }

// End takes the last message from the file that Codex wrote it to, when the
// stream did not carry it.
func (r *codexReader) End(e Exit) belay.AgentResult {
	if r.answer.size == 0 && r.res.Final && !r.res.Error {
		for name, b := range e.Files {
			if path.Base(name) == codexLast {
				r.answer.set(string(b))
			}
		}
	}
	return r.end(e, codexEnd)
}

func codexEnd(_ int, stderr []string) fault {
	for _, s := range stderr {
		if c := match(s, codexStarts()); c != belay.ClassNone {
			return fault{class: c, text: s}
		}
	}
	return fault{text: reason(stderr)}
}

func codexStarts() []rule {
	return []rule{
		{"Error: thread/resume", belay.ClassInvalidInput},
		{"No prompt provided", belay.ClassInvalidInput},
		{"error: unexpected argument", belay.ClassInvalidInput},
		{"error: invalid value", belay.ClassInvalidInput},
		{"Error loading config", belay.ClassInvalidInput},
		{"Error: Unknown feature flag", belay.ClassInvalidInput},
		{"Not inside a trusted directory", belay.ClassInvalidInput},
		{"Error: Not logged in", belay.ClassAuth},
	}
}
