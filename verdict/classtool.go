package verdict

import (
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/pattern"
)

// outputTool is the scope of rules that recognise what test runners, compilers
// and linters print, whichever program started them.
const outputTool = "output"

// mark is how a tool is known by what it prints.
type mark struct {
	tool    string
	pattern string
}

type compiledMark struct {
	tool string
	re   *pattern.Any
}

// marks is in the order in which they are tried: those that only one tool has
// come before those that are also quoted by others.
func marks() []mark {
	return []mark{
		{"npm", `(?m)^(npm|pnpm) (ERR!|error|warn)|^\s*ERR_PNPM_|^(error|warning) .*yarn|^YN\d{4}|➤ YN`},
		{"curl", `(?m)^curl: (\(\d+\)|option|try )`},
		{"wget", `(?m)^wget: `},
		{"gh", `(?m)^gh: |\(https://api\.github\.com/|gh auth login|GitHub CLI|^GraphQL: |github\.com/login`},
		{"docker", `(?im)^docker: |^error response from daemon|docker daemon|docker\.sock|^error: failed to solve|toomanyrequests|^failed to solve`},
		{"kubectl", `(?im)^error from server|^the connection to the server .* was refused|^error: .*(kubeconfig|kubernetes)|^error: (error|unable) .*manifest|kubectl`},
		{"helm", `(?m)^Error: (INSTALLATION|UPGRADE) FAILED|^helm `},
		{"terraform", `(?m)^[│╷] *Error: |[Tt]erraform|^Error: (Error acquiring|Unsupported (argument|block)|Reference to)`},
		{"aws", `(?m)^(\S+: )?An error occurred \(\w+\) when calling|^aws: |botocore\.|^Unable to locate credentials`},
		{"gcloud", `(?m)^ERROR: \(gcloud`},
		{"psql", `(?m)^psql:|^pg_\w+: |^(ERROR|FATAL):  `},
		{"mysql", `(?m)^ERROR \d{4} \(\w{5}\)`},
		{"redis", `(?m)^Could not connect to Redis|^\(error\) [A-Z]+ `},
		{"sqlite", `(?m)sqlite3?\.|database is locked|SQLITE_`},
		{"ssh", `(?m)^(ssh|scp|sftp|kex_exchange_identification): |^\S+@\S+: Permission denied|^Host key verification`},
		{"rsync", `(?m)^rsync(:| error)`},
		{"apt", `(?m)^E: |^dpkg: `},
		{"pip", `(?m)^ERROR: (Could not (find|install|open)|No matching|Cannot install|pip|ResolutionImpossible|THESE PACKAGES)|^pip: |^error: externally-managed|uv pip|pypi\.org`},
		{"maven", `(?m)^\[(ERROR|INFO)\] `},
		{"gradle", `(?m)^FAILURE: Build failed|^> Task |^\* What went wrong|[Gg]radle`},
		{"pytest", `(?m)^=+ .*(passed|failed|errors?|no tests ran).* in [\d.]+s|^(FAILED|ERROR) \S+\.py|^E   |^no tests ran in|pytest`},
		{"cargo", "(?m)^error\\[E\\d{4}\\]|^error: could not compile|^error: (failed to (get|download|select|parse|load|run)|no matching package|package `|test failed)|cargo|^test result: |crates\\.io|^thread '.*' (\\(\\d+\\) )?panicked"},
		{"ansible", `(?m)^fatal: \[[^\]]+\]: |^PLAY RECAP|^ERROR! |ansible`},
		{"git", "(?m)^(fatal|hint|remote): |^(error|fatal): .*(merge|refs?|pathspec|commit|checkout|rebase|patch|index|branch|unmerged|apply|remote|local changes)|^CONFLICT \\(|^ ! \\[|^On branch |^Your branch|\\.git/|^git: "},
		{"go", `(?m)^go: |^# \S+/|\.go:\d+:\d+: |^--- FAIL: |^FAIL\s|^panic: |^goroutine \d+|^signal: killed|^build constraints|^no required module|^package \S+ is not in std|^exit status \d+$`},
		{"dotnet", `(?m)\berror (NU|NETSDK|MSB|CS)\d{4}\b`},
		{"make", `(?m)^g?make(\[\d+\])?: `},
		{"gemini", `(?i)gemini|googleapis|INVALID_STREAM|maxSessionTurns|^an unexpected critical |\[object object\]|^\{"error":\{"code":\d+`},
		{"opencode", `opencode|"name":"(APIError|ContextOverflowError|ContentFilterError|ProviderAuthError|MessageAbortedError|UnknownError)"`},
		{"codex", `(?i)codex|chatgpt\.com|^reconnecting\.\.\.|^stream disconnected before|"type":"turn\.failed"|"type":"thread\.started"`},
		{"copilot", `(?i)copilot|^authentication failed with provider|response from the ai |^error: no authentication info|"type":"session\.error"`},
		{"claude", `(?i)claude|API Error: |anthropic|/login\b|"subtype":"|when using --print|^reached max(imum)? |no conversation found|^error: unknown option '--`},
		{"python", `(?m)^Traceback \(most recent|^\s*File ".*", line \d+|(^|/)python3?(\.\d+)?: `},
		{"node", `(?m)^node:|\(node:internal|^\s+at .*:\d+:\d+\)?$|JavaScript heap|^Node\.js v|^\[?Error \[ERR_|UnhandledPromise`},
		{"bash", `(?m)^(-?(ba|da|z|k)?sh|/\S*/(ba|da|z)?sh|\S+\.sh|environment): |: line \d+: |command not found$|^(cat|cp|mv|rm|ls|touch|mkdir|rmdir|chmod|chown|tee|dd|tar|find|grep|sed|awk|ln|head|tail|install|mount|stat|du|sudo|env|timeout|xargs): `},
	}
}

// toolOf finds the program that printed a text. Exit codes that only one tool
// has help where the text says nothing.
func (c *Classifier) toolOf(text *pattern.Text, exit int) string {
	for _, m := range c.marks {
		if m.re.In(text) {
			return m.tool
		}
	}
	switch exit {
	case 41, 42, 53, 144, 145, 147, 148, 173, 244, 247:
		return "gemini"
	}
	return ""
}

// isAgent tells whether a tool is an agent CLI.
func isAgent(tool string) bool { return len(agent.Known(agent.Kind(tool)).Programs) > 0 }
