package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// Claude is its kind.
const Claude Kind = "claude"

// claude is Claude Code: claude -p with a stream of JSON records.
type claude struct{}

// claudeCLI is what is known of it.
func claudeCLI() CLI {
	return CLI{
		Kind: Claude, Adapter: claude{}, Programs: []string{"claude"}, Install: "npm install -g @anthropic-ai/claude-code",
		Login: LoginSign{
			Env:   []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"},
			Files: []string{".claude/.credentials.json"},
			Dir:   ".claude", Moved: "CLAUDE_CONFIG_DIR",
			Cure: "run `claude` and type /login, or set ANTHROPIC_API_KEY",
		},
		AskLogin: []string{"auth", "status"}, LoggedOut: claudeLoggedOut,
		Quirks: []Quirk{
			{"2.1.x", "exits 0 when it is interrupted, and calls every failure of the API a success in one of its fields", ""},
			{"2.1.x", "a stream that stalls is given up only after 300 s, whatever its settings say", "lower the silence window of the step"},
			{"2.1.x", "refuses to skip permissions for root", "Belay tells it that it is in a sandbox when access is full"},
			{"2.1.x", "blocks a bare `sleep` in its shell tool", "let it wait for a condition, or wait in a step of the recipe"},
		},
	}
}

func claudeLoggedOut(out, _ string) bool {
	var says struct {
		LoggedIn *bool `json:"loggedIn"` //nolint:tagliatelle // as the CLI writes it
	}
	return json.Unmarshal([]byte(out), &says) == nil && says.LoggedIn != nil && !*says.LoggedIn
}

func (claude) Traits() Traits {
	return Traits{Presets: true, Resumes: true, Streams: true, Pieces: true, Final: true, Tools: true, Interrupt: StopInt}
}

// Launch gives the prompt on stdin, because --allowedTools swallows a prompt
// that follows it. One inner retry and five minutes for an answer to begin
// bound what would otherwise be minutes of silence; waiting is Belay's work.
func (claude) Launch(t Task) (Launch, error) {
	if err := ready(Claude, t); err != nil {
		return Launch{}, err
	}
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"}
	env := append(plainEnv(),
		"CLAUDE_CODE_MAX_RETRIES=1", "API_TIMEOUT_MS=300000",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_UPDATES=1")
	if t.Model != "" {
		args = append(args, "--model", t.Model)
	}
	switch t.Access {
	case AccessRead:
		args = append(args, "--permission-mode", "default")
		args = append(args, listed("--disallowedTools", less([]string{"Edit", "MultiEdit", "Write", "NotebookEdit"}, t.Tools))...)
		args = append(args, listed("--allowedTools", t.Tools)...)
	case AccessEdit:
		args = append(args, "--permission-mode", "acceptEdits")
		args = append(args, listed("--allowedTools", more([]string{"Bash", "WebFetch", "WebSearch"}, t.Tools))...)
	case AccessFull:
		args = append(args, "--dangerously-skip-permissions")
		env = append(env, "IS_SANDBOX=1") // without it the flag is refused to root
	}
	switch {
	case t.Resume != "":
		args = append(args, "--resume", t.Resume)
	case t.Session != "":
		args = append(args, "--session-id", t.Session)
	}
	return Launch{Argv: argv(t, args...), Env: env, Unset: nesting(), Stdin: true}, nil
}

func (claude) Reader() Reader { return &claudeReader{} }

// claudeReader reads the records of Claude Code. It never looks at a result's
// subtype, which says "success" on every failure of the API.
type claudeReader struct {
	book
	partial bool        // the text comes in pieces; the whole messages repeat it
	tag     string      // the error that the last message was marked with
	message string      // the id of the message that is counted now
	current belay.Usage // and what it used so far
	spent   belay.Usage // by the messages before it
	limit   time.Time   // when a limit that was hit is lifted
}

func (r *claudeReader) Line(line []byte) []Sign { return r.each(line, r.one) }

func (r *claudeReader) one(rec record) []Sign {
	r.knows(rec.str("session_id"))
	switch rec.str("type") {
	case "system":
		return r.system(rec)
	case "assistant":
		return r.assistant(rec)
	case "user":
		return r.user(rec)
	case "stream_event":
		return r.event(rec.at("event"))
	case "rate_limit_event":
		r.limits(rec.at("rate_limit_info"))
	case "result":
		return r.result(rec)
	}
	return life()
}

func (r *claudeReader) system(rec record) []Sign {
	switch rec.str("subtype") {
	case "init":
		r.res.Model = rec.str("model")
		return r.start(rec.str("session_id"))
	case "api_retry":
		f := fault{
			code: rec.str("error"), status: rec.status("error_status"),
			after: time.Duration(rec.num("retry_delay_ms")) * time.Millisecond,
		}
		f = f.judged("", nil)
		if f.class == belay.ClassUnknown && f.status == 0 {
			f.class = belay.ClassTransient // no answer at all: the connection
		}
		f.text = strings.TrimSpace(f.code + " " + digits(f.status))
		return r.retry(f)
	case "permission_denied":
		r.deny(rec.str("tool_name"))
	}
	return life()
}

// assistant reads a whole message. One made up by the CLI carries an error.
func (r *claudeReader) assistant(rec record) []Sign {
	msg := rec.at("message")
	if tag := rec.str("error"); tag != "" {
		r.tag = tag
		return life()
	}
	r.count(msg)
	var signs []Sign
	for _, part := range msg.list("content") {
		switch part.str("type") {
		case "text":
			said := r.say(part.str("text"))
			if r.partial {
				said = life()
			}
			signs = append(signs, said...)
		case "tool_use":
			signs = append(signs, r.begin(part.str("id"), claudeCall(part.str("name"), part.at("input")))...)
		}
	}
	if len(signs) == 0 {
		return life()
	}
	return signs
}

// claudeCall is a tool call as its input tells it.
func claudeCall(name string, input record) belay.ToolCall {
	c := belay.ToolCall{Name: name}
	switch {
	case shells(name):
		c.Command = input.str("command")
	case writes(name), changes(name):
		c.Path = pathIn(input)
	}
	return c
}

// pathIn is the file that the input of a tool names as written.
func pathIn(input record) string {
	for _, key := range []string{"file_path", "notebook_path", "destination", "path", "filePath", "absolute_path", "relative_path", "pathInProject"} {
		if p := input.str(key); p != "" {
			return p
		}
	}
	return ""
}

// user reads the results of tools.
func (r *claudeReader) user(rec record) []Sign {
	rejected := map[string]bool{}
	for _, m := range rec.list("tool_result_meta") {
		if m.at("permission_decision").str("decision") == "reject" {
			rejected[m.str("id")] = true
		}
	}
	var signs []Sign
	for _, part := range rec.at("message").list("content") {
		if part.str("type") != "tool_result" {
			continue
		}
		id := part.str("tool_use_id")
		call := belay.ToolCall{Failed: part.yes("is_error")}
		said := part.str("content")
		call.Denied = rejected[id] || call.Failed && deniedText(said)
		if c := r.open[id]; c != nil {
			if shells(c.Name) {
				call.Exit = claudeExit(call.Failed, said, rec.at("tool_use_result"))
				call.Tally = TallyOf(claudeOutput(part, rec.at("tool_use_result")))
			}
			if call.Denied {
				r.deny(c.Name)
			}
		}
		signs = append(signs, r.done(id, call)...)
	}
	if len(signs) == 0 {
		return life()
	}
	return signs
}

var claudeExitCode = pattern.Lazy(`^Exit code (\d{1,3})\b`)

// claudeExit finds the exit code of a command: told in words when it failed;
// a command that is not marked as failed and has ended gave 0.
func claudeExit(failed bool, said string, result record) *int {
	if failed {
		n, err := strconv.Atoi(group(claudeExitCode(), said))
		if err != nil {
			return nil
		}
		return &n
	}
	ended := result.has("stdout") && !result.yes("interrupted")
	if !ended || result.has("backgroundTaskId") || result.has("returnCodeInterpretation") {
		return nil
	}
	zero := 0
	return &zero
}

// claudeOutput is what a command printed: whole where the record has it, else
// as the model was shown it.
func claudeOutput(part, result record) string {
	if out := result.str("stdout") + "\n" + result.str("stderr"); out != "\n" {
		return out
	}
	var said strings.Builder
	said.WriteString(part.str("content"))
	for _, p := range part.list("content") {
		said.WriteString(p.str("text") + "\n")
	}
	return said.String()
}

// deniedText knows the refusals of versions whose records do not mark them.
func deniedText(s string) bool {
	return strings.HasPrefix(s, "Claude requested permissions to ") && strings.Contains(s, "haven't granted it yet") ||
		strings.HasPrefix(s, "Permission to use ") && strings.Contains(s, " has been denied")
}

// event reads a piece of a message that is still being written.
func (r *claudeReader) event(ev record) []Sign {
	switch ev.str("type") {
	case "message_start":
		r.count(ev.at("message"))
		return r.thinks()
	case "message_delta":
		if n := ev.at("usage").num("output_tokens"); n > r.current.Output {
			r.current.Output = n
		}
	case "content_block_delta":
		if s := ev.at("delta").str("text"); s != "" {
			r.partial, r.pending = true, nil
			return []Sign{{Kind: SignText, Text: s}}
		}
		return r.thinks()
	case "content_block_start":
		return r.thinks()
	}
	return life()
}

// count keeps a running sum, for a run that is ended before it tells its own.
func (r *claudeReader) count(msg record) {
	if id := msg.str("id"); id != r.message {
		r.message = id
		r.spent = r.spent.Add(r.current)
		r.current = belay.Usage{}
	}
	if u := msg.at("usage").claudeUsage(); u.Output >= r.current.Output {
		r.current = u
	}
}

// limits remembers when a limit that was hit is lifted.
func (r *claudeReader) limits(info record) {
	if info.str("status") != "rejected" {
		return
	}
	for _, key := range []string{"resetsAt", "resets_at"} {
		if n := info.num(key); n > 0 {
			r.limit = time.Unix(n, 0)
		}
	}
}

func (r *claudeReader) result(rec record) []Sign {
	signs := r.refused(rec.list("permission_denials"))
	r.res.Usage = claudeTotal(rec)
	r.res.Stop = claudeStop(rec, r.tag)
	if !rec.yes("is_error") {
		r.answer.set(rec.str("result"))
		return append(signs, r.final()...)
	}
	said := rec.str("result")
	if said == "" {
		said = strings.Join(texts(rec["errors"]), "; ")
	}
	f := fault{class: claudeTerminal(rec), code: r.tag, status: rec.status("api_error_status"), reset: r.limit, text: said}
	peeled := said
	if status, rest := claudeAPIError(said); status != 0 && f.status == 0 {
		f.status, peeled = status, rest
		if body := providerFault(inner(rest)); body.code != "" || body.text != "" {
			peeled = body.text
			if codeClass(f.code) == belay.ClassNone {
				f.code = body.code
			}
		}
	}
	if codeClass(f.code) == belay.ClassNone {
		for _, key := range []string{"api_error", "api_error_type"} {
			if c := rec.str(key); codeClass(c) != belay.ClassNone {
				f.code = c
			}
		}
	}
	r.fail(f.judged(peeled, claudeRules()))
	return append(signs, r.final()...)
}

// claudeAPIError takes "API Error: 529 {…}" apart, the CLI's own form of an answer
// of its service. Not all versions give the status in a field of its own.
func claudeAPIError(said string) (status int, rest string) {
	text, ok := strings.CutPrefix(said, "API Error: ")
	if !ok {
		return 0, said
	}
	return leadingStatus(text)
}

// claudeTerminal knows the ends that need no look at the error.
func claudeTerminal(rec record) belay.Class {
	if rec.str("stop_reason") == "refusal" {
		return belay.ClassRefusal
	}
	switch rec.str("terminal_reason") {
	case "prompt_too_long", "image_error":
		return belay.ClassTokenLimit
	case "max_turns":
		return belay.ClassTurnLimit
	case "budget_exhausted":
		return belay.ClassBudget
	case "aborted_streaming", "aborted_tools":
		return belay.ClassCancelled
	}
	return belay.ClassNone
}

func claudeStop(rec record, tag string) belay.StopReason {
	switch {
	case rec.str("stop_reason") == "refusal":
		return belay.StopRefused
	case rec.str("stop_reason") == "max_tokens", tag == "max_output_tokens":
		return belay.StopTruncated
	case rec.str("terminal_reason") == "max_turns", rec.str("terminal_reason") == "budget_exhausted":
		return belay.StopLimit
	case rec.yes("is_error"):
		return belay.StopError
	case rec.str("stop_reason") == "end_turn", rec.str("stop_reason") == "stop_sequence":
		return belay.StopDone
	}
	return belay.StopUnknown
}

// claudeTotal sums over models where that is told, since it holds the work of
// sub-agents too.
func claudeTotal(rec record) belay.Usage {
	var u belay.Usage
	for _, v := range rec.at("modelUsage") {
		m, _ := v.(map[string]any) // nil: counts nothing
		one := record(m)
		u = u.Add(belay.Usage{
			Input: one.num("inputTokens"), Output: one.num("outputTokens"),
			CacheRead: one.num("cacheReadInputTokens"), CacheWrite: one.num("cacheCreationInputTokens"),
		})
	}
	if u.Tokens() == 0 {
		u = rec.at("usage").claudeUsage()
	}
	u.MicroUSD = rec.micro("total_cost_usd")
	return u
}

// claudeRules are texts of failures that carry no better mark.
func claudeRules() []rule {
	return []rule{
		{"You've hit your ", belay.ClassQuota},
		{"Claude AI usage limit reached", belay.ClassQuota},
		{"Credit balance is too low", belay.ClassQuota},
		{"Not logged in", belay.ClassAuth},
		{"Invalid API key", belay.ClassAuth},
		{"OAuth token has expired", belay.ClassAuth},
		{"Prompt is too long", belay.ClassTokenLimit},
		{"No conversation found with session ID", belay.ClassInvalidInput},
		{"API Error: JSON Parse error", belay.ClassTransient},
		{"API Error: API returned an empty or malformed response", belay.ClassTransient},
		{"API Error: Connection", belay.ClassTransient},
		{"API Error: Can't reach the API server", belay.ClassTransient},
	}
}

func (r *claudeReader) Stderr(line []byte) []Sign { return r.mutter(line) }

func (r *claudeReader) End(e Exit) belay.AgentResult {
	if !r.res.Final {
		r.res.Usage = r.spent.Add(r.current)
	}
	return r.end(e, claudeEnd)
}

// claudeEnd explains an end without a result: Claude Code ends itself with
// 143 on SIGTERM; a bad start is told on stderr alone.
func claudeEnd(code int, stderr []string) fault {
	f := fault{text: reason(stderr)}
	switch code {
	case 129, 130, 143:
		f.class = belay.ClassCancelled
		return f
	}
	for _, s := range stderr {
		if c := match(s, claudeStarts()); c != belay.ClassNone {
			return fault{class: c, text: s}
		}
	}
	return f
}

func claudeStarts() []rule {
	return []rule{
		{"Error: Session ID ", belay.ClassInvalidInput},
		{"Error: Input must be provided", belay.ClassInvalidInput},
		{"error: unknown option", belay.ClassInvalidInput},
		{"error: option ", belay.ClassInvalidInput},
		{"No conversation found with session ID", belay.ClassInvalidInput},
		{"--dangerously-skip-permissions cannot be used", belay.ClassPermission},
	}
}

// texts are the strings of a list.
func texts(v any) []string {
	l, _ := v.([]any) // nil: no texts
	var out []string
	for _, e := range l {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// digits is a number, or nothing for none.
func digits(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
