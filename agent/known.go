package agent

import (
	"path"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// Programs are the names under which a CLI is looked for, best first; none for
// a kind that has no program of its own.
func Programs(kind Kind) []string {
	switch kind {
	case Claude:
		return []string{"claude"}
	case Codex:
		return []string{"codex"}
	case Gemini:
		return []string{"gemini"}
	case Copilot:
		return []string{"copilot"}
	case OpenCode:
		return []string{"opencode"}
	case Qwen:
		return []string{"qwen"}
	case Command, ACP, Scripted:
	}
	return nil
}

// Install is how a CLI is installed; "" for one that is not ours to know.
func Install(kind Kind) string {
	switch kind {
	case Claude:
		return "npm install -g @anthropic-ai/claude-code"
	case Codex:
		return "npm install -g @openai/codex"
	case Gemini:
		return "npm install -g @google/gemini-cli"
	case Copilot:
		return "npm install -g @github/copilot"
	case OpenCode:
		return "npm install -g opencode-ai"
	case Qwen:
		return "npm install -g @qwen-code/qwen-code"
	case Command, ACP, Scripted:
	}
	return ""
}

// LoginSign is where a login can be seen without spending a token: one of the
// variables is set, or one of the files, relative to the home folder, exists.
// A sign is no proof: a login can have run out.
type LoginSign struct {
	Env   []string
	Files []string
	Cure  string // how to log in

	Dir   string // the folder of the home folder that the CLI has for itself
	Moved string // the variable that names another folder instead

	Else []string // files that may name another way in; where one is, the CLI's own "not logged in" says nothing
}

// Paths are the files by their whole paths, for an environment.
func (s LoginSign) Paths(env func(string) string) []string { return s.whole(s.Files, env) }

// ElsePaths are the files that may name another way in, by their whole paths.
func (s LoginSign) ElsePaths(env func(string) string) []string { return s.whole(s.Else, env) }

func (s LoginSign) whole(files []string, env func(string) string) []string {
	var list []string
	for _, file := range files {
		whole := path.Join(env("HOME"), file)
		if s.Moved != "" && env(s.Moved) != "" {
			if name, own := strings.CutPrefix(file, s.Dir+"/"); own {
				whole = path.Join(env(s.Moved), name)
			}
		}
		list = append(list, whole)
	}
	return list
}

// LoginFacts are the signs of a kind; nothing for one that needs no login.
func LoginFacts(kind Kind) LoginSign {
	switch kind {
	case Claude:
		return LoginSign{
			Env:   []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"},
			Files: []string{".claude/.credentials.json"},
			Dir:   ".claude", Moved: "CLAUDE_CONFIG_DIR",
			Cure: "run `claude` and type /login, or set ANTHROPIC_API_KEY",
		}
	case Codex:
		return LoginSign{
			Env:   []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
			Files: []string{".codex/auth.json"},
			Dir:   ".codex", Moved: "CODEX_HOME",
			Else: []string{".codex/config.toml"}, // a provider of one's own, with a key of its own
			Cure: "run `codex login`, or set CODEX_API_KEY",
		}
	case Gemini:
		return LoginSign{
			Env:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"},
			Files: []string{".gemini/oauth_creds.json", ".gemini/gemini-credentials.json"},
			Cure:  "run `gemini` and choose a login, or set GEMINI_API_KEY",
		}
	case Copilot:
		return LoginSign{
			Env:   []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BASE_URL"},
			Files: []string{".copilot/config.json", ".config/gh/hosts.yml"},
			Dir:   ".copilot", Moved: "COPILOT_HOME",
			Cure: "run `copilot` and type /login, or set COPILOT_GITHUB_TOKEN",
		}
	case OpenCode:
		return LoginSign{
			Env:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "OPENCODE_CONFIG_CONTENT"},
			Files: []string{".local/share/opencode/auth.json", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"},
			Cure:  "run `opencode auth login`",
		}
	case Qwen:
		return LoginSign{
			Env:   []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
			Files: []string{".qwen/oauth_creds.json"},
			Dir:   ".qwen", Moved: "QWEN_HOME",
			Cure: "run `qwen` and type /auth, or set OPENAI_API_KEY and OPENAI_BASE_URL",
		}
	case Command, ACP, Scripted:
	}
	return LoginSign{}
}

// Quirk is a known oddity of some versions of a CLI, and what to do about it.
type Quirk struct {
	Versions string // the versions it was seen in, as a person writes them; "" = all that were looked at
	Text     string
	Cure     string // "" = Belay sees to it
}

// Quirks are the oddities of a kind that its user may meet.
func Quirks(kind Kind) []Quirk {
	switch kind {
	case Claude:
		return []Quirk{
			{"2.1.x", "exits 0 when it is interrupted, and calls every failure of the API a success in one of its fields", ""},
			{"2.1.x", "a stream that stalls is given up only after 300 s, whatever its settings say", "lower the silence window of the step"},
			{"2.1.x", "refuses to skip permissions for root", "Belay tells it that it is in a sandbox when access is full"},
			{"2.1.x", "blocks a bare `sleep` in its shell tool", "let it wait for a condition, or wait in a step of the recipe"},
		}
	case Codex:
		return []Quirk{
			{"0.166", "a command that its sandbox refuses leaves no record", "let the step expect a change, or check its work with verify"},
			{"0.166", "its sandbox keeps .git read-only, so that with access edit it cannot commit", "commit in a step of the recipe, or give it access full"},
			{"0.166", "waits as long as the service asks, without a limit and without a word", "set a timeout on the step"},
			{"0.166", "prints nothing while the model speaks or a command runs", ""},
			{"0.166", "the npm program is a shim: killing it leaves the real one running", "Belay ends the whole tree; the native program has one process less"},
		}
	case Gemini:
		return []Quirk{
			{"0.61", "ignores SIGTERM behind a parent of its own unless GEMINI_CLI_NO_RELAUNCH is set", ""},
			{"0.61", "exits 0 on SIGTERM and SIGINT, with no final record", ""},
			{"0.61", "retries for up to four minutes by itself; Belay can turn that down only where root runs it", `else set "general": {"maxAttempts": 2, "retryFetchErrors": false} in ~/.gemini/settings.json`},
			{"0.61", "exits with the HTTP status modulo 256: 145 is 401, 173 is 429", ""},
			{"0.61", "tells a failed command as a success, without its exit code", "check its work with verify"},
			{"0.61", "an answer that was cut or refused ends as a success", "check its work with verify"},
		}
	case Copilot:
		return []Quirk{
			{"1.0", "the npm program is a shim: killing it leaves the native process and its tools running", ""},
			{"1.0", "a refused or cut answer ends with exit 0", "check its work with verify"},
			{"1.0", "unpacks 235 MB into the cache folder at the first start", "start it once by hand where that takes long"},
			{"1.0", "retries five times by itself, within a minute; no switch turns that down", ""},
		}
	case OpenCode:
		return []Quirk{
			{"1.18", "loops without end when the service answers with broken JSON", "set a timeout on the step"},
			{"1.18", "retries five times by itself, within 75 s, but waits for up to 24 days when the service asks for it", ""},
			{"1.18", "ignores SIGINT", ""},
			{"1.18", "has no record that ends a run", ""},
		}
	case Qwen:
		return []Quirk{
			{"0.24", "needs Node 22 or newer", "install Node 22"},
			{"0.24", "retries for hours by itself when it meets a limit; Belay turns that down to six times within two minutes", ""},
			{"0.24", "waits as long as the service asks, without a word", "set a timeout on the step"},
			{"0.24", "refuses session ids of a version that it does not know", ""},
			{"0.24", "dies on SIGTERM and leaves two processes and its tools behind", ""},
			{"0.24", "a cut answer ends as a success", "check its work with verify"},
		}
	case Command, ACP, Scripted:
	}
	return nil
}

// VersionArgs ask a CLI for its version; nil for a kind that cannot be asked.
func VersionArgs(kind Kind) []string {
	if len(Programs(kind)) == 0 {
		return nil
	}
	return []string{"--version"}
}

var versionNumber = pattern.Lazy(`\b(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)`)

// ParseVersion finds the version in what VersionArgs made a CLI print, "" when
// there is none.
func ParseVersion(kind Kind, out string) string {
	if len(Programs(kind)) == 0 {
		return ""
	}
	return group(versionNumber(), plain(out))
}
